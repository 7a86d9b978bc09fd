/**
 * When replies that cannot be used end a run. A call that is not one (arguments that are not JSON, no name, a key that its tool
 * does not know) is answered with what was wrong, so that the model can send it again; one that makes the same mistake again
 * and again only burns tokens. Counted once a reply. Pure.
 */
import { DriverError } from "../abi/errors.ts";
import type { CallResult } from "./tools/tool-call.ts";

/** No checkpoint keeps it: after a crash it is counted anew, and a recording of an earlier version stays as it was. */
export interface Malformed {
  /** Replies in a row whose every call was malformed in the same way. */
  readonly replies: number;
  /** What was wrong with them. */
  readonly words: string;
}

export const NOT_MALFORMED: Malformed = { replies: 0, words: "" };

/** How often a reply that is malformed in the same way is asked for again. */
export const MAX_ASKED_AGAIN = 3;

export function afterCalls(before: Malformed, results: readonly CallResult[]): Malformed {
  const wrong = new Set(results.flatMap(({ malformed }) => malformed ?? []));
  if (wrong.size === 0 || results.some(({ malformed }) => malformed === undefined)) return NOT_MALFORMED;
  const words = [...wrong].join("; ");
  return { replies: words === before.words ? before.replies + 1 : 1, words };
}

export function isHopeless({ replies }: Malformed): boolean {
  return replies > MAX_ASKED_AGAIN;
}

/** For the user, while the model is asked again. */
export function askedAgain({ replies, words }: Malformed): string {
  return `model: malformed call (${words}), asked again ${replies}/${MAX_ASKED_AGAIN}`;
}

export function hopeless({ replies, words }: Malformed, device: string): DriverError {
  const message = malformedTooOften(replies, words);
  return new DriverError({ code: "DRIVER", op: "Read", message, device, hint: HOPELESS_HINT });
}

export function malformedTooOften(replies: number, words: string): string {
  return `the model's reply was malformed ${replies} times in a row: ${words}`;
}

export const HOPELESS_HINT = "try another model (-m), or a smaller task";
