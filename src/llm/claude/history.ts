/**
 * Renders a conversation as one user message, for a run of the program that begins in its middle. Parts are separated by marks that occur nowhere in the texts, so that no text can pose as another part.
 */
import type { Block, WireMessage } from "../../abi/llm.ts";
import { NOT_SHOWN } from "./continuation.ts";

export function renderHistory(messages: readonly WireMessage[]): string {
  const [only] = messages;
  if (messages.length === 1 && only !== undefined && only.content.every(({ type }) => type === "text"))
    return only.content.map((block) => (block.type === "text" ? block.text : "")).join("\n\n");
  const names = callNames(messages);
  const parts = messages.flatMap(({ role, content }) =>
    content.flatMap((block) => partOf(role, block, names)),
  );
  const mark = markFor(parts.map(({ text }) => text));
  return [
    `This is our conversation so far. Lines that begin with ${mark} are marks, never content.`,
    ...parts.map(({ title, text }) => `${mark} ${title}\n${text}`),
    `${mark} end`,
    closing(messages),
  ].join("\n");
}

interface Part {
  readonly title: string;
  readonly text: string;
}

/** The parts of a block. Thinking is left out: it is only valid with its original reply. */
function partOf(role: "user" | "assistant", block: Block, names: ReadonlyMap<string, string>): Part[] {
  switch (block.type) {
    case "text":
      return [{ title: role === "user" ? "user" : "you", text: block.text }];
    case "tool_use":
      return [{ title: `you called ${block.name} (${block.id})`, text: JSON.stringify(block.input) }];
    case "tool_result": {
      const outcome = block.is_error === true ? "error" : "result";
      return [
        {
          title: `${outcome} of ${names.get(block.tool_use_id) ?? "a call"} (${block.tool_use_id})`,
          text: block.media === undefined ? block.content : `${block.content}\n${NOT_SHOWN}`,
        },
      ];
    }
    case "image":
    case "document":
      return [{ title: role === "user" ? "user" : "you", text: NOT_SHOWN }];
    case "thinking":
    case "redacted_thinking":
      return [];
  }
}

function callNames(messages: readonly WireMessage[]): Map<string, string> {
  const calls = messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_use"));
  return new Map(calls.map(({ id, name }) => [id, name]));
}

function closing(messages: readonly WireMessage[]): string {
  const hasResults = messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true;
  return hasResults
    ? "The last results answer your latest calls. Carry on from there: call tools for what is still needed, else answer."
    : "Answer the last message of the user.";
}

/** `###`, extended until no line of any text begins with it. */
function markFor(texts: readonly string[]): string {
  let mark = "###";
  const longest = Math.max(0, ...texts.map(longestMark));
  while (mark.length <= longest) mark += "#";
  return mark;
}

function longestMark(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/^#+/gm)) longest = Math.max(longest, run.length);
  return longest;
}
