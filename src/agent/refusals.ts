/**
 * When refusals end a run. A refused call is an answer: the model reads why, and goes on in another way. Counted once a reply:
 * a run that nobody attends ends after several replies in a row of which every call was refused. Pure.
 */
import { Fault } from "../abi/errors.ts";
import type { Refusal } from "../abi/refusal.ts";
import type { CallResult } from "./tools/tool-call.ts";

/** Plain data: a checkpoint keeps it. */
export interface Refusals {
  /** Replies in a row that brought nothing but refused calls. */
  readonly replies: number;
  /** What was refused in them, each once. */
  readonly calls: readonly Refusal[];
}

export const NO_REFUSALS: Refusals = { replies: 0, calls: [] };

export const MAX_REFUSED_REPLIES = 3;
/** Of one that tries more, the first are named. */
const MAX_NAMED = 8;

/** A reply without calls changes nothing, one with a call that was not refused begins anew. */
export function afterReply(before: Refusals, results: readonly CallResult[]): Refusals {
  if (results.length === 0) return before;
  const refused = results.flatMap((result) => result.refused ?? []);
  if (refused.length < results.length) return NO_REFUSALS;
  return { replies: before.replies + 1, calls: united(before.calls, refused) };
}

export function isGivenUp({ replies }: Refusals): boolean {
  return replies >= MAX_REFUSED_REPLIES;
}

/** Why the run ends, with what was refused, and what would have let the first of it happen. */
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
