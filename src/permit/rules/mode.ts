/** Modes: their names, their order, and which of them holds for a call. */
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { Subject } from "../../kernel/ports/permit.ts";

const SPELLINGS: Readonly<Record<string, PermissionMode>> = {
  dontAsk: "dont_ask",
  acceptEdits: "accept_edits",
  bypassPermissions: "bypass",
};

/** Also the spellings of published settings; undefined: not a mode that this system has. */
export function findMode(text: string): PermissionMode | undefined {
  if (Object.hasOwn(SPELLINGS, text)) return SPELLINGS[text];
  return PERMISSION_MODES.find((mode) => mode === text);
}

export function isHigher(a: PermissionMode, b: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(a) > PERMISSION_MODES.indexOf(b);
}

/** Changes of files in the roots are not asked about. */
export function acceptsEdits(mode: PermissionMode): boolean {
  return mode === "accept_edits" || mode === "auto";
}

/** The lower of its own and its ceiling; one that the settings close is `default`. */
export function effectiveMode(
  { mode, rights }: Subject,
  closed: ReadonlySet<PermissionMode>,
): PermissionMode {
  const lower = rights !== undefined && isHigher(mode, rights.mode) ? rights.mode : mode;
  return closed.has(lower) ? "default" : lower;
}
