/** Events (kernel IPC chapter, 5.4 and 6). */
import * as z from "zod";
import { pid } from "../spec.ts";
import type { IpcMethodSpec } from "./spec.ts";

const int = z.int();
const pattern = z.string().min(1).max(128);

export const IPC_EVENT_METHODS = {
  "event.subscribe": {
    summary: "follow events whose names match: an exact name, `process.*` (any depth), or `*`",
    kind: "stream",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND", "UNAVAILABLE"],
    params: z.strictObject({
      events: z.array(pattern).min(1).max(64),
      pid: pid.optional(),
      id: z.string().max(128).optional(),
      intentId: z.string().max(128).optional(),
      correlationId: z.string().max(128).optional(),
      after: int.min(0).optional(),
      window: int.min(1).max(65_536).optional(),
      prefix: z.literal("kairo.").optional(),
    }),
    result: z.strictObject({ subscription: z.string(), head: int, floor: int }),
  },
  "event.unsubscribe": {
    summary: "end a subscription to events",
    kind: "request",
    right: "observe",
    idempotent: true,
    params: z.strictObject({ subscription: z.string().max(128) }),
    result: z.strictObject({ closed: z.boolean() }),
  },
  "event.publish": {
    summary: "publish an event of a program; answered once it is durable",
    kind: "request",
    right: "self",
    idempotent: false,
    errors: ["NOT_FOUND", "UNAVAILABLE"],
    params: z.strictObject({
      event: z
        .string()
        .max(128)
        .regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,5}$/, "must be 2 to 6 words, joined by dots"),
      data: z.record(z.string(), z.unknown()),
      pid: pid.optional(),
      retain: z.enum(["latest", "all"]).optional(),
    }),
    result: z.strictObject({ seq: int }),
  },
  "process.ready": {
    summary: "tell that the caller's own process is ready for work",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ message: z.string().max(4_096).optional() }),
    result: z.strictObject({ ready: z.literal(true) }),
  },
} as const satisfies Record<string, IpcMethodSpec>;
