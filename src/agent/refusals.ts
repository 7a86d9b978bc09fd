/**
 * When refusals end a run. A refused call is answered: the model reads why, and tries another way. Counted once per
 * reply: an unattended run ends after several replies in a row whose calls were all refused. Pure.
 */
import { Fault } from "../abi/errors.ts";
import type { Refusal } from "../abi/refusal.ts";
import type { CallResult } from "./program/tool-call.ts";

/** Plain data: part of the checkpoint. */
export interface Refusals {
  /** Replies in a row whose calls were all refused. */
  readonly replies: number;
  /** The refused calls of these replies, without duplicates. */
  readonly calls: readonly Refusal[];
}

export const NO_REFUSALS: Refusals = { replies: 0, calls: [] };

export const MAX_REFUSED_REPLIES = 3;
/** The number of refused calls that are stored and named; later ones are dropped. */
const MAX_NAMED = 8;

/** A reply without calls changes nothing; one with a call that was not refused resets the count. */
export function afterReply(before: Refusals, results: readonly CallResult[]): Refusals {
  if (results.length === 0) return before;
  const refused = results.flatMap((result) => result.refused ?? []);
  if (refused.length < results.length) return NO_REFUSALS;
  return { replies: before.replies + 1, calls: united(before.calls, refused) };
}

export function isGivenUp({ replies }: Refusals): boolean {
  return replies >= MAX_REFUSED_REPLIES;
}

/** The error that ends the run: names the refused calls, and how to allow the first that has a remedy. */
export function givenUp({ replies, calls }: Refusals): Fault {
  const named = calls.map(({ tool, what }) => (what.startsWith(`${tool} `) ? what : `${tool}: ${what}`));
  const message = `every call of ${replies} replies in a row was refused, and nobody is attached to allow any: ${named.join("; ")}`;
  const remedy = calls.flatMap((call) => call.remedy ?? [])[0] ?? null;
  return new Fault({ code: "PERMISSION", message, fact: { kind: "needs_approval", remedy } });
}

function united(known: readonly Refusal[], more: readonly Refusal[]): readonly Refusal[] {
  const all = new Map([...known, ...more].map((call) => [`${call.tool}\n${call.what}`, call]));
  return [...all.values()].slice(0, MAX_NAMED);
}
