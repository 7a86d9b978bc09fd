/** Intents, and what the events amount to (kernel IPC chapter, 5.4 and 7). */
import * as z from "zod";
import { pid } from "../spec.ts";
import { type IpcMethodSpec, timeMs } from "./spec.ts";

const int = z.int();
const id = z.string().min(1).max(128);
/** At most 200 characters. */
const name = z.string().min(1).max(200);
const data = z.record(z.string(), z.unknown());
const outcome = z.enum(["completed", "failed", "cancelled"]);

export const IPC_INTENT_METHODS = {
  "intent.begin": {
    summary: "begin a stretch of action; an open one of the same id is returned",
    kind: "request",
    right: "self",
    idempotent: false,
    errors: ["NOT_FOUND", "CONFLICT", "CANCELLED"],
    params: z.strictObject({
      name,
      intentId: id.optional(),
      parentIntentId: id.optional(),
      correlationId: id.optional(),
      data: data.optional(),
      onDisconnect: z.enum(["keep", "fail"]).optional(),
    }),
    result: z.strictObject({ intentId: id, correlationId: id }),
  },
  "intent.end": {
    summary: "end an intent, and those nested in it as cancelled; the first outcome stays",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      intentId: id,
      outcome,
      summary: z.string().max(4_096).optional(),
      data: data.optional(),
    }),
    result: z.strictObject({ intentId: id, durationMs: timeMs }),
  },
  "intent.cancel": {
    summary:
      "end an intent, or all of a story, with everything that was started for it; others' need control",
    kind: "request",
    right: "self",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      intentId: id.optional(),
      correlationId: id.optional(),
      reason: z.string().max(1_024).optional(),
      graceMs: int.min(0).max(3_600_000).optional(),
    }),
    result: z.strictObject({ intents: z.array(id), processes: z.array(pid) }),
  },
  "event.project": {
    summary: "what the events amount to: processes, intents, progress, devices, or the timeline of a story",
    kind: "request",
    right: "observe",
    idempotent: true,
    errors: ["NOT_FOUND"],
    params: z.strictObject({
      projection: z.string().min(1).max(64),
      at: int.min(0).optional(),
      pid: pid.optional(),
      intentId: id.optional(),
      correlationId: id.optional(),
      cursor: z.string().max(32).optional(),
    }),
    result: z.strictObject({
      projection: z.string(),
      at: int,
      state: z.unknown(),
      next: z.string().optional(),
    }),
  },
  "event.compact": {
    summary: "replace the events before a position by a summary; those of what goes on stay",
    kind: "request",
    right: "user",
    idempotent: true,
    params: z.strictObject({ before: int.min(0) }),
    result: z.strictObject({ from: int, to: int, removed: int, kept: int }),
  },
} as const satisfies Record<string, IpcMethodSpec>;
