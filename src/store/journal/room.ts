/**
 * The free space of the journal, and its reserve: the file `reserve` is deleted when the disk is full, so that the
 * results of effects already begun fit, and is made again when there is room.
 */
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

export const RESERVE_BYTES = 16 * 1024 * 1024;
/** Below this, or below 2 % of the file system, the user is warned. The reserve is made again above it. */
export const LOW_BYTES = 512 * 1024 * 1024;
const LOW_SHARE = 0.02;
const PART = Buffer.alloc(1024 * 1024);

interface Space {
  readonly freeBytes: number;
  readonly isLow: boolean;
}

/** null: the file system does not report it. */
export function spaceOf(dir: string): Space | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(dir);
    const freeBytes = bavail * bsize;
    return { freeBytes, isLow: freeBytes < LOW_BYTES || bavail < blocks * LOW_SHARE };
  } catch {
    return null;
  }
}

export class Reserve {
  readonly #path: string;
  #bytes: number;

  constructor(dir: string) {
    this.#path = join(dir, "reserve");
    this.#bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Whether the reserve has its full size. */
  get isThere(): boolean {
    return this.#bytes >= RESERVE_BYTES;
  }

  /**
   * Grows the file by one part, so that no caller waits long. It need not be synced, only occupy its space. False:
   * there is less room than the file system reports, as with a quota.
   */
  grow(): boolean {
    try {
      const fd = openSync(this.#path, "a", 0o600);
      try {
        this.#bytes += writeSync(fd, PART);
        return true;
      } finally {
        closeSync(fd);
      }
    } catch {
      this.release();
      return false;
    }
  }

  release(): void {
    this.#bytes = 0;
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // a disk that refuses every write keeps the file
    }
  }
}
