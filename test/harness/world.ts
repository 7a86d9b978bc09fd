/**
 * A world of its own for one system test: home, runtime, state and work folders in a temp directory, no model configured,
 * the built `bin/crux` on real sockets and processes. `close()` ends its daemon and fails if anything is left behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { intentArgv } from "../../src/cli/testing/intent-argv.ts";
import { unconfined } from "./confined.ts";
import { replayDifferences } from "./replays.ts";
import { Wire } from "./wire.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const CRUX = join(ROOT, "bin/crux");
/** Compiled code, for all worlds: one with a home of its own would compile the whole of Crux again. Ends with its build. */
export const CODE_CACHE = join(ROOT, "dist/.cache");

export interface Run {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** The line as a person types it: a lone word stays one (`intentArgv`). */
  readonly asTyped?: true;
}

/** A command under way. `stdout()` is what it has printed so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Run>;
  stdout(): string;
  /** Resolves when stdout, or stderr, contains the text; rejects when the command ends without it. */
  seen(text: string | RegExp, stream?: "stdout" | "stderr"): Promise<void>;
}

export class World {
  static readonly #open = new Set<World>();
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-test-")));
  readonly home = join(this.dir, "home");
  work = join(this.dir, "work");
  readonly env: Record<string, string>;
  readonly #running = new Set<ChildProcess>();
  #firstEnv: Readonly<Record<string, string>> = {};
  #scenes = 0;
  /** The last record of the scene before. */
  #before = 0;

  constructor(env: Record<string, string> = {}) {
    for (const dir of [this.home, this.work, join(this.dir, "run")])
      mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: this.home,
      XDG_RUNTIME_DIR: join(this.dir, "run"),
      XDG_STATE_HOME: join(this.dir, "state"),
      XDG_CONFIG_HOME: join(this.dir, "config"),
      XDG_CACHE_HOME: CODE_CACHE,
      LANG: "C.UTF-8",
      // a test that kills daemon after daemon is no boot loop
      CRUX_SAFE_MODE_AFTER: "0",
      ...env,
    };
    this.#firstEnv = { ...this.env };
    World.#open.add(this);
    if (unconfined !== undefined) this.settings({});
  }

  /** For the next test of a shared world: an empty work folder, the variables of the start, no settings. The daemon stays. */
  nextScene(): void {
    rmSync(join(this.dir, "config"), { recursive: true, force: true });
    if (unconfined !== undefined) this.settings({});
    this.#before = this.#journal(
      (db) => Number(db.prepare("SELECT max(lsn) AS lsn FROM records").get()?.lsn),
      0,
    );
    this.work = join(this.dir, `work-${++this.#scenes}`);
    mkdirSync(this.work, { mode: 0o700 });
    for (const name of Object.keys(this.env)) delete this.env[name];
    Object.assign(this.env, this.#firstEnv);
  }

  file(name: string): string {
    return readFileSync(join(this.work, name), "utf8");
  }

  write(name: string, content: string): string {
    const path = join(this.work, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  /** Where commands cannot be confined they run as they are, unless the settings say otherwise. */
  settings(value: object): void {
    const dir = join(this.dir, "config/crux");
    mkdirSync(dir, { recursive: true });
    const all = unconfined === undefined ? value : { sandbox: { mode: "off" }, ...value };
    writeFileSync(join(dir, "settings.json"), JSON.stringify(all));
  }

  get socket(): string {
    return join(this.dir, "run/crux/crux.sock");
  }

  get daemonPid(): number | undefined {
    const path = join(this.dir, "run/crux/crux.pid");
    return existsSync(path) ? Number(readFileSync(path, "utf8")) : undefined;
  }

  crux(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return this.start(args, options).done;
  }

  start(args: readonly string[], options: RunOptions = {}): Running {
    const env = { ...this.env, ...options.env };
    const argv = options.asTyped === true ? args : intentArgv(args);
    const child = spawn(CRUX, argv, { cwd: options.cwd ?? this.work, env, stdio: ["pipe", "pipe", "pipe"] });
    this.#running.add(child);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const listeners = new Set<() => void>();
    const take = (chunks: Buffer[]) => (chunk: Buffer) => {
      chunks.push(chunk);
      for (const listener of listeners) listener();
    };
    child.stdout.on("data", take(out));
    child.stderr.on("data", take(err));
    child.stdin.on("error", () => {});
    child.stdin.end(options.stdin ?? "");
    const killer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 120_000);
    const printed = { stdout: () => textOf(out), stderr: () => textOf(err) };
    const { stdout } = printed;
    const done = new Promise<Run>((resolve) => {
      child.on("close", (code, signal) => {
        clearTimeout(killer);
        this.#running.delete(child);
        resolve({ code, signal, stdout: stdout(), stderr: printed.stderr() });
        for (const listener of listeners) listener();
      });
    });
    const seen: Running["seen"] = (text, stream = "stdout") =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const shown = printed[stream]();
          const has = typeof text === "string" ? shown.includes(text) : text.test(shown);
          if (!has && this.#running.has(child)) return;
          listeners.delete(look);
          if (has) resolve();
          else reject(new Error(`ended without ${String(text)}: ${stdout()}${printed.stderr()}`));
        };
        listeners.add(look);
        look();
      });
    return { child, done, stdout, seen };
  }

  /** OS processes whose environment names this world: its daemon, its commands, and whatever they started. */
  processes(): number[] {
    const mark = `XDG_STATE_HOME=${this.env.XDG_STATE_HOME}`;
    const owner = this.dir;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const environ = readFileSync(`/proc/${pid}/environ`, "utf8");
          return environ.includes(mark) || environ.includes(`HOME=${owner}`);
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  /** All of them, once they are as many as wanted: one that was killed may still be on its way out. */
  left(wanted: number): Promise<number[]> {
    return settled(
      () => this.processes(),
      ({ length }) => length === wanted,
    );
  }

  /** Those of them whose command line, its words joined by blanks, matches. */
  commands(pattern: RegExp): number[] {
    return this.processes().filter((pid) => pattern.test(commandOf(pid)));
  }

  #journal<T>(act: (db: DatabaseSync) => T, none: T): T {
    const path = join(this.dir, "state/crux/journal/journal.db");
    if (!existsSync(path)) return none;
    using db = new DatabaseSync(path, { readOnly: true });
    return act(db);
  }

  /** Records of a kind in this scene, from the journal of a daemon that may be running. */
  bodies(kind: string): Record<string, unknown>[] {
    const sql = "SELECT body FROM records WHERE kind = ? AND lsn > ? ORDER BY lsn";
    return this.#journal((db) => db.prepare(sql).all(kind, this.#before), []).map(
      ({ body }) => JSON.parse(String(body)) as Record<string, unknown>,
    );
  }

  /** What the daemon has logged. */
  log(): string {
    const path = join(this.dir, "state/crux/daemon.log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  async #stop(): Promise<void> {
    if (await this.#takesStop()) {
      // its processes have their time to end first
      await settled(
        () => existsSync(this.socket),
        (isThere) => !isThere,
      );
    } else if (this.processes().length > 0) await this.crux(["daemon", "stop"]);
  }

  /**
   * Asked from here: a command of its own for each world is a process more, and costs as much as many a test. False: there is no
   * daemon, or one that is starting or stopping; the command knows.
   */
  async #takesStop(): Promise<boolean> {
    try {
      await using wire = await Wire.open(this.socket);
      return (await wire.ask("shutdown", {}))?.ok === true;
    } catch {
      return false;
    }
  }

  /** Of all worlds that are not closed: what a test that failed has left is not asked to end. */
  static async killAll(): Promise<void> {
    for (const world of World.#open)
      await settled(
        () => world.#kill(),
        (left) => left === 0,
      );
  }

  #kill(pids = this.processes()): number {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Gone meanwhile.
      }
    }
    return pids.length;
  }

  /** Stops the daemon; throws when a process, socket or pid file survives, a replay of its agents differs, or it logged a bug. */
  async close(): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    const journal = join(this.dir, "state/crux/journal/journal.db");
    const differences = await replayDifferences(this.socket, journal);
    await this.#stop();
    const left = await this.left(0);
    const commands = left.map((pid) => `${pid} (${commandOf(pid)})`);
    const files = existsSync(join(this.dir, "run/crux")) ? readdirSync(join(this.dir, "run/crux")) : [];
    this.#kill(left);
    World.#open.delete(this);
    const bugs = this.log().match(UNCAUGHT) ?? [];
    rmSync(this.dir, { recursive: true, force: true });
    if (bugs.length > 0) throw new Error(`the daemon logged what nobody caught: ${bugs.join("\n")}`);
    if (differences.length > 0) throw new Error(`replays differ: ${differences.join("; ")}`);
    if (left.length > 0) throw new Error(`processes left behind: ${commands.join(", ")}`);
    if (files.length > 0) throw new Error(`files left in the runtime directory: ${files.join(" ")}`);
  }
}

/** As the daemon logs an error that was thrown, or a promise that was rejected, with nobody there. */
const UNCAUGHT = /^\S+ error (?:uncaught exception|unhandled rejection).*$/gm;

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString("utf8");

/** "" for a process that is gone. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

/**
 * The value once it is as wanted, or as it is when the time is up. Looks take a third of the time at most: many are whole
 * commands, and would keep from its work what they wait for.
 */
export async function settled<T>(
  look: () => T | Promise<T>,
  wanted: (value: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const began = performance.now();
    const value = await look();
    const now = performance.now();
    if (wanted(value) || now > end) return value;
    const pauseMs = Math.min(Math.max(20, 2 * (now - began)), 500);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
