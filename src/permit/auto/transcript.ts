/**
 * What the classifier reads of a conversation: what the person said and what the agent called, as data. What tools gave is left
 * out, and so is what other processes said: a page cannot argue its own case.
 */

import type { ContextMessage } from "../../abi/sys.ts";
import type { JudgedCall } from "../../kernel/ports/classifier.ts";

/** Of one text, and of the arguments of one call; both ends are kept. */
const MAX_TEXT_CHARS = 8_000;
const MAX_INPUT_CHARS = 16_000;
/** What Crux itself puts before a model, in the name of the user. */
const NOTES = /^<(?:crux-note|agent-message|tool_discovery|system-reminder)\b/;

/** One line each, JSON: nothing in the data can end it, or begin another. */
export function transcriptLines(messages: readonly ContextMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === "user")
      return NOTES.test(message.content) ? [] : [line({ user: cut(message.content, MAX_TEXT_CHARS) })];
    if (message.role !== "assistant") return [];
    return (message.blocks ?? []).flatMap((block) =>
      block.type === "tool_use"
        ? [line({ call: block.name, input: cut(JSON.stringify(block.input) ?? "", MAX_INPUT_CHARS) })]
        : [],
    );
  });
}

export function callLine({ tool, input, effects }: JudgedCall): string {
  return line({
    call: tool,
    input: cut(input, MAX_INPUT_CHARS),
    effects: effects.map((effect) => cut(effect, MAX_TEXT_CHARS)),
  });
}

/** No tag can be written in it. */
function line(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half).toWellFormed()} […${text.length - 2 * half} characters…] ${text.slice(-half).toWellFormed()}`;
}
