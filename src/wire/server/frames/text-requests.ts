/**
 * The methods of the kernel IPC chapter on the text wire, for one connection. Bytes are `{"base64": …}` there. What a
 * subscription sends follows its answer, as lines `event` and `chunk`, and occupies the connection like any stream.
 */
import { FRAME, PACKET } from "../../../abi/ipc.ts";
import { IPC_METHODS, type IpcMethodName } from "../../../abi/methods/ipc/methods.ts";
import { FrameDecoder } from "../../codec/frame.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import { unpack } from "../../codec/unpack.ts";
import { Desk, type DeskOptions } from "../desk.ts";
import type { Send } from "../handler.ts";
import { parseEnvelope, RequestIds } from "./envelope.ts";
import { callMethod } from "./methods.ts";
import { FrameSession } from "./session.ts";
import type { FrameOutput } from "./stream-subscription.ts";

/** Lines that wait for the client; subscriptions wait while there are so many. */
const MAX_LINES = 16;
const TYPES: ReadonlyMap<number, string> = new Map([
  [PACKET.event, "event"],
  [PACKET.chunk, "chunk"],
]);

interface Request {
  readonly payload: unknown;
  readonly meta: unknown;
}

interface Answer {
  readonly payload: unknown;
  readonly follow?: (send: Send) => Promise<void>;
}

export class TextRequests implements FrameOutput {
  readonly #options: DeskOptions;
  readonly #gone: AbortSignal;
  readonly #session: FrameSession;
  readonly #ids = new RequestIds();
  /** What a stream has sent; null: there is no stream, and nothing is sent unasked. */
  #lines: string[] | null = null;
  #changed = Promise.withResolvers<void>();

  constructor(options: DeskOptions, { ended, gone }: Record<"ended" | "gone", AbortSignal>) {
    const desk = new Desk(options, ended, gone);
    // as on the binary wire, a program of a process never acts for the user
    if (options.program !== undefined) desk.become({ kind: "process", client: options.program });
    this.#options = options;
    this.#gone = gone;
    this.#session = new FrameSession(desk, () => options.look(), this);
    ended.addEventListener("abort", () => this.#session.settle(), { once: true });
    gone.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** It showed a token that is not its own: the connection closes after the answer. */
  get isRefused(): boolean {
    return this.#session.isRefused;
  }

  /** Errors are those of the binary wire. */
  async call(method: IpcMethodName, { payload, meta }: Request): Promise<Answer> {
    const { clock } = this.#options;
    const given = withBytes(payload ?? {}, 0);
    const params = method === "kernel.hello" ? { ...(given as object), features: [] } : given;
    const request = parseEnvelope({ id: "-", method, params, ...(meta === undefined ? {} : { meta }) });
    if (request.kind === "bad") throw request.error;
    const isStream = IPC_METHODS[method].kind === "stream";
    if (isStream) this.#lines = [];
    const open = this.#session.begin(request, clock);
    const requestId = this.#ids.next(clock.now());
    try {
      const answer = callMethod(request, { requestId, control: open, session: this.#session });
      this.#session.keep(request.id, open);
      const { result } = answer instanceof Promise ? await open.until(answer) : answer;
      return { payload: plain(result), ...(isStream ? { follow: (send: Send) => this.#follow(send) } : {}) };
    } finally {
      this.#session.end(request.id);
      open.end();
    }
  }

  async room(): Promise<void> {
    while (!this.#gone.aborted && (this.#lines?.length ?? 0) >= MAX_LINES) await this.#changed.promise;
  }

  send(frames: Buffer, onSent?: () => void): void {
    for (const framed of new FrameDecoder().push(frames)) {
      if (framed.kind !== "frame") continue;
      const payload = plain(unpack(framed.payload));
      this.#lines?.push(encodeLine({ type: TYPES.get(framed.type), payload }));
    }
    onSent?.();
    this.#wake();
  }

  /** Until the end of its streams; events have none. */
  async #follow(send: Send): Promise<void> {
    const { subscriptions, eventSubscriptions } = this.#session;
    let open = subscriptions.size + eventSubscriptions.size;
    for (const { over } of subscriptions.values())
      void over.then(() => {
        open--;
        this.#wake();
      });
    for (;;) {
      const { promise } = this.#changed;
      const text = this.#lines?.splice(0).join("") ?? "";
      if (this.#gone.aborted || (text !== "" && !(await send(text)))) return;
      if (text !== "") this.#wake();
      else if (open > 0) await promise;
      else break;
    }
    await send(encodeLine({ type: "eof" }));
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  #end(): void {
    this.#session.close();
    this.#wake();
  }
}

/** Bytes of the text wire as bytes, as deep as the binary wire has them. */
function withBytes(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > FRAME.maxDepth) return value;
  if (Array.isArray(value)) return value.map((each) => withBytes(each, depth + 1));
  const entries = Object.entries(value);
  const [[key, text] = []] = entries;
  if (entries.length === 1 && key === "base64" && typeof text === "string")
    return new Uint8Array(Buffer.from(text, "base64"));
  return Object.fromEntries(entries.map(([name, each]) => [name, withBytes(each, depth + 1)]));
}

/** The same with bytes as the text wire has them. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value))
    return { base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
