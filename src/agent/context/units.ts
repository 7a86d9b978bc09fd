/** A view in units that stay whole: a message of the user, or a reply with the results of its calls. Pure. */
import type { ContextView, ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";

export interface Numbered {
  readonly n: number;
  readonly message: ContextMessage;
  readonly tokens: number;
}

export interface Unit {
  readonly kind: "words" | "note" | "step" | "summary";
  readonly parts: readonly Numbered[];
  readonly tokens: number;
}

/** Texts that Crux itself adds to a conversation; the words of other processes count as words. */
const NOTE = /^<(?:crux-note|available-deferred-tools|tool_discovery)/;

export function unitsOf(messages: readonly ContextMessage[], { numbers, view }: ViewState): Unit[] {
  const units: { kind: Unit["kind"]; parts: Numbered[]; tokens: number }[] = [];
  for (const [i, message] of messages.entries()) {
    const part = { n: numbers[i] ?? 0, message, tokens: messageTokens(message) };
    const last = units.at(-1);
    if (message.role === "tool" && last !== undefined) {
      last.parts.push(part);
      last.tokens += part.tokens;
    } else units.push({ kind: kindOf(part, view), parts: [part], tokens: part.tokens });
  }
  return units;
}

function kindOf({ n, message: { role, content } }: Numbered, { put, folds }: ContextView): Unit["kind"] {
  if (n === put || (folds?.some((fold) => fold.n === n) ?? false)) return "summary";
  if (role !== "user") return "step";
  return NOTE.test(content.trimStart()) ? "note" : "words";
}
