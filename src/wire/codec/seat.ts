/**
 * Where the daemon of a state directory listens. A runtime directory has one daemon at a time; `crux.owner` names it.
 * While the usual seat belongs to the daemon of another state directory (two homes of one user), the second daemon
 * listens in a folder below it, whose name both ends compute. So a client never works on a daemon with another home's
 * settings.
 */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { Fault } from "../../abi/errors.ts";
import { type Environment, givenSocket, ownerFile, parent, stateDir } from "../../lib/paths.ts";
import { shortHash } from "../../lib/short-hash.ts";
import { findSocketPath, isPathTooLong } from "./address.ts";

/** EX_CANTCREAT (sysexits.h): the exit code of a daemon that finds no free seat. */
export const EXIT_TAKEN = 73;

/** The running daemon of a runtime directory, or the last one that was killed there. */
export interface SeatOwner {
  readonly pid: number;
  /** The real path, without links. */
  readonly stateDir: string;
}

/** Socket paths. */
export interface Seats {
  readonly usual: string;
  /**
   * The seat in a folder of its own below the usual one. undefined: `CRUX_SOCKET` sets the path, or a longer path is
   * not possible.
   */
  readonly own: string | undefined;
  /** The user named the socket: a client accepts any daemon that listens there. */
  readonly isGiven: boolean;
}

/** `shared` replaces `/tmp`. */
export function findSeats(env: Environment, uid: number, home: string, shared = "/tmp"): Seats {
  const usual = findSocketPath(env, uid, home, shared);
  if (givenSocket(env) !== undefined) return { usual, own: undefined, isGiven: true };
  const own = `${parent(usual)}/${shortHash(spelled(stateDir(env, home)))}/crux.sock`;
  return { usual, own: isPathTooLong(own) ? undefined : own, isGiven: false };
}

/** Where a client looks for the daemon of this state directory at present. */
export function chooseSeat({ usual, own, isGiven }: Seats, state: string): string {
  if (isGiven || own === undefined) return usual;
  const owner = readSeatOwner(parent(usual));
  if (owner !== undefined && isSame(owner.stateDir, state)) return usual;
  const isOwnTaken = lstatSync(own, { throwIfNoEntry: false }) !== undefined;
  return owner !== undefined || isOwnTaken ? own : usual;
}

/**
 * The daemon of another state directory that owns the runtime directory. A daemon of an older version does not record
 * its state directory.
 */
export function findStranger(runtimeDir: string, state: string): SeatOwner | undefined {
  const owner = readSeatOwner(runtimeDir);
  return owner === undefined || isSame(owner.stateDir, state) ? undefined : owner;
}

/** CONFLICT: raised by the second daemon, and by a client that finds the first. */
export function seatTaken(runtimeDir: string, owner: SeatOwner | undefined): Fault {
  const who = owner === undefined ? "another daemon" : `the daemon (PID ${owner.pid}) of ${owner.stateDir}`;
  return new Fault({
    code: "CONFLICT",
    message: `${runtimeDir} is in use by ${who}, which has other settings and agents`,
    hint: "set XDG_RUNTIME_DIR, or CRUX_SOCKET, to a directory of your own; or stop the other daemon with its HOME: crux daemon stop",
  });
}

/** undefined: no owner, or a daemon of an older version. */
export function readSeatOwner(runtimeDir: string): SeatOwner | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(ownerFile(runtimeDir), "utf8"));
    return isSeatOwner(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** The path without links; unchanged if it does not exist. */
export function spelled(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function isSame(owned: string, state: string): boolean {
  return owned === state || owned === spelled(state);
}

function isSeatOwner(value: unknown): value is SeatOwner {
  if (typeof value !== "object" || value === null) return false;
  const { pid, stateDir: state } = value as Partial<Record<keyof SeatOwner, unknown>>;
  return Number.isSafeInteger(pid) && typeof state === "string";
}
