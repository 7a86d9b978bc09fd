/** The methods of contexts: what the model sees of a process. */
import * as z from "zod";
import { CONTEXT_PARTS } from "../context.ts";
import { environment, type MethodSpec, pid } from "./spec.ts";

const count = z.int().min(0);

const move = z.strictObject({
  at: z.string(),
  layer: z
    .enum(["micro", "full", "notes", "partial", "collapse", "snip", "drop", "clear", "undo"])
    .describe(
      "`micro`: old results were cleared; `full`: a summary; `notes`: the notes of the session, in place of one; `partial`: a summary of what came before or after a message; `collapse`: a few old steps were folded; `snip`: some messages were left out; `drop`: the oldest steps were left out; `clear`: all messages were; `undo`: the view before it again.",
    ),
  trigger: z.enum(["auto", "manual", "reactive"]).describe("`reactive`: the model had refused a request."),
  before: count.optional(),
  after: count.optional().describe("Estimated tokens; absent: recorded by an earlier version."),
});

export const WireContext = z.strictObject({
  pid,
  driver: z.string().describe("Empty: no model was asked yet."),
  model: z
    .string()
    .describe(
      "The model that is asked or, for the default of the driver, that answered last; empty: none has.",
    ),
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
  folding: z
    .strictObject({
      active: z.boolean().describe("False: it has failed too often, and summaries of all take over."),
      staged: count,
      committed: count,
      saved: count.describe("Estimated tokens."),
      failures: count.describe("In a row."),
    })
    .optional()
    .describe("Folding of old steps; absent: it is off (`context.collapse`)."),
  target: z
    .strictObject({ aim: count, spent: count.describe("Written so far.") })
    .optional()
    .describe("Output tokens that the user wants of the run (`tokenTarget`)."),
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
    .optional()
    .describe("Tokens; they sum to `used`. Absent: not asked for."),
  messages: z
    .array(
      z.strictObject({
        n: count.describe("Its number, as context.pin takes it."),
        part: z.enum(["pins", "messages", "results", "memory"]),
        tokens: count.describe("Estimated."),
        words: z.string(),
      }),
    )
    .optional(),
  reserve: count.describe("Held back for the reply: not part of `used`."),
});
export type WireContext = z.infer<typeof WireContext>;

const place = {
  pid,
  env: environment.optional().describe("Environment for a session that rests: its keys."),
};
const change = z.strictObject({ pid, before: count, after: count }).describe("Estimated tokens.");

const pinned = z.strictObject({ pid, message: count.describe("Its number.") });

export const CONTEXT_METHODS = {
  "context.stat": {
    summary: "what the model sees of a process, and what each part of it costs",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      pid,
      messages: z.boolean().optional().describe("Also list the messages in view."),
      brief: z
        .boolean()
        .optional()
        .describe(
          "Without `parts` and `messages`: the time it takes does not grow with the messages in view.",
        ),
    }),
    result: WireContext,
  },
  "context.compact": {
    summary: "writes a summary in place of the earlier messages; answered once it is done",
    kind: "request",
    right: "control",
    params: z.strictObject({
      ...place,
      text: z.string().max(2_000).optional().describe("What the summary should pay attention to."),
      from: z
        .int()
        .min(1)
        .optional()
        .describe("The number of a message in view: only what comes after it is summarised; or"),
      up_to: z.int().min(1).optional().describe("only what comes before it."),
    }),
    result: change,
  },
  "context.undo": {
    summary: "the view before the last change again, with the messages added since",
    kind: "request",
    right: "control",
    params: z.strictObject(place),
    result: change,
  },
  "context.pin": {
    summary: "keeps a message in view, or a new one with a text, whatever is compacted",
    kind: "request",
    right: "control",
    params: z.strictObject({
      ...place,
      message: z.int().min(1).optional().describe("The number of a message in view; or"),
      text: z.string().max(40_000).optional().describe("the text of a new one."),
    }),
    result: pinned,
  },
  "context.unpin": {
    summary: "a message need not stay in view any longer",
    kind: "request",
    right: "control",
    params: z.strictObject({ ...place, message: z.int().min(1) }),
    result: pinned,
  },
  "context.snip": {
    summary:
      "takes messages out of view, with what belongs to them; nothing has changed if they had left it before",
    kind: "request",
    right: "control",
    params: z.strictObject({
      ...place,
      messages: z.array(z.int().min(1)).min(1).max(256).describe("Their numbers."),
    }),
    result: change,
  },
  "context.memory": {
    summary: "turns memory off for a process and what it starts from then on, or on again",
    kind: "request",
    right: "control",
    params: z.strictObject({ ...place, on: z.boolean() }),
    result: change,
  },
  "context.clear": {
    summary: "an empty view, for a session that waits",
    kind: "request",
    right: "control",
    params: z.strictObject(place),
    result: change,
  },
} as const satisfies Record<string, MethodSpec>;
