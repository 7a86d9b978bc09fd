/** The updates of a session that an editor is sent for the events of its process, in their order. */
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { BlockDelta, StreamEvent } from "../../abi/llm.ts";
import type { AskEvent, MessageEvent, ToolResultEvent, WireEvent } from "../../abi/wire-events.ts";
import { type Piece, SaidText } from "./said-text.ts";
import { callShape, parsed } from "./tool-call.ts";

/** The most calls that are remembered after their end; what comes for an older one is shown as a call of its own. */
const MAX_CALLS = 1_000;

interface OpenCall {
  readonly name: string;
  /** undefined: the arguments still come. */
  input: unknown;
  isOver: boolean;
  /** A question is open about it. */
  isAsked: boolean;
}

interface UpdatesOptions {
  readonly cwd: string;
  /** The name of this client, whose own messages the editor shows itself. */
  readonly client: string;
  /** The editor shows a terminal for output that it is sent (`_meta.terminal_output`). */
  readonly showsTerminals: boolean;
}

export class Updates {
  readonly #options: UpdatesOptions;
  readonly #said = new SaidText();
  readonly #calls = new Map<string, OpenCall>();
  /** The text of the newest whole reply. */
  #newest = "";
  /** The beginning of the reply was not seen. */
  #isPartial = false;
  /** Arguments of calls whose block still comes, by the index of the block. */
  readonly #coming = new Map<number, { readonly id: string; readonly chunks: string[] }>();

  constructor(options: UpdatesOptions) {
    this.#options = options;
  }

  take(event: WireEvent): SessionUpdate[] {
    switch (event.event) {
      case "delta":
        return this.#delta(event.piece);
      case "message":
        return this.#message(event);
      case "tool_result":
        return this.#result(event);
      case "input":
        return event.client === this.#options.client || event.text === ""
          ? []
          : [{ sessionUpdate: "user_message_chunk", content: { type: "text", text: event.text } }];
      case "mode":
        return [{ sessionUpdate: "current_mode_update", currentModeId: event.mode }];
      case "idle":
      case "complete":
        return this.#over();
      default:
        return [];
    }
  }

  /** The call that a question is about, with what the editor knows of it; undefined: it is not known here. */
  callOf({ tool, arguments: text }: AskEvent): string | undefined {
    const input = text === undefined ? undefined : JSON.stringify(JSON.parse(text));
    const open = [...this.#calls].filter(
      ([, call]) => !call.isOver && !call.isAsked && isFor(call.name, tool ?? ""),
    );
    const same = open.find(([, call]) => JSON.stringify(call.input) === input);
    const [id, call] = same ?? open[0] ?? [];
    if (call !== undefined) call.isAsked = true;
    return id;
  }

  /** The name and arguments of a call; undefined: it is not known here. */
  find(id: string): Pick<OpenCall, "name" | "input"> | undefined {
    return this.#calls.get(id);
  }

  #delta(piece: StreamEvent): SessionUpdate[] {
    if (piece.type === "message_start") {
      this.#restart();
      return [];
    }
    if (this.#isPartial) return [];
    switch (piece.type) {
      case "content_block_start":
        if (piece.content_block.type !== "tool_use") return [];
        this.#coming.set(piece.index, { id: piece.content_block.id, chunks: [] });
        return this.#begun(piece.content_block.id, piece.content_block.name, undefined);
      case "content_block_delta":
        return this.#grown(piece.index, piece.delta);
      case "content_block_stop":
        return this.#complete(piece.index);
      default:
        return [];
    }
  }

  #restart(isPartial = false): void {
    this.#isPartial = isPartial;
    this.#said.restart();
    this.#coming.clear();
  }

  #grown(index: number, delta: BlockDelta): SessionUpdate[] {
    switch (delta.type) {
      case "text_delta":
        return chunks(this.#said.add(index, "text", delta.text));
      case "thinking_delta":
        return chunks(this.#said.add(index, "thinking", delta.thinking));
      case "input_json_delta":
        this.#coming.get(index)?.chunks.push(delta.partial_json);
        return [];
      case "signature_delta":
        return [];
    }
  }

  /** All arguments of a call have come: it begins before the reply has ended. */
  #complete(index: number): SessionUpdate[] {
    const coming = this.#coming.get(index);
    this.#coming.delete(index);
    const call = coming === undefined ? undefined : this.#calls.get(coming.id);
    if (coming === undefined || call === undefined) return [];
    const input = parsed(coming.chunks.join(""));
    return input === undefined ? [] : this.#begun(coming.id, call.name, input);
  }

  /** The last reply of a run that ended while nobody followed it. */
  missed(text: string): SessionUpdate[] {
    return text === this.#newest ? [] : chunks(this.#said.rest(text));
  }

  /** Events were missed: of a reply that is on its way, the whole tells what it lacks. */
  resumed(): void {
    this.#restart(true);
  }

  /** A run begins that has not ended while nobody followed it. */
  forgetMissed(): void {
    this.#said.forget();
  }

  #message({ content }: MessageEvent): SessionUpdate[] {
    this.#newest = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    const updates = content.flatMap((block, index) => {
      if (block.type === "text") return chunks(this.#said.whole(index, "text", block.text));
      if (block.type === "thinking") return chunks(this.#said.whole(index, "thinking", block.thinking));
      return block.type === "tool_use" ? this.#begun(block.id, block.name, block.input) : [];
    });
    this.#said.clear();
    this.#coming.clear();
    return updates;
  }

  #begun(id: string, name: string, input: unknown): SessionUpdate[] {
    const known = this.#calls.get(id);
    if (known !== undefined && (input === undefined || known.input !== undefined)) return [];
    const shape = callShape(name, input, this.#options.cwd);
    const terminal = input === undefined ? {} : this.#terminal(id, name);
    const status = input === undefined ? ("pending" as const) : ("in_progress" as const);
    if (known !== undefined) {
      known.input = input;
      return [{ sessionUpdate: "tool_call_update", toolCallId: id, status, ...shape, ...terminal }];
    }
    this.#remember(id, { name, input, isOver: false, isAsked: false });
    return [{ sessionUpdate: "tool_call", toolCallId: id, name, status, ...shape, ...terminal }];
  }

  /** A terminal that only shows: the command itself stays a child of the kernel. */
  #terminal(id: string, name: string): { content?: ToolCallContent[]; _meta?: Record<string, unknown> } {
    if (name !== "bash" || !this.#options.showsTerminals) return {};
    return {
      content: [{ type: "terminal", terminalId: id }],
      _meta: { terminal_info: { terminal_id: id, cwd: this.#options.cwd } },
    };
  }

  #result({ tool_use_id: id, content, is_error }: ToolResultEvent): SessionUpdate[] {
    const call = this.#calls.get(id);
    if (call?.isOver === true) return [];
    const begun = call === undefined ? this.#begun(id, "call", {}) : [];
    const known = this.#calls.get(id);
    if (known !== undefined) known.isOver = true;
    const status = is_error === true ? ("failed" as const) : ("completed" as const);
    const shown = this.#shownResult(id, content, is_error === true);
    return [...begun, { sessionUpdate: "tool_call_update", toolCallId: id, status, ...shown }];
  }

  /** The change that a call made stays its content. */
  #shownResult(id: string, content: string, isError: boolean): object {
    const { name = "", input } = this.#calls.get(id) ?? {};
    if (name === "bash" && this.#options.showsTerminals) {
      const terminal_output = { terminal_id: id, data: content };
      return { _meta: { terminal_output, terminal_exit: { terminal_id: id, ...exitOf(content, isError) } } };
    }
    const diffs = callShape(name, input, this.#options.cwd).content ?? [];
    if (diffs.length > 0 && !isError) return { content: diffs, rawOutput: { text: content } };
    return { content: [textContent(fenced(content))], rawOutput: { text: content } };
  }

  /** A run has ended: calls without a result will not get one. */
  #over(): SessionUpdate[] {
    this.#said.clear();
    this.#said.forget();
    this.#coming.clear();
    const left = [...this.#calls].filter(([, call]) => !call.isOver);
    for (const [, call] of left) call.isOver = true;
    return left.map(([toolCallId]) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }));
  }

  #remember(id: string, call: OpenCall): void {
    this.#calls.set(id, call);
    if (this.#calls.size <= MAX_CALLS) return;
    const [oldest] = [...this.#calls].find(([, { isOver }]) => isOver) ?? [...this.#calls.keys()];
    if (oldest !== undefined) this.#calls.delete(oldest);
  }
}

/** A question names the tool that runs, which `tool_call` may have called. */
function isFor(name: string, tool: string): boolean {
  return name === tool || name === "tool_call";
}

function chunks(piece: Piece | undefined): SessionUpdate[] {
  if (piece === undefined || piece.text === "") return [];
  const content = { type: "text" as const, text: piece.text };
  return [{ sessionUpdate: piece.kind === "text" ? "agent_message_chunk" : "agent_thought_chunk", content }];
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** As code, so that an editor does not read it as Markdown: the fence is longer than any in the text. */
function fenced(text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** How a command ended, as its result says at its end; a call that failed without a command has code 1. */
function exitOf(content: string, isError: boolean): { exit_code: number | null; signal: string | null } {
  const [, code, signal] =
    /(?:^|\n)(?:Exit code (\d+)|Ended by signal (SIG\w+))(?:\n.*)?$/.exec(content) ?? [];
  if (signal !== undefined) return { exit_code: null, signal };
  return { exit_code: code === undefined ? Number(isError) : Number(code), signal: null };
}
