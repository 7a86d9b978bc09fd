/**
 * The fault matrix of the driver that runs the user's own program: whatever breaks between that program and its server, and where,
 * the run has every word and every edit once. The program tries again by itself; what it gives up, the loop asks for again.
 */
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { OpenFile } from "../../src/abi/device.ts";
import { asFd } from "../../src/abi/ids.ts";
import type { Sys } from "../../src/abi/sys.ts";
import { agentProgram } from "../../src/agent/loop.ts";
import { FakeProcess } from "../../src/agent/testing/fake-process.ts";
import { HostProcesses } from "../../src/dev/host/exec.ts";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { modelDevices } from "../../src/llm/devices/devices.ts";
import { testAct, testCaller } from "../../src/llm/testing/callers.ts";
import { blocks, error, type Point, type Reply, text, toolUse } from "../model-server/reply.ts";
import { startModelServer } from "../model-server/server.ts";

/** The real program, as scripts/install-claude.mjs prints its path. */
const program = process.env.CRUX_TEST_CLAUDE ?? "";
const MODEL_FD = asFd(3);
const edit = (path: string) => ({ name: "mcp__crux__edit", input: { path, text: "some longer text" } });
const work = blocks("I change both.", toolUse([edit("a"), edit("b")])).fragment(4);

/** Events of the reply: one that begins it, three a block, and one for each four characters. */
const WITHIN_TEXT = 3;
const POINTS: readonly (readonly [string, Point])[] = [
  ["before the first byte", { beforeHeaders: true }],
  ["within the text", { afterEvents: WITHIN_TEXT }],
  ["after the text", { afterBlocks: 1 }],
  ["after a finished call", { afterBlocks: 2 }],
  ["before the stop", { afterBlocks: 3 }],
];
/** All of them with CRUX_TEST_FAULTS=all: each starts the program. */
const FAULTS: Readonly<Record<string, (reply: Reply, at: Point) => Reply>> = {
  "an overload": (reply, at) => reply.fail(error(529), at),
  "an error of the server": (reply, at) => reply.fail(error(500), at),
  "a closed connection": (reply, at) => reply.cut(at),
  "an early end": (reply, at) => reply.truncate(at),
};

const CHOSEN =
  process.env.CRUX_TEST_FAULTS === "all" ? Object.keys(FAULTS) : ["an overload", "a closed connection"];

async function run(broken: Reply) {
  let asked = 0;
  const edited: unknown[] = [];
  const server = await startModelServer({
    // a fresh program gets the conversation as one text, so what was done is not looked for there
    script: () => {
      if (asked++ === 0) return broken;
      if (edited.length === 0) return work;
      return edited.length < 2 ? toolUse(edit("b")) : text("Done.");
    },
    helperDefault: true,
  });
  const home = await mkdtemp(join(tmpdir(), "crux-claude-"));
  await symlink(program, join(home, "claude"));
  const exec = new HostProcesses({ kernelId: "test", epoch: 1 });
  const edits = (input: unknown) => {
    edited.push((input as { path: string }).path);
    return { ok: true as const, content: [{ type: "text" as const, text: "edited" }] };
  };
  const agent = new FakeProcess({ answers: [], tools: { edit: { hasEffect: true, run: edits } } });
  const device = modelDevices({ exec, tmpDir: join(home, "tmp"), clock: systemClock }).find(
    ({ name }) => name === "claude",
  )!;
  const env = {
    PATH: `${home}:/usr/bin:/bin`,
    HOME: home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "test",
    CRUX_STREAM_IDLE_TIMEOUT_MS: "20000",
  };
  const file: OpenFile = await device.open("", "RW" as never, testCaller({ env, cwd: home }));
  const { sys } = agent;
  const own: Sys = {
    ...sys,
    ahead: (fd, signal) =>
      fd === MODEL_FD
        ? (file.ahead?.(signal).catch(() => false) ?? sys.ahead(fd, signal))
        : sys.ahead(fd, signal),
    write: (fd, bytes, signal) =>
      fd === MODEL_FD ? file.write(bytes, testAct(signal)) : sys.write(fd, bytes, signal),
    read: (fd, length, signal) =>
      fd === MODEL_FD ? file.read(length, signal ?? sys.ending) : sys.read(fd, length, signal),
  };
  try {
    const exit = await agentProgram({ platform: "linux" })(own, agent.start);
    return { exit, agent, edited };
  } finally {
    await file.close();
    await device.close?.();
    await exec.close();
    await server.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

describe.skipIf(program === "")("the claude program before a server that fails", () => {
  // what takes time is the program's own waiting
  it.concurrent.each(POINTS.flatMap(([where, at]) => CHOSEN.map((what) => [what, where, at] as const)))(
    "%s %s: everything is there once",
    async (what, _where, at) => {
      const isBody = what === "an early end" && at.beforeHeaders === true;
      const { exit, agent, edited } = await run(FAULTS[what]!(work, isBody ? { afterEvents: 0 } : at));
      expect([exit.code, agent.result], exit.reason).toEqual([0, "Done."]);
      expect(edited).toEqual(["a", "b"]);
      const said = agent.messages.flatMap(({ role, blocks: own = [] }) => (role === "assistant" ? own : []));
      const texts = said.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
      expect(texts).toEqual(["I change both.", "Done."]);
      expect(said.filter(({ type }) => type === "tool_use")).toHaveLength(2);
      expect(agent.messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
        "edited",
        "edited",
      ]);
    },
  );
});
