/** Methods on the rights of processes: their modes, and the user's grants. */
import * as z from "zod";
import { GRANT_SCOPES } from "../grants.ts";
import { PERMISSION_MODES } from "../process.ts";
import { type MethodSpec, pid } from "./spec.ts";

/** Written as in settings. */
const rules = z.array(z.string().max(1024)).max(1000);

const grantId = z.string().min(1).max(64);

export const WireGrant = z.strictObject({
  id: z.string(),
  session: pid.describe(
    "Top-level process of the session the grant belongs to; 0: the grant outlives sessions.",
  ),
  at: z.string().describe("Time in ISO 8601."),
  by: z.strictObject({ principal: z.string(), client: z.string(), uid: z.int().nullable() }),
  behavior: z.enum(["allow", "ask", "deny"]),
  rule: z.string(),
  scope: z.enum(GRANT_SCOPES),
  pid: pid
    .optional()
    .describe("The process that holds the grant, for the scopes `once`, `process` and `subtree`."),
  root: z.string().optional(),
  expires_at: z.string().optional(),
  uses: z
    .int()
    .optional()
    .describe("How often the grant may be used; `used` is how often it was. Absent: no limit."),
  used: z.int(),
});
export type WireGrant = z.infer<typeof WireGrant>;

const WireLabel = z.strictObject({
  kind: z.enum(["untrusted", "secret"]),
  source: z.enum(["web", "mcp", "file", "peer", "exec"]),
  detail: z.string(),
});
export type WireLabel = z.infer<typeof WireLabel>;

const labels = z.strictObject({ pid, labels: z.array(WireLabel) });

export const RIGHTS_METHODS = {
  "label.list": {
    summary: "where what a process has read came from",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid }),
    result: labels,
  },
  "label.clear": {
    summary: "take labels of a process away: those of a source, of one place, or all",
    kind: "request",
    right: "approve",
    params: z.strictObject({ pid, which: z.string().min(1).max(400) }),
    result: labels.describe("The labels that remain."),
  },
  "process.mode": {
    summary: "the permission mode of a process; with `mode` it is set first",
    kind: "request",
    right: "approve",
    params: z.strictObject({ pid, mode: z.enum(PERMISSION_MODES).optional() }),
    result: z
      .strictObject({ mode: z.enum(PERMISSION_MODES), ceiling: z.enum(PERMISSION_MODES) })
      .describe("`ceiling` is the highest mode the process may switch to by itself."),
  },
  "auto_mode.config": {
    summary: "what the model of auto mode goes by, as the settings stand",
    kind: "request",
    right: "observe",
    params: z.strictObject({}),
    result: z.strictObject({
      allow: z.array(z.string()),
      soft_deny: z.array(z.string()),
      environment: z.array(z.string()),
      stage: z.enum(["both", "fast", "thinking"]),
      during_plan: z
        .boolean()
        .describe(
          "Whether the classifier also judges calls in plan mode when that was entered from auto mode.",
        ),
    }),
  },
  "grant.list": {
    summary: "what the user has granted: to one process, or all that is in memory",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid: pid.optional() }),
    result: z.strictObject({ grants: z.array(WireGrant) }),
  },
  "grant.add": {
    summary: "rules for a process in addition to those of its start",
    kind: "request",
    right: "approve",
    params: z.strictObject({
      pid,
      allow: rules.optional(),
      ask: rules.optional(),
      deny: rules.optional(),
      scope: z.enum(["process", "subtree", "session"]).optional().describe("Default: session."),
      while_connected: z
        .boolean()
        .optional()
        .describe("They are taken back when this connection ends, and at the latest with this daemon."),
    }),
    result: z.strictObject({ ids: z.array(z.string()) }).describe("In the order allow, ask, deny."),
  },
  "grant.remove": {
    summary: "take a grant back; with `kill` the commands that only it allowed end",
    kind: "request",
    right: "approve",
    params: z
      .strictObject({ id: grantId, pid: pid.optional(), kill: z.boolean().optional() })
      .describe("`pid` names a process of the session when the session is resting."),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
