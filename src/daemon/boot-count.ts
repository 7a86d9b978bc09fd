/**
 * Counts failed boots in a small file of the state directory. The count rises before anything is booted and returns to
 * 0 once the daemon has run for a minute or was stopped in order; so at a boot it says how many daemons in a row died
 * young. Three are a boot loop: the next daemon starts in safe mode, where nothing is restored, until the user removes
 * the file (`crux daemon start --normal`).
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { bootCountFile, type Environment } from "../lib/paths.ts";

/** A daemon that has run this long has booted successfully. */
export const YOUNG_MS = 60_000;
const DEATHS = 3;
/** The highest valid count: a file with more was not written by Crux. */
const MAX_COUNT = 1_000_000;

export class BootCount {
  readonly isSafeMode: boolean;
  readonly #path: string;
  readonly #deaths: number;

  /** Counts this boot, if the disk can be written. `CRUX_SAFE_MODE_AFTER`: another number of deaths; 0: never. */
  constructor(stateDir: string, env: Environment) {
    this.#path = bootCountFile(stateDir);
    this.#deaths = read(this.#path);
    const limit = limitOf(env.CRUX_SAFE_MODE_AFTER);
    this.isSafeMode = limit > 0 && this.#deaths >= limit;
    if (!this.isSafeMode) this.#write(this.#deaths + 1);
  }

  /** Resets the count: the daemon has run long enough or was stopped in order. Only the user leaves safe mode. */
  clear(): void {
    if (this.isSafeMode) return;
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // the disk cannot be written: the count stays
    }
  }

  /** Undoes this boot's count: the daemon ended with an error for the user, which is neither a crash nor a success. */
  takeBack(): void {
    if (this.isSafeMode) return;
    if (this.#deaths === 0) this.clear();
    else this.#write(this.#deaths);
  }

  #write(count: number): void {
    try {
      writeFileSync(this.#path, `${count}\n`, { mode: 0o600 });
    } catch {
      // the disk cannot be written: reported where it matters
    }
  }
}

function read(path: string): number {
  try {
    const count = Number(readFileSync(path, "utf8"));
    return Number.isInteger(count) && count > 0 && count <= MAX_COUNT ? count : 0;
  } catch {
    return 0;
  }
}

function limitOf(text: string | undefined): number {
  const limit = Number(text ?? "");
  return text !== undefined && text !== "" && Number.isInteger(limit) && limit >= 0 ? limit : DEATHS;
}
