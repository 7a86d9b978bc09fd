/** What befalls a daemon from outside: killed at any moment, its files damaged or taken away, stopped by many at once. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SIGNALS } from "../src/abi/process.ts";
import { chainHash, genesis } from "../src/store/journal/chain.ts";
import { modelEnv as envOf, inTurn } from "./harness/model.ts";
import { type Reply, Wire } from "./harness/wire.ts";
import { type Run, settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeEach(async () => {
  world = new World();
  const write = toolUse({ name: "write", input: { file_path: "f.txt", content: "x\n".repeat(200_000) } });
  const bash = toolUse({ name: "bash", input: { command: "(setsid sleep 300 &); sleep 0.05" } });
  server = await startModelServer({
    script: [
      { when: { lastUserText: "hang" }, reply: text("This begins and then").stall({ afterEvents: 2 }) },
      { default: inTurn(write, bash, text("Done.")) },
    ],
    keepRequests: 1,
  });
});
afterEach(async () => {
  await server.close();
  await world.close();
});

/** The model takes any conversation: its answers follow from how many steps it is shown. */
const modelEnv = (of: ModelServer) => ({ ...envOf(of), CRUX_MAX_CONTEXT_TOKENS: "10000000" });
const stateDir = (...names: string[]): string => join(world.dir, "state/crux", ...names);
const gone = (pid: number): Promise<boolean> =>
  settled(
    () => !existsSync(`/proc/${pid}/exe`),
    (left) => left,
  );
const hanging = async () => {
  const run = world.start(["hang"], { env: modelEnv(server) });
  await server.waitFor(() => server.requestCount > 0);
  return run;
};

/** Numbers that look random and are the same each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** Spawns one run after the other until the daemon is no more; the pids it was told. */
async function spawnUntilKilled(folder: string): Promise<number[]> {
  const pids: number[] = [];
  const cwd = join(world.work, folder);
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: world.env.PATH, HOME: world.env.HOME, ...modelEnv(server) };
  const request = { intent: "work", cwd, permission_mode: "bypass", env };
  for (;;) {
    try {
      await using wire = await Wire.open(world.socket);
      const reply = await wire.ask("spawn", request);
      if (reply?.ok !== true) return pids;
      pids.push((reply.payload as { pid: number }).pid);
      await wire.rest();
    } catch {
      return pids;
    }
  }
}

interface Listed {
  readonly pid: number;
  readonly state: string;
  readonly held?: string;
}

/**
 * What the last daemon left goes on in the next, to its end: up to six runs, of 400 KB in each model call. One whose spawn was on
 * the disk, and its answer not on its way, waits for a person: nobody was `told` of it.
 */
async function restOver(told: readonly number[]): Promise<void> {
  // the model is found with the environment of who starts the daemon
  const ps = () => world.crux(["ps"], { env: modelEnv(server) });
  expect(await ps()).toMatchObject({ code: 0, stderr: "" });
  {
    await using wire = await Wire.open(world.socket);
    const active = async () => {
      const { processes } = (await wire.ask("process.list"))!.payload as { processes: Listed[] };
      return processes.filter(({ state }) => state === "created" || state === "running");
    };
    for (const { pid } of (await active()).filter(({ held }) => held === "crash")) {
      expect(told).not.toContain(pid);
      await wire.ask("process.signal", { pid, signal: SIGNALS.SIGRESUME, env: modelEnv(server) });
    }
    expect(await settled(active, ({ length }) => length === 0, 120_000)).toEqual([]);
  }
  const { code, stdout, stderr } = await ps();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^No active processes\.\n|\n0 active, /);
}

const KILLS = 6;

it("kill -9 at any moment of busy runs: what was acknowledged is in the journal, and nothing else is left", {
  timeout: 180_000 + KILLS * 60_000,
}, async () => {
  const roll = dice(7);
  const told: number[] = [];
  for (let round = 0; round < KILLS; round++) {
    await restOver(told);
    const own = await world.left(1);
    expect(own).toEqual([world.daemonPid]);
    const lanes = ["a", "b", "c", "d", "e", "f"].map(spawnUntilKilled);
    await new Promise((resolve) => setTimeout(resolve, roll() * 700));
    const pid = world.daemonPid!;
    process.kill(pid, "SIGKILL");
    expect(await gone(pid)).toBe(true);
    const pids = (await Promise.all(lanes)).flat().sort((a, b) => a - b);
    expect(pids[0] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(told.at(-1) ?? 0);
    told.push(...pids);
  }
  await restOver(told);
  for (const folder of readdirSync(world.work))
    expect(readdirSync(join(world.work, folder)).filter((name) => name !== "f.txt")).toEqual([]);
  expect(readdirSync(stateDir("journal")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  await world.crux(["daemon", "stop"]);
  expectWholeJournal(told);
});

function expectWholeJournal(told: readonly number[]): void {
  using db = new DatabaseSync(stateDir("journal/journal.db"), { readOnly: true });
  const column = (sql: string): number[] =>
    db
      .prepare(sql)
      .all()
      .map(({ n }) => Number(n));
  expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  const spawned = new Set(column("SELECT pid AS n FROM records WHERE kind = 'process.spawned'"));
  expect(told.length).toBeGreaterThan(0);
  expect(told.filter((pid) => !spawned.has(pid))).toEqual([]);
  expect(
    column("SELECT pid AS n FROM records WHERE pid > 0 GROUP BY pid HAVING count(DISTINCT proc) > 1"),
  ).toEqual([]);
  expect(
    column(
      "SELECT count(*) AS n FROM open_calls UNION ALL SELECT count(*) FROM (SELECT 1 FROM processes WHERE spawned_lsn IS NOT NULL AND exit_code IS NULL)",
    ),
  ).toEqual([0, 0]);
  const ends = "('call.result', 'call.unknown')";
  const twice = `SELECT lsn AS n FROM records WHERE kind IN ${ends} GROUP BY proc, call HAVING count(*) > 1`;
  expect(column(twice)).toEqual([]);
  const exits =
    "SELECT lsn AS n FROM records WHERE kind = 'process.exited' GROUP BY proc HAVING count(*) > 1";
  expect(column(exits)).toEqual([]);
}

it("a damaged journal is named at once by every command that needs it, and left as it is", async () => {
  mkdirSync(stateDir("journal"), { recursive: true, mode: 0o700 });
  const path = stateDir("journal/journal.db");
  writeFileSync(path, "no journal\n".repeat(500));
  for (const args of [["ps"], ["hello"], ["daemon", "start"]]) {
    const { code, stdout, stderr } = await world.crux(args);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^✗ \[UNAVAILABLE\] daemon could not be started: .*journal_damaged: (\S+): file is not a database\n$/,
    );
    expect(stderr).toContain(path);
  }
  expect(world.log().trimEnd().split("\n"), world.log()).toHaveLength(3);
  expect(readFileSync(path, "utf8")).toBe("no journal\n".repeat(500));
  expect(await world.left(0)).toEqual([]);
});

it("what cannot be cleared away after a kill -9 does not keep the next daemon from starting", async () => {
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  expect((await world.crux(["daemon", "stop"])).code).toBe(0);
  const path = join(world.work, "f.txt");
  // as half a write, but no file: it cannot be removed as one
  mkdirSync(join(world.work, ".f.txt.crux-0a1b2c"));
  leaveOpenWrite(path);
  expect(await world.crux(["ps"])).toMatchObject({ code: 0, stdout: "No active processes.\n", stderr: "" });
  expect(world.log()).toContain(`left beside ${path} by the last daemon: `);
  expect((await world.crux(["daemon", "stop"])).code).toBe(0);
  using db = new DatabaseSync(stateDir("journal/journal.db"), { readOnly: true });
  expect(db.prepare("SELECT * FROM open_calls").all()).toEqual([]);
});

/** A journal as a daemon leaves it that is killed in the middle of a write: that record is its last, and was not answered. */
function leaveOpenWrite(path: string): void {
  const dir = stateDir("journal");
  using db = new DatabaseSync(join(dir, "journal.db"));
  const { lsn } = db.prepare("SELECT max(lsn) + 1 AS lsn FROM records").get() as { lsn: number };
  const { value: kernelId } = db.prepare("SELECT value FROM meta WHERE key = 'kernel_id'").get()!;
  const body = JSON.stringify({ tool: "write", effects: [{ kind: "write", path, real: path }] });
  const record = { lsn, proc: "p", pid: 7, seq: 1, epoch: 1, kind: "call.intent", v: 1, call: "c_1" };
  const stored = { ...record, at: 0, mono: 0, body };
  const hash = chainHash(genesis(String(kernelId), "p"), stored);
  insert(db, "records", { ...stored, hash });
  const nothing = {
    ppid: 0,
    kind: "",
    name: "",
    intent: "",
    cwd: "",
    title: "",
    is_session: 0,
    is_paused: 0,
    is_kept: 0,
  };
  const counts = { created_at: 0, last_at: 0, ran_ms: 0, tokens_used: 0, limit_used: 0, turns: 0 };
  const tail = { last_seq: 1, last_lsn: lsn, last_hash: hash };
  insert(db, "processes", { proc: "p", pid: 7, ...nothing, ...counts, ...tail });
  db.prepare("INSERT INTO open_calls (proc, call, lsn) VALUES ('p', 'c_1', ?)").run(lsn);
}

function insert(db: DatabaseSync, table: string, row: Record<string, SQLInputValue>): void {
  const places = Object.keys(row).map(() => "?");
  db.prepare(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${places})`).run(...Object.values(row));
}

it("a daemon whose journal was removed acknowledges nothing more and ends; the next command has a new one", async () => {
  const detach = () => world.crux(["-q", "-d", "hang"], { env: modelEnv(server) });
  expect(await detach()).toMatchObject({ code: 0, stdout: "1\n" });
  const pid = world.daemonPid!;
  rmSync(stateDir("journal"), { recursive: true });
  const { code, stdout, stderr } = await detach();
  // it may have noticed before it was asked; then it was not the one who answered
  if (code === 0) expect(world.daemonPid).not.toBe(pid);
  else {
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^✗ \[UNAVAILABLE\] .*journal_removed: /);
  }
  expect(await gone(pid)).toBe(true);
  expect(world.log()).toMatch(/ error stopping: journal_removed: /);
  expect((await detach()).code).toBe(0);
});

it("a daemon whose socket was removed is not taken for none, and --force ends it and its processes", async () => {
  const run = await hanging();
  const pid = world.daemonPid!;
  rmSync(join(world.dir, "run/crux"), { recursive: true });
  expect(await world.crux(["daemon", "stop"])).toMatchObject({
    code: 1,
    stderr: `✗ [UNAVAILABLE] daemon (PID ${pid}) does not answer\n  → hint: crux daemon restart --force\n`,
  });
  expect(await world.crux(["daemon", "stop", "--force"])).toMatchObject({
    code: 0,
    stdout: "[daemon] stopped\n",
  });
  expect((await run.done).code).toBe(143);
  expect(await gone(pid)).toBe(true);
  expect(await world.crux(["ps"])).toMatchObject({ code: 0, stdout: "No active processes.\n" });
});

it("many that stop it at once all hear that it has stopped, and who starts the next is served", async () => {
  const run = await hanging();
  const stops = Array.from({ length: 6 }, () => world.crux(["daemon", "stop"]));
  const said = (runs: readonly Run[]) =>
    new Set(runs.map(({ code, stdout, stderr }) => code + stdout + stderr));
  expect([...said(await Promise.all(stops))].sort()).toSatisfy((lines: string[]) =>
    lines.every((line) => line === "0[daemon] stopped\n" || line === "0[daemon] not running\n"),
  );
  expect((await run.done).code).toBe(143);
  expect((await world.crux(["ps"])).code).toBe(0);
});

it("a time limit beyond what a timer takes costs nothing while it runs", async () => {
  await world.crux(["ps"]);
  await using wire = await Wire.open(world.socket);
  const env = modelEnv(server);
  const reply = await wire.ask("spawn", { intent: "hang", timeout_ms: 2 ** 40, cwd: world.work, env });
  expect(reply).toMatchObject({ ok: true });
  await server.waitFor(() => server.requestCount > 0);
  expect(world.log()).not.toContain("TimeoutOverflowWarning");
});

it("300 connections at once: 256 are served, the others told why, and all is well afterwards", async () => {
  await world.crux(["ps"]);
  const wires = await Promise.all(Array.from({ length: 300 }, () => Wire.open(world.socket)));
  const replies = await Promise.all(wires.map((wire) => wire.ask("ping")));
  const refused = replies.filter((reply: Reply | undefined) => reply?.ok !== true);
  expect(refused).toHaveLength(44);
  for (const { error } of refused as Reply[])
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: "too many connections (256)" });
  await Promise.all(wires.map((wire) => wire.close()));
  expect((await world.crux(["ps"])).code).toBe(0);
});

it("a process whose client has gone and that would ask is refused after a while, and ends", async () => {
  world.settings({ permissions: { detachedTimeoutSeconds: 1 } });
  await world.crux(["ps"]);
  const env = { PATH: world.env.PATH, HOME: world.env.HOME, ...modelEnv(server) };
  const wire = await Wire.open(world.socket);
  await wire.ask("spawn", { intent: "work", interactive: true, cwd: world.work, env });
  let line = await wire.next();
  while (line !== undefined && line.payload?.event !== "ask") line = await wire.next();
  expect(line).toBeDefined();
  await wire.close();
  await using other = await Wire.open(world.socket);
  const end = await other.ask("process.wait", { pid: 1, timeout_ms: 10_000 });
  expect(end).toMatchObject({ ok: true, payload: { exit_code: 0 } });
  expect(existsSync(join(world.work, "f.txt"))).toBe(false);
});

it.each(["uncaught exception, exit", "unhandled rejection"])(
  "no world closes whose daemon has logged: %s",
  async (what) => {
    const other = new World();
    mkdirSync(join(other.dir, "state/crux"), { recursive: true });
    const lines = ["info started", `error ${what}: Error: boom`, "info stopped"];
    const log = lines.map((line) => `2026-01-01T00:00:00.000Z ${line}\n`).join("");
    writeFileSync(join(other.dir, "state/crux/daemon.log"), log);
    await expect(other.close()).rejects.toThrow(`${what}: Error: boom`);
    expect(existsSync(other.dir)).toBe(false);
  },
);
