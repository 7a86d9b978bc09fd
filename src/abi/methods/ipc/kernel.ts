/** Kernel and system (kernel IPC chapter, 4 and 5.1). */
import * as z from "zod";
import { empty, pid } from "../spec.ts";
import { type IpcMethodSpec, timeMs } from "./spec.ts";

const int = z.int();
const limits = z.strictObject({
  payloadBytes: int,
  chunkBytes: int,
  openRequests: int,
  subscriptions: int,
  connections: int,
  connectionsPerProcess: int,
  spoolBytes: int,
  natives: int,
  claims: int,
});
const server = z.strictObject({ name: z.literal("crux"), version: z.string() });
const features = z.array(z.string());
const scopes = z.array(z.string().min(1).max(128)).max(64);
const token = z.string().min(1).max(128);
const schema = z.record(z.string(), z.unknown());

const authority = z.union([
  z.strictObject({ kind: z.enum(["user", "guest"]) }),
  z.strictObject({ kind: z.literal("process"), pid, scopes, expiresAt: int.nullable() }),
]);
export type Authority = z.infer<typeof authority>;

const method = z.strictObject({
  name: z.string(),
  summary: z.string(),
  right: z.string(),
  kind: z.enum(["request", "stream"]),
  idempotent: z.boolean(),
  since: z.string(),
  deprecated: z.string().optional(),
  params: schema.optional(),
  result: schema.optional(),
  chunk: schema.optional(),
  errors: z.array(z.string()),
});

const metrics = z.strictObject({
  at: timeMs,
  uptimeMs: timeMs,
  cpu: z.strictObject({
    count: int,
    usage: z.number().min(0).max(1),
    perCore: z.array(z.number()),
    load: z.array(z.number()).length(3),
  }),
  memory: z.strictObject({
    totalBytes: int,
    freeBytes: int,
    availableBytes: int,
    usedBytes: int,
    swapTotalBytes: int,
    swapUsedBytes: int,
  }),
  battery: z
    .strictObject({ level: z.number(), charging: z.boolean(), secondsLeft: z.number().nullable() })
    .nullable(),
  disk: z.strictObject({ path: z.string(), totalBytes: int, freeBytes: int }),
  kernel: z.strictObject({
    rssBytes: int,
    heapBytes: int,
    loopLagMs: z.number(),
    processes: int,
    connections: int,
  }),
});
export type SystemMetrics = z.infer<typeof metrics>;
export type MachineMetrics = Omit<SystemMetrics, "kernel" | "uptimeMs">;
/** What the daemon knows of itself. */
export type DaemonFigures = Pick<SystemMetrics, "uptimeMs"> &
  Pick<SystemMetrics["kernel"], "loopLagMs" | "processes" | "connections">;

export const IPC_KERNEL_METHODS = {
  "kernel.hello": {
    summary: "agree on protocol and features, and show a capability token; at most once, and first",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["CONFLICT", "UNAVAILABLE"],
    params: z.strictObject({
      client: z.strictObject({ name: z.string().max(128), version: z.string().max(64) }).optional(),
      protocol: z.array(int).max(64).optional(),
      features: z.array(z.string().max(64)).max(64).optional(),
      token: token.optional(),
    }),
    result: z.strictObject({ server, protocol: z.literal(1), features, limits, authority }),
  },
  "kernel.ping": {
    summary: "liveness; with `sentAt` also the round trip",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ payload: z.unknown().optional(), sentAt: z.number().optional() }),
    result: z.strictObject({
      version: z.string(),
      protocol: z.literal(1),
      now: timeMs,
      uptimeMs: timeMs,
      payload: z.unknown().optional(),
      sentAt: z.number().optional(),
    }),
  },
  "kernel.introspect": {
    summary: "the methods that the caller may call, with JSON Schemas; with `all` every method",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      method: z.string().max(128).optional(),
      prefix: z.string().max(128).optional(),
      all: z.boolean().optional(),
      schema: z.boolean().optional(),
    }),
    result: z.strictObject({
      server,
      protocol: z.strictObject({ min: z.literal(1), max: z.literal(1) }),
      features,
      limits,
      methods: z.array(method),
      events: z.array(
        z.strictObject({
          name: z.string(),
          summary: z.string(),
          data: schema.optional(),
          retention: z.string(),
        }),
      ),
      errors: z.array(z.strictObject({ code: z.string(), summary: z.string(), retryable: z.boolean() })),
    }),
  },
  "kernel.token.derive": {
    summary: "a narrower capability token for a helper; it ends with the caller's own",
    kind: "request",
    right: "self",
    idempotent: false,
    params: z.strictObject({ scopes, ttlMs: z.int().min(1).optional() }),
    result: z.strictObject({ token, expiresAt: int.nullable() }),
  },
  "kernel.token.revoke": {
    summary: "end a token of the caller's process, and those that were derived from it",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ token }),
    result: z.strictObject({ revoked: z.boolean() }),
  },
  "system.get_metrics": {
    summary: "processor, memory, battery and disk of the machine, and what the kernel uses; at most 1 s old",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["UNAVAILABLE"],
    params: empty,
    result: metrics,
  },
  "request.cancel": {
    summary: "end an open request of this connection with CANCELLED",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ id: z.string().min(1).max(128) }),
    result: z.strictObject({ found: z.boolean() }),
  },
} as const satisfies Record<string, IpcMethodSpec>;
