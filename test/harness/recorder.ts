/**
 * A system in this process, for recordings: the built kernel with all its tools in a folder that is the same everywhere, at a
 * time that is always the same, on a model server that answers by script. So what it records says nothing of where it ran.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ProcessEvent } from "../../src/abi/events.ts";
import type { Pid } from "../../src/abi/ids.ts";
import type { SpawnOpts } from "../../src/abi/sys.ts";
import type { boot as Boot } from "../../src/boot/boot.ts";
import type { Booted } from "../../src/daemon/boot-context.ts";
import type { JournalRecord } from "../../src/kernel/ports/journal.ts";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { type Lease, takeLease } from "../../src/store/lease.ts";
import type { Reply } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { inTurn, modelEnv } from "./model.ts";

/** No machine's own. */
const ROOT = "/tmp/crux-recording";
const HERE = { home: join(ROOT, "home"), work: join(ROOT, "room"), state: join(ROOT, "state") };
/** A Monday, noon in every recording. */
const BEGUN = Date.UTC(2026, 0, 5, 12);

export class RecorderWorld {
  readonly server: ModelServer;
  readonly #env: Record<string, string>;
  #booted: Booted | null = null;
  #lease: Lease | null = null;

  /** CONFLICT in words: another recording is under way, or was killed. */
  static async open(answers: readonly Reply[]): Promise<RecorderWorld> {
    mkdirSync(ROOT);
    for (const dir of Object.values(HERE)) mkdirSync(dir, { recursive: true, mode: 0o700 });
    const server = await startModelServer({ script: inTurn(...answers), seed: "recording" });
    const world = new RecorderWorld(server);
    await world.#boot();
    return world;
  }

  /** The first daemon of a recording that another process makes, in its place and on its model server; it is to be killed. */
  static async first(openaiBaseUrl: string): Promise<RecorderWorld> {
    const world = new RecorderWorld({ openaiBaseUrl } as ModelServer);
    await world.#boot();
    return world;
  }

  private constructor(server: ModelServer) {
    this.server = server;
    this.#env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: HERE.home,
      LANG: "C.UTF-8",
      ...modelEnv(server),
    };
  }

  get booted(): Booted {
    if (this.#booted === null) throw new Error("it is not booted");
    return this.#booted;
  }

  write(name: string, content: string | Uint8Array): void {
    const path = join(HERE.work, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** `each` is told of every event of the process, and may act on it. */
  async start(
    intent: string,
    opts: SpawnOpts = {},
    each: (event: ProcessEvent) => unknown = () => {},
  ): Promise<{ pid: Pid; ended: Promise<void> }> {
    const { kernel, serves } = this.booted;
    const env = this.#env;
    const agent = await serves.loadAgent(undefined, { cwd: HERE.work, env });
    const { pid, events } = await kernel.spawnWatched(intent, agent, {
      cwd: HERE.work,
      env,
      permissionMode: "bypass",
      ...opts,
    });
    const follow = async (): Promise<void> => {
      for await (const event of events) await each(event);
    };
    return { pid, ended: follow() };
  }

  /** A process that goes on from a step of another, with a message. */
  fork(pid: Pid, step: number, message: string): Promise<{ readonly pid: Pid }> {
    return this.booted.kernel.forks.fork(pid, { at: { step }, message, wake: true, env: this.#env });
  }

  /** For what is not started by `start`. */
  get place(): SpawnOpts {
    return { cwd: HERE.work, env: this.#env };
  }

  lendEnv(pid: Pid): void {
    this.booted.kernel.lendEnv(pid, this.#env);
  }

  /** `script` runs where this world is, as its daemon, until it is killed; then comes the next daemon, and what it has again. */
  async killed(script: readonly string[]): Promise<void> {
    await this.#stop();
    const child = spawn(process.execPath, [...script, this.server.openaiBaseUrl], { stdio: "inherit" });
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (signal !== "SIGKILL") throw new Error("the daemon was to be killed");
    await this.#boot();
  }

  /** A daemon that stops in order, and the next. */
  async restart(): Promise<void> {
    await this.#stop();
    await this.#boot();
  }

  /** Of a process and of those that it comes from. */
  async records(pid: Pid): Promise<JournalRecord[]> {
    const all: JournalRecord[] = [];
    for await (const record of await this.booted.kernel.replays.records(pid)) all.push(record);
    return all;
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.server.close();
    rmSync(ROOT, { recursive: true, force: true });
  }

  async #boot(): Promise<void> {
    const { boot } = createRequire(import.meta.url)("../../dist/boot.cjs") as { boot: typeof Boot };
    const lease = await takeLease(join(HERE.state, "journal"));
    if (lease === null) throw new Error(`another recording runs in ${ROOT}`);
    this.#lease = lease;
    const began = performance.now();
    this.#booted = await boot({
      lease,
      paths: {
        stateDir: HERE.state,
        runtimeDir: join(ROOT, "run"),
        sharedDir: join(ROOT, "run"),
        configDir: join(ROOT, "config"),
        socketPath: join(ROOT, "run/crux.sock"),
      },
      settings: {},
      settingsProblems: [],
      env: this.#env,
      home: HERE.home,
      uid: process.getuid?.() ?? 0,
      version: "0.1.0",
      clock: { ...systemClock, now: () => BEGUN + Math.round(performance.now() - began) },
      isSafeMode: false,
      log: (level, message) => {
        if (level === "error") console.error(message);
      },
    });
  }

  async #stop(): Promise<void> {
    await this.#booted?.kernel.shutdown(2_000);
    await this.#booted?.close();
    this.#booted = null;
    this.#lease?.release();
    this.#lease = null;
  }
}
