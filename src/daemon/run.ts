/**
 * The life of a daemon: take the lease, boot, listen, run until a stop is requested, stop in order. A daemon that does
 * not get the lease ends without touching socket, pid file or log.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { Clock } from "../abi/program.ts";
import type { JournalState } from "../kernel/ports/journal.ts";
import type { KernelApi } from "../kernel/ports/kernel-api.ts";
import type { TimeGaps } from "../kernel/ports/time-gaps.ts";
import { linkSignals } from "../lib/abort.ts";
import { configDir, cookieFile, type Environment, parent, pidFile, stateDir } from "../lib/paths.ts";
import { Redactor } from "../lib/redact/redact.ts";
import { secretValues } from "../lib/redact/secret-values.ts";
import { findSocketPath, homeOf } from "../wire/codec/address.ts";
import { EXIT_TAKEN, findSeats, spelled } from "../wire/codec/seat.ts";
import type { ServerDeps } from "../wire/server/deps.ts";
import { LEGACY_SOCKET } from "../wire/server/legacy-link.ts";
import { type Server, startServer } from "../wire/server/server.ts";
import type { Boot, BootContext, Booted, DaemonLease, OwnDeps } from "./boot-context.ts";
import { BootCount, YOUNG_MS } from "./boot-count.ts";
import { claimSeat, type SeatClaim } from "./claim.ts";
import { makeCookie } from "./cookie.ts";
import { CredentialFile } from "./credentials.ts";
import { type DaemonHost, thisProcess } from "./host.ts";
import { findKeychain } from "./keychain.ts";
import { openLog } from "./log.ts";
import { OwnSettings } from "./settings/own-settings.ts";
import { DEFAULT_IDLE_TIMEOUT, IdleWatch, listen, reportOf, StopRequest, stackOf } from "./stop.ts";

/** The time for processes between SIGTERM and SIGKILL at shutdown. */
const GRACE_MS = 10_000;
/** A stop that takes longer is cut off: the journal has what was acknowledged. */
const STOP_MS = 30_000;
/** The limit once the journal is lost: a stalled disk must not delay the end. */
const LOST_STOP_MS = 10_000;
const LOG = "daemon.log";
/** EX_IOERR, EX_TEMPFAIL (sysexits.h): the disk failed; another daemon has taken over. */
export const EXIT_LOST = 74;
export const EXIT_FENCED = 75;
/**
 * What is left to do for a daemon that another has taken over from. All files belong to that one, also the socket and the
 * folders beside it: closing what was opened would remove them.
 */
const OF_ITS_OWN: ReadonlySet<string> = new Set(["processes", "connections"]);

export interface DaemonOptions<L extends DaemonLease> {
  readonly version: string;
  readonly clock: Clock;
  readonly gaps?: TimeGaps;
  /** null: another daemon holds it. `sharedDir`: the directory of the lock if the state directory cannot be written. */
  takeLease(stateDir: string, sharedDir: string): Promise<L | null>;
  readonly env?: Environment;
  readonly uid?: number;
  readonly home?: string;
  readonly host?: DaemonHost;
}

/**
 * Resolves with the exit code after cleanup: 0 after an orderly stop and for a second daemon, 1 when the daemon could
 * not start or stop, 73 when another daemon has the runtime directory, 74 when the journal was lost, 75 when another
 * daemon has taken it over. The caller exits with it.
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
  // first: of many daemons started at once, all but one end here, before they load anything
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
    const own = new OwnSettings(places.configDir, log);
    const credentials = new CredentialFile(places.stateDir, {
      keychain: findKeychain(environment, process.platform),
      learn: (secrets) => redactor.learn(secrets),
      warn: (words) => log("warn", words),
    });
    const context: BootContext<L> = {
      lease,
      paths: { ...places, socketPath, runtimeDir: parent(socketPath) },
      settings: own.settings,
      settingsProblems: own.problems,
      env: credentials.complete(definedOnly(environment)),
      credentials,
      home,
      uid,
      version: options.version,
      clock: options.clock,
      ...(options.gaps === undefined ? {} : { gaps: options.gaps }),
      isSafeMode: boots.isSafeMode,
      log,
      redactor,
    };
    return await new Daemon(context, host, { boots, own }).run(boot);
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
  readonly #own: OwnSettings;

  constructor(context: BootContext<L>, host: DaemonHost, files: { boots: BootCount; own: OwnSettings }) {
    this.#context = context;
    this.#host = host;
    this.#boots = files.boots;
    this.#own = files.own;
  }

  async run(boot: Boot<L>): Promise<number> {
    const { log } = this.#context;
    let booted: Booted | undefined;
    const unlisten = listen(this.#host, this.#stop, log);
    const reread = () => this.#reread(booted);
    this.#host.on("SIGHUP", reread);
    try {
      booted = await boot(this.#context);
      return await this.#serve(booted);
    } catch (error) {
      // a daemon that reports an error did not crash
      if (error instanceof Fault) this.#boots.takeBack();
      log("error", `daemon: ${reportOf(error)}`);
      return 1;
    } finally {
      this.#host.off("SIGHUP", reread);
      unlisten();
    }
  }

  async #serve(booted: Booted): Promise<number> {
    const { paths, clock, log, version, uid } = this.#context;
    const { kernel, peers, processSockets, tokens } = booted;
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
        onConnect: () => {
          if (this.#own.readIfChanged()) this.#reload(booted);
        },
        ...(peers && { peerOf: (fd) => peers.of(fd) }),
        ...(processSockets && { processSockets }),
        ...(tokens && { tokens }),
        ...(this.#own.settings.ipc?.legacySocket === true && { legacyPath: LEGACY_SOCKET }),
      });
      writeFileSync(pidFile(paths.socketPath), `${this.#host.pid}\n`, { mode: 0o600 });
      log("info", `crux v${version} running (PID ${this.#host.pid}), socket ${paths.socketPath}`);
      await this.#untilStop(server, kernel);
    } catch (error) {
      // booted but not serving: shut down what was booted
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
    const { version, home, env, isSafeMode, redactor, credentials } = this.#context;
    const { readOnly, settings, peers } = booted;
    return {
      ...{ version, home, env, isSafeMode },
      shutdown: () => this.#stop.request("shutdown"),
      ...(readOnly && { readOnly: readOnly.words }),
      ...(settings && { settings: settings(() => this.#reread(booted)) }),
      ...(credentials && { credentials }),
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
    const timeoutMs = () => this.#own.settings.daemon?.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT;
    const idle = new IdleWatch(clock, timeoutMs).untilIdle(look, this.#stop.signal).then(
      () => this.#stop.request("idle"),
      () => {},
    );
    await this.#stop.requested();
    await idle;
  }

  /**
   * Shuts down processes, then connections, then what was booted, then the files; the caller releases the lease last.
   */
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
      if (this.#isFenced && !OF_ITS_OWN.has(name)) continue;
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
    if (this.#isFenced) this.#host.vanish(EXIT_FENCED);
    if (code === 0 && this.#stop.failure === null) this.#boots.clear();
    return this.#stop.failure?.code ?? code;
  }

  get #isFenced(): boolean {
    return this.#stop.failure?.code === EXIT_FENCED;
  }

  /** Ends processes in order while the journal records them; at once if it fails. */
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

  /** Removes the pid file with the cookie, if they belong to this daemon. */
  #removePidFile(): void {
    const { socketPath } = this.#context.paths;
    const path = pidFile(socketPath);
    try {
      if (Number(readFileSync(path, "utf8")) !== this.#host.pid) return;
      rmSync(cookieFile(socketPath), { force: true });
      rmSync(path, { force: true });
    } catch {
      // no pid file
    }
  }

  #reread(booted: Booted | undefined): void {
    this.#own.read();
    this.#reload(booted);
  }

  #reload(booted: Booted | undefined): void {
    booted?.reload?.(this.#own.settings, this.#own.problems);
    this.#context.log("info", "settings read again");
  }
}

function definedOnly(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
