/**
 * A client of the binary wire: requests side by side, and the output of programs as it comes. Thin: it loads no schemas,
 * because the daemon validates the requests.
 */
import type { Socket } from "node:net";
import { Fault, type WireError } from "../../abi/errors.ts";
import { type Feature, type IpcChunk, type IpcResponse, PACKET, type RequestMeta } from "../../abi/ipc.ts";
import type { IpcMethodName, IpcParams, IpcResult } from "../../abi/methods/ipc/methods.ts";
import { FrameDecoder } from "../codec/frame.ts";
import { packFrame, unpack } from "../codec/msgpack.ts";
import { openSocket } from "./connection.ts";
import { WireFault } from "./wire-fault.ts";

const NEEDED: readonly Feature[] = ["streams", "flow", "pty"];
/** Bytes of a stream that are on their way, or wait for their reader here. */
const WINDOW = 1024 * 1024;

type StreamName = "stdout" | "stderr";
/** For a single reader each; they end with the program's stream. */
export type Output = Readonly<Partial<Record<StreamName, AsyncIterable<IpcChunk>>>>;

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface KernelClient {
  /** Rejects with a WireFault if the kernel refuses, UNAVAILABLE if the connection ends before the answer. */
  call<M extends IpcMethodName>(method: M, params: IpcParams<M>, meta?: RequestMeta): Promise<IpcResult<M>>;
  /** What a program writes, from its first byte that is kept. A slow reader is waited for. */
  output(pid: number): Promise<Output>;
  /** Idempotent. */
  close(): void;
}

/** UNAVAILABLE: no daemon listens there. PERMISSION: the token is not one of this process. */
export async function connectKernel(
  path: string,
  { token, signal }: { readonly token?: string | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<KernelClient> {
  const opened = await openSocket(path, signal);
  if (opened.kind === "absent") throw new Fault({ code: "UNAVAILABLE", message: "daemon is not running" });
  const client = new FrameClient(opened.socket);
  try {
    await client.call("kernel.hello", { features: [...NEEDED], ...(token === undefined ? {} : { token }) });
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

class FrameClient implements KernelClient {
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #pending = new Map<string, Pending>();
  readonly #streams = new Map<string, ChunkQueue>();
  #requests = 0;
  #isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.once("close", () => this.#end());
  }

  call<M extends IpcMethodName>(
    method: M,
    params: IpcParams<M>,
    meta: RequestMeta = {},
  ): Promise<IpcResult<M>> {
    return this.#ask(method, params, meta, (result) => result as IpcResult<M>);
  }

  output(pid: number): Promise<Output> {
    const asked = { pid, from: "start" as const, window: WINDOW };
    // in the turn of the answer: the chunks that follow it find their queues
    return this.#ask("process.stream.subscribe", asked, {}, (result) => {
      const { subscriptions } = result as IpcResult<"process.stream.subscribe">;
      const { stdout, stderr } = subscriptions;
      return {
        ...(stdout === undefined ? {} : { stdout: this.#queue(stdout) }),
        ...(stderr === undefined ? {} : { stderr: this.#queue(stderr) }),
      };
    });
  }

  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  #ask<T>(
    method: IpcMethodName,
    params: object,
    meta: RequestMeta,
    read: (result: unknown) => T,
  ): Promise<T> {
    if (this.#isClosed) return Promise.reject(cutOff());
    const id = String(++this.#requests);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: (result) => resolve(read(result)), reject });
      this.#send({ id, method, params, meta });
    });
  }

  #send(request: object): void {
    this.#socket.write(packFrame(PACKET.request, request));
  }

  #queue(stream: string): ChunkQueue {
    const allow = (bytes: number): void => {
      const params = { stream, bytes };
      if (!this.#isClosed && bytes > 0) this.#send({ id: "", method: "stream.credit", params });
    };
    const queue = new ChunkQueue(allow);
    this.#streams.set(stream, queue);
    return queue;
  }

  #take(bytes: Buffer): void {
    try {
      for (const framed of this.#decoder.push(bytes)) {
        if (framed.kind !== "frame") throw new Error(framed.kind);
        const message: unknown = unpack(framed.payload);
        if (framed.type === PACKET.response) this.#answer(message as IpcResponse);
        else if (framed.type === PACKET.chunk) this.#pass(message as IpcChunk);
      }
    } catch {
      // not this protocol: whoever waits hears that the connection has ended
      this.close();
    }
  }

  #answer({ id, result, fault }: IpcResponse): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (fault === undefined) pending?.resolve(result);
    else pending?.reject(new WireFault(fault satisfies WireError));
  }

  #pass(chunk: IpcChunk): void {
    this.#streams.get(chunk.stream)?.push(chunk);
    if (chunk.end === true) this.#streams.delete(chunk.stream);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const error = cutOff();
    for (const { reject } of this.#pending.values()) reject(error);
    for (const queue of this.#streams.values()) queue.fail(error);
    this.#pending.clear();
    this.#streams.clear();
  }
}

/** Chunks between the connection and their reader: as many as the window lets come. */
class ChunkQueue implements AsyncIterable<IpcChunk> {
  readonly #allow: (bytes: number) => void;
  readonly #chunks: IpcChunk[] = [];
  #failure: Error | undefined;
  #more = Promise.withResolvers<void>();

  constructor(allow: (bytes: number) => void) {
    this.#allow = allow;
  }

  push(chunk: IpcChunk): void {
    this.#chunks.push(chunk);
    this.#more.resolve();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#more.resolve();
  }

  /** A chunk makes room for others once its reader asks for the next. */
  async *[Symbol.asyncIterator](): AsyncGenerator<IpcChunk, void, void> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        if (chunk.end === true) return;
        yield chunk;
        this.#allow(chunk.data?.byteLength ?? 0);
      } else if (this.#failure !== undefined) throw this.#failure;
      else {
        this.#more = Promise.withResolvers<void>();
        await this.#more.promise;
      }
    }
  }
}

function cutOff(): Fault {
  return new Fault({
    code: "UNAVAILABLE",
    message: "daemon closed the connection",
    fact: { kind: "stopping" },
  });
}
