/** Cells of a process that several tables show. */

import type { WireRow } from "../../abi/methods.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { microUsd, shownUsd } from "../../lib/usd.ts";
import { safeLine } from "./safe-text.ts";
import { cutToWidth } from "./width.ts";

export const INTENT_COLUMNS = 40;
/** More is not looked at: an intent may be long, and what is safe may be longer. */
const INTENT_CHARS = 2 * INTENT_COLUMNS;

/** `running/thinking`; what has no activity, its state alone. */
export function stateCell({ state, activity }: Pick<WireRow, "state" | "activity">): string {
  return activity === null || state !== "running" ? state : `${state}/${activity}`;
}

/** The first line, cut. */
export function intentCell(intent: string, columns = INTENT_COLUMNS): string {
  const first = intent.trimStart().split(/\r?\n/, 1)[0] ?? "";
  return cutToWidth(safeLine(first.slice(0, Math.max(INTENT_CHARS, 2 * columns))), columns);
}

/** `-`: nothing that has a price. */
export function costCell(usd: number): string {
  return usd === 0 ? "-" : shownUsd(microUsd(usd));
}

export function nameCell(name: string): string {
  return name === "" ? "-" : safeLine(name);
}

/** Before the intent, where it is not the usual mode: the columns are fixed. */
export function modeWord({ mode }: { readonly mode?: PermissionMode | undefined }): string {
  return mode === undefined ? "" : `[${mode}] `;
}
