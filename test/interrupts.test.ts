/** INT at each point of a run: the session stays, calls are paired, the model is told, and nothing of the run is left. */

import { expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { error, type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const NOTE = "[interrupted by the user]";
const never = new Promise<void>(() => {});
const bash = toolUse({ name: "bash", input: { command: "echo one >> ran; sleep 600" } });
const view = toolUse({ name: "view", input: { file_path: "big.txt" } });
const isSummary = ({ lastUserText }: ModelRequest) => lastUserText.includes("Write the summary");
const isAfter = (request: ModelRequest) => JSON.stringify(request.messages).includes(NOTE);

interface Point {
  readonly script: (request: ModelRequest) => Reply;
  /** Whether the run has come there. */
  readonly isThere: () => boolean | Promise<boolean>;
  readonly env?: Record<string, string>;
}

const logs = async (words: string) => (await world.crux(["logs", "1"])).stdout.includes(words);

const points: Record<string, Point> = {
  // refused anew each time, however late the interrupt comes
  "in a wait before a retry": {
    script: () => error(500, undefined, undefined, { "retry-after-ms": "3000" }),
    isThere: () => logs("retry 1/"),
  },
  "before the first byte": { script: () => text("so").until(never), isThere: () => server.inFlight === 1 },
  "in a stream": {
    script: () => text("so far so good").and(view).until(never, { afterBlocks: 1 }),
    isThere: () => server.inFlight === 1,
  },
  "in a tool": { script: () => bash, isThere: () => world.commands(/^sleep 600/).length > 0 },
  "in a tool, while its reply still comes": {
    script: () => bash.until(never, { afterBlocks: 1 }),
    isThere: () => world.commands(/^sleep 600/).length > 0,
  },
  "in a compaction": {
    script: (request) => (isSummary(request) ? text("## Goal").until(never) : view),
    isThere: () => server.requests.some(isSummary) && server.inFlight === 1,
    env: { CRUX_MAX_CONTEXT_TOKENS: "32000" },
  },
};

it.each(Object.entries(points))("%s", async (_name, { script, isThere, env = {} }) => {
  world.write(
    "big.txt",
    Array.from({ length: 900 }, (_, i) => `line ${i} of a long file, with words`).join("\n"),
  );
  await serve((request) => (isAfter(request) ? text("As you like.") : script(request)), "anthropic");
  Object.assign(world.env, env);
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  const ask = async (method: string, payload: object) => {
    await using wire = await Wire.open(world.socket);
    return await wire.ask(method, payload);
  };
  const session = { session: true, cwd: world.work, permission_mode: "bypass", max_steps: 50 };
  await ask("spawn", { intent: "do it", detach: true, env: { ...world.env }, ...session });
  expect(await settled(isThere, (is) => is)).toBe(true);
  await world.crux(["kill", "-s", "INT", "1"]);
  expect(
    await settled(
      () => server.inFlight,
      (count) => count === 0,
    ),
  ).toBe(0);
  expect(
    await settled(
      () => world.commands(/^sleep 600/),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
  await ask("session.say", { pid: 1, text: "never mind", client: "" });
  await server.waitFor(() => server.requests.some(isAfter));
  const { messages = [] } = server.requests.find(isAfter) ?? {};
  const blocks = messages.flatMap(({ content }) => content);
  const idsOf = (kind: string) =>
    blocks.flatMap((block) => (block.type === kind && "id" in block ? [block.id] : []));
  expect(idsOf("tool_result")).toEqual(idsOf("tool_use"));
  expect(server.rejected).toEqual([]);
  await world.crux(["kill", "1"]);
});
