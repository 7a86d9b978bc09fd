/**
 * The driver that answers when no model is set up: it understands a few intents, carries them out with the real tools
 * through the real gate, and says what it cannot do. It is not a model and counts no tokens.
 */
import type { Block, ModelCard, StreamEvent, WireMessage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { cancelled } from "../http/failure.ts";
import { streamOf } from "../whole-blocks.ts";
import { parseIntent, unquotedNote } from "./intent.ts";
import { Failed, perform } from "./tasks.ts";

const name = "interpreter";
const limits = { maxInputTokens: 1_000_000, maxOutputTokens: 1_000_000, price: { input: 0, output: 0 } };
const supports = { tools: true, parallelTools: true, images: false };

/** Makes the blocks of one reply from the conversation alone. Throws LlmError for what it cannot do. */
type Mind = (request: AttemptRequest, signal: AbortSignal) => Iterable<Block> | AsyncIterable<Block>;

export class InterpreterDriver implements Driver {
  readonly name = name;
  readonly countsNothing = true;
  readonly #mind: Mind;

  constructor({ pid }: Pick<DriverCaller, "pid">, mind: Mind = (request) => answer(request, pid)) {
    this.#mind = mind;
  }

  card(): ModelCard {
    return { id: name, driver: name, ...limits, supports, known: true };
  }

  cost(): number {
    return 0;
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    try {
      signal.throwIfAborted();
      yield* streamOf(this.#mind(request, signal), { id: request.requestId, model: name });
    } catch (error) {
      throw signal.aborted ? cancelled(`/dev/llm/${name}`, signal.reason) : error;
    }
  }

  async check(): Promise<Check> {
    return { ok: true };
  }

  async close(): Promise<void> {}
}

const HINT =
  "for anything else set up a model: crux auth login, or ANTHROPIC_API_KEY or OPENAI_API_KEY; see crux doctor";
const UNKNOWN = `the built-in interpreter does not understand this. It can:
  crux "count the lines of every file here and write them to LINES.md"
  crux "list the files in src"
  crux "show README.md"
  crux "find TODO in src"
  crux "write 'buy milk' to note.txt"
  seq 9 | crux "sum the numbers"`;
/** A note that the loop adds to the user's words. */
const NOTE = /^<([\w-]+)>[\s\S]*<\/\1>\s*$/;

type Result = Extract<Block, { type: "tool_result" }>;

/** The next reply: it replays the task against the results of its calls so far, so a restart changes nothing. */
function answer({ messages, purpose }: AttemptRequest, pid: number): Block[] {
  if (purpose !== "main") throw cannot("the built-in interpreter only reads intents");
  const begin = messages.findLastIndex((message) => message.role === "user" && wordsOf(message).length > 0);
  const [first = "", ...more] = wordsOf(messages[begin]);
  // in a process's first turn, further texts are stdin, or what the user said after a message that failed
  const data = begin === 0 && more.length > 0 ? more.join("\n") : undefined;
  if (data?.startsWith("[the input has ") === true)
    throw cannot("what came in at stdin is more than the built-in interpreter takes (256 KiB of text)");
  const intent = parseIntent(first, data !== undefined) ?? parseIntent(more.at(-1) ?? "", false);
  if (intent === undefined) throw cannot(`no model is set up, and ${UNKNOWN}${meant(first)}`);
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

/** Words to write stand in quotes, since others may say what is to be written. */
function meant(said: string): string {
  const note = unquotedNote(said);
  if (note === undefined) return "";
  const quote = note.text.includes("'") ? "“" : "'";
  const end = quote === "'" ? "'" : "”";
  return `\nto write just these words: crux "write ${quote}${note.text}${end} to ${note.path}"`;
}

function wordsOf(message: WireMessage | undefined): string[] {
  const texts = message?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) ?? [];
  return texts.filter((text) => !NOTE.test(text));
}

function cannot(message: string, hint = HINT): LlmError {
  return new LlmError({ kind: "invalid", device: "/dev/llm/interpreter", message, hint: hint || undefined });
}
