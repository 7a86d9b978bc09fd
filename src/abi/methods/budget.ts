/** The methods of budgets and their results. Money is in US dollars, to a millionth. */
import * as z from "zod";
import { PROCESS_KINDS } from "../process.ts";
import { type MethodSpec, pid } from "./spec.ts";

const usd = z.number().min(0).max(1e9);
const count = z.int().min(0);

/** Limits for a process and all its descendants. */
export const WireBudget = z.strictObject({
  tokens: count.optional(),
  usd: usd.optional(),
  steps: count.optional(),
  wall_ms: count.optional(),
  depth: count.optional(),
  children: count.optional(),
  concurrent: count.optional(),
});
export type WireBudget = z.infer<typeof WireBudget>;

const amounts = z.strictObject({ tokens: z.int(), usd: z.number(), steps: z.int() });

const account = z.strictObject({
  pid,
  ppid: pid,
  name: z.string(),
  kind: z.enum(PROCESS_KINDS),
  intent: z.string(),
  running: z.boolean(),
  limits: WireBudget,
  own: z.strictObject({
    tokens: z.int(),
    usd: z.number(),
    unpriced_calls: z
      .int()
      .optional()
      .describe("Calls without a known price, if any; they are not in `usd`."),
  }),
  spent: amounts.describe("Spent by the process and all its descendants."),
  reserved: amounts,
  wall_ms: z.int(),
  children: z.int(),
  concurrent: z.int(),
  left: z
    .strictObject({ tokens: z.int().nullable(), usd: z.number().nullable() })
    .describe("What is left; null: no limit on this account or above it."),
});

const change = z.strictObject({
  tokens: count.nullable().optional(),
  usd: usd.nullable().optional(),
  steps: count.nullable().optional(),
  wall_ms: count.nullable().optional(),
  depth: count.nullable().optional(),
  children: count.nullable().optional(),
  concurrent: count.nullable().optional(),
});

export const BUDGET_METHODS = {
  "budget.get": {
    summary: "what processes may use, have used and have left, with all below them",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid: pid.optional() }),
    result: z
      .strictObject({
        accounts: z.array(account),
        windows: z.array(
          z.strictObject({
            unit: z.enum(["tokens", "usd"]),
            limit: z.number(),
            spent: z.number(),
            per_ms: z.int(),
          }),
        ),
      })
      .describe(
        "Parents come before their children. `windows` are limits over everything the user's processes spend.",
      ),
  },
  "budget.set": {
    summary: "new limits of a process and all below it; null takes one away, `add` is on top",
    kind: "request",
    right: "admin",
    params: z.strictObject({ pid, set: change.optional(), add: WireBudget.optional() }),
    result: z.strictObject({ pid, limits: WireBudget }),
  },
  "cost.get": {
    summary: "what model calls cost, by call, process, subtree, model, tool, source or day",
    kind: "request",
    right: "observe",
    params: z.strictObject({
      by: z
        .enum(["call", "pid", "subtree", "model", "tool", "source", "day"])
        .optional()
        .describe("`subtree`: a process with all below it. Default: pid."),
      pid: pid.optional().describe("Only this process and all below it, running or ended."),
      since: z.number().min(0).optional().describe("Count from this time on: milliseconds since 1970."),
    }),
    result: z.strictObject({
      by: z.string(),
      lines: z.array(
        z.strictObject({
          key: z.string(),
          calls: z.int(),
          tokens: z.int(),
          input: z.int().describe("Tokens of input that did not come from a cache."),
          written: z.int().describe("How many of those were written to a cache."),
          cached: z.int().describe("Tokens of input that the server had cached."),
          output: z.int(),
          thinking: z
            .int()
            .describe("How many of the output tokens were thinking, where the server says so."),
          usd: z.number(),
          unpriced: z.int().describe("Calls without a known price; they are not in `usd`."),
        }),
      ),
      cut: z
        .boolean()
        .describe(
          "True when only the newest 1,000 processes were counted, or the newest 1,000 calls are listed.",
        ),
    }),
  },
} as const satisfies Record<string, MethodSpec>;
