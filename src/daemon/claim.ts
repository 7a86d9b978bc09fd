/**
 * Claims the runtime directory: its socket, cookie and pid file belong to one daemon. The lease covers a state
 * directory, and two of these may share a runtime directory; so it is claimed separately, before anything in it is
 * touched.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Fault, messageOf } from "../abi/errors.ts";
import { ownerFile, parent } from "../lib/paths.ts";
import { type FileLock, lockFile } from "../store/file-lock.ts";
import { checkPrivateDir } from "../wire/codec/address.ts";
import { readSeatOwner, type SeatOwner, type Seats, seatTaken } from "../wire/codec/seat.ts";

export interface SeatClaim {
  readonly socketPath: string;
  /** Must be called after the socket is removed. Idempotent. */
  release(): void;
}

/**
 * Claims the usual seat, or else the daemon's own one. The caller must hold the lease of `owner.stateDir`. CONFLICT:
 * another daemon holds the seat, and no other is available. PERMISSION: the folder is not private. UNAVAILABLE: the
 * folder cannot be written or locked.
 */
export function claimSeat({ usual, own }: Seats, owner: SeatOwner, uid: number): SeatClaim {
  const claim = claimFolder(usual, owner, uid);
  if (claim !== null) {
    if (own !== undefined) clear(own, owner, uid);
    return claim;
  }
  const second = own === undefined ? null : claimFolder(own, owner, uid);
  if (second === null) throw seatTaken(parent(usual), readSeatOwner(parent(usual)));
  const release = (): void => {
    second.release();
    rmSync(parent(second.socketPath), { recursive: true, force: true });
  };
  return { ...second, release };
}

/** Removes what a killed daemon of this state directory left there, so that no client looks for it. */
function clear(own: string, owner: SeatOwner, uid: number): void {
  const left = existsSync(parent(own)) ? claimFolder(own, owner, uid) : null;
  if (left === null) return;
  rmSync(parent(own), { recursive: true, force: true });
  left.release();
}

function claimFolder(socketPath: string, owner: SeatOwner, uid: number): SeatClaim | null {
  const dir = parent(socketPath);
  const lock = prepare(dir, uid);
  if (lock === null) return null;
  try {
    write(dir, owner);
  } catch (error) {
    lock.release();
    throw unusable(dir, error);
  }
  const release = (): void => {
    if (readSeatOwner(dir)?.pid === owner.pid) rmSync(ownerFile(dir), { force: true });
    lock.release();
  };
  return { socketPath, release };
}

function prepare(dir: string, uid: number): FileLock | null {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    checkPrivateDir(dir, uid);
    return lockFile(`${dir}/crux.lock`);
  } catch (error) {
    throw error instanceof Fault && error.code === "PERMISSION" ? error : unusable(dir, error);
  }
}

/** Written atomically: clients may read it at any time. */
function write(dir: string, owner: SeatOwner): void {
  const draft = `${ownerFile(dir)}.${owner.pid}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(draft, ownerFile(dir));
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function unusable(dir: string, cause: unknown): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    message: `the runtime directory ${dir} cannot be used: ${messageOf(cause)}`,
    hint: "set XDG_RUNTIME_DIR to a local directory that you can write",
    cause,
  });
}
