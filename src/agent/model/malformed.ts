/**
 * When malformed calls end a run. A malformed call (arguments that are not JSON, no name, a key that its tool does not
 * know) is answered with what was wrong, so that the model can send it again; repeating the same mistake only wastes
 * tokens, so the run ends then. Counted once per reply. Pure.
 */
import { DriverError } from "../../abi/errors.ts";
import type { CallResult } from "../program/tool-call.ts";

/** Not part of the checkpoint: after a crash the count restarts, and recordings of earlier versions stay valid. */
export interface Malformed {
  /** Replies in a row whose every call was malformed in the same way. */
  readonly replies: number;
  /** What was wrong with them. */
  readonly words: string;
}

export const NOT_MALFORMED: Malformed = { replies: 0, words: "" };

/** How often the model is asked again after the same mistake. */
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

/** The log line for the user when the model is asked again. */
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
