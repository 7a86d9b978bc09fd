/** The state of a binary connection: what it has agreed on, who it acts for, and its open requests. */
import { Fault } from "../../../abi/errors.ts";
import { type Feature, IPC, PACKET, type RequestMeta } from "../../../abi/ipc.ts";
import { IPC_METHODS, isIpcMethod } from "../../../abi/methods/ipc/methods.ts";
import type { Clock } from "../../../abi/program.ts";
import type { KernelEvent } from "../../../kernel/ports/events.ts";
import type { IntentClient } from "../../../kernel/ports/intents.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import { ABORTED, abortable } from "../../../lib/abort.ts";
import { MAX_TIMER_MS } from "../../../lib/time/max-timer.ts";
import { packFrame } from "../../codec/msgpack.ts";
import type { Desk, ServerContext } from "../desk.ts";
import type { RequestContext } from "../handler.ts";
import type { Session } from "./call.ts";
import type { EventSubscription } from "./event-subscription.ts";
import type { Idempotency } from "./idempotency.ts";
import { Scopes } from "./scopes.ts";
import { type Followed, type FrameOutput, StreamSubscription } from "./stream-subscription.ts";

/** A request in progress. Most are answered at once, and never look at their signal: it is made when somebody does. */
class OpenRequest {
  readonly method: string;
  readonly intentId: string | undefined;
  #made: AbortController | undefined;
  #timer: AbortController | undefined;

  constructor(method: string, intentId: string | undefined) {
    this.method = method;
    this.intentId = intentId;
  }

  get signal(): AbortSignal {
    this.#made ??= new AbortController();
    return this.#made.signal;
  }

  get isAborted(): boolean {
    return this.#made?.signal.aborted === true;
  }

  abort(reason: unknown): void {
    this.#made ??= new AbortController();
    this.#made.abort(reason);
  }

  /** The value, or the reason for which the request was ended before. */
  until<T>(value: Promise<T>): Promise<T> {
    return abortable(value, this.signal);
  }

  abortAfter(timeoutMs: number, clock: Pick<Clock, "sleep">): void {
    this.#timer = new AbortController();
    clock.sleep(timeoutMs, this.#timer.signal).then(
      () => this.abort(new Fault({ code: "TIMEOUT", message: `no result after ${timeoutMs} ms` })),
      () => {},
    );
  }

  end(): void {
    this.#timer?.abort(ABORTED);
  }
}

/** Intents that a connection is known to have begun; beyond, the oldest is forgotten. */
const MAX_BEGUN = 1_000;
/** These end an intent themselves. */
const OF_ITS_END = new Set(["intent.end", "intent.cancel"]);

export class FrameSession implements Session, IntentClient {
  readonly scopes: Scopes;
  readonly desk: Desk;
  readonly #look: () => ServerContext;
  /** By the id that the client gave. */
  readonly #open = new Map<string, OpenRequest>();
  /** Requests that wait for something which may never come end when the client sends no more. */
  readonly #closed = new AbortController();
  #features: ReadonlySet<Feature> = new Set();
  #requests = 0;
  /** It showed a token that is not its own: the connection closes after the answer. */
  isRefused = false;

  readonly output: FrameOutput;
  readonly #subscriptions = new Map<string, Followed>();
  readonly #followed = new Map<string, EventSubscription>();
  readonly #begun = new Set<string>();
  /** Intents that end with this connection, and what lets go of them. */
  readonly #bound = new Map<string, () => void>();
  #isAttending = false;
  readonly #attachments = new Map<string, () => void>();
  readonly #endings = new Set<() => void>();
  /** Whatever a request begins from now on has nobody: it ends at once. */
  #isClosed = false;
  #names = 0;

  constructor(desk: Desk, look: () => ServerContext, output: FrameOutput) {
    this.desk = desk;
    this.output = output;
    this.#look = look;
    this.scopes = new Scopes(
      () => desk.principal,
      () => this.kernel.natives,
    );
  }

  get features(): ReadonlySet<Feature> {
    return this.#features;
  }

  get open(): number {
    return this.#open.size;
  }

  context(): RequestContext {
    return this.desk.context();
  }

  greet(features: readonly Feature[]): void {
    // the hello itself is counted
    if (this.#requests > 1)
      throw new Fault({ code: "CONFLICT", message: "kernel.hello comes once, and before other requests" });
    this.#features = new Set(features);
    if (this.isCooperative) this.#attend();
  }

  get actor(): number {
    return this.scopes.actor;
  }

  get isCooperative(): boolean {
    return this.#features.has("cancel");
  }

  hasBegun(intentId: string): boolean {
    return this.#begun.has(intentId);
  }

  beginIntent(id: string): void {
    this.#begun.add(id);
    const [oldest] = this.#begun;
    if (this.#begun.size > MAX_BEGUN && oldest !== undefined) this.#begun.delete(oldest);
  }

  /** `end` is called when the connection has ended before the intent. */
  bindIntent(id: string, end: () => void): void {
    this.releaseIntent(id);
    this.#bound.set(id, this.atEnd(end));
  }

  releaseIntent(id: string): void {
    this.#bound.get(id)?.();
    this.#bound.delete(id);
  }

  told(event: KernelEvent): void {
    this.output.send(packFrame(PACKET.event, event));
  }

  abort(intents: ReadonlySet<string>): void {
    for (const open of this.#open.values())
      if (intents.has(open.intentId ?? "") && !OF_ITS_END.has(open.method))
        open.abort(cancelled(open.method, "its intent was cancelled"));
  }

  /** From now on it is notified of intents that are to end. */
  #attend(): void {
    if (this.#isAttending) return;
    this.#isAttending = true;
    this.atEnd(this.kernel.intents.attend(this));
  }

  become(token: string): void {
    const { kernel, tokens, clock } = this.#look();
    const capability = tokens?.find(token);
    const client = capability === undefined ? undefined : kernel.clientOf(capability.uuid);
    const { principal } = this.desk;
    const isOwn = principal.kind !== "process" || principal.client.pid === client?.pid;
    if (capability === undefined || client === undefined || principal.kind === "guest" || !isOwn)
      throw this.refusal("PERMISSION", "the token is not one of this process, or has ended");
    this.desk.become({ kind: "process", client });
    this.scopes.hold({ text: token, capability, isLive: () => tokens?.isLive(capability) === true });
    const over = new AbortController();
    this.atEnd(() => over.abort(ABORTED));
    this.atEnd(tokens?.whenRevoked(capability, () => this.#disown()) ?? (() => {}));
    if (capability.expiresAt !== null)
      void this.#expire(() => tokens?.left(capability) ?? 0, clock, over.signal);
  }

  /** Never rejects. */
  async #expire(left: () => number, clock: Clock, signal: AbortSignal): Promise<void> {
    try {
      for (let ms = left(); ms > 0; ms = left()) await clock.sleep(Math.ceil(ms), signal);
      this.#disown();
    } catch {
      // the connection has ended before
    }
  }

  /** Its token has ended: what it follows, holds and waits for ends with it. */
  #disown(): void {
    const message = "the token of this connection has ended";
    for (const open of this.#open.values()) open.abort(new Fault({ code: "PERMISSION", message }));
    this.#leaveAll();
  }

  #leaveAll(): void {
    for (const each of [...this.#subscriptions.values(), ...this.#followed.values()]) each.close();
    for (const release of this.#attachments.values()) release();
    this.#attachments.clear();
  }

  /** The connection closes after this answer. */
  refusal(code: "PERMISSION" | "UNAVAILABLE", message: string, details?: object): Fault {
    this.isRefused = true;
    return new Fault({ code, message, details });
  }

  get kernel(): KernelApi {
    return this.desk.kernel;
  }

  get idempotency(): Idempotency {
    return this.#look().idempotency;
  }

  get subscriptions(): ReadonlyMap<string, Followed> {
    return this.#subscriptions;
  }

  checkRoom(count = 1): void {
    if (this.#subscriptions.size + this.#followed.size + count <= IPC.subscriptions) return;
    throw new Fault({ code: "UNAVAILABLE", message: `too many subscriptions (${IPC.subscriptions})` });
  }

  subscribe(make: (name: string) => Followed): string {
    const name = `s${++this.#names}`;
    const made = make(name);
    this.#subscriptions.set(name, made);
    if (this.#isClosed) made.close();
    // after the answer, which names it
    setImmediate(() => {
      void made.run().then(() => this.#subscriptions.delete(name));
    });
    return name;
  }

  unsubscribe(name: string): boolean {
    this.#subscriptions.get(name)?.close();
    return this.#subscriptions.delete(name);
  }

  /** A chunk of the client. One that is not a chunk of a stream is ignored. */
  feed(chunk: Readonly<Record<string, unknown>>): void {
    if (typeof chunk.stream === "string") this.#subscriptions.get(chunk.stream)?.feed?.(chunk);
  }

  get eventSubscriptions(): ReadonlyMap<string, EventSubscription> {
    return this.#followed;
  }

  follow(make: (name: string) => EventSubscription): string {
    const name = `e${++this.#names}`;
    const made = make(name);
    this.#followed.set(name, made);
    if (this.#isClosed) made.close();
    setImmediate(() => void made.run());
    return name;
  }

  unfollow(name: string): boolean {
    this.#followed.get(name)?.close();
    return this.#followed.delete(name);
  }

  async caughtUp(seq: number): Promise<void> {
    await Promise.all([...this.#followed.values()].map((each) => each.caughtUp(seq)));
  }

  async delivered(pid: number): Promise<void> {
    const own = [...this.#subscriptions.values()]
      .filter((each) => each instanceof StreamSubscription)
      .filter(({ native, isHeld }) => native.pid === pid && !isHeld);
    await Promise.all(own.map((each) => Promise.race([each.over, each.held])));
  }

  attach(release: () => void): string {
    const name = `a${++this.#names}`;
    if (this.#isClosed) release();
    else this.#attachments.set(name, release);
    return name;
  }

  detach(attachment: string): boolean {
    this.#attachments.get(attachment)?.();
    return this.#attachments.delete(attachment);
  }

  atEnd(act: () => void): () => void {
    if (this.#isClosed) act();
    else this.#endings.add(act);
    return () => void this.#endings.delete(act);
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  begin(
    { method, meta: { timeoutMs, intentId } }: { method: string; meta: RequestMeta },
    clock: Pick<Clock, "sleep">,
  ): OpenRequest {
    this.#requests++;
    if (intentId !== undefined) this.#attend();
    const open = new OpenRequest(method, intentId);
    if (timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS) open.abortAfter(timeoutMs, clock);
    return open;
  }

  /** It was not answered at once: until `end` it can be cancelled, and its id is taken. */
  keep(id: string, open: OpenRequest): void {
    this.#open.set(id, open);
  }

  end(id: string): void {
    this.#open.delete(id);
  }

  cancel(id: string): boolean {
    const open = this.#open.get(id);
    open?.abort(cancelled(open.method, "cancelled by the client"));
    return open !== undefined;
  }

  /** The client sends no more. */
  settle(): void {
    this.#closed.abort(ABORTED);
  }

  close(): void {
    this.#isClosed = true;
    this.settle();
    for (const open of this.#open.values()) open.abort(ABORTED);
    this.#leaveAll();
    for (const end of this.#endings) end();
  }
}

/** `effect`: what the request may have done. */
function cancelled(method: string, message: string): Fault {
  const isReading = isIpcMethod(method) && IPC_METHODS[method].idempotent;
  return new Fault({ code: "CANCELLED", message, details: { effect: isReading ? "none" : "unknown" } });
}
