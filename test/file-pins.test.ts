/** Texts that an agent file pins: of sessions and runs, children and forks, whatever is summarised and however a daemon ends. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const PIN = "Never push, ever.";
const times = ({ rawBody }: ModelRequest, words: string) => rawBody.toString().split(words).length - 1;
const last = () => server.requests.at(-1)!;

async function begin(script: (request: ModelRequest) => Reply): Promise<void> {
  const dir = join(world.dir, "config/crux/agents");
  mkdirSync(dir, { recursive: true });
  const head = ["name: careful", "description: takes care", "pins:", `  - ${PIN}`, "  - Speak low."];
  writeFileSync(join(dir, "careful.md"), ["---", ...head, "---", "Take care."].join("\n"));
  await startModel({ script });
  Object.assign(world.env, modelEnv(server));
}

test("of a session they outlast a summary, a kill -9, an emptied view and a fork, until the user unpins one", async () => {
  world.write("big.txt", "a line of words\n".repeat(1_500));
  let calls = 0;
  await begin(({ lastUserText }) => {
    if (lastUserText.includes("outgrow your context window"))
      return text("## Goal: read\n## Now: it was read");
    if (calls++ % 4 < 3) return toolUse({ name: "view", input: { file_path: `${world.work}/big.txt` } });
    return text("Read.");
  });
  expect((await world.crux(["chat", "-q", "--agent", "careful"], { stdin: "Read it." })).code).toBe(0);
  const [first] = server.requests;
  expect([times(first!, PIN), times(first!, "Speak low.")]).toEqual([1, 1]);
  expect(first!.lastUserText).toContain("Read it.");
  expect(JSON.parse((await world.crux(["cat", "/proc/1/context/pins"])).stdout)).toHaveLength(2);

  expect((await world.crux(["compact", "1"])).code).toBe(0);
  process.kill(world.daemonPid!, "SIGKILL");
  expect((await world.crux(["-c", "-q", "and now?"])).code).toBe(0);
  expect([times(last(), PIN), times(last(), "it was read")]).toEqual([1, 1]);
  const fork = await world.crux(["fork", "1", "-m", "go on", "-q"]);
  expect(fork.code).toBe(0);
  await world.crux(["wait", fork.stdout.trim()]);
  expect([times(last(), "go on"), times(last(), PIN)]).toEqual([1, 1]);

  expect((await world.crux(["context", "clear", "1"])).code).toBe(0);
  const [pin] = JSON.parse((await world.crux(["cat", "/proc/1/context/pins"])).stdout) as number[];
  expect((await world.crux(["context", "unpin", "1", String(pin)])).code).toBe(0);
  expect((await world.crux(["context", "clear", "1"])).code).toBe(0);
  process.kill(world.daemonPid!, "SIGKILL");
  expect((await world.crux(["-c", "-q", "who are you?"])).code).toBe(0);
  expect([times(last(), PIN), times(last(), "Speak low.")]).toEqual([0, 1]);
  expect((await world.crux(["replay", "1"])).code).toBe(0);
});

test("of a child are in its first request, and in none of its parent", async () => {
  await begin((request) => {
    const isChild = request.rawBody.includes("Take care.");
    if (isChild) return text("Careful.");
    if (request.assistantTurns > 0) return text("Done.");
    const input = { description: "dig", prompt: "dig", subagent_type: "careful" };
    return toolUse({ name: "agent", input });
  });
  expect((await world.crux(["-q", "lead"])).stdout).toBe("Done.\n");
  expect(server.requests.map((each) => times(each, PIN))).toEqual([0, 1, 0]);
});
