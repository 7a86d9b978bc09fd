/**
 * A client of the binary wire: requests side by side, the output of programs and events as they come. Thin: it loads no
 * schemas, because the daemon validates the requests. With `reconnect` it outlives its connections: what was not answered
 * is asked again with its key, and what was followed goes on where it stopped.
 */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, type WireError } from "../../abi/errors.ts";
import {
  type Feature,
  type IpcChunk,
  type IpcEvent,
  type IpcFault,
  type IpcResponse,
  PACKET,
  type RequestMeta,
} from "../../abi/ipc.ts";
import type { IpcMethodName, IpcParams, IpcResult } from "../../abi/methods/ipc/methods.ts";
import { ipcSocketPath, socketPath } from "../../lib/paths.ts";
import { FrameDecoder } from "../codec/frame.ts";
import { packFrame } from "../codec/msgpack.ts";
import { unpack } from "../codec/unpack.ts";
import { openSocket } from "./connection.ts";
import {
  type EventWish,
  type Followed,
  type FollowHub,
  followEvents,
  followStream,
  type StreamName,
  type StreamWish,
  WINDOW,
} from "./followed.ts";
import type { Inbox } from "./inbox.ts";
import { WireFault } from "./wire-fault.ts";

const NEEDED: readonly Feature[] = ["events", "streams", "flow", "pty"];
/** All connections are read into it: a new buffer for each reading costs more than the reading. */
const shared = Buffer.allocUnsafeSlow(256 * 1024);
/** The bytes of a larger payload are given out where they stand. */
const LARGE_BYTES = 16 * 1024;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** For a single reader each; they end with the program's stream. */
export type Output = Readonly<Partial<Record<StreamName, AsyncIterable<IpcChunk>>>>;

export interface CallMore extends RequestMeta {
  /** Cancels the request, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface KernelClient {
  /** Rejects with a KernelError if the kernel refuses, UNAVAILABLE if the connection ends before the answer. */
  call<M extends IpcMethodName>(method: M, params: IpcParams<M>, more?: CallMore): Promise<IpcResult<M>>;
  /** What a program writes, from its first byte that is kept. A slow reader is waited for. */
  output(pid: number): Promise<Output>;
  /** A stream of a program as it comes; like lines() and events() for one reader, which is waited for. */
  chunks(wish: StreamWish): AsyncIterable<IpcChunk>;
  /** Without their ends. One of more than 64 KiB comes in pieces. */
  lines(wish: StreamWish): AsyncIterable<string>;
  events(wish: EventWish): AsyncIterable<IpcEvent>;
  /** Calls `handler` for each event of that name that belongs to no subscription: `intent.cancel_requested`. */
  on(event: string, handler: (event: IpcEvent) => void): void;
  /** Idempotent. */
  close(): void;
}

export interface KernelOptions {
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly client?: { readonly name: string; readonly version: string };
  /** In addition to those that this client needs. */
  readonly features?: readonly Feature[];
  /** Connects again when the connection is lost, after 100 ms, doubled up to 5 s. */
  readonly reconnect?: boolean;
}

/** A refusal by the kernel, or the end of the connection (UNAVAILABLE). `code` is that of the wire. */
export class KernelError extends WireFault {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(fault: IpcFault & Pick<WireError, "fact">) {
    super(fault);
    this.retryable = fault.retryable;
    this.retryAfterMs = fault.retryAfterMs;
  }
}

export interface ConnectOptions extends KernelOptions {
  /** Default: that of the process which Crux has started, else that of the user's daemon. */
  readonly path?: string;
}

/**
 * For other programs (`crux/client`). One that Crux has started acts for its process, with its token. UNAVAILABLE: no
 * daemon listens.
 */
export function connect({ path, ...options }: ConnectOptions = {}): Promise<KernelClient> {
  const { env } = process;
  const own = ipcSocketPath(env);
  const token = own === undefined ? undefined : env.CRUX_IPC_TOKEN;
  const found = path ?? own ?? socketPath(env, process.getuid?.() ?? 0);
  return connectKernel(found, { token, ...options });
}

/** UNAVAILABLE: no daemon listens there. PERMISSION: the token is not one of this process. */
export async function connectKernel(path: string, options: KernelOptions = {}): Promise<KernelClient> {
  const client = new FrameClient(path, options);
  try {
    await client.open();
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
}

interface Pending {
  /** The connection that it was sent on last. */
  sentOn?: Socket | undefined;
  readonly request: {
    readonly id: string;
    readonly method: IpcMethodName;
    readonly params: object;
    readonly meta: RequestMeta;
  };
  resolve(result: unknown): void;
  reject(error: Error): void;
}

class FrameClient implements KernelClient {
  readonly #path: string;
  readonly #options: KernelOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #followed = new Set<Followed>();
  /** By their names on the present connection. */
  readonly #names = new Map<string, Followed>();
  readonly #handlers = new Map<string, ((event: IpcEvent) => void)[]>();
  readonly #keys = randomUUID();
  readonly #over = new AbortController();
  /** What subscriptions ask of the connection. */
  readonly #hub: FollowHub = {
    credit: (followed, amount) => this.#credit(followed, amount),
    leave: (followed, method, key) => this.#leave(followed, method, key),
  };
  #socket: Socket | undefined;
  #requests = 0;

  constructor(path: string, options: KernelOptions) {
    this.#path = path;
    this.#options = options;
  }

  async open(): Promise<void> {
    const { signal, token, client, features = [] } = this.#options;
    const decoder = new FrameDecoder();
    let socket: Socket | undefined;
    let isOther = false;
    const callback = (count: number): boolean => {
      isOther ||= !this.#take(decoder, shared.subarray(0, count));
      if (isOther) socket?.destroy();
      return !isOther;
    };
    const opened = await openSocket(this.#path, signal, { buffer: shared, callback });
    if (opened.kind === "absent")
      throw new KernelError({ code: "UNAVAILABLE", message: "daemon is not running", retryable: true });
    const own = opened.socket;
    own.once("close", () => this.#lost(own));
    if (this.#isClosed || isOther) own.destroy();
    socket = own;
    this.#socket = own;
    const hello = {
      features: [...new Set([...NEEDED, ...features])],
      ...(token === undefined ? {} : { token }),
      ...(client === undefined ? {} : { client }),
    };
    await this.#ask("kernel.hello", hello, {}, (result) => result);
  }

  get #isClosed(): boolean {
    return this.#over.signal.aborted;
  }

  call<M extends IpcMethodName>(
    method: M,
    params: IpcParams<M>,
    { signal, ...meta }: CallMore = {},
  ): Promise<IpcResult<M>> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const key = this.#options.reconnect === true ? { idempotencyKey: `${this.#keys}:${this.#requests}` } : {};
    const asked = this.#ask(method, params, { ...key, ...meta }, (result) => result as IpcResult<M>);
    return signal === undefined ? asked : this.#until(signal, String(this.#requests), asked);
  }

  output(pid: number): Promise<Output> {
    const asked = { pid, from: "start" as const, window: WINDOW };
    // in the turn of the answer: the chunks that follow it find their readers
    return this.#ask("process.stream.subscribe", asked, {}, (result) => {
      const { subscriptions } = result as IpcResult<"process.stream.subscribe">;
      const names = Object.entries(subscriptions) as [StreamName, string][];
      return Object.fromEntries(
        names.map(([filter, name]) => {
          const { followed, inbox } = followStream({ pid, filter }, "chunk", this.#hub);
          this.#name(followed, name);
          return [filter, inbox];
        }),
      );
    });
  }

  chunks(wish: StreamWish): AsyncIterable<IpcChunk> {
    return this.#begin(followStream(wish, "chunk", this.#hub));
  }

  async *lines(wish: StreamWish): AsyncGenerator<string, void, void> {
    for await (const { lines = [] } of this.#begin(followStream(wish, "line", this.#hub))) yield* lines;
  }

  events(wish: EventWish): AsyncIterable<IpcEvent> {
    return this.#begin(followEvents(wish, this.#hub));
  }

  on(event: string, handler: (event: IpcEvent) => void): void {
    this.#handlers.set(event, [...(this.#handlers.get(event) ?? []), handler]);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#fail(cutOff());
  }

  #begin<T>({ followed, inbox }: { followed: Followed; inbox: Inbox<T> }): Inbox<T> {
    if (this.#isClosed) inbox.end(cutOff());
    else this.#subscribe(followed);
    return inbox;
  }

  /** A refusal comes to the reader. */
  #subscribe(followed: Followed): void {
    this.#followed.add(followed);
    const [method, params] = followed.wish();
    this.#ask(method, params, {}, (result) => {
      const name = followed.nameIn(result);
      if (name !== undefined) this.#name(followed, name);
      else this.#end(followed, null);
    }).catch((error: Error) => this.#end(followed, error));
  }

  #name(followed: Followed, name: string): void {
    this.#followed.add(followed);
    this.#names.set(name, followed);
  }

  #end(followed: Followed, error: Error | null): void {
    this.#followed.delete(followed);
    followed.end(error);
  }

  #nameOf(followed: Followed): string | undefined {
    return [...this.#names].find(([, each]) => each === followed)?.[0];
  }

  #credit(followed: Followed, amount: { bytes?: number; events?: number }): void {
    const stream = this.#nameOf(followed);
    const isSome = (amount.bytes ?? amount.events ?? 0) > 0;
    if (stream === undefined || this.#isClosed || !isSome) return;
    this.#send({ id: "", method: "stream.credit", params: { stream, ...amount } });
  }

  #leave(followed: Followed, method: IpcMethodName, key: "stream" | "subscription"): void {
    const name = this.#nameOf(followed);
    this.#followed.delete(followed);
    if (name === undefined) return;
    this.#names.delete(name);
    this.#ask(method, { [key]: name }, {}, () => {}).catch(() => {});
  }

  #ask<T>(
    method: IpcMethodName,
    params: object,
    meta: RequestMeta,
    read: (result: unknown) => T,
  ): Promise<T> {
    if (this.#isClosed) return Promise.reject(cutOff());
    const id = String(++this.#requests);
    const request = { id, method, params, meta };
    return new Promise((resolve, reject) => {
      const pending: Pending = { request, resolve: (result) => resolve(read(result)), reject };
      this.#pending.set(id, pending);
      this.#sendOnce(pending);
    });
  }

  #until<T>(signal: AbortSignal, id: string, asked: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        reject(signal.reason as Error);
        this.#ask("request.cancel", { id }, {}, () => {}).catch(() => {});
      };
      signal.addEventListener("abort", cancel, { once: true });
      asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
    });
  }

  #sendOnce(pending: Pending): void {
    if (pending.sentOn === this.#socket && this.#socket !== undefined) return;
    pending.sentOn = this.#send(pending.request) ? this.#socket : undefined;
  }

  #send(request: object): boolean {
    if (this.#socket?.writable !== true) return false;
    this.#socket.write(packFrame(PACKET.request, request));
    return true;
  }

  /** The bytes are borrowed. False: this is not the protocol; whoever waits hears that the connection has ended. */
  #take(decoder: FrameDecoder, bytes: Buffer): boolean {
    try {
      for (const framed of decoder.push(bytes)) {
        if (framed.kind !== "frame") return false;
        const { payload } = framed;
        const isLent = payload.buffer === shared.buffer && payload.length >= LARGE_BYTES;
        const message: unknown = unpack(isLent ? Buffer.from(payload) : payload);
        if (framed.type === PACKET.response) this.#answer(message as IpcResponse);
        else this.#pass(message as IpcChunk & IpcEvent);
      }
      return true;
    } catch {
      return false;
    }
  }

  #answer({ id, result, fault }: IpcResponse): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (fault === undefined) pending?.resolve(result);
    else pending?.reject(new KernelError(fault));
  }

  #pass(message: IpcChunk & IpcEvent): void {
    const name = message.stream ?? message.subscription;
    if (name === undefined) for (const handler of this.#handlers.get(message.event) ?? []) handler(message);
    const followed = this.#names.get(name ?? "");
    if (followed === undefined) return;
    followed.take(message);
    if (message.end !== true || name === undefined) return;
    this.#names.delete(name);
    this.#end(followed, null);
  }

  #lost(socket: Socket): void {
    if (this.#isClosed || this.#socket !== socket) return;
    for (const [id, { request, reject }] of this.#pending) {
      if (request.method !== "kernel.hello") continue;
      this.#pending.delete(id);
      reject(cutOff());
      return;
    }
    if (this.#options.reconnect === true) void this.#again();
    else this.close();
  }

  async #again(): Promise<void> {
    // one whose request was not answered is asked for again with all other requests
    const named = [...this.#names.values()];
    this.#names.clear();
    for (let waitMs = FIRST_WAIT_MS; !this.#isClosed; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        await delay(waitMs, undefined, { signal: this.#over.signal });
        await this.open();
        for (const pending of this.#pending.values()) this.#sendOnce(pending);
        for (const each of named) if (this.#followed.has(each)) this.#subscribe(each);
        return;
      } catch (error) {
        if (codeOf(error) === "UNAVAILABLE") continue;
        if (!this.#isClosed) this.#fail(error as Error);
        return;
      }
    }
  }

  #fail(error: Error): void {
    this.#over.abort();
    this.#socket?.destroy();
    for (const { reject } of this.#pending.values()) reject(error);
    for (const followed of this.#followed) followed.end(error);
    this.#pending.clear();
    this.#followed.clear();
    this.#names.clear();
  }
}

function cutOff(): KernelError {
  const message = "daemon closed the connection";
  return new KernelError({ code: "UNAVAILABLE", message, retryable: true, fact: { kind: "stopping" } });
}
