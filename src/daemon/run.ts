/**
 * The life of a daemon: take the lease, boot, listen, run until told, stop in order. Whoever does not get the lease
 * leaves without having touched socket, pid file or log.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../abi/program.ts";
import type { Settings } from "../abi/settings.ts";
import type { KernelApi } from "../kernel/ports/kernel-api.ts";
import { configDir, type Environment, parent, pidFile, socketPath, stateDir } from "../lib/paths.ts";
import type { Log, ServerDeps } from "../wire/server/deps.ts";
import { type Server, startServer } from "../wire/server/server.ts";
import { type Host, thisProcess } from "./host.ts";
import { DEFAULT_IDLE_TIMEOUT, untilIdle } from "./idle.ts";
import { openLog } from "./log.ts";
import { readSettings } from "./settings.ts";
import { listen, reportOf, StopRequest, stackOf } from "./stop.ts";

/** What processes get between SIGTERM and SIGKILL at shutdown. */
const GRACE_MS = 10_000;
/** A stop that hangs longer is cut off: the journal has what was acknowledged. */
const STOP_MS = 30_000;

/** The daemon's lock; the OS frees it when the process ends, however it ends. */
export interface DaemonLease {
  release(): void;
}

export interface DaemonPaths {
  readonly socketPath: string;
  readonly runtimeDir: string;
  readonly stateDir: string;
  readonly configDir: string;
}

export interface BootContext<L extends DaemonLease> {
  readonly lease: L;
  readonly paths: DaemonPaths;
  /** The user's settings, what was wrong in them left out. */
  readonly settings: Settings;
  /** One line each, for whoever should know besides the log. */
  readonly settingsProblems: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  readonly uid: number;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Booted {
  readonly kernel: KernelApi;
  readonly loadAgent: ServerDeps["loadAgent"];
  /** SIGHUP: the settings as they are now, and what was wrong in them: a deny may be among it. */
  reload?(settings: Settings, problems: readonly string[]): void;
  /** After all processes have ended: unmounts, ends OS children, syncs and closes the journal. The lease stays. */
  close(): Promise<void>;
}

/** Called once, after the lease is taken. Its own imports of heavy parts belong inside it. */
export type Boot<L extends DaemonLease> = (context: BootContext<L>) => Promise<Booted>;

export interface DaemonOptions<L extends DaemonLease> {
  readonly version: string;
  readonly clock: Clock;
  /** null: another daemon holds it. */
  takeLease(stateDir: string): Promise<L | null>;
  readonly env?: Environment;
  readonly uid?: number;
  readonly home?: string;
  readonly host?: Host;
}

/**
 * Resolves with the exit code once everything is put away: 0 after an orderly stop and for a second daemon, 1 when it
 * could not start or stop. The caller exits with it.
 */
export async function runDaemon<L extends DaemonLease>(
  boot: Boot<L>,
  options: DaemonOptions<L>,
): Promise<number> {
  const environment = options.env ?? process.env;
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const home = options.home ?? environment.HOME ?? homedir();
  const paths = findPaths(environment, uid, home);
  // first and alone: of many daemons that are started at once all but one end here, before they load anything
  const log = openLog(join(paths.stateDir, "daemon.log"), options.clock);
  const lease = await options.takeLease(paths.stateDir).catch((error: unknown) => {
    log("error", `daemon: ${reportOf(error)}`);
    return undefined;
  });
  if (lease === undefined) return 1;
  if (lease === null) return 0;
  const { settings, problems } = readSettings(paths.configDir);
  for (const problem of problems) log("warn", problem);
  const context: BootContext<L> = {
    lease,
    paths,
    settings,
    settingsProblems: problems,
    env: definedOnly(environment),
    home,
    uid,
    version: options.version,
    clock: options.clock,
    log,
  };
  const daemon = new Daemon(context, options.host ?? thisProcess);
  try {
    return await daemon.run(boot);
  } finally {
    lease.release();
  }
}

class Daemon<L extends DaemonLease> {
  readonly #context: BootContext<L>;
  readonly #host: Host;
  readonly #stop = new StopRequest();
  #settings: Settings;

  constructor(context: BootContext<L>, host: Host) {
    this.#context = context;
    this.#host = host;
    this.#settings = context.settings;
  }

  async run(boot: Boot<L>): Promise<number> {
    const { log } = this.#context;
    let booted: Booted | undefined;
    const unlisten = listen(this.#host, this.#stop, log, () => this.#reload(booted));
    try {
      booted = await boot(this.#context);
      return await this.#serve(booted);
    } catch (error) {
      log("error", `daemon: ${reportOf(error)}`);
      return 1;
    } finally {
      unlisten();
    }
  }

  async #serve(booted: Booted): Promise<number> {
    const { paths, clock, log, version, home, env, uid } = this.#context;
    const { kernel, loadAgent } = booted;
    const deps: ServerDeps = {
      version,
      home,
      env,
      loadAgent,
      shutdown: () => this.#stop.request("shutdown"),
    };
    let server: Server | undefined;
    try {
      server = await startServer({ socketPath: paths.socketPath, kernel, deps, clock, log, uid });
      writeFileSync(pidFile(paths.socketPath), `${this.#host.pid}\n`, { mode: 0o600 });
      log("info", `crux v${version} running (PID ${this.#host.pid}), socket ${paths.socketPath}`);
      await this.#untilStop(server, kernel);
    } catch (error) {
      // booted but not serving: what was booted is put away all the same
      log("error", `daemon: ${reportOf(error)}`);
      await this.#shutDown(booted, server);
      return 1;
    }
    log("info", `stopping: ${this.#stop.reason}`);
    return this.#shutDown(booted, server);
  }

  async #untilStop(server: Server, kernel: KernelApi): Promise<void> {
    const look = () => ({
      active: kernel.active(),
      connections: server.connections,
      accepted: server.accepted,
    });
    const timeoutMs = () => this.#settings.daemon?.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT;
    const idle = untilIdle(look, timeoutMs, this.#context.clock, this.#stop.signal).then(
      () => this.#stop.request("idle"),
      () => {},
    );
    await this.#stop.requested();
    await idle;
  }

  /** Processes, then connections, then what was booted, then the files; the lease goes last, with the caller. */
  async #shutDown(booted: Booted, server: Server | undefined): Promise<number> {
    const { clock, log } = this.#context;
    const done = new AbortController();
    const late = clock.sleep(STOP_MS, done.signal).then(
      () => {
        log("error", `still not stopped after ${STOP_MS / 1000}s: exit`);
        this.#host.exit(1);
      },
      () => {},
    );
    server?.refuse("daemon is shutting down");
    const steps: [string, () => Promise<void>][] = [
      ["processes", () => booted.kernel.shutdown(GRACE_MS)],
      ["connections", async () => server?.drain()],
      ["kernel", () => booted.close()],
      ["socket", async () => server?.close()],
      ["pid file", async () => this.#removePidFile()],
    ];
    let code = 0;
    for (const [name, step] of steps) {
      try {
        await step();
      } catch (error) {
        code = 1;
        log("error", `stopping, ${name}: ${stackOf(error)}`);
      }
    }
    done.abort();
    await late;
    log("info", "stopped");
    return code;
  }

  #removePidFile(): void {
    const path = pidFile(this.#context.paths.socketPath);
    try {
      if (Number(readFileSync(path, "utf8")) === this.#host.pid) rmSync(path, { force: true });
    } catch {
      // there is none
    }
  }

  #reload(booted: Booted | undefined): void {
    const { log, paths } = this.#context;
    const { settings, problems } = readSettings(paths.configDir);
    for (const problem of problems) log("warn", problem);
    this.#settings = settings;
    booted?.reload?.(settings, problems);
    log("info", "settings read again");
  }
}

function findPaths(env: Environment, uid: number, home: string): DaemonPaths {
  const socket = socketPath(env, uid);
  return {
    socketPath: socket,
    runtimeDir: parent(socket),
    stateDir: stateDir(env, home),
    configDir: configDir(env, home),
  };
}

function definedOnly(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
