/** The writing side of one exchange: every wait ends with the connection, and a cut is told from an abort. */
import type { ServerResponse } from "node:http";

const resetGraceMs = 20;

export class Outlet {
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  readonly #onSilence: (isEndless: boolean) => void;
  #isCut = false;
  /** Counted SSE events handed to the socket. */
  eventsSent = 0;
  /** Each character of what is written is a byte. */
  isBinary = false;

  /** `onSilence`: called when a silence of the script begins. */
  constructor(response: ServerResponse, onSilence: (isEndless: boolean) => void = () => {}) {
    this.#response = response;
    this.#onSilence = onSilence;
    this.signal = this.#gone.signal;
    response.once("close", () => this.#gone.abort());
    // a socket that the client reset; "close" follows and is what counts
    response.on("error", () => {});
  }

  /** True once the connection is gone although neither the reply was complete nor the script cut it. */
  get isAborted(): boolean {
    return this.signal.aborted && !this.#isCut && !this.#response.writableFinished;
  }

  get hasStarted(): boolean {
    return this.#response.headersSent;
  }

  open(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.signal.aborted) this.#response.writeHead(status, headers);
  }

  /** Sends the status line without waiting for the first byte of the body. */
  flush(): void {
    this.#response.flushHeaders();
  }

  /** Resolves when the kernel has the bytes. With `splitBytes`, each piece is a write of its own. */
  async write(text: string, splitBytes?: number): Promise<void> {
    if (text === "") return;
    const bytes = this.#bytesOf(text);
    if (splitBytes === undefined) return this.#push(bytes);
    for (let at = 0; at < bytes.length && !this.signal.aborted; at += splitBytes) {
      await this.#push(bytes.subarray(at, at + splitBytes));
      // lets a reader in this process see the piece before the next one joins it
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  end(text?: string): void {
    if (!this.signal.aborted) this.#response.end(this.#bytesOf(text ?? ""));
  }

  #bytesOf(text: string): Buffer {
    return Buffer.from(text, this.isBinary ? "latin1" : "utf8");
  }

  async cut(isReset: boolean): Promise<void> {
    const { socket } = this.#response;
    // RST throws away what the peer has not read yet
    if (isReset && this.hasStarted) await this.wait(resetGraceMs);
    if (this.signal.aborted) return;
    this.#isCut = true;
    if (isReset) socket?.resetAndDestroy();
    else socket?.destroy();
  }

  /** Waits where a script says so. */
  async fallSilent(what: number | "forever" | PromiseLike<unknown>): Promise<void> {
    this.#onSilence(what === "forever");
    await this.wait(what);
  }

  /** Ends early when the connection goes. A promise that rejects rejects here. */
  async wait(what: number | "forever" | PromiseLike<unknown>): Promise<void> {
    if (this.signal.aborted) return;
    const gone = Promise.withResolvers<void>();
    const onGone = () => gone.resolve();
    this.signal.addEventListener("abort", onGone, { once: true });
    let timer: NodeJS.Timeout | undefined;
    try {
      if (typeof what === "number") timer = setTimeout(onGone, what);
      await (typeof what === "object" ? Promise.race([what, gone.promise]) : gone.promise);
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", onGone);
    }
  }

  async #push(piece: Uint8Array): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#response.write(piece, () => done.resolve());
    await this.wait(done.promise);
  }
}
