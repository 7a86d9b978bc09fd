/**
 * The conversation of a session: its current run, and the signal that ends only this run. A run belongs to one message;
 * messages of other clients wait in the mailbox meanwhile, in the order of the journal.
 */
import { ABORTED, type LinkedSignal, linkSignals } from "../../lib/abort.ts";

/** A run lasts from the message that began it to the final reply. */
interface ConversationRun {
  /** The seq of the message that began it; 0: the intent. */
  readonly seq: number;
  /** The client that sent it: only messages of the same client join the run. */
  readonly client: string;
  /** What the user has said in the message that it works on; "": another process began it. */
  readonly words: string;
  /** Monotonic time, ms. */
  readonly startedMono: number;
  /** Tokens that the process had used before the run. */
  readonly tokensBefore: number;
}

export class Conversation {
  #title = "";
  #run: ConversationRun | null = null;
  #interrupt = new AbortController();
  #linked: LinkedSignal | null = null;

  /** The title given by the user or taken from the first message; "": none yet. */
  get title(): string {
    return this.#title;
  }

  /** Changes what is shown: the caller records it. */
  entitle(title: string): void {
    this.#title = title;
  }

  /** The current run; null: the session waits for a message. */
  get run(): ConversationRun | null {
    return this.#run;
  }

  /** A further message of the user joins the run. */
  hear(words: string): void {
    if (this.#run !== null) this.#run = { ...this.#run, words };
  }

  /** Begins a run. The signal fires at INT, or with that of the process. */
  begin(run: ConversationRun, ofProcess: AbortSignal): AbortSignal {
    this.end();
    this.#run = run;
    this.#interrupt = new AbortController();
    this.#linked = linkSignals(ofProcess, this.#interrupt.signal);
    return this.#linked.signal;
  }

  /** Ends the current run and returns it; removes its listener from the signal of the process. */
  end(): ConversationRun | null {
    const run = this.#run;
    this.#run = null;
    this.#linked?.[Symbol.dispose]();
    this.#linked = null;
    return run;
  }

  /** Interrupts the current run, if any. */
  interrupt(): void {
    if (this.#run !== null) this.#interrupt.abort(ABORTED);
  }
}
