/** `/btw`: a question beside the conversation, while the session works, and where it does nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const isAside = ({ rawBody }: ModelRequest) => rawBody.includes("beside the conversation");
const processes = async () =>
  JSON.parse((await world.crux(["ps", "-a", "--json", "--verbose"])).stdout).data.processes as {
    pid: number;
    ppid: number;
    state: string;
  }[];

it("answers from what was said while a run goes on, calls nothing, and leaves nothing in the session", async () => {
  const go = Promise.withResolvers<void>();
  await startModel({
    script: async (request) => {
      if (isAside(request))
        return request.lastToolResults.length === 0
          ? toolUse({ name: "bash", input: { command: "touch ran" } })
          : text("It was **a.ts**.");
      if (!request.rawBody.includes("work on")) return text("I looked at a.ts.");
      await go.promise;
      return text("Worked.");
    },
    promptCache: { minTokens: 64 },
  });
  Object.assign(world.env, modelEnv(server, "anthropic"));
  await using window = new TerminalWindow(world, []);
  await window.shows("% context");
  window.type("look\r");
  await window.shows("I looked at a.ts.");
  window.type("work on\r");
  await window.until(() => server.requests.some(({ rawBody }) => rawBody.includes("work on")));
  window.type("/btw which file was it?\r");
  await window.shows("It was a.ts.");
  await window.until(({ rows }) => !rows.join("\n").includes("esc ends it"));
  go.resolve();
  await window.shows("Worked.");
  window.type("more\r");
  await window.until(({ everything }) => everything.split("Worked.").length === 3);
  expect(existsSync(join(world.work, "ran"))).toBe(false);
  const [first] = server.requests.filter(isAside);
  const [asked] = server.requests;
  expect(first?.body.tools).toEqual(asked?.body.tools);
  const { read = 0, write = 0, input = 0 } = first?.cache ?? {};
  expect(read / (read + write + input)).toBeGreaterThan(0.8);
  expect(server.requests.at(-1)?.rawBody).not.toContain("which file");
  const shown = await processes();
  const { pid } = shown.find(({ ppid }) => ppid === 0)!;
  const own = JSON.parse((await world.crux(["budget", String(pid), "--json"])).stdout).data.accounts;
  const spent = (of: number): number => own.find((each: { pid: number }) => each.pid === of).spent.tokens;
  expect(spent(pid)).toBeGreaterThan(
    JSON.parse((await world.crux(["ps", "--json"])).stdout).data.processes[0].tokens_used,
  );
  await world.crux(["kill", String(pid)]);
  expect((await world.crux(["replay", String(pid)])).stdout).toContain("0 differences");
});

it("is ended by esc, before any run was, and in line mode by ctrl-c, which leave the session", async () => {
  const stuck = Promise.withResolvers<void>();
  let reached = Promise.withResolvers<void>();
  await startModel({
    script: async (request) => {
      if (request.rawBody.includes("for good?")) {
        reached.resolve();
        await stuck.promise;
      }
      return text(isAside(request) ? "Nothing was said." : "Answered.");
    },
  });
  Object.assign(world.env, modelEnv(server));
  for (const [env, key] of [
    [{}, "\x1b"],
    [{ CRUX_ACCESSIBLE: "1" }, "\x03"],
  ] as const) {
    await using window = new TerminalWindow(world, [], { env });
    await window.shows(key === "\x1b" ? "% context" : "›");
    window.type("/btw what was said?\r");
    await window.shows("Nothing was said.");
    // what was there while it came; one question at a time
    await window.until(({ rows }) => !rows.join("\n").includes("esc ends it"), "the end of the answer");
    window.type("/btw for good?\r");
    await reached.promise;
    reached = Promise.withResolvers();
    window.type(key);
    await window.shows("interrupted");
    window.type("go\r");
    await window.shows("Answered.");
    window.type("\x04");
    await window.shows("crux -r");
  }
  stuck.resolve();
  const left = (await processes()).filter(({ ppid, state }) => ppid !== 0 && state === "running");
  expect(left).toEqual([]);
});
