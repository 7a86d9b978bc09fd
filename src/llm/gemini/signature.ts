/**
 * The signature of a part, which the vendor wants back on exactly that part. It is kept in a block of its own before the
 * part's block, and sent back to the model that made it alone.
 */
import { bind, type Maker, unbind } from "../bound.ts";
import { objectOf, stringOf } from "../json.ts";

/** What stands in for the signature of a call that another model made; documented for such a history. */
export const BYPASS = "skip_thought_signature_validator";

interface Mark {
  readonly signature: string;
  /** True: it came on a part without content, which has no block. */
  readonly isAlone: boolean;
}

export function makerOf(model: string): Maker {
  return { driver: "gemini", model };
}

/** Models that refuse a call without the signature it came with, and that number their calls. */
export function isSigned(model: string): boolean {
  return /^gemini-(?![12]\b)/.test(model);
}

export function markOf(mark: Mark, maker: Maker): string {
  return bind(maker, JSON.stringify(mark));
}

/** undefined: another model made it. */
export function findMark(data: string, maker: Maker): Mark | undefined {
  const kept = unbind(maker, data);
  if (kept === undefined) return undefined;
  const { signature, isAlone } = objectOf(JSON.parse(kept));
  return { signature: stringOf(signature), isAlone: isAlone === true };
}
