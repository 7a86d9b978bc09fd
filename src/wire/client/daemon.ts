/** Finds and starts the one daemon of this user (manual, automatic start). A client never removes a socket. */
import { readFileSync, rmSync } from "node:fs";
import { Fault } from "../../abi/errors.ts";
import {
  bootCountFile,
  cookieFile,
  type Environment,
  ipcSocketPath,
  parent,
  stateDir as stateDirOf,
} from "../../lib/paths.ts";
import { SteadyClock } from "../../lib/time/steady-clock.ts";
import { checkPrivateDir, checkSocketPath, homeOf } from "../codec/address.ts";
import { nextStep } from "../codec/error.ts";
import {
  chooseSeat,
  EXIT_TAKEN,
  findSeats,
  findStranger,
  readSeatOwner,
  type Seats,
  seatTaken,
} from "../codec/seat.ts";
import type { Connection } from "./connection.ts";
import type { DaemonLauncher, Launched } from "./launch.ts";
import { lastLogLines, logPath } from "./log-tail.ts";
import { cpuTicks, findDaemonPid, findOwner, isLockHeld } from "./owner.ts";
import { type Probe, probe, type Timer } from "./probe.ts";
import { versionHint } from "./version-hint.ts";

const ANSWER_MS = 1_000;
const HUNG_MS = 3_000;
const START_MS = 3_000;
/** The most time for a start on a busy machine: a starting daemon gets more time while it uses CPU. */
const SLOW_START_MS = 30_000;
/** A daemon is usually up within this many short waits; after them it is polled less often. */
const FAST_TRIES = 20;
const FAST_MS = 15;
const POLL_MS = 100;
/**
 * How the daemon's memory grows. Its garbage is young and small: with Node's default of 16 MiB it holds 100 MB more after
 * a busy hour, and each command it starts is forked from all of that. The size is set from the start: growing to it would
 * cost five more collections. No flag here may be one for which V8 rejects compiled code (daemon/own-engine.ts).
 */
export const HEAP_FLAGS = ["--min-semi-space-size=4", "--max-semi-space-size=4"];
/** The delay before another launch when the launched daemon ended because the previous one was still shutting down. */
const RELAUNCH_MS = 1_000;
/** How long a daemon that is ended by force has before SIGKILL. */
const FORCE_MS = 2_000;

export interface DaemonOptions {
  /** The version of this client, without `v`. */
  readonly version: string;
  readonly env?: Environment;
  readonly uid?: number;
  readonly home?: string;
  /** The command that runs this program as the daemon; default: as it was started itself. */
  readonly command?: readonly string[];
  readonly clock?: Timer;
  readonly launch?: DaemonLauncher;
  readonly signal?: AbortSignal;
}

export interface Daemon {
  /** The connection used for the first request; reused for the following ones. */
  readonly connection: Connection;
  /** Where it listens. */
  readonly socketPath: string;
  readonly version: string;
  /** Printed once: the daemon has another version. */
  readonly hint?: string;
  /** Printed by every command: the daemon does not work as it should. */
  readonly warning?: string;
}

/**
 * A connection to the daemon, which is started if none runs. PERMISSION, INVALID: the path of the socket is refused.
 * CONFLICT: the path belongs to the daemon of another state directory. UNAVAILABLE: the daemon does not answer, or this
 * process was started by Crux and no daemon runs. TIMEOUT: it did not start, and used no CPU for 3 s.
 */
export async function ensureDaemon(options: DaemonOptions): Promise<Daemon> {
  const located = locate(options);
  const { clock } = located;
  let launched: (Launched & { at: number }) | undefined;
  let patience: Patience | undefined;
  for (let tries = 0; ; tries++) {
    const place = seated(located);
    const seen = await look(place, options.signal);
    if (seen.kind === "answered") return greet(seen, place, options.version);
    if (place.inside) throw notRunningInside(seen);
    const now = clock.mono();
    patience ??= new Patience(now);
    if (patience.isOver(now, startingPid(place, launched)))
      throw seen.kind === "busy" ? seen.fault : notReached(place, launched, now);
    if (seen.kind === "absent" && mayLaunch(launched, now) && !isLockHeld(place.stateDir)) {
      // a previous daemon has had its time to leave; the new one gets the full time
      if (launched === undefined) patience = new Patience(now);
      const launch = place.launch ?? (await import("./launch.ts")).launchDaemon;
      launched = Object.assign(launch(place), { at: now });
    }
    if (launched?.error !== undefined) throw notLaunched(launched, place);
    await clock.sleep(tries < FAST_TRIES ? FAST_MS : POLL_MS, options.signal);
  }
}

/**
 * Never starts a daemon. undefined: none runs. UNAVAILABLE: it does not answer, or accepts no connections now. A daemon
 * that holds the lock but has no socket is just starting or shutting down; if that lasts, its socket was removed.
 */
export async function findDaemon(options: DaemonOptions): Promise<Daemon | undefined> {
  const located = locate(options);
  const { clock } = located;
  const deadline = clock.mono() + HUNG_MS;
  for (;;) {
    const place = seated(located);
    const seen = await look(place, options.signal);
    if (seen.kind === "answered") return greet(seen, place, options.version);
    if (seen.kind === "busy") throw seen.fault;
    if (place.inside || !isLockHeld(place.stateDir)) return undefined;
    if (clock.mono() >= deadline) throw unanswered(findOwner(place.stateDir));
    await clock.sleep(FAST_MS, options.signal);
  }
}

/** Resets the crash count, so that the next daemon starts normally. Call it only while no daemon runs. */
export function forgetDeaths(options: DaemonOptions): void {
  rmSync(bootCountFile(locate(options).stateDir), { force: true });
}

/**
 * Resolves once the process that holds the daemon's lock at the time of the call has released it. Another daemon,
 * started by another client meanwhile, may hold it by then.
 */
export async function daemonGone(options: DaemonOptions): Promise<void> {
  const { stateDir, clock } = locate(options);
  const pid = findOwner(stateDir);
  while (pid !== undefined && findOwner(stateDir) === pid) await clock.sleep(POLL_MS / 2, options.signal);
}

/** Ends by force a daemon that does not answer, by the pid that holds the lock. False: none runs. */
export async function forceDaemon(options: DaemonOptions): Promise<boolean> {
  const { stateDir, clock } = locate(options);
  const pid = findOwner(stateDir);
  if (pid === undefined) return false;
  const killAt = clock.mono() + FORCE_MS;
  signalProcess(pid, "SIGTERM");
  while (findOwner(stateDir) === pid) {
    if (clock.mono() >= killAt) signalProcess(pid, "SIGKILL");
    await clock.sleep(POLL_MS / 2, options.signal);
  }
  return true;
}

/** Expires START_MS after the starting daemon was last seen using CPU. */
class Patience {
  readonly #begun: number;
  #until: number;
  #ticks = 0;

  constructor(now: number) {
    this.#begun = now;
    this.#until = now + START_MS;
  }

  isOver(now: number, pid: number | undefined): boolean {
    const ticks = pid === undefined ? 0 : (cpuTicks(pid) ?? 0);
    if (ticks > this.#ticks) this.#until = Math.min(now + START_MS, this.#begun + SLOW_START_MS);
    this.#ticks = ticks;
    return now >= this.#until;
  }
}

/** The launched process; if that found the lock held, the lock's owner until it has written crux.pid. */
function startingPid({ stateDir, socketPath }: Place, launched: Launched | undefined): number | undefined {
  if (launched?.ended === false) return launched.pid;
  return findDaemonPid(socketPath, stateDir) === undefined ? findOwner(stateDir) : undefined;
}

interface Located {
  readonly seats: Seats;
  readonly uid: number;
  /** The runtime directory of the usual socket. */
  readonly runtimeDir: string;
  readonly stateDir: string;
  /** This process was started by Crux: it uses the given socket and starts no daemon. */
  readonly inside: boolean;
  readonly command: readonly string[];
  readonly env: Environment;
  readonly clock: Timer;
  readonly launch: DaemonLauncher | undefined;
}

/** `socketPath`: where the daemon listens or will listen, as far as is known now. */
type Place = Located & { readonly socketPath: string };

function locate(options: DaemonOptions): Located {
  const env = options.env ?? process.env;
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const home = options.home ?? homeOf(env);
  const ipc = ipcSocketPath(env);
  const seats = ipc === undefined ? findSeats(env, uid, home) : { usual: ipc, own: undefined, isGiven: true };
  checkSocketPath(seats.usual);
  return {
    seats,
    uid,
    runtimeDir: parent(seats.usual),
    stateDir: stateDirOf(env, home),
    inside: ipc !== undefined,
    command: options.command ?? [process.execPath, ...HEAP_FLAGS, process.argv[1] ?? ""],
    env,
    clock: options.clock ?? new SteadyClock(),
    launch: options.launch,
  };
}

function seated(located: Located): Place {
  const { seats, uid, runtimeDir, stateDir, inside } = located;
  // the parent that gave the socket is responsible for its place
  if (!inside) checkPrivateDir(runtimeDir, uid);
  const socketPath = chooseSeat(seats, stateDir);
  if (!inside && socketPath !== seats.usual) checkPrivateDir(parent(socketPath), uid);
  return { ...located, socketPath };
}

/**
 * A hung daemon is distinguished from a stale socket by the lock, a daemon of another state directory by the owner of
 * the folder.
 */
async function look(place: Place, signal?: AbortSignal): Promise<Exclude<Probe, { kind: "silent" }>> {
  const seen = await lookThere(place, signal);
  if (place.seats.isGiven || seen.kind === "absent") return seen;
  const stranger = findStranger(parent(place.socketPath), place.stateDir);
  if (stranger === undefined) return seen;
  if (seen.kind === "answered") seen.connection.close();
  // it has just appeared: our daemon is, or will be, elsewhere
  if (chooseSeat(place.seats, place.stateDir) !== place.socketPath) return { kind: "absent" };
  throw seatTaken(parent(place.socketPath), stranger);
}

async function lookThere(place: Place, signal?: AbortSignal): Promise<Exclude<Probe, { kind: "silent" }>> {
  let seen = await probe(place.socketPath, ANSWER_MS, place.clock, signal);
  if (seen.kind !== "silent") return seen;
  const pid = findDaemonPid(place.socketPath, place.stateDir);
  if (pid !== undefined || place.inside) seen = await seen.more(HUNG_MS);
  if (seen.kind !== "silent") return seen;
  seen.close();
  if (pid === undefined && !place.inside) return { kind: "absent" };
  throw unanswered(pid);
}

function unanswered(pid: number | undefined): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    message: pid === undefined ? "daemon does not answer" : `daemon (PID ${pid}) does not answer`,
    fact: { kind: "daemon_silent" },
  });
}

function greet(seen: Extract<Probe, { kind: "answered" }>, place: Place, own: string): Daemon {
  const { connection, version } = seen;
  if (!place.inside) proveUser(connection, place.socketPath);
  const shell = { runtimeDir: place.runtimeDir, pid: process.ppid };
  const hint = place.inside ? undefined : versionHint(own, version, shell);
  const why = seen.readOnly ?? (seen.isSafeMode ? safeMode(seen) : undefined);
  const warning = why === undefined ? {} : { warning: why };
  const { socketPath } = place;
  return { connection, socketPath, version, ...(hint === undefined ? {} : { hint }), ...warning };
}

function safeMode({ unrestored }: Extract<Probe, { kind: "answered" }>): string {
  const why = "safe mode: the daemon died again and again soon after its start, so nothing was restored";
  const leave = nextStep({ kind: "safe_mode" });
  if (unrestored === undefined) return `${why}; ${leave}`;
  const { agents, pids } = unrestored;
  const who = `PID ${pids.join(" ")}${agents > pids.length ? ` and ${agents - pids.length} more` : ""}`;
  const there = agents === 1 ? "1 agent is on record and waits" : `${agents} agents are on record and wait`;
  return `${why}; ${there} (${who}); ${leave} and restores them`;
}

/**
 * The answer is not awaited: answers come in the order of the requests. A daemon that does not know `auth` is not
 * affected.
 */
function proveUser(connection: Connection, socketPath: string): void {
  let cookie: string;
  try {
    cookie = readFileSync(cookieFile(socketPath), "utf8").trim();
  } catch {
    return;
  }
  connection.request("auth", { cookie }).catch(() => {});
}

function mayLaunch(launched: (Launched & { at: number }) | undefined, now: number): boolean {
  if (launched === undefined) return true;
  // one that gave up is reported, however long that took: the next would give up as well
  return launched.ended && launched.error === undefined && now - launched.at >= RELAUNCH_MS;
}

function notRunningInside(seen: Exclude<Probe, { kind: "silent" | "answered" }>): Fault {
  if (seen.kind === "busy") return seen.fault;
  return new Fault({
    code: "UNAVAILABLE",
    message: "daemon is not running",
    hint: "a process that Crux started does not start a daemon",
  });
}

/** The error if our launch did not succeed, or nothing was launched because another process holds the lock. */
function notReached(
  { stateDir, runtimeDir }: Place,
  launched: { readonly at: number } | undefined,
  now: number,
): Fault {
  if (launched === undefined) return unanswered(findOwner(stateDir));
  const seconds = Math.floor((now - launched.at) / 1_000);
  const log = lastLogLines(logPath(stateDir, runtimeDir), 5);
  const lines = [`daemon did not start within ${seconds}s`, ...log];
  return new Fault({ code: "TIMEOUT", message: lines.join("\n"), fact: { kind: "daemon_late" } });
}

function notLaunched({ error: cause, code }: Launched, { runtimeDir }: Place): Fault {
  if (code === EXIT_TAKEN) return seatTaken(runtimeDir, readSeatOwner(runtimeDir));
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  const hint = syscall === "mkdir" ? "XDG_STATE_HOME=<folder> keeps its files in another place" : undefined;
  return new Fault({
    code: "UNAVAILABLE",
    message: `daemon could not be started: ${cause?.message}`,
    cause,
    ...(hint === undefined ? {} : { hint }),
  });
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // the process has ended meanwhile
  }
}
