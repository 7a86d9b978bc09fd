/**
 * Batches the lines of a busy stream to a client: lines within a few milliseconds are sent together, so that watching a
 * process costs it almost nothing. A slow reader blocks `add`, and with it the queue in the kernel, which drops events
 * and counts them.
 */
import type { Clock } from "../../abi/program.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { Send } from "./handler.ts";

/** A delay of a trace line that no reader notices, in ms. */
const LINGER_MS = 20;
/** The most lines held back. */
const MAX_LINES = 128;

export class LineBatch {
  readonly #send: Send;
  readonly #clock: Pick<Clock, "sleep">;
  #lines: string[] = [];
  #stop: AbortController | null = null;
  /** The last write; the next one waits for it. */
  #sent: Promise<boolean> = Promise.resolve(true);

  constructor(send: Send, clock: Pick<Clock, "sleep">) {
    this.#send = send;
    this.#clock = clock;
  }

  /** False: the client has left. */
  async add(line: string): Promise<boolean> {
    this.#lines.push(line);
    if (this.#lines.length >= MAX_LINES) return this.flush();
    if (this.#stop === null) this.#linger();
    return true;
  }

  /** True: the system has accepted everything. False: the client has left. */
  flush(): Promise<boolean> {
    this.#stop?.abort(ABORTED);
    this.#stop = null;
    const text = this.#lines.join("");
    this.#lines = [];
    this.#sent = this.#sent.then((isThere) => (isThere && text !== "" ? this.#send(text) : isThere));
    return this.#sent;
  }

  #linger(): void {
    const stop = new AbortController();
    this.#stop = stop;
    this.#clock.sleep(LINGER_MS, stop.signal).then(
      () => void this.flush(),
      () => {},
    );
  }
}
