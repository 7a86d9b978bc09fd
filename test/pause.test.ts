/** A paused agent outlives its daemon, however that ends: nothing it had is lost, asked for again or done again. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { onSharedStage, ownWorld, serveInTurn, server, startModel, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";

onSharedStage();

/** `isHere`: the daemon has the key, too; else only the terminals that are told. */
const serve = (answers: readonly Reply[], isHere = true) =>
  isHere ? serveInTurn(...answers) : startModel({ script: inTurn(...answers) });
const bash = (command: string) => toolUse({ name: "bash", input: { command } }, { text: "I run it." });
/** Leaves one line for each time it runs. */
const COUNTED = "echo ran >> count";
const count = () => (existsSync(join(world.work, "count")) ? world.file("count").split("\n").length - 1 : 0);

/** Started without anybody who follows it; the pid. */
async function start(...words: string[]): Promise<number> {
  const args = ["-q", "-d", "--permission-mode", "bypass", ...words, "work"];
  return Number((await world.crux(args, { env: modelEnv(server) })).stdout);
}

interface Proc {
  readonly pid: number;
  readonly state: string;
  readonly activity: string | null;
  readonly tokens_used: number;
  readonly exit: { readonly code: number } | null;
}
async function find(pid: number): Promise<Proc | undefined> {
  const { stdout } = await world.crux(["ps", "--json", "-v"]);
  const all = (JSON.parse(stdout) as { data: { processes: Proc[] } }).data.processes;
  return all.find((proc) => proc.pid === pid);
}

/** From the journal of a daemon that may be running. */
const records = (kind: string) => world.bodies(kind);
const until = async (holds: () => boolean) => expect(await settled(holds, (is) => is)).toBe(true);
const keptReply = () =>
  until(() => records("process.checkpoint").some(({ state }) => (state as { kept: unknown } | null)?.kept));

const killDaemon = async () => void process.kill(world.daemonPid!, "SIGKILL");
const stopDaemon = async () => {
  expect((await world.crux(["daemon", "stop"])).code).toBe(0);
};
const ENDS = [
  ["kill -9", killDaemon],
  ["crux daemon stop", stopDaemon],
] as const;

const toolResults = (request: number) =>
  server.requests[request]!.lastToolResults.map(({ content }) => content);

describe.each(ENDS)("across %s of the daemon", (_how, end) => {
  it("a reply that came while the process was paused is kept: not asked for again, its call run once", async () => {
    const gate = Promise.withResolvers<void>();
    await serve([bash(COUNTED).until(gate.promise, { afterEvents: 2 }), text("Done.")]);
    const pid = await start();
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["pause", String(pid)]);
    gate.resolve();
    await keptReply();
    expect([server.requestCount, count()]).toEqual([1, 0]);
    const before = await find(pid);
    await end();
    expect(await find(pid)).toMatchObject({
      state: "running",
      activity: "paused",
      tokens_used: before!.tokens_used,
    });
    expect([server.requestCount, count()]).toEqual([1, 0]);
    await world.crux(["cont", String(pid)]);
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect([server.requestCount, count()]).toEqual([2, 1]);
    expect(toolResults(1)).toEqual([expect.stringContaining("(no output)")]);
    expect(records("process.exited")).toMatchObject([{ code: 0, result: "Done." }]);
  });

  it("a tool that ends while the process is paused is not run again", async () => {
    await serve([bash(`${COUNTED}; until [ -e go ]; do sleep 0.02; done; echo over`), text("Done.")]);
    const pid = await start();
    await until(() => count() === 1);
    await world.crux(["pause", String(pid)]);
    writeFileSync(join(world.work, "go"), "");
    await until(() => records("ctx.record").some(({ role }) => role === "tool"));
    await end();
    expect(await find(pid)).toMatchObject({ state: "running", activity: "paused" });
    expect(server.requestCount).toBe(1);
    await world.crux(["cont", String(pid)]);
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect([server.requestCount, count()]).toEqual([2, 1]);
    expect(toolResults(1)).toEqual(["over\n"]);
  });

  it("what is sent to it while it is paused is read when it goes on, before its last word stands", async () => {
    const gate = Promise.withResolvers<void>();
    await serve([text("All done.").until(gate.promise, { afterEvents: 1 }), text("That too.")]);
    const pid = await start();
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["pause", String(pid)]);
    expect((await world.crux(["send", String(pid), "And", "the", "second", "file"])).code).toBe(0);
    gate.resolve();
    await keptReply();
    await end();
    await world.crux(["send", String(pid), "And the third."]);
    await world.crux(["cont", String(pid)]);
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect(server.requestCount).toBe(2);
    const { messages } = server.requests[1]!;
    expect(JSON.stringify(messages)).toMatch(/All done\..*And the second file.*And the third\./);
    const [first, second] = records("mail.put").map(({ seq }) => Number(seq));
    expect(second).toBeGreaterThan(first!);
  });
});

describe("kill -9 of the daemon", () => {
  it("in the middle of a paused process's tool: the outcome is unknown, and it is not run again", async () => {
    await serve([bash(`${COUNTED}; sleep 300`), text("Looked.")]);
    const pid = await start();
    await until(() => count() === 1);
    await world.crux(["pause", String(pid)]);
    await killDaemon();
    await world.crux(["cont", String(pid)]);
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect([server.requestCount, count()]).toEqual([2, 1]);
    expect(toolResults(1)).toEqual([
      expect.stringContaining("outcome unknown: the daemon stopped while it ran; check before repeating"),
    ]);
    expect(world.commands(/^sleep 300$/)).toEqual([]);
  });

  it("twice in a row, and a process that was not paused goes on by itself", async () => {
    const gate = Promise.withResolvers<void>();
    await serve([bash(COUNTED).until(gate.promise, { afterEvents: 2 }), text("Done.")]);
    const [paused, running] = [await start(), await start()];
    await server.waitFor(() => server.inFlight === 2);
    await world.crux(["pause", String(paused)]);
    await killDaemon();
    expect((await find(paused))?.activity).toBe("paused");
    await server.waitFor(() => server.requestCount === 3);
    await killDaemon();
    expect((await find(paused))?.activity).toBe("paused");
    await server.waitFor(() => server.requestCount === 4);
    expect(world.log()).toContain(`brought back: pid ${paused}, ${running}\n`);
    gate.resolve();
    await world.crux(["cont", String(paused)]);
    for (const pid of [paused, running]) expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect(count()).toBe(2);
    const next = await start();
    expect(next).toBe(running + 1);
  });

  it("a process that was told to go on is not held by its old pause", async () => {
    const gate = Promise.withResolvers<void>();
    await serve([text("Done.").until(gate.promise, { afterEvents: 1 })]);
    const pid = await start();
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["pause", String(pid)]);
    await world.crux(["cont", String(pid)]);
    await killDaemon();
    expect((await find(pid))?.activity).not.toBe("paused");
    gate.resolve();
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
  });
});

describe("a process that came back", () => {
  async function brought(...words: string[]): Promise<number> {
    const pid = await start(...words);
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["pause", String(pid)]);
    await killDaemon();
    return pid;
  }

  it("goes on with the keys of the terminal that says so; without them it stays paused", async () => {
    await serve([text("never").stall(), text("Done.")], false);
    const pid = await brought();
    await world.crux(["cont", String(pid)]);
    const held = await settled(
      () => world.crux(["logs", String(pid)]),
      ({ stdout }) => stdout.includes("paused again"),
    );
    expect(held.stdout).toContain(`; crux cont ${pid} resumes it`);
    expect(await find(pid)).toMatchObject({ state: "running", activity: "paused" });
    expect(server.requestCount).toBe(1);
    const retried = text("Done.");
    await server.close();
    await startModel({ script: retried });
    await world.crux(["cont", String(pid)], { env: modelEnv(server) });
    expect((await world.crux(["wait", String(pid)])).code).toBe(0);
    expect(server.requestCount).toBe(1);
  });

  it("can be ended, and leaves nothing", async () => {
    await serve([text("never").stall()]);
    const pid = await brought();
    await world.crux(["kill", String(pid)]);
    expect((await world.crux(["wait", String(pid)])).code).toBe(143);
    expect(await find(pid)).toBeUndefined();
    expect(readdirSync(join(world.dir, "state/crux/outputs"))).toEqual([]);
  });

  it("keeps its outputs", async () => {
    const long = "for i in $(seq 30000); do echo line $i; done";
    const gate = Promise.withResolvers<void>();
    await serve([bash(long), text("").until(gate.promise), text("Done.")]);
    const pid = await start();
    await server.waitFor(() => server.inFlight === 1 && server.requestCount === 2);
    await world.crux(["pause", String(pid)]);
    const outputs = () => {
      const dir = join(world.dir, "state/crux/outputs");
      return readdirSync(dir).flatMap((name) => readdirSync(join(dir, name)));
    };
    const kept = outputs();
    expect(kept).toHaveLength(1);
    await killDaemon();
    expect((await find(pid))?.activity).toBe("paused");
    expect(outputs()).toEqual(kept);
    gate.resolve();
    await world.crux(["kill", String(pid)]);
  });
});

it("crux daemon stop tells who follows a paused process that it rests, and ends nothing of it", async () => {
  ownWorld();
  const gate = Promise.withResolvers<void>();
  await serve([bash(COUNTED).until(gate.promise, { afterEvents: 2 }), text("Done.")]);
  const run = world.start(["--permission-mode", "bypass", "work"]);
  await run.seen(/spawning PID 1\.\.\.\n/);
  await server.waitFor(() => server.inFlight === 1);
  await world.crux(["pause", "1"]);
  gate.resolve();
  await keptReply();
  await using waiting = await Wire.open(world.socket);
  waiting.send('{"method":"process.wait","payload":{"pid":1}}\n');
  await stopDaemon();
  const { code, stderr } = await run.done;
  expect(code).toBe(1);
  expect(stderr).toContain("the daemon stopped; process 1 rests paused");
  expect(stderr).toContain("crux cont 1");
  expect(await waiting.next()).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  expect(records("process.exited")).toEqual([]);
  expect(readFileSync(join(world.dir, "state/crux/daemon.log"), "utf8")).not.toContain("error");
});
