/** Methods on the workspaces that the user trusts. */
import * as z from "zod";
import { BROUGHT_KINDS, BROUGHT_STATES } from "../trust.ts";
import { empty, type MethodSpec } from "./spec.ts";

const dir = z.string().startsWith("/").max(4096);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** Counts only where it is named: nothing else uses the file. */
const compose = z
  .string()
  .startsWith("/")
  .max(4096)
  .optional()
  .describe("Absolute path of a compose file in the workspace, which is looked at with the rest.");
/** From each path to the digest that the user has seen. */
const seen = z.record(z.string().max(4200), digest);

export const WireBrought = z.strictObject({
  path: z.string(),
  kind: z.enum(BROUGHT_KINDS),
  digest: z.string(),
  state: z
    .enum(BROUGHT_STATES)
    .describe("`holds`: not seen yet, but it can only forbid, which it does without trust."),
  acts: z.array(z.string()),
  diff: z.string().optional(),
});
export type WireBrought = z.infer<typeof WireBrought>;

export const WireWorkspace = z.strictObject({
  root: z.string(),
  trusted: z.boolean(),
  session_only: z.boolean(),
  main: z
    .string()
    .nullable()
    .describe("Main repository of a Git worktree; null: the workspace is not a worktree."),
  declined: z.boolean(),
  items: z.array(WireBrought),
  refused: z.array(z.strictObject({ path: z.string(), why: z.string() })),
});
export type WireWorkspace = z.infer<typeof WireWorkspace>;

export const TRUST_METHODS = {
  "trust.list": {
    summary: "workspaces that the user has trusted",
    kind: "request",
    right: "admin",
    params: empty,
    result: z.strictObject({
      workspaces: z.array(
        z.strictObject({
          root: z.string(),
          at: z.string().describe("Time in ISO 8601."),
          by: z.string(),
          items: z.int(),
          session_only: z.boolean(),
        }),
      ),
    }),
  },
  "trust.show": {
    summary: "what the workspace of a folder brings that would act, and what of it is trusted",
    kind: "request",
    right: "admin",
    params: z
      .strictObject({ dir, compose, pending: z.boolean().optional(), diff: z.boolean().optional() })
      .describe("`pending` leaves out items that are trusted; `diff` adds what changed in each item."),
    result: WireWorkspace,
  },
  "trust.add": {
    summary: "trust the workspace of a folder and what the user has seen of it; the rest stays off",
    kind: "request",
    right: "admin",
    params: z.strictObject({
      dir,
      compose,
      seen,
      hour: z
        .boolean()
        .optional()
        .describe(
          "Where trust ends with the last process in the folder (`session_only`): it lasts for an hour at least, in this daemon and for this very folder.",
        ),
    }),
    result: z.strictObject({ root: z.string(), items: z.int(), session_only: z.boolean() }),
  },
  "trust.decline": {
    summary: "note that the user has seen what a workspace brings and does not trust it",
    kind: "request",
    right: "admin",
    params: z.strictObject({ dir, seen }),
    result: undefined,
  },
  "trust.remove": {
    summary: "trust the workspace of a folder no longer",
    kind: "request",
    right: "admin",
    params: z.strictObject({ dir }),
    result: z
      .strictObject({ root: z.string(), removed: z.boolean() })
      .describe("`removed` is false when the workspace was not trusted."),
  },
} as const satisfies Record<string, MethodSpec>;
