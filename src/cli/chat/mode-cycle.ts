/** The modes that Shift-Tab goes through in a conversation. */
import { codeOf } from "../../abi/errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";

const CYCLE: readonly PermissionMode[] = ["default", "accept_edits", "plan", "auto"];

/**
 * The modes after the current one, in order. `bypass` is included if the session began with it; `dont_ask` is only set
 * by name.
 */
export function modesAfter(mode: PermissionMode, ceiling: PermissionMode): readonly PermissionMode[] {
  const all = ceiling === "bypass" ? [...CYCLE, "bypass" as const] : CYCLE;
  const known = all.filter((each) => rank(each) <= rank(ceiling));
  const at = known.indexOf(mode);
  return [...known.slice(at + 1), ...known.slice(0, Math.max(0, at))];
}

/** The mode cannot be entered here, so the next one is tried. */
export function isClosed(error: unknown): boolean {
  return ["UNAVAILABLE", "PERMISSION", "INVALID"].includes(codeOf(error));
}

function rank(mode: PermissionMode): number {
  return PERMISSION_MODES.indexOf(mode);
}
