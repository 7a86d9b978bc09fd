/** One connection to the daemon. Thin: it loads no schemas, because the daemon validates the requests. */
import { connect as connectSocket, type OnReadOpts, type Socket } from "node:net";
import { Fault, type WireError } from "../../abi/errors.ts";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { WireResponse, WireStreamLine } from "../../abi/wire.ts";
import { encodeLine, LineDecoder, parseLine } from "../codec/ndjson.ts";
import { CutOff } from "./cut-off.ts";
import { WireFault } from "./wire-fault.ts";

export interface WireStream<R> {
  readonly response: R;
  /** For a single reader. Ends with the connection, whichever side closed it. */
  readonly lines: AsyncIterable<WireStreamLine>;
  /** Idempotent. */
  close(): void;
}

/** UNAVAILABLE: no daemon listens there. Other system errors keep their text. */
export async function connect(socketPath: string, signal?: AbortSignal): Promise<Connection> {
  const opened = await openSocket(socketPath, signal);
  if (opened.kind === "open") return new Connection(opened.socket);
  throw new Fault({ code: "UNAVAILABLE", message: "daemon is not running" });
}

type Opened = { readonly kind: "open"; readonly socket: Socket } | { readonly kind: "absent" };

/**
 * These errors are worth a retry. EAGAIN: more connections wait than the system queues. ECONNRESET: the connection was
 * closed while it waited, because the daemon was shutting down.
 */
const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EAGAIN"]);

/**
 * `absent`: no such file, no listener, or connections are not accepted now. CANCELLED: the signal fired. `onread`: what is read
 * goes there, not to the listeners of the socket.
 */
export function openSocket(path: string, signal?: AbortSignal, onread?: OnReadOpts): Promise<Opened> {
  if (signal?.aborted) return Promise.reject(cancelled());
  return new Promise((resolve, reject) => {
    const socket = connectSocket(onread === undefined ? { path } : { path, onread });
    const abort = () => {
      socket.destroy();
      reject(cancelled());
    };
    const settle = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("connect", () => {
      settle();
      socket.removeAllListeners("error");
      // readers and writers notice by the end of the lines
      socket.on("error", () => {});
      resolve({ kind: "open", socket });
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      settle();
      if (ABSENT.has(error.code)) resolve({ kind: "absent" });
      else reject(toFault(path, error));
    });
  });
}

export class Connection {
  readonly #socket: Socket;
  readonly #lines: AsyncGenerator<Buffer, void, void>;
  /** The last pending response: responses come in the order of the requests. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#lines = readLines(socket);
  }

  /**
   * Rejects with a WireFault if the daemon refuses the request, UNAVAILABLE if the connection ends before the response.
   * `signal` closes the connection: CANCELLED.
   */
  async request<M extends MethodName>(
    method: M,
    payload: Params<M>,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    if (signal?.aborted) throw cancelled();
    const abort = () => this.close();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      this.#socket.write(encodeLine({ method, payload }));
      const response = this.#tail.then(() => this.#readResponse(method));
      this.#tail = response.catch(() => {});
      return (await response) as Result<M>;
    } catch (error) {
      throw signal?.aborted ? cancelled(error) : error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Occupies the connection from now on. `signal` closes it, before or after the response. */
  async stream<M extends MethodName>(
    method: M,
    payload: Params<M>,
    signal?: AbortSignal,
  ): Promise<WireStream<Result<M>>> {
    const response = await this.request(method, payload, signal);
    const close = () => this.close();
    signal?.addEventListener("abort", close, { once: true });
    this.#socket.once("close", () => signal?.removeEventListener("abort", close));
    if (signal?.aborted) close();
    return { response, lines: this.#streamLines(), close };
  }

  /** Idempotent. Lines not yet read are lost. */
  close(): void {
    this.#socket.destroy();
  }

  async #readResponse(method: MethodName): Promise<unknown> {
    const next = await this.#lines.next();
    if (next.done) throw new CutOff(method);
    const response = parse(next.value) as WireResponse;
    if (response.ok) return response.payload;
    throw new WireFault(response.error as WireError);
  }

  async *#streamLines(): AsyncGenerator<WireStreamLine, void, void> {
    for await (const line of this.#lines) yield parse(line) as WireStreamLine;
  }
}

function parse(line: Buffer): unknown {
  try {
    return parseLine(line);
  } catch (cause) {
    throw new Fault({ code: "INTERNAL", message: "daemon sent a line that is not JSON", cause });
  }
}

function cancelled(cause?: unknown): Fault {
  return new Fault({ code: "CANCELLED", message: "cancelled", cause });
}

function toFault(path: string, cause: NodeJS.ErrnoException): Fault {
  const code = cause.code === "EACCES" || cause.code === "EPERM" ? "PERMISSION" : "UNAVAILABLE";
  return new Fault({ code, message: `cannot connect to ${path}: ${cause.code ?? cause.message}`, cause });
}

/** More than the wire allows, so that the daemon's limit applies first, but still bounded. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * The lines of a connection. Reads only when the consumer asks, so that a slow screen fills the daemon's queue and not
 * this memory. Ends with the connection, for whatever reason.
 */
async function* readLines(socket: Socket): AsyncGenerator<Buffer, void, void> {
  const decoder = new LineDecoder(MAX_LINE_BYTES);
  try {
    for await (const chunk of socket) {
      for (const item of decoder.push(chunk as Buffer)) {
        if (item.kind === "too_long") return;
        yield item.line;
      }
    }
  } catch {
    // reset, or closed by us: both are the end
  } finally {
    socket.destroy();
  }
}
