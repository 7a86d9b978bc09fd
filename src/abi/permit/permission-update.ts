/** A change of rules, mode or directories, sent with an answer of the user. Any client may send one. */
import * as z from "zod";
import { PERMISSION_MODES } from "../process.ts";
import { RULE_DESTINATIONS } from "../rules.ts";

const destination = z.enum(RULE_DESTINATIONS);
const behavior = z.enum(["allow", "ask", "deny"]);
const rules = z.array(z.string().min(1).max(1024)).max(2000);
const directories = z.array(z.string().min(1).max(4096)).max(2000);

export const PermissionUpdate = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("addRules"), destination, behavior, rules }),
  /** Replaces all rules of this behaviour at the destination. */
  z.strictObject({ type: z.literal("replaceRules"), destination, behavior, rules }),
  z.strictObject({ type: z.literal("removeRules"), destination, behavior, rules }),
  z.strictObject({ type: z.literal("setMode"), destination, mode: z.enum(PERMISSION_MODES) }),
  z.strictObject({ type: z.literal("addDirectories"), destination, directories }),
  z.strictObject({ type: z.literal("removeDirectories"), destination, directories }),
]);
export type PermissionUpdate = z.infer<typeof PermissionUpdate>;
