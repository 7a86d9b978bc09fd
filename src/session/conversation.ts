/**
 * Of a process that a person talks to: the run under way, and what ends it alone. One run belongs to one message; what other
 * clients say meanwhile waits in the mailbox, in the order of the journal.
 */
import { type LinkedSignal, linkSignals } from "../lib/abort.ts";

/** From the message that began it to the last word. */
export interface ConversationRun {
  /** Of the message; 0: the intent. */
  readonly seq: number;
  /** Who said it: only the same client's words join the run. */
  readonly client: string;
  /** Monotonic milliseconds. */
  readonly startedMono: number;
  /** Of the process, before it. */
  readonly tokensBefore: number;
}

export class Conversation {
  /** What a person, or its first message, calls it; "" nothing yet. */
  title = "";
  #run: ConversationRun | null = null;
  #interrupt = new AbortController();
  #linked: LinkedSignal | null = null;

  /** null: it waits for a message. */
  get run(): ConversationRun | null {
    return this.#run;
  }

  /** Fires at INT, or with the process. */
  begin(run: ConversationRun, ofProcess: AbortSignal): AbortSignal {
    this.end();
    this.#run = run;
    this.#interrupt = new AbortController();
    this.#linked = linkSignals(ofProcess, this.#interrupt.signal);
    return this.#linked.signal;
  }

  /** Nothing of it is left on the signal of the process. */
  end(): ConversationRun | null {
    const run = this.#run;
    this.#run = null;
    this.#linked?.[Symbol.dispose]();
    this.#linked = null;
    return run;
  }

  /** Without a run there is nothing to end. */
  interrupt(): void {
    if (this.#run !== null) this.#interrupt.abort();
  }
}
