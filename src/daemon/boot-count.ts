/**
 * Boots that came to no good end, counted in a small file of the state directory. The count rises before anything is booted and
 * goes back to 0 once the daemon has lived for a minute or was stopped in order; so what it says at a boot is how many daemons
 * in a row died young. Three are a boot loop: the next comes up in safe mode, where nothing is restored, and stays in it until a
 * person removes the file (`crux daemon start --normal`).
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { bootCountFile, type Environment } from "../lib/paths.ts";

/** A daemon that has lived so long has booted. */
export const YOUNG_MS = 60_000;
const DEATHS = 3;
/** For the counting alone: a file that says more was not written by us. */
const MAX_COUNT = 1_000_000;

export class BootCount {
  readonly isSafeMode: boolean;
  readonly #path: string;
  readonly #deaths: number;

  /** Counts this boot. A disk that takes nothing counts nothing. `CRUX_SAFE_MODE_AFTER`: another number of deaths; 0: never. */
  constructor(stateDir: string, env: Environment) {
    this.#path = bootCountFile(stateDir);
    this.#deaths = read(this.#path);
    const limit = limitOf(env.CRUX_SAFE_MODE_AFTER);
    this.isSafeMode = limit > 0 && this.#deaths >= limit;
    if (!this.isSafeMode) this.#write(this.#deaths + 1);
  }

  /** It lives, or was stopped in order. Safe mode is left by a person alone. */
  clear(): void {
    if (this.isSafeMode) return;
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // the disk takes nothing: it counts on
    }
  }

  /** It gave up with words for a person: that is no death, and no proof of life. */
  takeBack(): void {
    if (this.isSafeMode) return;
    if (this.#deaths === 0) this.clear();
    else this.#write(this.#deaths);
  }

  #write(count: number): void {
    try {
      writeFileSync(this.#path, `${count}\n`, { mode: 0o600 });
    } catch {
      // the disk takes nothing: that is told where it matters
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
