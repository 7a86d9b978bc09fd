/** Methods on what processes may: their modes, and what persons have granted. */
import * as z from "zod";
import { GRANT_SCOPES } from "./grants.ts";
import { type MethodSpec, pid } from "./method-spec.ts";
import { PERMISSION_MODES } from "./process.ts";

const grantId = z.string().min(1).max(64);

export const WireGrant = z.strictObject({
  id: z.string(),
  /** The top-level process of its session; 0: it outlives sessions. */
  session: pid,
  /** ISO 8601. */
  at: z.string(),
  by: z.strictObject({ principal: z.string(), client: z.string(), uid: z.int().nullable() }),
  behavior: z.enum(["allow", "ask", "deny"]),
  rule: z.string(),
  scope: z.enum(GRANT_SCOPES),
  /** Of whom: for `once`, `process`, `subtree`. */
  pid: pid.optional(),
  root: z.string().optional(),
  expires_at: z.string().optional(),
  /** How often it may answer, and how often it has. */
  uses: z.int().optional(),
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
    /** What is left. */
    result: labels,
  },
  "process.mode": {
    summary: "the permission mode of a process; with `mode` it is set first",
    kind: "request",
    right: "approve",
    params: z.strictObject({ pid, mode: z.enum(PERMISSION_MODES).optional() }),
    /** `ceiling`: the highest that it may ask for itself. */
    result: z.strictObject({ mode: z.enum(PERMISSION_MODES), ceiling: z.enum(PERMISSION_MODES) }),
  },
  "auto_mode.config": {
    summary: "what the model of mode auto goes by, as the settings stand",
    kind: "request",
    right: "observe",
    params: z.strictObject({}),
    result: z.strictObject({
      allow: z.array(z.string()),
      soft_deny: z.array(z.string()),
      environment: z.array(z.string()),
      stage: z.enum(["both", "fast", "thinking"]),
      /** Does it judge in mode plan, where that was entered from auto? */
      during_plan: z.boolean(),
    }),
  },
  "grant.list": {
    summary: "what persons have granted: to one process, or all that is in memory",
    kind: "request",
    right: "observe",
    params: z.strictObject({ pid: pid.optional() }),
    result: z.strictObject({ grants: z.array(WireGrant) }),
  },
  "grant.remove": {
    summary: "take a grant back; with `kill` the commands that only it allowed end",
    kind: "request",
    right: "approve",
    /** `pid`: a process of its session, where that rests. */
    params: z.strictObject({ id: grantId, pid: pid.optional(), kill: z.boolean().optional() }),
    result: undefined,
  },
} as const satisfies Record<string, MethodSpec>;
