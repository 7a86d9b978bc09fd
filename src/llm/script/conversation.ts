/** Reads from a request how far the conversation has come. */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";

export interface CallResult {
  readonly tool: string;
  readonly content: string;
  readonly isError: boolean;
}

export interface Conversation {
  readonly agent: string | undefined;
  readonly model: string;
  /** Replies so far, plus one. */
  readonly turn: number;
  /** The message that began the run: the user's last one that has no tool results. */
  readonly user: string;
  /** Results since then, in the order of their calls. */
  readonly results: readonly CallResult[];
  /** The results in the last message. */
  readonly latest: readonly CallResult[];
}

export function readConversation(request: AttemptRequest): Conversation {
  const { messages } = request;
  const begin = Math.max(
    0,
    messages.findLastIndex(({ role, content }) => role === "user" && !content.some(isResult)),
  );
  const names = new Map(
    messages.flatMap(({ content }) =>
      content.filter((b) => b.type === "tool_use").map((b) => [b.id, b.name]),
    ),
  );
  const resultsOf = (message: WireMessage | undefined): CallResult[] =>
    (message?.content ?? []).filter(isResult).map(({ tool_use_id, content, is_error }) => ({
      tool: names.get(tool_use_id) ?? "",
      content,
      isError: is_error === true,
    }));
  return {
    agent: request.metadata?.agent,
    model: request.model,
    turn: messages.filter(({ role }) => role === "assistant").length + 1,
    user: textOf(messages[begin]),
    results: messages.slice(begin).flatMap(resultsOf),
    latest: resultsOf(messages.at(-1)),
  };
}

/** What the loop tells before the first words of the user. */
const REMINDER = /^<system-reminder>\n[\s\S]*<\/system-reminder>$/;

function isResult(block: Block): block is Extract<Block, { type: "tool_result" }> {
  return block.type === "tool_result";
}

function textOf(message: WireMessage | undefined): string {
  return (message?.content ?? [])
    .flatMap((block) => (block.type === "text" && !REMINDER.test(block.text) ? [block.text] : []))
    .join("\n");
}
