/** The methods of contexts: what the model sees of a process. */
import * as z from "zod";
import { CONTEXT_PARTS } from "../context.ts";
import { type MethodSpec, pid } from "./spec.ts";

const count = z.int().min(0);

const move = z.strictObject({
  at: z.string(),
  layer: z
    .enum(["micro", "full", "drop", "undo"])
    .describe(
      "`micro`: old results were cleared; `full`: a summary; `drop`: the oldest steps were left out; `undo`: the view before it again.",
    ),
  trigger: z.enum(["auto", "manual", "reactive"]).describe("`reactive`: the model had refused a request."),
  before: count.optional(),
  after: count.optional().describe("Estimated tokens; absent: recorded by an earlier version."),
});

export const WireContext = z.strictObject({
  pid,
  driver: z.string().describe("Empty: no model was asked yet."),
  model: z.string().describe("Empty: the default of the driver."),
  window: count,
  effective: count.describe("The window less what is held back for the reply."),
  used: count,
  exact: z.boolean().describe("True: the model reported `used`; false: it is estimated."),
  level: z.enum(["ok", "warn", "error", "blocked"]),
  thresholds: z.strictObject({
    warn: count,
    auto: count.nullable().describe("Null: automatic compaction is off."),
    block: count,
  }),
  compact: z.boolean().describe("False: the view is never shortened."),
  breaker: z
    .enum(["failures", "thrash"])
    .nullable()
    .describe("Why automatic compaction has stopped; null: it has not."),
  can_undo: z.boolean(),
  boundaries: count.describe("How often the view has moved."),
  moves: z.array(move).describe("The newest 64 moves of the view, oldest first."),
  records: count.describe("Messages that the journal keeps; `shown`: those that the model sees."),
  shown: count,
  parts: z
    .strictObject(
      Object.fromEntries(CONTEXT_PARTS.map((part) => [part, count])) as Record<
        (typeof CONTEXT_PARTS)[number],
        typeof count
      >,
    )
    .describe("Tokens; they sum to `used`."),
  reserve: count.describe("Held back for the reply: not part of `used`."),
});
export type WireContext = z.infer<typeof WireContext>;

export const CONTEXT_METHODS = {
  "context.stat": {
    summary: "what the model sees of a process, and what each part of it costs",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid }),
    result: WireContext,
  },
} as const satisfies Record<string, MethodSpec>;
