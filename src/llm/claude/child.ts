/**
 * One run of the program. It answers one turn after another, as long as each goes on from the one before; its tools are
 * ours, served over the same pipes as the conversation. It only collects what they return: a call waits until the loop has
 * its result. Its own requests therefore are those of the loop, one for each turn.
 */
import { rm } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import type { StreamEvent, ToolSpec } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";
import { MessagesDecoder } from "../anthropic/events.ts";
import type { DriverCaller } from "../driver.ts";
import { cancelled } from "../http/failure.ts";
import { foreignJson, type Json, objectOf, objectsOf, stringOf } from "../json.ts";
import { type NextTurn, resultFor, type ToolResult } from "./continuation.ts";
import { CLAUDE_DEVICE, exitError, resultError } from "./failure.ts";
import { type ClaudeLaunch, TOOL_PREFIX } from "./launch.ts";

/** Time from SIGTERM to SIGKILL. */
const graceMs = 2_000;
const stderrChars = 4_000;
/** Results are bounded by Crux already: the program sends them as they are, and keeps none of them in files. */
const listed = (tool: ToolSpec): object => ({ ...tool, _meta: { "anthropic/maxResultSizeChars": 500_000 } });
/** The most unread output of a child, in characters; if the reader falls further behind, the output is cut off. */
const MAX_QUEUED_CHARS = 32 * 1024 * 1024;

/** The program asks for the result of a call, and which one it means cannot be told. */
export class LostCall extends Error {}

/** A request of the program: over the pipe, and in MCP. */
interface Asked {
  readonly request: string;
  readonly message: unknown;
}

/** A call that waits for its result. */
interface OpenCall extends Asked, Pick<ToolResult, "name" | "input"> {
  /** Of the call in the reply; "": an older program does not say it. */
  readonly id: string;
}

export class ClaudeChild {
  readonly #launch: ClaudeLaunch;
  readonly #tools: readonly ToolSpec[];
  readonly #child: ExecChild;
  readonly #exited: ExecChild["exited"];
  readonly #lines = new LineQueue((line) => this.#isForTurn(line));
  #calls: OpenCall[] = [];
  /** What the program has not collected, by the id of the call in the reply. */
  readonly #results = new Map<string, ToolResult>();
  /** Whether the program has the results of its last reply to collect, and nothing else to do. */
  #isCollecting = false;
  #isAtALoss = false;
  #stderr = "";
  #isOver = false;
  /** Turns whose reply is complete, and whose closing line is yet to come. */
  #closings = 0;

  /** Runs until `end`, at most until its process ends. */
  constructor(exec: HostExec, caller: DriverCaller, launch: ClaudeLaunch, tools: readonly ToolSpec[]) {
    this.#launch = launch;
    this.#tools = tools;
    const { argv, cwd, env } = launch;
    const { pid, killed, signal } = caller;
    this.#child = exec.run(
      {
        ...{ argv, cwd, env, stdin: "pipe", graceMs, owner: `pid ${pid} claude`, killed },
        onOutput: (stream, chunk) => {
          if (stream === "stdout") this.#lines.push(chunk);
          else this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-stderrChars);
        },
      },
      signal,
    );
    this.#exited = this.#child.exited.finally(() => {
      this.#isOver = true;
      this.#lines.end();
    });
    this.#send({
      type: "control_request",
      request_id: "begin",
      request: { subtype: "initialize", sdkMcpServers: tools.length === 0 ? [] : ["crux"] },
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * The reply to what is said, up to its last event. A failure, or who stops reading, leaves the child of no more use. Throws
   * LostCall before any event, and before the program asks its model.
   */
  async *turn(next: NextTurn, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    // the program is ended so that nothing more is asked in its name
    const stop = (): void => void this.end();
    signal.addEventListener("abort", stop, { once: true });
    let isWhole = false;
    try {
      this.#say(next);
      for await (const event of this.#reply()) {
        // whoever reads it may stop here
        isWhole = event.type === "message_stop";
        yield event;
        if (isWhole) return;
      }
      if (signal.aborted) throw cancelled(CLAUDE_DEVICE, signal.reason);
      if (this.#isAtALoss) throw new LostCall("the program does not say which of its calls it makes");
      if (this.#lines.hasOverflowed) throw malformed("more output than could be kept");
      const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN } = this.#launch.env;
      const secret = ANTHROPIC_API_KEY || ANTHROPIC_AUTH_TOKEN || "";
      throw exitError(await this.#exited, this.#stderr, secret);
    } catch (error) {
      if (signal.aborted) throw cancelled(CLAUDE_DEVICE, signal.reason);
      throw error instanceof RangeError ? malformed(error.message) : error;
    } finally {
      signal.removeEventListener("abort", stop);
      if (!isWhole) await this.end();
    }
  }

  /** Resolves when it is gone, with its folder. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#child.kill();
    await this.#exited;
    await rm(this.#launch.folder, { recursive: true, force: true });
  }

  #say(next: NextTurn): void {
    if (next.kind === "message") {
      const content = next.texts.map((text) => ({ type: "text", text }));
      this.#send({ type: "user", message: { role: "user", content } });
      return;
    }
    this.#results.clear();
    for (const [call, result] of next.results) this.#results.set(call, result);
    this.#isCollecting = true;
    this.#answer();
  }

  async *#reply(): AsyncGenerator<StreamEvent> {
    const decoder = new MessagesDecoder();
    let [hasStarted, hasCalls] = [false, false];
    for await (const line of this.#lines) {
      if (line.type === "result") {
        if (this.#closings === 0) throw resultError(line);
        this.#closings--;
        continue;
      }
      if (line.type === "system") checkBridge(line);
      if (line.type !== "stream_event") continue;
      for (const event of decoder.decode(objectOf(line.event))) {
        if (event.type === "message_start") {
          if (hasStarted) throw malformed("the program began its reply anew");
          hasStarted = true;
        }
        if (event.type === "content_block_start" && event.content_block.type === "tool_use") hasCalls = true;
        if (event.type === "message_stop" && !hasCalls) this.#closings++;
        yield withoutPrefix(event);
      }
    }
  }

  /** Answers what the program asks; the rest is of the turn, but for the events of the program's own sub-agents. */
  #isForTurn(line: Json): boolean {
    if (line.type === "control_request") this.#asked(stringOf(line.request_id), objectOf(line.request));
    if (line.type === "stream_event") {
      const isOwn = (line.parent_tool_use_id ?? null) === null;
      if (isOwn && objectOf(line.event).type === "message_start") this.#isCollecting = false;
      return isOwn;
    }
    return line.type === "result" || (line.type === "system" && line.subtype === "init");
  }

  #asked(request: string, { subtype, message: asked }: Json): void {
    if (subtype !== "mcp_message") {
      const response = {
        subtype: "error",
        request_id: request,
        error: `not supported: ${stringOf(subtype)}`,
      };
      this.#send({ type: "control_response", response });
      return;
    }
    const { id: message, method, params } = objectOf(asked);
    if (method !== "tools/call") {
      this.#respond({ request, message }, this.#serve(method, objectOf(params)));
      return;
    }
    const { name, arguments: input, _meta } = objectOf(params);
    const id = stringOf(objectOf(_meta)["claudecode/toolUseId"]);
    this.#calls.push({ request, message, id, name: stringOf(name), input: objectOf(input) });
    if (this.#isCollecting) this.#answer();
  }

  /** The tools of the request, as an MCP server has them. */
  #serve(method: unknown, { protocolVersion = "2025-06-18" }: Json): Json {
    const serverInfo = { name: "crux", version: "1" };
    if (method === "initialize")
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    if (method === "tools/list") return { result: { tools: this.#tools.map(listed) } };
    if (method === "ping" || stringOf(method).startsWith("notifications/")) return { result: {} };
    return { error: { code: -32601, message: `unknown method ${stringOf(method)}` } };
  }

  /** Answers the calls that wait: each is one of those whose results there are. */
  #answer(): void {
    const calls = this.#calls;
    this.#calls = [];
    for (const call of calls) {
      const id = call.id === "" ? resultFor(call, this.#results) : call.id;
      const result = id === undefined ? undefined : this.#results.get(id);
      if (id === undefined || result === undefined) {
        this.#isAtALoss = true;
        this.#lines.stop();
        return;
      }
      this.#results.delete(id);
      const content = result.texts.map((text) => ({ type: "text", text }));
      this.#respond(call, { result: { content, isError: result.isError } });
    }
  }

  #respond({ request, message }: Asked, outcome: Json): void {
    const mcp_response = { jsonrpc: "2.0", ...(message === undefined ? {} : { id: message }), ...outcome };
    const response = { subtype: "success", request_id: request, response: { mcp_response } };
    this.#send({ type: "control_response", response });
  }

  /** Errors are ignored: if the child has already ended, its exit tells why. */
  #send(line: object): void {
    this.#child.write(`${JSON.stringify(line)}\n`).catch(() => {});
  }
}

function withoutPrefix(event: StreamEvent): StreamEvent {
  if (event.type !== "content_block_start" || event.content_block.type !== "tool_use") return event;
  const { content_block } = event;
  if (!content_block.name.startsWith(TOOL_PREFIX)) return event;
  return {
    ...event,
    content_block: { ...content_block, name: content_block.name.slice(TOOL_PREFIX.length) },
  };
}

function checkBridge(init: Json): void {
  const broken = objectsOf(init.mcp_servers).find(
    ({ name, status }) => name === "crux" && status === "failed",
  );
  if (broken !== undefined)
    throw new LlmError({
      kind: "server",
      device: CLAUDE_DEVICE,
      message: "claude could not start the tool bridge",
    });
}

/** Parses a line; one that is not JSON is a remark of the program and is ignored. */
function parseLine(text: string): Json {
  try {
    return objectOf(foreignJson(text));
  } catch {
    return {};
  }
}

function malformed(message: string): LlmError {
  return new LlmError({ kind: "stream_malformed", device: CLAUDE_DEVICE, message });
}

/** The lines of a child's output as they arrive, as far as they are wanted. */
class LineQueue {
  readonly #decoder = new StringDecoder("utf8");
  readonly #isWanted: (line: Json) => boolean;
  #partial: string[] = [];
  #lines: Json[] = [];
  #chars = 0;
  #isOver = false;
  #hasOverflowed = false;
  #changed = Promise.withResolvers<void>();

  constructor(isWanted: (line: Json) => boolean) {
    this.#isWanted = isWanted;
  }

  /** Whether the queue has overflowed; later output is lost. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  push(chunk: Uint8Array): void {
    if (this.#hasOverflowed) return;
    const pieces = this.#decoder.write(Buffer.from(chunk)).split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#add(this.#partial.join("") + piece);
      this.#partial = [];
    }
    this.#partial.push(rest);
    this.#chars += rest.length;
    this.#hasOverflowed = this.#chars > MAX_QUEUED_CHARS;
    this.#notify();
  }

  /** Ends the queue; a last line without a line end counts as a line. */
  end(): void {
    const rest = this.#partial.join("");
    if (rest !== "") this.#add(rest);
    this.#partial = [];
    this.stop();
  }

  /** Ends the queue as it is, also while a line is looked at. */
  stop(): void {
    this.#isOver = true;
    this.#notify();
  }

  #add(text: string): void {
    const line = parseLine(text);
    if (!this.#isWanted(line)) return;
    this.#lines.push(line);
    this.#chars += text.length;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Json> {
    for (;;) {
      const lines = this.#lines;
      this.#lines = [];
      this.#chars = this.#partial.reduce((sum, { length }) => sum + length, 0);
      yield* lines;
      if (this.#lines.length > 0) continue;
      if (this.#isOver || this.#hasOverflowed) return;
      await this.#changed.promise;
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
