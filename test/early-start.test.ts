/** Calls of a reply run while its rest still comes: seen from outside, through broken streams, kills and interrupts. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { blocks, type Reply, text, toolUse } from "./model-server/reply.ts";

onStage();

const ran = (name = "ran"): string[] =>
  existsSync(join(world.work, name)) ? world.file(name).trim().split("\n") : [];
const bash = (command: string, id?: string): Reply =>
  toolUse({ name: "bash", input: { command }, ...(id === undefined ? {} : { id }) });
/** Holds the reply back after its first call until the file has so many lines. */
const afterLines = (count: number): Promise<void> =>
  settled(
    () => ran().length,
    (length) => length >= count,
  ).then(() => undefined);
const crux = (...args: string[]) => world.crux(["--permission-mode", "bypass", ...args]);
const results = (n: number): string[] =>
  (server.requests[n]?.lastToolResults ?? []).map(({ content }) => String(content));

function kinds(): string[] {
  using db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  const rows = db.prepare("SELECT kind, body FROM records WHERE pid = 1 ORDER BY seq").all();
  return rows.map(({ kind, body }) => {
    const { effects = [] } = JSON.parse(String(body)) as { effects?: { kind: string }[] };
    return effects.length === 0 ? String(kind) : `${String(kind)} ${effects[0]?.kind ?? ""}`;
  });
}

describe.each(["anthropic", "openai"] as const)(
  "a stream of %s that pauses after a whole call",
  (dialect) => {
    it("the call runs in the pause, and its results go back in order", async () => {
      let isOver = false;
      const first = blocks(
        text("I do both."),
        bash("echo one >> ran; echo first"),
        bash("echo two >> ran; echo second"),
        bash("echo three >> ran; echo third"),
      );
      await serve((request) => {
        if (request.assistantTurns > 0) return text("Both are done.");
        // chat completions tell that a call is whole only by the beginning of the next one
        const gate = afterLines(1).then(() => {
          isOver = true;
        });
        return first.until(gate, dialect === "openai" ? { afterBlocks: 3 } : { afterBlocks: 2 });
      }, dialect);
      const { code, stdout } = await crux("-q", "do both");
      expect([code, stdout, isOver]).toEqual([0, "Both are done.\n", true]);
      expect(ran()).toEqual(["one", "two", "three"]);
      expect(results(1)).toEqual(["first", "second", "third"].map((said) => expect.stringContaining(said)));
      // the block was recorded before its call had an intent, and that before the reply was over
      const order = kinds();
      const exec = order.indexOf("call.intent exec");
      expect(order.lastIndexOf("process.checkpoint", exec)).toBeGreaterThan(order.indexOf("call.intent llm"));
      expect(order.indexOf("call.result")).toBeGreaterThan(exec);
      expect((await world.crux(["replay", "1"])).stdout).toContain("0 differences");
    });
  },
);

describe("a stream that is cut", () => {
  it("after a call began: it ran once, the run goes on from it, and the calls after it run too", async () => {
    await serve((request) => {
      if (request.assistantTurns > 0) return text("Went on.");
      const both = bash("echo one >> ran").and(bash("echo two >> ran"), text("and then"));
      return both.until(afterLines(1), { afterBlocks: 1 }).cut({ afterBlocks: 2 });
    }, "anthropic");
    const { code, stdout, stderr } = await crux("-q", "do it");
    expect([code, stdout]).toEqual([0, "Went on.\n"]);
    expect(ran()).toEqual(["one", "two"]);
    expect(server.requests).toHaveLength(2);
    expect(results(1)).toHaveLength(2);
    expect(stderr).toBe("");
    expect((await world.crux(["replay", "1"])).stdout).toContain("0 differences");
  });

  it("before a call began: nothing of it stays", async () => {
    await serve(
      (request) =>
        request.turn === 0
          ? text("never said").and(bash("echo no >> ran")).cut({ afterBlocks: 1 })
          : text("said"),
      "anthropic",
    );
    const { code, stdout } = await crux("-q", "do it");
    expect([code, stdout, ran()]).toEqual([0, "said\n", []]);
    expect(JSON.stringify(server.requests[1]?.messages)).not.toContain("never said");
  });
});

it("after two broken streams one complete answer is asked for, and its calls run once", async () => {
  await serve((request) => {
    if (request.assistantTurns > 0) return text("Done.");
    const reply = text("I do it.").and(bash("echo one >> ran"));
    return request.stream ? reply.truncate({ afterEvents: 3 }) : reply;
  }, "anthropic");
  const { code, stdout } = await crux("-q", "do it");
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  expect(ran()).toEqual(["one"]);
  expect(server.requests.map(({ stream }) => stream)).toEqual([true, true, false, true]);
  expect(server.requests[2]?.body.max_tokens).toBe(8_000);
  expect(server.requests[3]?.messages.at(-2)?.content).toMatchObject([
    { text: "I do it." },
    { name: "bash" },
  ]);
  expect((await world.crux(["replay", "1"])).stdout).toContain("0 differences");
});

describe("a daemon that is killed in the pause", () => {
  it.each([
    ["while the call runs", "echo one >> ran; sleep 600", /outcome unknown/],
    ["after the call", "echo one >> ran; echo first", /first/],
  ])("%s: the next one goes on with the call, and does not repeat it", async (_when, command, result) => {
    const never = new Promise<void>(() => {});
    await serve(
      (request) =>
        request.assistantTurns > 0
          ? text("Went on.")
          : bash(command).until(never, { afterBlocks: 1 }).and("rest"),
      "anthropic",
    );
    const pid = Number((await crux("-q", "-d", "do it")).stdout);
    await afterLines(1);
    const sinceResult = () => kinds().slice(kinds().lastIndexOf("call.result"));
    if (!command.includes("sleep"))
      expect(await settled(sinceResult, (all) => all[0] === "call.result" && all.length > 2)).toContain(
        "process.checkpoint",
      );
    process.kill(world.daemonPid!, "SIGKILL");
    await world.crux(["daemon", "start", "--normal"]);
    await world.crux(["wait", `${pid}`]);
    expect(ran()).toEqual(["one"]);
    expect(results(1)).toEqual([expect.stringMatching(result)]);
    expect((await world.crux(["replay", `${pid}`])).stdout).toContain("0 differences");
  });
});

it("an interrupt in the pause ends the call, whose result says so, and the session goes on", async () => {
  const never = new Promise<void>(() => {});
  await serve(
    (request) =>
      request.assistantTurns > 0
        ? text("Went on.")
        : text("I begin.").and(bash("echo one >> ran; sleep 600")).until(never, { afterBlocks: 2 }),
    "anthropic",
  );
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  const ask = async (method: string, payload: object) => {
    await using wire = await Wire.open(world.socket);
    return await wire.ask(method, payload);
  };
  const session = { session: true, cwd: world.work, permission_mode: "bypass", env: { ...world.env } };
  const begun = await ask("spawn", { intent: "do it", detach: true, ...session });
  const pid = Number(begun?.payload?.pid);
  await afterLines(1);
  await world.crux(["kill", "-s", "INT", `${pid}`]);
  await ask("session.say", { pid, text: "and now?", client: "" });
  await settled(
    () => server.requests.length,
    (length) => length > 1,
  );
  const sent = JSON.stringify(server.requests[1]?.messages);
  expect(sent).toContain("interrupted while running, effects may be partial");
  expect(sent).toContain("[interrupted by the user]");
  expect(
    await settled(
      () => world.commands(/^sleep 600/),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
  await world.crux(["kill", `${pid}`]);
});
