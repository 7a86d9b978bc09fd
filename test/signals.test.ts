/** Signals: to the command by its terminal, to a process by `crux kill`; and commands whose terminal or pipe goes away. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { CRUX, type Running, settled, World } from "./harness/world.ts";
import { type Reply, stall, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeTries(
  async () => {
    world = new World();
    await world.crux(["ps"]);
  },
  () => world.close(),
);
afterEach(async () => {
  await server.close();
  // each test ends what it started, and nobody holds what is left
  const { stdout } = await world.crux(["ps", "-q"]);
  for (const pid of stdout.split("\n").filter(Boolean)) await world.crux(["kill", "-s", "KILL", pid]);
});

const serve = async (...answers: Reply[]) => {
  server = await startModelServer({ script: inTurn(...answers) });
};
const start = (...args: string[]): Running =>
  world.start(["--permission-mode", "bypass", "work", ...args], { env: modelEnv(server) });
const bash = (command: string): Reply => toolUse({ name: "bash", input: { command } });

interface Proc {
  readonly pid: number;
  readonly state: string;
  readonly activity: string | null;
}
async function processes(): Promise<Proc[]> {
  const { stdout } = await world.crux(["ps", "--json", "-v"]);
  return (JSON.parse(stdout) as { data: { processes: Proc[] } }).data.processes;
}
/** The pid that a run has told on its first line. */
async function pidOf(run: Running): Promise<number> {
  await run.seen(/spawning PID \d+\.\.\.\n/);
  return Number(/PID (\d+)/.exec(run.stdout())![1]);
}
const find = async (pid: number) => (await processes()).find((proc) => proc.pid === pid);
const isGone = (pid: number) =>
  settled(
    () => find(pid),
    (proc) => proc?.state !== "running",
  );
const sleepers = (count: number) =>
  settled(
    () => world.commands(/^sleep 300$/).length,
    (found) => found === count,
  );

describe("Ctrl-C", () => {
  it("once sends SIGINT: the process ends, and the command says so with 130", async () => {
    await serve(stall());
    const run = start();
    const pid = await pidOf(run);
    await server.waitFor(() => server.inFlight === 1);
    run.child.kill("SIGINT");
    const { code, stdout, stderr } = await run.done;
    expect(code).toBe(130);
    expect(stderr).toContain(`[kernel] PID ${pid}: signal sent (SIGINT)\n`);
    expect(stdout).toMatch(
      new RegExp(`\\[kernel\\] PID ${pid} exited\\(130\\) \\| tokens: \\d+ \\| elapsed: \\d+\\.\\ds\\n$`),
    );
    await server.waitFor(() => server.inFlight === 0 && server.openSockets === 0);
    expect(await find(pid)).toBeUndefined();
  });

  it("twice sends SIGKILL to a process that takes its time, and leaves with 130", async () => {
    await serve(bash("trap '' INT TERM HUP; while :; do sleep 300; done"), text("never"));
    const run = start();
    const pid = await pidOf(run);
    expect(await sleepers(1)).toBe(1);
    run.child.kill("SIGINT");
    await run.seen("(SIGINT)", "stderr");
    run.child.kill("SIGINT");
    const { code, stderr } = await run.done;
    expect(code).toBe(130);
    expect(stderr).toContain(`[kernel] PID ${pid}: signal sent (SIGKILL)\n`);
    expect((await isGone(pid))?.state).not.toBe("running");
    expect(await sleepers(0)).toBe(0);
  });

  it("on astrace only detaches; the process goes on", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(text("Finished.").until(gate.promise));
    const run = start();
    const pid = await pidOf(run);
    const trace = world.start(["astrace", String(pid)]);
    await trace.seen("Open(");
    trace.child.kill("SIGINT");
    const { code, stdout, stderr } = await trace.done;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(new RegExp(`\\n\\[astrace\\] detached from PID ${pid} \\(interrupted\\)\\n$`));
    expect((await find(pid))?.state).toBe("running");
    gate.resolve();
    expect((await run.done).stdout).toContain("\n  Finished.\n");
  });
});

it.each(["SIGKILL", "SIGHUP", "SIGTERM"] as const)(
  "a client that %s takes away leaves its process running",
  async (signal) => {
    const gate = Promise.withResolvers<void>();
    await serve(
      toolUse({ name: "write", input: { file_path: `${signal}.txt`, content: "alone\n" } }).until(
        gate.promise,
      ),
      text("ok"),
    );
    const run = start();
    const pid = await pidOf(run);
    await server.waitFor(() => server.inFlight === 1);
    run.child.kill(signal);
    await run.done;
    expect((await find(pid))?.state).toBe("running");
    gate.resolve();
    await server.waitFor(() => server.requestCount === 2 && server.inFlight === 0);
    expect(world.file(`${signal}.txt`)).toBe("alone\n");
    expect((await isGone(pid))?.state).not.toBe("running");
  },
);

describe("crux kill", () => {
  it("ends the OS processes of a command under way, wherever they went", async () => {
    await serve(
      bash("sleep 300 & setsid sleep 300 & (setsid -f sleep 300); sleep 300; touch late"),
      text("never"),
    );
    const run = start();
    const pid = await pidOf(run);
    expect(await sleepers(4)).toBe(4);
    expect((await world.crux(["kill", String(pid)])).code).toBe(0);
    const { code, stdout } = await run.done;
    expect(code).toBe(143);
    expect(stdout).toContain(`[kernel] PID ${pid} exited(143) |`);
    expect(await sleepers(0)).toBe(0);
    expect(existsSync(join(world.work, "late"))).toBe(false);
    expect(await world.left(1)).toEqual([world.daemonPid]);
  });

  const stubborn = () => serve(bash("trap '' INT TERM HUP; while :; do sleep 300; done"), text("never"));

  it("-s KILL ends one that ignores signals, and in the end its OS processes", async () => {
    await stubborn();
    const run = start();
    const pid = await pidOf(run);
    expect(await sleepers(1)).toBe(1);
    await world.crux(["kill", "-s", "KILL", String(pid)]);
    expect((await run.done).code).toBe(137);
    expect(await sleepers(0)).toBe(0);
    expect(await world.left(1)).toEqual([world.daemonPid]);
  });

  it("-s KILL kills its OS processes at once, with no time to do what they were asked politely", async () => {
    await serve(
      bash("trap 'sleep 1; echo >told' INT TERM HUP; while :; do sleep 300 & wait; done"),
      text("never"),
    );
    const run = start();
    const pid = await pidOf(run);
    expect(await sleepers(1)).toBe(1);
    await world.crux(["kill", "-s", "KILL", String(pid)]);
    await run.done;
    expect(await world.left(1)).toEqual([world.daemonPid]);
    expect(existsSync(join(world.work, "told"))).toBe(false);
  });

  it("while a model call hangs ends the process, and the server sees its socket closed", async () => {
    await serve(text("This begins and then").stall({ afterEvents: 3 }));
    const run = start();
    const pid = await pidOf(run);
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["kill", String(pid)]);
    expect((await run.done).code).toBe(143);
    await server.waitFor(() => server.aborted.length === 1 && server.openSockets === 0);
  });

  it("-s PAUSE holds a process at its next step, and RESUME lets it go on", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(toolUse({ name: "ls" }).until(gate.promise), text("Went on."));
    const run = start();
    const pid = await pidOf(run);
    await server.waitFor(() => server.inFlight === 1);
    await world.crux(["kill", "-s", "pause", String(pid)]);
    gate.resolve();
    const paused = await settled(
      () => find(pid),
      (proc) => proc?.activity === "paused",
    );
    expect(paused).toMatchObject({ state: "running", activity: "paused" });
    await server.waitFor(() => server.inFlight === 0);
    expect(server.requestCount).toBe(1);
    await world.crux(["kill", "-s", "SIGRESUME", String(pid)]);
    expect(await run.done).toMatchObject({ code: 0, stdout: expect.stringContaining("\n  Went on.\n") });
  });
});

describe("a closed stdout", () => {
  /** The exit code of crux at the head of a pipe. */
  async function piped(args: string, reader: string): Promise<{ code: number; stderr: string }> {
    const script = `"$0" ${args} | ${reader}; exit \${PIPESTATUS[0]}`;
    const env = { ...world.env, ...modelEnv(server) };
    const child = spawn("bash", ["-c", script, CRUX], {
      cwd: world.work,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const chunks: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, "close")) as [number];
    return { code, stderr: Buffer.concat(chunks).toString("utf8") };
  }

  it.each(["ps", "ps --json", "version", "version -q", "help", "daemon status"])(
    "ends crux %s with 141, without a word",
    async (args) => {
      await serve(text("never"));
      expect(await piped(args, "true")).toEqual({ code: 141, stderr: "" });
    },
  );

  it("ends what follows a process while that says nothing", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(text("Late.").until(gate.promise));
    const { stdout } = await world.crux(["-d", "-q", "be quiet"], { env: modelEnv(server) });
    await server.waitFor(() => server.inFlight === 1);
    for (const follow of ["attach", "logs -f", "journal -f", "astrace"])
      expect(await piped(`${follow} ${stdout.trim()}`, "(read -r line)")).toEqual({ code: 141, stderr: "" });
    // the attempt was not given up meanwhile, which would have been said
    expect(server.aborted).toEqual([]);
    gate.resolve();
  });

  it("in the middle of a run ends the command with 141, and the process goes on", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(toolUse({ name: "ls" }).until(gate.promise), text("Alone."));
    const gone = join(world.work, "gone");
    const ended = piped("-v -- work", `(read -r line; exec <&-; echo >'${gone}')`);
    await server.waitFor(() => server.inFlight === 1);
    await settled(() => existsSync(gone), Boolean);
    gate.resolve();
    expect(await ended).toEqual({ code: 141, stderr: "" });
    await server.waitFor(() => server.requestCount === 2 && server.inFlight === 0);
  });
});
