/**
 * The life of a daemon: take the lease, boot, listen, run until told, stop in order. Whoever does not get the lease
 * leaves without having touched socket, pid file or log.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { Clock } from "../abi/program.ts";
import type { Settings } from "../abi/settings.ts";
import type { Journal, JournalState } from "../kernel/ports/journal.ts";
import type { KernelApi } from "../kernel/ports/kernel-api.ts";
import type { SettingsDesk } from "../kernel/ports/settings.ts";
import type { TimeGaps } from "../kernel/ports/time-gaps.ts";
import { linkSignals } from "../lib/abort.ts";
import { configDir, cookieFile, type Environment, parent, pidFile, stateDir } from "../lib/paths.ts";
import { Redactor } from "../lib/redact.ts";
import { secretValues } from "../lib/secret-values.ts";
import { findSocketPath, homeOf } from "../wire/codec/address.ts";
import { EXIT_TAKEN, findSeats, spelled } from "../wire/codec/seat.ts";
import type { Log, ServerDeps } from "../wire/server/deps.ts";
import type { Peer } from "../wire/server/principal.ts";
import type { ProcessSockets } from "../wire/server/process-sockets.ts";
import { type Server, startServer } from "../wire/server/server.ts";
import { BootCount, YOUNG_MS } from "./boot-count.ts";
import { claimSeat, type SeatClaim } from "./claim.ts";
import { makeCookie } from "./cookie.ts";
import { type DaemonHost, thisProcess } from "./host.ts";
import { openLog } from "./log.ts";
import { readSettings } from "./settings.ts";
import { DEFAULT_IDLE_TIMEOUT, IdleWatch, listen, reportOf, StopRequest, stackOf } from "./stop.ts";

/** What processes get between SIGTERM and SIGKILL at shutdown. */
const GRACE_MS = 10_000;
/** A stop that hangs longer is cut off: the journal has what was acknowledged. */
const STOP_MS = 30_000;
/** The same once nothing can be kept any more: a disk that stalls does not hold the end of what runs. */
const LOST_STOP_MS = 10_000;
const LOG = "daemon.log";
/** EX_IOERR, EX_TEMPFAIL (sysexits.h): the disk lies; another daemon has taken over. */
export const EXIT_LOST = 74;
export const EXIT_FENCED = 75;

/** The daemon's lock; the OS frees it when the process ends, however it ends. */
export interface DaemonLease {
  release(): void;
}

interface DaemonPaths {
  readonly socketPath: string;
  /** Of the socket: this daemon's alone. */
  readonly runtimeDir: string;
  /** The usual one: the same, or the folder around it, where another daemon has its socket. */
  readonly sharedDir: string;
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
  readonly gaps?: TimeGaps;
  /** The last daemons died young, one after the other: nothing of what they left is restored or begun. */
  readonly isSafeMode: boolean;
  readonly log: Log;
  /** Of all that is kept and shown. Absent: nothing is a secret. */
  readonly redactor?: Redactor;
}

/** What the server is told by the daemon itself. */
type OwnDeps = Pick<
  ServerDeps,
  | "version"
  | "home"
  | "env"
  | "shutdown"
  | "isSafeMode"
  | "readOnly"
  | "settings"
  | "redacted"
  | "arePeersRead"
>;

export interface Booted {
  readonly kernel: KernelApi;
  /** When it is lost, the daemon ends. */
  readonly journal?: Pick<Journal, "state" | "onState">;
  /** For clients, as it is. `unrestored`: in safe mode. */
  readonly serves: Omit<ServerDeps, keyof OwnDeps>;
  /** `reload`: reads the user's settings again. */
  readonly settings?: (reload: () => void) => SettingsDesk;
  /** The journal can only be read: nothing runs, and the daemon ends when `over` settles. `words`: for every client. */
  readonly readOnly?: { readonly words: string; readonly over: Promise<void> };
  /** Who connects, by the fd of the connection. Absent: not known here. */
  readonly peers?: { readonly areRead: boolean; of(fd: number): Peer };
  readonly processSockets?: ProcessSockets;
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
  readonly gaps?: TimeGaps;
  /** null: another daemon holds it. `sharedDir`: where the lock lies when the state cannot be written. */
  takeLease(stateDir: string, sharedDir: string): Promise<L | null>;
  readonly env?: Environment;
  readonly uid?: number;
  readonly home?: string;
  readonly host?: DaemonHost;
}

/**
 * Resolves with the exit code once everything is put away: 0 after an orderly stop and for a second daemon, 1 when it
 * could not start or stop, 73 when its runtime directory is another's, 74 when the journal was lost, 75 when another daemon has
 * taken it over. The caller exits with it.
 */
export async function runDaemon<L extends DaemonLease>(
  boot: Boot<L>,
  options: DaemonOptions<L>,
): Promise<number> {
  const environment = options.env ?? process.env;
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const home = options.home ?? homeOf(environment);
  const places = {
    sharedDir: parent(findSocketPath(environment, uid, home)),
    stateDir: stateDir(environment, home),
    configDir: configDir(environment, home),
  };
  // first and alone: of many daemons that are started at once all but one end here, before they load anything
  const redactor = new Redactor(randomBytes(32));
  redactor.learn(secretValues(environment));
  const log = openLog(join(places.stateDir, LOG), options.clock, {
    fallback: join(places.sharedDir, LOG),
    wording: (text) => redactor.redact(text),
  });
  const lease = await options.takeLease(places.stateDir, places.sharedDir).catch((error: unknown) => {
    log("error", `daemon: ${reportOf(error)}`);
    return undefined;
  });
  if (lease === undefined) return 1;
  if (lease === null) return 0;
  const host = options.host ?? thisProcess;
  let claim: SeatClaim | undefined;
  try {
    const owner = { pid: host.pid, stateDir: spelled(places.stateDir) };
    claim = claimSeat(findSeats(environment, uid, home), owner, uid);
    const { socketPath } = claim;
    const boots = new BootCount(places.stateDir, environment);
    if (boots.isSafeMode) log("warn", "safe mode: the last daemons died soon after their start");
    const { settings, problems } = readSettings(places.configDir);
    for (const problem of problems) log("warn", problem);
    const context: BootContext<L> = {
      lease,
      paths: { ...places, socketPath, runtimeDir: parent(socketPath) },
      settings,
      settingsProblems: problems,
      env: definedOnly(environment),
      home,
      uid,
      version: options.version,
      clock: options.clock,
      ...(options.gaps === undefined ? {} : { gaps: options.gaps }),
      isSafeMode: boots.isSafeMode,
      log,
      redactor,
    };
    return await new Daemon(context, host, boots).run(boot);
  } catch (error) {
    log("error", `daemon: ${reportOf(error)}`);
    return error instanceof Fault && error.code === "CONFLICT" ? EXIT_TAKEN : 1;
  } finally {
    claim?.release();
    lease.release();
  }
}

class Daemon<L extends DaemonLease> {
  readonly #context: BootContext<L>;
  readonly #host: DaemonHost;
  readonly #boots: BootCount;
  readonly #stop = new StopRequest();
  #settings: Settings;

  constructor(context: BootContext<L>, host: DaemonHost, boots: BootCount) {
    this.#context = context;
    this.#host = host;
    this.#boots = boots;
    this.#settings = context.settings;
  }

  async run(boot: Boot<L>): Promise<number> {
    const { log } = this.#context;
    let booted: Booted | undefined;
    const unlisten = listen(this.#host, this.#stop, log);
    const reload = () => this.#reload(booted);
    this.#host.on("SIGHUP", reload);
    try {
      booted = await boot(this.#context);
      return await this.#serve(booted);
    } catch (error) {
      // one that says what is wrong did not die of it
      if (error instanceof Fault) this.#boots.takeBack();
      log("error", `daemon: ${reportOf(error)}`);
      return 1;
    } finally {
      this.#host.off("SIGHUP", reload);
      unlisten();
    }
  }

  async #serve(booted: Booted): Promise<number> {
    const { paths, clock, log, version, uid } = this.#context;
    const { kernel, peers, processSockets } = booted;
    const deps: ServerDeps = { ...booted.serves, ...this.#ownDeps(booted) };
    const unwatch = this.#watchJournal(booted);
    void booted.readOnly?.over.then(() => this.#stop.request("the journal can be written again"));
    let server: Server | undefined;
    try {
      server = await startServer({
        socketPath: paths.socketPath,
        kernel,
        deps,
        clock,
        log,
        uid,
        cookie: makeCookie(paths.socketPath, uid),
        ...(peers && { peerOf: (fd) => peers.of(fd) }),
        ...(processSockets && { processSockets }),
      });
      writeFileSync(pidFile(paths.socketPath), `${this.#host.pid}\n`, { mode: 0o600 });
      log("info", `crux v${version} running (PID ${this.#host.pid}), socket ${paths.socketPath}`);
      await this.#untilStop(server, kernel);
    } catch (error) {
      // booted but not serving: what was booted is put away all the same
      log("error", `daemon: ${reportOf(error)}`);
      await this.#shutDown(booted, server);
      unwatch();
      return 1;
    }
    log(this.#stop.failure === null ? "info" : "error", `stopping: ${this.#stop.reason}`);
    const code = await this.#shutDown(booted, server);
    unwatch();
    return code;
  }

  #ownDeps(booted: Booted): OwnDeps {
    const { version, home, env, isSafeMode, redactor } = this.#context;
    const { readOnly, settings, peers } = booted;
    return {
      ...{ version, home, env, isSafeMode },
      shutdown: () => this.#stop.request("shutdown"),
      ...(readOnly && { readOnly: readOnly.words }),
      ...(settings && { settings: settings(() => this.#reload(booted)) }),
      ...(redactor && { redacted: (bytes: Uint8Array) => redactor.redactBytes(bytes) }),
      ...(peers?.areRead === false && { arePeersRead: false }),
    };
  }

  #watchJournal({ journal }: Booted): () => void {
    if (journal === undefined) return () => {};
    const look = (state: JournalState): void => {
      if (state.state !== "lost") return;
      const code = state.reason === "journal_fenced" ? EXIT_FENCED : EXIT_LOST;
      this.#stop.fail({ words: state.message, code });
    };
    look(journal.state);
    return journal.onState(look);
  }

  async #untilStop(server: Server, kernel: KernelApi): Promise<void> {
    const { clock } = this.#context;
    const since = clock.mono();
    let isYoung = true;
    const look = () => {
      if (isYoung && clock.mono() - since >= YOUNG_MS) {
        isYoung = false;
        this.#boots.clear();
      }
      return { active: kernel.active(), connections: server.connections, accepted: server.accepted };
    };
    const timeoutMs = () => this.#settings.daemon?.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT;
    const idle = new IdleWatch(clock, timeoutMs).untilIdle(look, this.#stop.signal).then(
      () => this.#stop.request("idle"),
      () => {},
    );
    await this.#stop.requested();
    await idle;
  }

  /** Processes, then connections, then what was booted, then the files; the lease goes last, with the caller. */
  async #shutDown(booted: Booted, server: Server | undefined): Promise<number> {
    const { log } = this.#context;
    const done = new AbortController();
    const late = this.#cutOff(done.signal);
    server?.refuse(this.#stop.failure?.words ?? "daemon is shutting down");
    const steps: [string, () => Promise<void>][] = [
      ["processes", () => this.#endProcesses(booted.kernel)],
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
    if (code === 0 && this.#stop.failure === null) this.#boots.clear();
    return this.#stop.failure?.code ?? code;
  }

  /** In order, as long as what they do is kept; else at once. */
  async #endProcesses(kernel: KernelApi): Promise<void> {
    const { failed } = this.#stop;
    if (!failed.aborted) await Promise.race([kernel.shutdown(GRACE_MS), aborted(failed)]);
    const { failure } = this.#stop;
    if (failure !== null) await kernel.abandon(failure.words);
  }

  /** Ends the OS process when stopping takes too long. */
  async #cutOff(over: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    const elapsed = (ms: number, signal: AbortSignal): Promise<boolean> =>
      clock.sleep(ms, signal).then(
        () => true,
        () => false,
      );
    using soon = linkSignals(over, this.#stop.failed);
    const isLate = await elapsed(STOP_MS, soon.signal);
    if (over.aborted || (!isLate && !(await elapsed(LOST_STOP_MS, over)))) return;
    log("error", `still not stopped after ${(isLate ? STOP_MS : LOST_STOP_MS) / 1000}s: exit`);
    this.#removePidFile();
    this.#host.vanish(this.#stop.failure?.code ?? 1);
  }

  /** With it goes the cookie, which served no other. */
  #removePidFile(): void {
    const { socketPath } = this.#context.paths;
    const path = pidFile(socketPath);
    try {
      if (Number(readFileSync(path, "utf8")) !== this.#host.pid) return;
      rmSync(cookieFile(socketPath), { force: true });
      rmSync(path, { force: true });
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

function definedOnly(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
