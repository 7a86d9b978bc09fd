/** Whether a conversation goes on from what a run of the program knows of it, and what it has to be told then. Pure. */
import { isDeepStrictEqual } from "node:util";
import type { Block, WireMessage } from "../../abi/llm.ts";
import { isMedia } from "../../abi/tool.ts";

export interface ToolResult {
  /** The call, as the program asks for it where it does not say its id. */
  readonly name: string;
  readonly input: unknown;
  readonly texts: readonly string[];
  readonly isError: boolean;
}

export type NextTurn =
  | { readonly kind: "message"; readonly texts: readonly string[] }
  /** By the ids of their calls. */
  | { readonly kind: "results"; readonly results: ReadonlyMap<string, ToolResult> };

/** What a run of the program knows: what it was sent, and its own last reply. */
export interface Known {
  readonly sent: readonly WireMessage[];
  readonly reply: readonly Block[];
}

export const NOT_SHOWN = "[a picture or document, which this driver cannot show]";

/** undefined: it does not go on from there, or the program cannot be told what is new. */
export function nextTurn({ sent, reply }: Known, messages: readonly WireMessage[]): NextTurn | undefined {
  const [own, next, ...more] = messages.slice(sent.length);
  if (own?.role !== "assistant" || next?.role !== "user" || more.length > 0) return undefined;
  if (!sent.every((message, i) => isSame(message, messages[i]))) return undefined;
  if (!isSame(said(own.content), said(reply))) return undefined;
  const texts = next.content.flatMap((block) =>
    block.type === "text" ? [block.text] : isMedia(block) ? [NOT_SHOWN] : [],
  );
  const results = next.content.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  const made = reply.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  const calls = made.map(({ id }) => id);
  if (calls.length === 0)
    return results.length === 0 && texts.length > 0 ? { kind: "message", texts } : undefined;
  const ids = results.map(({ tool_use_id }) => tool_use_id);
  // words of the user cannot stand in the result of a tool, where others could forge them
  if (!isSame(ids, calls) || !texts.every(isNote)) return undefined;
  const told = results.map(({ content, media, is_error, tool_use_id }, i) => {
    const { name = "", input } = made[i] ?? {};
    const own = [content, ...(media === undefined ? [] : [NOT_SHOWN])];
    const isLast = i === results.length - 1;
    const shown = isLast ? [...own, ...texts] : own;
    return [tool_use_id, { name, input, texts: shown, isError: is_error === true }] as const;
  });
  return { kind: "results", results: new Map(told) };
}

/**
 * Which of these results a call gets that does not say its id, as of older programs: the one of that name and input, else the
 * only one of that name. undefined: it may be any of several, or none.
 */
export function resultFor(
  { name, input }: Pick<ToolResult, "name" | "input">,
  results: ReadonlyMap<string, ToolResult>,
): string | undefined {
  const named = [...results].filter(([, result]) => result.name === name);
  const equal = named.filter(([, result]) => isDeepStrictEqual(result.input, input));
  const [first, ...others] = equal.length > 0 ? equal : named;
  if (first === undefined) return undefined;
  const [id, { texts, isError }] = first;
  // of two calls that are the same, either may have either of two results that are the same
  return others.every(([, other]) => isSame([texts, isError], [other.texts, other.isError])) ? id : undefined;
}

/** A note of Crux among the words of the user. */
function isNote(text: string): boolean {
  return /^<(system-reminder|crux-note)>/.test(text);
}

/** What has to be the same: thoughts may have been left out, and the program has its own. */
function said(blocks: readonly Block[]): readonly Block[] {
  return blocks.filter(({ type, ...block }) =>
    type === "text" ? (block as { text: string }).text.trim() !== "" : type === "tool_use",
  );
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
