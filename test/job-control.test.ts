/** What a person does with processes that run: pause, tree, groups, logs, wait, attach, send, top, mounts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { shellWord } from "../src/lib/shell-word.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { CRUX, type Running, settled, World } from "./harness/world.ts";
import { error, type Reply, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeTries(
  async () => {
    world = new World();
    world.write("a.txt", "one\ntwo\n");
    await world.crux(["ps"]);
  },
  () => world.close(),
);
afterEach(async () => {
  // each test ends what it started, and its second try finds nothing of the first: not even a zombie
  const { stdout } = await world.crux(["ps", "-q"]);
  const pids = stdout.split("\n").filter(Boolean);
  for (const pid of pids) await world.crux(["kill", "-s", "KILL", pid]);
  for (const pid of pids) await world.crux(["wait", pid]);
  await server.close();
});

const serve = async (script: ModelServerOptions["script"]): Promise<void> => {
  server = await startModelServer({ script });
};
const crux = (...args: string[]) => world.crux(args, { env: modelEnv(server, "anthropic") });
const start = (...args: string[]): Running => world.start(args, { env: modelEnv(server, "anthropic") });
const printed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await crux(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
};
const detach = async (intent: string): Promise<number> => Number(await printed("-q", "-d", intent));
async function pidOf(run: Running): Promise<number> {
  await run.seen(/spawning PID \d+\.\.\.\n/);
  return Number(/PID (\d+)/.exec(run.stdout())![1]);
}
interface Proc {
  readonly pid: number;
  readonly state: string;
  readonly activity: string | null;
}
async function find(pid: number): Promise<Proc | undefined> {
  const { stdout } = await world.crux(["ps", "--json", "-v"]);
  const { data } = JSON.parse(stdout) as { data: { processes: Proc[] } };
  return data.processes.find((proc) => proc.pid === pid);
}
const isPaused = (pid: number) =>
  settled(
    () => find(pid),
    (proc) => proc?.activity === "paused",
  );
async function connections(): Promise<number> {
  const { stdout } = await world.crux(["daemon", "status", "--json"]);
  return (JSON.parse(stdout) as { data: { connections: number } }).data.connections;
}
const view: Reply = toolUse({ name: "view", input: { file_path: "a.txt" } });
const masked = (screen: string) => screen.replace(/PID \d+|agent\/\d+|tokens: \d+|elapsed: \S+/g, "#");

describe("pause and cont", () => {
  it("hold a run inside a step: what was under way is kept, nothing begins, and it ends as if never held", async () => {
    await serve(inTurn(view, text("All done.")));
    const unpaused = await crux("read it");
    await server.close();

    const gate = Promise.withResolvers<void>();
    await serve(inTurn(view.until(gate.promise), text("All done.")));
    const run = start("read it");
    const pid = await pidOf(run);
    await server.waitFor(() => server.inFlight === 1);
    expect(await printed("pause", String(pid))).toBe(`[kernel] PID ${pid}: signal sent (SIGPAUSE)\n`);
    gate.resolve();
    await server.waitFor(() => server.inFlight === 0);
    expect(await isPaused(pid)).toMatchObject({ state: "running", activity: "paused" });
    // whatever the daemon does meanwhile, this one asks for nothing
    for (const command of ["ps", "tree", "top"]) await printed(command);
    expect(server.requests).toHaveLength(1);

    expect(await printed("cont", String(pid))).toBe(`[kernel] PID ${pid}: signal sent (SIGRESUME)\n`);
    const { code, stdout, stderr } = await run.done;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(masked(stdout)).toBe(masked(unpaused.stdout));
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]!.lastToolResults).toMatchObject([{ content: "one\ntwo\n", isError: false }]);
  });

  it("a process that has ended cannot be paused, and one that never was is not found", async () => {
    await serve(text("done"));
    const pid = await detach("quick");
    await settled(
      () => find(pid),
      (proc) => proc?.state === "zombie",
    );
    expect(await crux("pause", String(pid))).toMatchObject({
      code: 1,
      stderr: `✗ [CONFLICT] process ${pid} has ended\n  → hint: crux logs ${pid} shows what it did\n`,
    });
    expect((await crux("cont", "99999")).stderr).toBe(
      "✗ [NOT_FOUND] PID 0 Signal: process not found: 99999\n  → hint: crux ps lists the processes\n",
    );
  });
});

describe("trees and groups", () => {
  /** A project of two agents that wait for their model: a supervisor with two children. */
  async function project(): Promise<{ root: number; children: number[] }> {
    await serve(text("never").until(new Promise(() => {})));
    world.write(
      "crux.compose.yaml",
      "name: pair\nservices:\n  left: { intent: wait here }\n  right: { intent: wait there }\n",
    );
    await crux("compose", "up", "-d", "--trust");
    await server.waitFor(() => server.inFlight === 2);
    const { data } = JSON.parse(await printed("tree", "--json"));
    const root = data.processes.find((row: { name: string }) => row.name === "compose:pair").pid;
    const children = data.processes
      .filter((row: { ppid: number }) => row.ppid === root)
      .map((row: { pid: number }) => row.pid);
    return { root, children };
  }

  it("tree shows who started whom; pause, cont and kill --tree reach all below", async () => {
    const { root, children } = await project();
    expect(children).toHaveLength(2);
    const drawn = (await printed("tree", String(root), "--ascii")).split("\n").slice(2);
    expect(drawn[0]).toMatch(new RegExp(`^${root} compose:pair +supervisor +running`));
    expect(drawn[1]).toMatch(new RegExp(`^\\|- ${children[0]} .* agent +running/thinking `));
    expect(drawn[2]).toMatch(new RegExp(`^\`- ${children[1]} .* agent +running/thinking `));
    expect(await printed("tree", String(root), "-q")).toBe(`${[root, ...children].join("\n")}\n`);

    const line = (pid: number, name: string) => `[kernel] PID ${pid}: signal sent (${name})\n`;
    const all = [root, ...children];
    expect(await printed("pause", String(root), "--tree")).toBe(
      all.map((pid) => line(pid, "SIGPAUSE")).join(""),
    );
    for (const pid of children) expect((await isPaused(pid))?.activity).toBe("paused");
    expect(await printed("cont", String(root), "--tree")).toBe(
      all.map((pid) => line(pid, "SIGRESUME")).join(""),
    );
    expect(await printed("kill", String(root), "--tree")).toBe(
      all.map((pid) => line(pid, "SIGTERM")).join(""),
    );
    for (const pid of all) {
      const gone = await settled(
        () => find(pid),
        (proc) => proc?.state !== "running",
      );
      expect(gone?.state).not.toBe("running");
    }
    await server.waitFor(() => server.inFlight === 0);
  });

  it("a group is listed while it has members, and signalled as one", async () => {
    await serve(text("never").until(new Promise(() => {})));
    const env = { ...world.env, ...modelEnv(server, "anthropic") };
    await using wire = await Wire.open(world.socket);
    const pids: number[] = [];
    for (const intent of ["a", "b", "c"]) {
      const reply = await wire.ask("spawn", { intent, group: "authors", detach: true, env, cwd: world.work });
      pids.push(reply?.payload?.pid as number);
    }
    await server.waitFor(() => server.inFlight === 3);
    expect(await printed("groups")).toBe(`authors: ${pids.join(" ")}\n`);
    expect(await printed("signal", "authors", "term")).toBe(
      "[kernel] group authors: signal sent (SIGTERM) to 3 processes\n",
    );
    for (const pid of pids) expect((await crux("wait", String(pid))).code).toBe(143);
    expect(await printed("groups")).toBe("No groups.\n");
    const missing = await crux("signal", "authors", "term");
    expect([missing.code, missing.stderr.startsWith("✗ [NOT_FOUND] ")]).toEqual([1, true]);
    await server.waitFor(() => server.inFlight === 0);
  });
});

describe("wait and logs", () => {
  it("wait ends as the process did, once; then its log is what is left", async () => {
    const gate = Promise.withResolvers<void>();
    await serve([
      { when: { lastUserText: "fail" }, reply: error(400, "no") },
      { when: { lastUserText: "hang" }, reply: text("never").until(new Promise(() => {})) },
      { default: text("done").until(gate.promise) },
    ]);
    const pid = await detach("quick");
    const waiting = start("wait", String(pid));
    const quiet = start("wait", String(pid), "-q");
    // both are there, beside the one that asks
    await settled(connections, (count) => count === 3);
    gate.resolve();
    const { code, stdout } = await waiting.done;
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^\\[kernel\\] PID ${pid} exited\\(0\\) \\| tokens: \\d+ \\| elapsed: \\d+\\.\\ds\\n$`),
    );
    expect(await quiet.done).toMatchObject({ code: 0, stdout: "" });

    const failed = await crux("wait", String(await detach("fail")), "--json");
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({ ok: true, data: { exit_code: 1 } });
    const hanging = await detach("hang");
    await printed("kill", String(hanging));
    expect((await crux("wait", String(hanging))).code).toBe(143);

    expect(await find(pid)).toBeUndefined();
    // whoever asks later gets the same end, also when another has seen it
    const again = async (of: number) => {
      const { code, stdout, stderr } = await crux("wait", String(of), "--json");
      return [code, stderr, JSON.parse(stdout).data];
    };
    expect(await again(pid)).toEqual([0, "", { pid, exit_code: 0, reason: "completed" }]);
    expect(await again(hanging)).toEqual([
      143,
      "",
      { pid: hanging, exit_code: 143, reason: "killed: SIGTERM" },
    ]);
    const attached = await detach("fail");
    await crux("attach", String(attached));
    expect((await again(attached))[0]).toBe(1);
    expect((await crux("wait", "99999")).stderr).toMatch(/^✗ \[NOT_FOUND\] .*process not found: 99999\n/);
    expect(await printed("logs", String(pid))).toBe(
      `[agent/${pid}] reasoning step 1...\n[agent/${pid}] result: done\n`,
    );
  });

  it("logs -f goes on to the end, and later gives the same from the journal", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(inTurn(view, text("All done.").until(gate.promise)));
    const pid = await detach("read it");
    const followed = start("logs", String(pid), "-f");
    await followed.seen("reasoning step 2...");
    gate.resolve();
    const { code, stdout } = await followed.done;
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(`[agent/${pid}] reasoning step 1...`);
    expect(lines.some((line) => line.startsWith(`[agent/${pid}] tool /bin/view `))).toBe(true);
    expect(lines.at(-1)).toBe(`[agent/${pid}] result: All done.`);
    await crux("wait", String(pid));
    expect(await printed("logs", String(pid))).toBe(stdout);
    expect(await printed("logs", String(pid), "--tail", "1")).toBe(`${lines.at(-1)}\n`);
    expect((await crux("logs", "99999")).stderr).toMatch(/^✗ \[NOT_FOUND\] .*process not found: 99999\n/);
  });
});

describe("attach and send", () => {
  it("attach follows from now on as events, to the end and with its exit code", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(inTurn(view.until(gate.promise), text("All done.")));
    const pid = await detach("read it");
    await server.waitFor(() => server.inFlight === 1);
    const attached = start("attach", String(pid));
    const second = start("attach", String(pid), "-v");
    await attached.seen('"attached"');
    await second.seen("[attach] attached to PID");
    gate.resolve();
    const { code, stdout } = await attached.done;
    expect(code).toBe(0);
    const events = stdout.trimEnd().split("\n");
    expect(JSON.parse(events.at(-1)!)).toMatchObject({ event: "complete", pid, result: "All done." });
    expect(events.map((line) => JSON.parse(line).event)).toContain("tool");
    expect((await second.done).stdout).toContain("\n  All done.\n");
  });

  it("leaving it leaves the process running", async () => {
    await serve(text("never").until(new Promise(() => {})));
    const pid = await detach("hang");
    await server.waitFor(() => server.inFlight === 1);
    const attached = start("attach", String(pid), "-v");
    await attached.seen("[attach] attached to PID");
    attached.child.kill("SIGINT");
    const { code, stdout } = await attached.done;
    expect(code).toBe(0);
    expect(stdout).toBe(
      `[attach] attached to PID ${pid} (state: running/thinking)\n[attach] detached from PID ${pid} (process continues)\n`,
    );
    expect((await find(pid))?.state).toBe("running");
  });

  it("attach to one that has ended shows its result, once; it is in its log for good", async () => {
    await serve([{ default: text("All done.") }]);
    const pid = await detach("quick");
    await settled(
      () => find(pid),
      (row) => row?.state === "zombie",
    );
    const { code, stdout } = await crux("attach", String(pid), "-v");
    expect(code).toBe(0);
    expect(stdout).toContain("  All done.\n");
    expect((await crux("attach", String(pid))).stderr).toContain(
      `[NOT_FOUND] process ${pid} has ended\n  → hint: crux logs ${pid} shows what it did`,
    );
    expect(await printed("logs", String(pid), "-n", "1")).toBe(`[agent/${pid}] result: All done.\n`);
  });

  it("attach to a program shows its output and ends as it does; logs have it byte for byte", async () => {
    await serve(text("never"));
    world.write("go", "");
    world.write(
      "crux.compose.yaml",
      "name: tool\nservices:\n  tool: { command: [sh, -c, \"printf '\\\\033[31mred\\\\n'; while [ -e go ]; do sleep 0.05; done; exit 7\"] }\n",
    );
    await crux("compose", "up", "-d", "--trust");
    const { data } = JSON.parse(await printed("tree", "--json"));
    const pid = data.processes.find((row: { kind: string }) => row.kind === "native").pid as number;
    const attached = start("attach", String(pid), "-v");
    await attached.seen("red\n");
    unlinkSync(join(world.work, "go"));
    const { code, stdout } = await attached.done;
    expect(code).toBe(7);
    expect(stdout).toContain(`[attach] attached to PID ${pid} (state: running)\n\x1b[31mred\n`);
    expect(stdout).toMatch(new RegExp(`\\n\\[kernel\\] PID ${pid} exited\\(7\\) \\| `));
    expect(await printed("logs", String(pid))).toBe("\x1b[31mred\n");
  });

  it("a message is read before the next step", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(inTurn(view.until(gate.promise), text("Understood.")));
    const pid = await detach("read it");
    await server.waitFor(() => server.inFlight === 1);
    expect(await printed("send", String(pid), "use", "tabs,", "please")).toBe(
      `[kernel] PID ${pid}: message sent (16 bytes)\n`,
    );
    gate.resolve();
    expect((await crux("wait", String(pid))).code).toBe(0);
    expect(server.requests[1]!.lastUserText).toContain("use tabs, please");
    expect((await crux("send", String(pid), "too late")).stderr).toMatch(/^✗ \[NOT_FOUND\] /);
  });
});

describe("top", () => {
  it("--once --json is one object with what runs and what it costs", async () => {
    await serve(text("never").until(new Promise(() => {})));
    const pid = await detach("hang");
    await server.waitFor(() => server.inFlight === 1);
    const { ok, data } = JSON.parse(await printed("top", "--once", "--json"));
    expect(ok).toBe(true);
    expect(data.metrics.rss_bytes).toBeGreaterThan(10 * 1024 * 1024);
    expect(Object.keys(data.metrics)).toEqual(
      expect.arrayContaining(["heap_bytes", "loop_lag_ms", "os_children", "timers", "uptime_ms"]),
    );
    expect(data.processes.find((row: { pid: number }) => row.pid === pid)).toMatchObject({
      pid,
      kind: "agent",
      state: "running",
      activity: "thinking",
      children: 0,
      intent: "hang",
    });
  });
});

const terminals = new Set<Terminal>();

/** A command on a terminal of its own, of util-linux's `script`. */
class Terminal {
  readonly child: ChildProcess;
  readonly done: Promise<number | null>;
  text = "";
  #look: () => void = () => {};

  constructor(command: string) {
    terminals.add(this);
    const line = `stty cols 100 rows 30; exec ${command}`;
    this.child = spawn("script", ["-qfec", line, "/dev/null"], {
      cwd: world.work,
      env: { ...world.env, TERM: "xterm", CRUX },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.child.stdout!.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("utf8");
      this.#look();
    });
    this.done = once(this.child, "close").then(([code]) => {
      terminals.delete(this);
      this.#look();
      return code as number | null;
    });
  }

  type(keys: string): void {
    this.child.stdin!.write(keys);
  }

  shows(wanted: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#look = () => {
        if (this.text.includes(wanted)) resolve();
        else if (this.child.exitCode !== null) reject(new Error(`ended without ${wanted}: ${this.text}`));
      };
      this.#look();
    });
  }
}

describe.skipIf(!existsSync("/usr/bin/script"))("on a terminal", () => {
  afterEach(async () => {
    for (const { child, done } of [...terminals]) {
      child.kill("SIGKILL");
      await done;
    }
  });

  const LEAVE = "\x1b[?25h\x1b[?1049l";

  it("top takes all of it, acts on keys, and gives it back", async () => {
    await serve(text("never").until(new Promise(() => {})));
    const pid = await detach("this one alone");
    const top = new Terminal(`${shellWord(CRUX)} top --sort pid -d 60`);
    await top.shows("k signal");
    expect(top.text).toContain("\x1b[?1049h\x1b[?25l");
    top.type("/one alone\r");
    await top.shows("/one alone |");
    top.type("\x1b[B");
    top.type("p");
    await top.shows(`PID ${pid}: signal sent (SIGPAUSE)`);
    expect((await isPaused(pid))?.activity).toBe("paused");
    top.type("q");
    expect(await top.done).toBe(0);
    expect(top.text.endsWith(LEAVE)).toBe(true);
  });

  it("top that a signal ends gives it back first", async () => {
    await serve(text("never"));
    const top = new Terminal(`sh -c 'echo pid $$; exec "$CRUX" top'`);
    await top.shows("k signal");
    process.kill(Number(/pid (\d+)/.exec(top.text)![1]), "SIGTERM");
    expect(await top.done).toBe(143);
    expect(top.text).toContain(LEAVE);
  });

  it("Ctrl-] leaves attach; the process goes on", async () => {
    await serve(text("never").until(new Promise(() => {})));
    const pid = await detach("hang");
    const attached = new Terminal(`${shellWord(CRUX)} attach ${pid}`);
    await attached.shows("attached to PID");
    attached.type("\x1d");
    expect(await attached.done).toBe(0);
    expect(attached.text).toContain(`[attach] detached from PID ${pid} (process continues)`);
    expect((await find(pid))?.state).toBe("running");
  });
});

it("mount, mcp list and umount, with a real server", async () => {
  await serve(text("never"));
  const memory = fileURLToPath(
    new URL("../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url),
  );
  const mounted = await crux("mount", "notes", "--", process.execPath, memory);
  expect(mounted).toMatchObject({ code: 0, stderr: "" });
  expect(mounted.stdout).toMatch(/^\[kernel\] \/mnt\/mcp\/notes: mounted \((?:connected|pending)\)\n$/);
  const listed = await settled(
    () => printed("mcp", "list"),
    (table) => / connected +\d+ /.test(table),
  );
  expect(listed).toMatch(/\n\/mnt\/mcp\/notes +0 +connected +\d+ +\d+ +stdio: /);
  expect((await crux("mount", "notes", "--", process.execPath, memory)).stderr).toMatch(/^✗ \[CONFLICT\] /);
  expect(await printed("umount", "notes")).toBe("[kernel] /mnt/mcp/notes: unmounted\n");
  expect(await printed("mcp", "list")).toBe("No MCP servers are mounted.\n");
  expect((await crux("umount", "notes")).stderr).toMatch(/^✗ \[NOT_FOUND\] /);
});
