/** The state of a journal, and the listeners to its changes. The state `lost` is final. */
import type { JournalState } from "../../kernel/ports/journal.ts";
import type { JournalFault } from "../fault.ts";

const WELL: JournalState = { state: "well" };

export class Health {
  readonly #path: string;
  readonly #listeners = new Set<(state: JournalState) => void>();
  #fault: JournalFault | undefined;
  #state = WELL;

  /** `path`: the path that a degraded state reports. */
  constructor(path: string) {
    this.#path = path;
  }

  get state(): JournalState {
    return this.#state;
  }

  /** undefined: the journal is well. */
  get fault(): JournalFault | undefined {
    return this.#fault;
  }

  /** undefined: the disk accepts records. */
  become(fault: JournalFault | undefined): void {
    if (this.#fault?.isLost === true || (fault === undefined && this.#fault === undefined)) return;
    const isNew = fault?.reason !== this.#fault?.reason;
    this.#fault = fault;
    this.#state = fault === undefined ? WELL : stateOf(fault, this.#path);
    if (!isNew) return;
    for (const listener of [...this.#listeners]) listener(this.#state);
  }

  onState(listener: (state: JournalState) => void): () => void {
    // the same function may be registered twice
    const own = (state: JournalState): void => listener(state);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}

function stateOf({ isLost, reason, message, room }: JournalFault, path: string): JournalState {
  if (isLost) return { state: "lost", reason, message };
  const { freeBytes = null, needBytes = 0 } = room ?? {};
  return { state: "degraded", reason, path, freeBytes, needBytes };
}
