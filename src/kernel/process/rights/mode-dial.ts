/** The permission mode of a process, and its mode before plan mode. set-mode.ts changes it, with a record. */
import type { PermissionMode } from "../../../abi/process.ts";
import { lowest } from "./narrow.ts";

export class ModeDial {
  #mode: PermissionMode;
  #prior: PermissionMode | null = null;
  #turns = 0;

  constructor(mode: PermissionMode) {
    this.#mode = mode;
  }

  get mode(): PermissionMode {
    return this.#mode;
  }

  /** In plan mode: the mode before it; null: not in plan mode, or unknown. */
  get prior(): PermissionMode | null {
    return this.#prior;
  }

  /** Counts the calls of `turn`. */
  get turns(): number {
    return this.#turns;
  }

  /** Sets the mode. Entering plan mode remembers the mode to return to. */
  turn(mode: PermissionMode): void {
    if (mode !== "plan") this.#prior = null;
    else if (this.#mode !== "plan") this.#prior = this.#mode;
    this.#mode = mode;
    this.#turns++;
  }

  /** For a restored process: sets the mode from which it entered plan mode. */
  comeBack(prior: PermissionMode | null): void {
    if (this.#mode === "plan") this.#prior = prior;
  }

  /** Lowers the mode to at most `most`. Does not count as a turn. */
  cap(most: PermissionMode): void {
    this.#mode = lowest(this.#mode, most);
  }
}
