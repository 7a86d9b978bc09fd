/** The modes that Shift-Tab goes through in a conversation. */
import { codeOf } from "../../abi/errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";

const CYCLE: readonly PermissionMode[] = ["default", "accept_edits", "plan", "auto"];

/** From where it is, in order. `bypass` is among them where the session began with it; `dont_ask` is set by its name alone. */
export function modesAfter(mode: PermissionMode, ceiling: PermissionMode): readonly PermissionMode[] {
  const all = ceiling === "bypass" ? [...CYCLE, "bypass" as const] : CYCLE;
  const known = all.filter((each) => rank(each) <= rank(ceiling));
  const at = known.indexOf(mode);
  return [...known.slice(at + 1), ...known.slice(0, Math.max(0, at))];
}

/** It cannot be entered here: the next is tried. */
export function isClosed(error: unknown): boolean {
  return ["UNAVAILABLE", "PERMISSION", "INVALID"].includes(codeOf(error));
}

function rank(mode: PermissionMode): number {
  return PERMISSION_MODES.indexOf(mode);
}
