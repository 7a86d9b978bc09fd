/** Carries out a request of the binary wire: a method of the kernel IPC chapter, else one of the text wire. */
import { Fault } from "../../../abi/errors.ts";
import {
  IPC_METHODS,
  type IpcMethodName,
  type IpcParams,
  type IpcResult,
  isIpcMethod,
} from "../../../abi/methods/ipc/methods.ts";
import type { MethodName } from "../../../abi/methods/methods.ts";
import type { MethodAnswer } from "../handler.ts";
import { describeIssue, invalid, isMethodName } from "../request.ts";
import type { IpcCall, IpcHandler, IpcHandlers } from "./call.ts";
import type { Envelope } from "./envelope.ts";
import { nearMethods } from "./introspect.ts";
import { KERNEL_HANDLERS } from "./kernel.ts";
import type { FrameSession } from "./session.ts";

const IPC_HANDLERS: IpcHandlers = { ...KERNEL_HANDLERS };

interface Answer {
  readonly result: unknown;
  readonly follow?: MethodAnswer<MethodName>["follow"];
}

interface Calling extends Pick<IpcCall, "requestId" | "signal"> {
  readonly session: FrameSession;
}

/** Errors are those of the method; INVALID: no such method, or params that its schema refuses. */
export function callMethod(
  { method, params, meta }: Extract<Envelope, { kind: "request" }>,
  { session, requestId, signal }: Calling,
): Answer | Promise<Answer> {
  if (isIpcMethod(method)) {
    session.scopes.check(method);
    let context: IpcCall["context"] | undefined;
    const call: IpcCall = {
      session,
      meta,
      requestId,
      signal,
      get context() {
        context ??= session.context();
        return context;
      },
    };
    return handled(method, params, call);
  }
  if (isMethodName(method)) return textMethod(method, params, session);
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
  const result: IpcResult<M> | Promise<IpcResult<M>> = handler(parsed.data as IpcParams<M>, call);
  return result instanceof Promise ? result.then((value) => ({ result: value })) : { result };
}

/** A method without a result answers with an empty map, so that a result is never null. */
async function textMethod(method: MethodName, params: unknown, session: FrameSession): Promise<Answer> {
  const { payload, follow } = await session.desk.call(method, params);
  return { result: payload ?? {}, ...(follow === undefined ? {} : { follow }) };
}
