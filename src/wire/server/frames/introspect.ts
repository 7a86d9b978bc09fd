/** What `kernel.introspect` says: the registry itself, with JSON Schemas of what parses the requests. */
import * as z from "zod";
import { IPC_SAMPLES } from "../../../abi/docs/ipc-samples.ts";
import { ERRNO, type ErrorCode } from "../../../abi/errno.ts";
import { Fault } from "../../../abi/errors.ts";
import { FEATURES, FRAME, IPC, type Limits } from "../../../abi/ipc.ts";
import { KERNEL_EVENTS } from "../../../abi/methods/ipc/kernel-events.ts";
import {
  FRAME_METHODS,
  IPC_METHODS,
  type IpcParams,
  type IpcResult,
  isIpcMethod,
} from "../../../abi/methods/ipc/methods.ts";
import type { IpcMethodSpec } from "../../../abi/methods/ipc/spec.ts";
import { METHODS, type MethodName } from "../../../abi/methods/methods.ts";
import type { MethodSpec } from "../../../abi/methods/spec.ts";
import { PROTOCOL } from "../../../abi/wire.ts";
import { LIMITS as KERNEL_LIMITS } from "../../../kernel/limits.ts";
import { nearNames } from "../../../lib/text/near-names.ts";

/** Errors that every method may return. */
const COMMON: readonly ErrorCode[] = ["INVALID", "PERMISSION"];
const SPOOL_BYTES = 64 * 1024 * 1024;

export const WIRE_LIMITS: Limits = {
  payloadBytes: FRAME.maxPayloadBytes,
  chunkBytes: IPC.chunkBytes,
  openRequests: IPC.openRequests,
  subscriptions: IPC.subscriptions,
  connections: PROTOCOL.maxConnections,
  connectionsPerProcess: PROTOCOL.maxConnectionsOfProcess,
  spoolBytes: SPOOL_BYTES,
  natives: KERNEL_LIMITS.natives,
  claims: KERNEL_LIMITS.claims,
};

/** The names that are close to a mistyped one. */
export function nearMethods(name: string): string[] {
  return nearNames(name, FRAME_METHODS, Math.max(2, Math.ceil(name.length / 4))).slice(0, 5);
}

export function introspect(
  wish: IpcParams<"kernel.introspect">,
  mayCall: (method: string) => boolean,
  version: string,
): IpcResult<"kernel.introspect"> {
  const { method, prefix = "", all = false, schema = true } = wish;
  if (method !== undefined && !FRAME_METHODS.some((each) => each === method))
    throw new Fault({
      code: "NOT_FOUND",
      message: `unknown method: ${method}`,
      details: { near: nearMethods(method) },
    });
  const names = FRAME_METHODS.filter(
    (name) => name.startsWith(prefix) && (method === undefined ? all || mayCall(name) : name === method),
  );
  return {
    server: { name: "crux", version },
    protocol: { min: 1, max: 1 },
    features: [...FEATURES],
    limits: WIRE_LIMITS,
    methods: names.map((name) => describe(name, schema)),
    events: Object.entries(KERNEL_EVENTS).map(([name, { summary, data, retention }]) => ({
      name,
      summary,
      ...(schema ? { data: schemaOf(data) } : {}),
      retention,
    })),
    errors: Object.entries(ERRNO).map(([code, { means, retryable }]) => ({
      code,
      summary: means,
      retryable,
    })),
  };
}

/** Whether a method of the text wire takes effect once, however often it is called. */
export function isIdempotent(method: MethodName): boolean {
  return isLooking(METHODS[method].right);
}

function isLooking(right: string): boolean {
  return right === "self" || right === "observe";
}

type AnySpec = Omit<MethodSpec, "right"> &
  Pick<IpcMethodSpec, "right"> &
  Partial<Omit<IpcMethodSpec, "result" | "right">>;

function describe(name: string, isFull: boolean): IpcResult<"kernel.introspect">["methods"][number] {
  const spec: AnySpec = isIpcMethod(name) ? IPC_METHODS[name] : METHODS[name as keyof typeof METHODS];
  const { summary, right, kind, idempotent = isLooking(right), errors = [] } = spec;
  return {
    name,
    summary,
    right,
    kind,
    idempotent,
    since: "0.1.0",
    ...(isFull ? schemasOf(name, spec) : {}),
    errors: [...COMMON, ...errors],
  };
}

type Schemas = Partial<Record<"params" | "result" | "chunk", Record<string, unknown>>>;

const made = new Map<string, Schemas>();

function schemasOf(name: string, { params, result, chunk }: AnySpec): Schemas {
  const known = made.get(name);
  if (known !== undefined) return known;
  const examples = isIpcMethod(name) ? { examples: [IPC_SAMPLES[name]] } : {};
  const schemas = {
    params: { ...schemaOf(params), ...examples },
    ...(result === undefined ? {} : { result: schemaOf(result) }),
    ...(chunk === undefined ? {} : { chunk: schemaOf(chunk) }),
  };
  made.set(name, schemas);
  return schemas;
}

/** Bytes have no form in JSON Schema: they are allowed as any value. */
function schemaOf(schema: z.ZodType): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) };
}
