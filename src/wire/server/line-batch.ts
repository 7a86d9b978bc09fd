/**
 * Lines of a lively stream on their way to a client: those of a few milliseconds go out together, so that whoever watches
 * costs the watched process next to nothing. A reader that falls behind holds up `add`, and with it the queue in the kernel,
 * which drops and counts.
 */
import type { Clock } from "../../abi/program.ts";
import type { Send } from "./handler.ts";

/** Nobody sees a trace line come later by so little. */
const LINGER_MS = 20;
/** More are not kept back. */
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

  /** False: the client is gone. */
  async add(line: string): Promise<boolean> {
    this.#lines.push(line);
    if (this.#lines.length >= MAX_LINES) return this.flush();
    if (this.#stop === null) this.#linger();
    return true;
  }

  /** Everything is with the system, or false: the client is gone. */
  flush(): Promise<boolean> {
    this.#stop?.abort();
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
