/**
 * A reasoning item of the Responses interface as a thinking block: its summary is the text, the rest of it the signature,
 * which only the model that made it is sent back. Items without encrypted content are useless to a server that stores nothing.
 */
import { bind, type Maker, unbind } from "../bound.ts";
import { type Json, objectOf, objectsOf, stringOf } from "../json.ts";

/** Between the parts of a summary. */
export const PARTS = "\n\n";

/** What an item has besides its summary; `cuts`: the lengths of the summary's parts. */
interface Rest {
  readonly id: string;
  readonly cuts: readonly number[];
  readonly encrypted_content: string;
}

/** undefined: the item could not be sent back. */
export function signatureOf(item: Json, maker: Maker): string | undefined {
  const encrypted_content = stringOf(item.encrypted_content);
  if (encrypted_content === "") return undefined;
  const cuts = objectsOf(item.summary).map(({ text }) => stringOf(text).length);
  return bind(maker, JSON.stringify({ id: stringOf(item.id), cuts, encrypted_content } satisfies Rest));
}

/** The item of a block; undefined: another model made it, or it is no reasoning. */
export function reasoningItem(thinking: string, signature: string, maker: Maker): Json | undefined {
  const { id, cuts, encrypted_content } = keptOf(signature, maker) as Partial<Rest>;
  if (id === undefined || cuts === undefined) return undefined;
  const summary = partsOf(thinking, cuts).map((text) => ({ type: "summary_text", text }));
  return { type: "reasoning", id, summary, encrypted_content };
}

/** The phase of an answer (`commentary`, `final_answer`), which newer models want back with it. */
export function phaseMark(phase: string, maker: Maker): string {
  return bind(maker, JSON.stringify({ phase }));
}

/** undefined: another model marked it, or it is no phase. */
export function phaseOf(mark: string, maker: Maker): string | undefined {
  return stringOf(keptOf(mark, maker).phase) || undefined;
}

function keptOf(bound: string, maker: Maker): Json {
  const data = unbind(maker, bound);
  return data === undefined ? {} : objectOf(JSON.parse(data));
}

/** The parts of a summary. A text that was changed since, as by removing a secret, is one part. */
function partsOf(text: string, cuts: readonly number[]): readonly string[] {
  if (cuts.length === 0) return [];
  const parts = cuts.map((length, at) => {
    const from = cuts.slice(0, at).reduce((sum, cut) => sum + cut + PARTS.length, 0);
    return text.slice(from, from + length);
  });
  return parts.join(PARTS) === text ? parts : [text];
}
