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

export const RIGHTS_METHODS = {
  "process.mode": {
    summary: "the permission mode of a process; with `mode` it is set first",
    kind: "request",
    right: "approve",
    params: z.strictObject({ pid, mode: z.enum(PERMISSION_MODES).optional() }),
    /** `ceiling`: the highest that it may ask for itself. */
    result: z.strictObject({ mode: z.enum(PERMISSION_MODES), ceiling: z.enum(PERMISSION_MODES) }),
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
