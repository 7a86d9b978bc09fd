/** A client of the binary wire for tests: it sends what it is given, byte for byte, and keeps what comes. */
import * as net from "node:net";
import { type IpcChunk, type IpcEvent, type IpcResponse, PACKET } from "../../../abi/ipc.ts";
import { FrameDecoder } from "../../codec/frame.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { unpack } from "../../codec/unpack.ts";

export class FrameClient {
  readonly socket: net.Socket;
  /** All answers so far, in order of arrival. */
  readonly responses: IpcResponse[] = [];
  readonly events: IpcEvent[] = [];
  readonly chunks: IpcChunk[] = [];
  /** All of these in order of arrival. */
  readonly messages: object[] = [];
  readonly closed: Promise<void>;
  readonly #decoder = new FrameDecoder();
  #waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];
  #isClosed = false;
  #ids = 0;

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#isClosed = true;
        resolve();
        this.#look();
      });
    });
  }

  static async open(path: string): Promise<FrameClient> {
    const socket = net.connect({ path });
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new FrameClient(socket);
  }

  /** Resolves with the answer, whatever it is; rejects when the connection closes before. */
  async ask(method: string, params: object = {}, more: object = {}): Promise<IpcResponse> {
    const id = String(++this.#ids);
    this.socket.write(packFrame(PACKET.request, { id, method, params, ...more }));
    const found = () => this.responses.find((response) => response.id === id);
    await this.until(() => found() !== undefined);
    return found() as IpcResponse;
  }

  async call<T = Record<string, unknown>>(
    method: string,
    params: object = {},
    more: object = {},
  ): Promise<T> {
    const { result, fault } = await this.ask(method, params, more);
    if (fault !== undefined) throw Object.assign(new Error(fault.message), fault);
    return result as T;
  }

  /** Rejects when the connection closes before. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    if (this.#isClosed) return Promise.reject(new Error("closed"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ holds, resolve: () => (holds() ? resolve() : reject(new Error("closed"))) });
    });
  }

  #take(chunk: Buffer): void {
    for (const framed of this.#decoder.push(chunk)) {
      if (framed.kind !== "frame") throw new Error(framed.kind);
      const message: object = unpack(Buffer.from(framed.payload));
      this.messages.push(message);
      if (framed.type === PACKET.response) this.responses.push(message as IpcResponse);
      else if (framed.type === PACKET.event) this.events.push(message as IpcEvent);
      else this.chunks.push(message as IpcChunk);
    }
    this.#look();
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ holds }) => !holds() && !this.#isClosed);
    for (const each of waiting) if (!this.#waiting.includes(each)) each.resolve();
  }
}
