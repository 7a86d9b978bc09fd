/** The next reply: the task is played against what its calls gave so far, so a restart changes nothing. */
import type { Block, WireMessage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { AttemptRequest } from "../driver.ts";
import { parseIntent } from "./intent.ts";
import { Failed, perform } from "./tasks.ts";

const HINT = "for anything else set ANTHROPIC_API_KEY or OPENAI_API_KEY, see crux doctor";
const UNKNOWN = `the built-in interpreter does not understand this. It can:
  crux "count the lines of every file here and write them to LINES.md"
  crux "list the files in src"
  crux "show README.md"
  crux "find TODO in src"
  crux "write 'buy milk' to note.txt"
  seq 9 | crux "sum the numbers"`;
/** What the loop adds to the words of the user. */
const NOTE = /^<(\w+)>[\s\S]*<\/\1>\s*$/;

type Result = Extract<Block, { type: "tool_result" }>;

export function answer({ messages, purpose }: AttemptRequest, pid: number): Block[] {
  if (purpose !== "main") throw cannot("the built-in interpreter only reads intents");
  const begin = messages.findLastIndex((message) => message.role === "user" && wordsOf(message).length > 0);
  const [first = "", ...more] = wordsOf(messages[begin]);
  // of a process that has not answered yet it is what came in at stdin, or what was said after a message that failed
  const data = begin === 0 && more.length > 0 ? more.join("\n") : undefined;
  if (data?.startsWith("[the input has ") === true)
    throw cannot("what came in at stdin is more than the built-in interpreter takes (256 KiB of text)");
  const intent = parseIntent(first, data !== undefined) ?? parseIntent(more.at(-1) ?? "", false);
  if (intent === undefined) throw cannot(`no model is set up, and ${UNKNOWN}`);
  const replies = messages.slice(begin + 1).filter(({ role }) => role === "user");
  try {
    const doing = perform(intent, data ?? "", pid);
    let step = doing.next();
    for (const { content } of replies) {
      if (step.done === true) break;
      const results = content.filter((block): block is Result => block.type === "tool_result");
      step = doing.next(results.map(({ content: text, is_error: isError = false }) => ({ text, isError })));
    }
    if (step.done === true) return [{ type: "text", text: step.value === "" ? "(nothing)" : step.value }];
    const { say, calls } = step.value;
    const id = `call_${pid}_${messages.length}`;
    const made = calls.map((call, at): Block => ({ type: "tool_use", id: `${id}_${at + 1}`, ...call }));
    return say === "" ? made : [{ type: "text", text: say }, ...made];
  } catch (error) {
    throw error instanceof Failed ? cannot(error.message, "") : error;
  }
}

function wordsOf(message: WireMessage | undefined): string[] {
  const texts = message?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) ?? [];
  return texts.filter((text) => !NOTE.test(text));
}

function cannot(message: string, hint = HINT): LlmError {
  return new LlmError({ kind: "invalid", device: "/dev/llm/interpreter", message, hint: hint || undefined });
}
