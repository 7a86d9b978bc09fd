/** The kernel's own methods on the binary wire: hello, ping, introspection, tokens, metrics. */
import { Fault } from "../../../abi/errors.ts";
import { FEATURES, FRAME, IPC } from "../../../abi/ipc.ts";
import { isIpcMethod } from "../../../abi/methods/ipc/methods.ts";
import type { MethodName } from "../../../abi/methods/methods.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { mayCall } from "../authority.ts";
import { invalid } from "../request.ts";
import type { IpcCall, IpcHandler, IpcHandlers } from "./call.ts";
import { introspect, WIRE_LIMITS } from "./introspect.ts";
import { covers } from "./scopes.ts";
import type { FrameSession } from "./session.ts";

const hello: IpcHandler<"kernel.hello"> = ({ protocol, features = [], token }, call) => {
  const session = call.session as FrameSession;
  const agreed = FEATURES.filter((each) => features.includes(each));
  session.greet(agreed);
  if (protocol !== undefined && !protocol.includes(FRAME.version))
    throw session.refusal("UNAVAILABLE", `unsupported protocol; supported: ${FRAME.version}`, {
      supported: [FRAME.version],
    });
  if (token !== undefined) session.become(token);
  return {
    server: { name: "crux", version: call.context.deps.version },
    protocol: FRAME.version,
    features: agreed,
    limits: WIRE_LIMITS,
    authority: session.scopes.authority,
  };
};

const ping: IpcHandler<"kernel.ping"> = ({ payload, sentAt }, { context }) => {
  if (payload !== undefined && packFrame(1, { payload }).length > IPC.pingPayloadBytes + 32)
    throw invalid(`params.payload: at most ${IPC.pingPayloadBytes} bytes`);
  return {
    version: context.deps.version,
    protocol: FRAME.version,
    now: Math.floor(context.clock.now()),
    uptimeMs: context.uptimeMs,
    ...(payload === undefined ? {} : { payload }),
    ...(sentAt === undefined ? {} : { sentAt }),
  };
};

function isAllowed({ session, context }: IpcCall, method: string): boolean {
  if (isIpcMethod(method)) return session.scopes.mayCall(method);
  const name = method as MethodName;
  return mayCall(context.principal, name) && session.scopes.mayCallText(name);
}

const derive: IpcHandler<"kernel.token.derive"> = ({ scopes, ttlMs }, { session, context }) => {
  const { authority, own, token } = session.scopes;
  const { tokens } = context;
  if (authority.kind !== "process" || context.principal.kind !== "process" || tokens === undefined)
    throw new Fault({ code: "PERMISSION", message: "only a program of a process derives tokens" });
  const more = scopes.find((scope) => own !== null && !covers(own, scope));
  if (more !== undefined)
    throw new Fault({
      code: "PERMISSION",
      message: `the caller does not have the scope ${more}`,
      details: { scope: more },
    });
  const until = ttlMs === undefined ? null : Math.floor(context.clock.now()) + ttlMs;
  const ends = [until, authority.expiresAt].filter((each) => each !== null);
  const expiresAt = ends.length === 0 ? null : Math.min(...ends);
  const { pid, uuid } = context.principal.client;
  return { token: tokens.derive(token, { pid, uuid, scopes, expiresAt }), expiresAt };
};

export const KERNEL_HANDLERS: Pick<
  IpcHandlers,
  | "kernel.hello"
  | "kernel.ping"
  | "kernel.introspect"
  | "kernel.token.derive"
  | "kernel.token.revoke"
  | "system.get_metrics"
  | "request.cancel"
> = {
  "kernel.hello": hello,
  "kernel.ping": ping,
  "kernel.introspect": (wish, call) =>
    introspect(wish, (method) => isAllowed(call, method), call.context.deps.version),
  "kernel.token.derive": derive,
  "kernel.token.revoke": ({ token }, { context: { principal, tokens } }) => ({
    revoked: principal.kind === "process" && tokens?.revoke(token, principal.client.uuid) === true,
  }),
  "system.get_metrics": (_params, { context }) => {
    const metrics = context.deps.metrics?.();
    if (metrics !== undefined) return metrics;
    throw new Fault({ code: "UNAVAILABLE", message: "this daemon does not read the machine's metrics" });
  },
  "request.cancel": ({ id }, { session }) => ({ found: session.cancel(id) }),
};
