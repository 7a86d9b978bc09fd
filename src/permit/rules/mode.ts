/** Permission modes: their names, their order, and the effective mode of a call. */
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { Subject } from "../../kernel/ports/permit.ts";

const SPELLINGS: Readonly<Record<string, PermissionMode>> = {
  dontAsk: "dont_ask",
  acceptEdits: "accept_edits",
  bypassPermissions: "bypass",
};

/** Accepts the spellings of published settings too; undefined: not a mode. */
export function findMode(text: string): PermissionMode | undefined {
  if (Object.hasOwn(SPELLINGS, text)) return SPELLINGS[text];
  return PERMISSION_MODES.find((mode) => mode === text);
}

export function isHigher(a: PermissionMode, b: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(a) > PERMISSION_MODES.indexOf(b);
}

/** Whether the mode allows changes of files in the roots without asking. */
export function acceptsEdits(mode: PermissionMode): boolean {
  return mode === "accept_edits" || mode === "auto";
}

/** The lower of the process's own mode and its ceiling; a mode that the settings close becomes `default`. */
export function effectiveMode(
  { mode, rights }: Subject,
  closed: ReadonlySet<PermissionMode>,
): PermissionMode {
  const lower = rights !== undefined && isHigher(mode, rights.mode) ? rights.mode : mode;
  return closed.has(lower) ? "default" : lower;
}
