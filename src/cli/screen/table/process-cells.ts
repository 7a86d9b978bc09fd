/** Cells of a process, shared by several tables. */

import { FORK, isInternal } from "../../../abi/fork.ts";
import type { WireRow } from "../../../abi/methods/process.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { safeLine } from "../text/safe-text.ts";
import { cutToWidth } from "../text/width.ts";

export const INTENT_COLUMNS = 40;
/** Only this much of an intent is processed: it may be long, and its escaped form longer. */
const INTENT_CHARS = 2 * INTENT_COLUMNS;

type Doing = Pick<WireRow, "state" | "activity" | "held" | "slot" | "queue">;

/**
 * `running/thinking`; for a held process the word that `ps` uses; `exited(1)` for an ended one; without an activity the
 * state alone.
 */
export function stateCell(row: Doing & Partial<Pick<WireRow, "exit">>): string {
  const { state, activity, exit = null } = row;
  if (state === "dead" && exit !== null) return `exited(${exit.code})`;
  return (
    queuedWord(row) ??
    heldWord(row) ??
    slotWord(row) ??
    (activity === null || state !== "running" ? state : `${state}/${activity}`)
  );
}

/** `queued 3/10`: its place among those of its tree that wait to begin; undefined: it does not wait. */
function queuedWord({ queue }: Pick<WireRow, "queue">): string | undefined {
  return queue === undefined ? undefined : `queued ${queue.place}/${queue.of}`;
}

/** `slot 12s #3`: how long it has waited for a slot of its model, and its place; undefined: it does not. */
export function slotWord({ slot }: Pick<WireRow, "slot">): string | undefined {
  if (slot === undefined) return undefined;
  const place = slot.place === undefined ? "" : ` #${slot.place}`;
  return `slot ${Math.floor(slot.waited_ms / 1000)}s${place}`;
}

/**
 * The word for a process that does nothing until the user acts; undefined: it is not held. At most seven characters.
 */
export function heldWord({ state, activity, held }: Doing): "paused" | "blocked" | "held" | undefined {
  if (state !== "running") return undefined;
  if (activity === "blocked") return "blocked";
  if (activity !== "paused") return undefined;
  return held === "crash" || held === "damage" ? "held" : "paused";
}

/** What the forks do that agents start of themselves: their intents are written for a model. */
const ASIDE: Readonly<Record<string, string>> = {
  memory: "takes notes of the conversation",
  tidy: "tidies the notes of memory",
};

/** What it is there for, as it was told. */
export function taskOf({ intent, fork = FORK }: Pick<WireRow, "intent" | "fork">): string {
  return isInternal(fork) ? (ASIDE[fork] ?? fork) : intent;
}

/** The first line of the intent, cut. */
export function intentCell(intent: string, columns = INTENT_COLUMNS): string {
  const first = intent.trimStart().split(/\r?\n/, 1)[0] ?? "";
  return cutToWidth(safeLine(first.slice(0, Math.max(INTENT_CHARS, 2 * columns))), columns);
}

/** `2 calls without a known price` */
export function unpricedWords(calls: number): string {
  return `${calls === 1 ? "1 call" : `${calls} calls`} without a known price`;
}

/** `-`: nothing with a price. `unpriced`: the number of calls whose price is not known. */
export function costCell(usd: number, unpriced = 0): string {
  if (usd === 0) return unpriced > 0 ? "?" : "-";
  return `${shownUsd(microUsd(usd))}${unpriced > 0 ? "+?" : ""}`;
}

/** `alice (worker)`: the name that a call gave it, and that of its agent file. */
export function nameCell({ name, called }: Pick<WireRow, "name" | "called">): string {
  if (called === undefined) return name === "" ? "-" : safeLine(name);
  return safeLine(name === "" ? called : `${called} (${name})`);
}

/** Shown before the intent unless it is the usual mode, because the columns are fixed. */
export function modeWord({ mode }: { readonly mode?: PermissionMode | undefined }): string {
  return mode === undefined ? "" : `[${mode}] `;
}
