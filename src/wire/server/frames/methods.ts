/** Carries out a request of the binary wire: a method of the kernel IPC chapter, else one of the text wire. */
import { Fault } from "../../../abi/errors.ts";
import { asPid } from "../../../abi/ids.ts";
import {
  IPC_METHODS,
  type IpcMethodName,
  type IpcParams,
  type IpcResult,
  isIpcMethod,
} from "../../../abi/methods/ipc/methods.ts";
import { METHODS, type MethodName } from "../../../abi/methods/methods.ts";
import { SIGNALS } from "../../../abi/process.ts";
import type { KernelEvent } from "../../../kernel/ports/events.ts";
import type { MethodAnswer } from "../handler.ts";
import { describeIssue, invalid, isMethodName } from "../request.ts";
import type { IpcCall, IpcHandler, IpcHandlers } from "./call.ts";
import { stream } from "./device-stream.ts";
import { claim, list as listDevices, read, release, write as writeDevice } from "./devices.ts";
import type { Envelope } from "./envelope.ts";
import { subscribe as follow, publish, ready } from "./events.ts";
import { digestOf } from "./idempotency.ts";
import { checkIds } from "./ids.ts";
import { begin, cancel, end, project } from "./intents.ts";
import { isIdempotent, nearMethods } from "./introspect.ts";
import { KERNEL_HANDLERS } from "./kernel.ts";
import {
  controlled,
  kill,
  nativeOf,
  recall,
  signalled,
  spawn,
  startedBefore,
  wait,
  write,
} from "./process.ts";
import { list, status } from "./process-status.ts";
import type { FrameSession } from "./session.ts";
import { attach, subscribe } from "./streams.ts";

const IPC_HANDLERS: IpcHandlers = {
  ...KERNEL_HANDLERS,
  "process.spawn": spawn,
  "process.kill": kill,
  "process.pause": (ref, call) => signalled(ref, SIGNALS.SIGPAUSE, call),
  "process.resume": (ref, call) => signalled(ref, SIGNALS.SIGRESUME, call),
  "process.wait": wait,
  "process.status": status,
  "process.list": list,
  "process.attach": attach,
  "process.detach": ({ attachment }, { session }) => ({ detached: session.detach(attachment) }),
  "process.stdin.write": write,
  "process.stream.subscribe": subscribe,
  "process.stream.unsubscribe": ({ stream }, { session }) => ({ closed: session.unsubscribe(stream) }),
  "process.pty.resize": async ({ cols, rows, ...ref }, call) => {
    const native = await nativeOf(ref, call);
    controlled(native.pid, call);
    if (!native.isPty) throw invalid(`process ${native.pid} has no PTY`);
    native.resize({ cols, rows });
    return { cols, rows };
  },
  "device.list": listDevices,
  "device.claim": claim,
  "device.release": release,
  "device.read": read,
  "device.write": writeDevice,
  "device.stream": stream,
  "stream.close": ({ stream: name }, { session }) => ({ closed: session.unsubscribe(name) }),
  "event.subscribe": follow,
  "event.unsubscribe": ({ subscription }, { session }) => ({ closed: session.unfollow(subscription) }),
  "event.publish": publish,
  "event.project": project,
  "event.compact": ({ before }, { session }) => session.kernel.intents.compact(before),
  "intent.begin": begin,
  "intent.end": end,
  "intent.cancel": cancel,
  "process.ready": ready,
  "stream.credit": ({ stream, bytes = 0, events = 0 }, { session }) => {
    const found = session.subscriptions.get(stream);
    const followed = session.eventSubscriptions.get(stream);
    if (found === undefined && followed === undefined)
      throw new Fault({ code: "NOT_FOUND", message: `no such stream: ${stream}` });
    found?.allow(bytes);
    followed?.allow(events);
    return {};
  },
};

interface Answer {
  readonly result: unknown;
  /** The result of an earlier request with the same idempotency key. */
  readonly replayed?: boolean;
  readonly follow?: MethodAnswer<MethodName>["follow"];
}

interface Calling extends Pick<IpcCall, "requestId"> {
  /** Its signal is made when it is looked at. */
  readonly control: Pick<IpcCall, "signal">;
  readonly session: FrameSession;
}

/** What a method may not need is made when it looks at it. */
class MethodCall implements IpcCall {
  readonly meta: IpcCall["meta"];
  readonly session: FrameSession;
  readonly requestId: string;
  readonly #control: Calling["control"];
  #context: IpcCall["context"] | undefined;

  constructor(meta: IpcCall["meta"], { session, requestId, control }: Calling) {
    this.meta = meta;
    this.session = session;
    this.requestId = requestId;
    this.#control = control;
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  get context(): IpcCall["context"] {
    this.#context ??= this.session.context();
    return this.#context;
  }
}

/** Errors are those of the method; INVALID: no such method, or params that its schema refuses. */
export function callMethod(
  { method, params, meta }: Extract<Envelope, { kind: "request" }>,
  { session, requestId, control }: Calling,
): Answer | Promise<Answer> {
  const { intentId, correlationId } = meta;
  if (intentId !== undefined || correlationId !== undefined)
    return checkIds(method, meta, session).then(() =>
      carryOut({ method, params, meta }, { session, requestId, control }),
    );
  return carryOut({ method, params, meta }, { session, requestId, control });
}

function carryOut(
  { method, params, meta }: Pick<Extract<Envelope, { kind: "request" }>, "method" | "params" | "meta">,
  { session, requestId, control }: Calling,
): Answer | Promise<Answer> {
  if (isIpcMethod(method)) {
    session.scopes.check(method);
    return handled(method, params, new MethodCall(meta, { session, requestId, control }));
  }
  if (isMethodName(method)) return textMethod(method, params, { session, meta });
  throw new Fault({
    code: "INVALID",
    message: `unknown method: ${method.slice(0, 128)}`,
    details: { near: nearMethods(method) },
  });
}

/** What is ready at once is answered at once. */
function handled<M extends IpcMethodName>(
  method: M,
  given: unknown,
  call: IpcCall,
): Answer | Promise<Answer> {
  const parsed = IPC_METHODS[method].params.safeParse(given);
  if (!parsed.success) throw invalid(describeIssue(parsed.error.issues[0], "params"));
  const handler = IPC_HANDLERS[method] as IpcHandler<M>;
  const params = parsed.data as IpcParams<M>;
  const { idempotencyKey: key } = call.meta;
  if (key !== undefined && !IPC_METHODS[method].idempotent)
    return once({ method, key, params }, handler, call);
  const result: IpcResult<M> | Promise<IpcResult<M>> = handler(params, call);
  return result instanceof Promise ? result.then((value) => ({ result: value })) : { result };
}

interface Keyed<M extends IpcMethodName> {
  readonly method: M;
  readonly key: string;
  readonly params: IpcParams<M>;
}

/** The answers that follow from the event that such a request has published. */
const ANSWERS: { readonly [M in IpcMethodName]?: (event: KernelEvent) => IpcResult<M> } = {
  "event.publish": ({ seq }) => ({ seq }),
  "intent.begin": ({ intentId = "", correlationId = "" }) => ({ intentId, correlationId }),
};

/**
 * A request with a key. What it makes is known from the journal too, if the daemon was restarted between the effect and
 * the answer: then it gets the answer that follows from the record, and nothing is made again.
 */
async function once<M extends IpcMethodName>(
  keyed: Keyed<M>,
  handler: IpcHandler<M>,
  call: IpcCall,
): Promise<Answer> {
  const { idempotency, scopes, kernel } = call.session as FrameSession;
  const caller = String(scopes.actor);
  const whose = JSON.stringify([caller, keyed.method, keyed.key]);
  const request = { id: digestOf(whose).slice(0, 40), digest: digestOf([whose, keyed.params]).slice(0, 40) };
  const { value, replayed } = await idempotency.once({ ...keyed, caller }, async () => {
    const made = keyed.method === "process.spawn" ? await kernel.requests.find(request.id) : undefined;
    if (made !== undefined && made.digest !== request.digest) throw reused();
    const asked = keyed.params as IpcParams<"process.spawn">;
    if (made !== undefined) {
      if (kernel.natives.of(made.pid) === undefined) await recall(asked, made.pid, call);
      return { result: startedBefore(asked, made, kernel.natives), isOld: true };
    }
    const answer = ANSWERS[keyed.method];
    const published = answer && (await kernel.events.requested(request.id));
    if (published !== undefined && published.digest !== request.digest) throw reused();
    if (published !== undefined) return { result: answer?.(published.event), isOld: true };
    const { session, meta, requestId, context, signal } = call;
    const marked = { session, meta, requestId, context, signal, request };
    return { result: await handler(keyed.params, marked), isOld: false };
  });
  return { result: value.result, replayed: replayed || value.isOld };
}

function reused(): Fault {
  return new Fault({ code: "CONFLICT", message: "idempotency key reused" });
}

interface TextCall {
  readonly session: FrameSession;
  readonly meta: IpcCall["meta"];
}

/** The key of a request is a param where the method has one, which the journal keeps; else its answer is kept here. */
async function textMethod(method: MethodName, params: unknown, call: TextCall): Promise<Answer> {
  const { session, meta } = call;
  const { idempotencyKey: key } = meta;
  const { kind, params: schema } = METHODS[method];
  if (key === undefined || isIdempotent(method)) return callText(method, params, call);
  if ("idempotency_key" in schema.shape)
    return callText(method, { ...(params as object), idempotency_key: key }, call);
  if (kind === "stream") return callText(method, params, call);
  const keyed = { caller: String(session.scopes.actor), method, key, params };
  const { value, replayed } = await session.idempotency.once(keyed, () => callText(method, params, call));
  return { result: value.result, replayed };
}

/** A method without a result answers with an empty map, so that a result is never null. */
async function callText(method: MethodName, params: unknown, { session, meta }: TextCall): Promise<Answer> {
  if (!session.scopes.mayCallText(method)) session.scopes.require(METHODS[method].right, method);
  const { payload, follow } = await session.desk.call(method, params);
  const { pid } = (payload ?? {}) as { readonly pid?: number };
  if (method === "spawn" && meta.intentId !== undefined && pid !== undefined)
    session.kernel.intents.join(meta.intentId, asPid(pid));
  return { result: payload ?? {}, ...(follow === undefined ? {} : { follow }) };
}
