import type { PermissionMode } from "../abi/process.ts";

const MODES: Readonly<Record<string, PermissionMode>> = {
  plan: "plan",
  dont_ask: "dont_ask",
  dontAsk: "dont_ask",
  default: "default",
  accept_edits: "accept_edits",
  acceptEdits: "accept_edits",
  auto: "auto",
  bypass: "bypass",
  bypassPermissions: "bypass",
};

/** Also the spellings of published settings; undefined: not a mode that this system has. */
export function findMode(text: string): PermissionMode | undefined {
  return Object.hasOwn(MODES, text) ? MODES[text] : undefined;
}
