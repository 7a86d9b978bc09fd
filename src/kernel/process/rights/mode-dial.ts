/** In which permission mode a process is, and was before it began to plan. set-mode.ts turns it, with a record. */
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

  /** In plan mode: the one it was in before; null: it is in another, or nobody knows. */
  get prior(): PermissionMode | null {
    return this.#prior;
  }

  /** Rises with each turn. */
  get turns(): number {
    return this.#turns;
  }

  /** What it was before it began to plan is what it goes back to. */
  turn(mode: PermissionMode): void {
    if (mode !== "plan") this.#prior = null;
    else if (this.#mode !== "plan") this.#prior = this.#mode;
    this.#mode = mode;
    this.#turns++;
  }

  /** Of a process that was brought back: the mode that it planned from. */
  comeBack(prior: PermissionMode | null): void {
    if (this.#mode === "plan") this.#prior = prior;
  }

  /** No longer above what it may. Nobody turned it. */
  cap(most: PermissionMode): void {
    this.#mode = lowest(this.#mode, most);
  }
}
