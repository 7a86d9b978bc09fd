/** A mode above the one given at the spawn, granted by the user: a grant whose rule is `mode(auto)`. */
import type { Grant } from "../../../abi/grants.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../abi/process.ts";
import { isAbove } from "./narrow.ts";

export function ruleOfMode(mode: PermissionMode): string {
  return `mode(${mode})`;
}

/** Such a grant is no rule for the policy. */
export function isOfMode({ rule }: Pick<Grant, "rule">): boolean {
  return rule.startsWith("mode(");
}

export function ceilingOf(given: PermissionMode, grants: readonly Grant[]): PermissionMode {
  let ceiling = given;
  for (const grant of grants) {
    const mode = grant.behavior === "allow" ? modeOf(grant) : undefined;
    if (mode !== undefined && isAbove(mode, ceiling)) ceiling = mode;
  }
  return ceiling;
}

function modeOf({ rule }: Grant): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => rule === ruleOfMode(mode));
}
