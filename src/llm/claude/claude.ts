/**
 * The user's own `claude` program with its own login, one child process per attempt. It only produces replies; Crux
 * keeps the loop: the tools are ours, and when a reply with calls is complete the child is ended. The next attempt
 * sends the whole history again.
 */
import { rm } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";
import { MessagesDecoder } from "../anthropic/events.ts";
import { cardOf, costOf } from "../cards.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { cancelled, kindOf, notConfigured } from "../http/failure.ts";
import { type Json, objectOf, objectsOf, stringOf } from "../json.ts";
import { type ClaudeLaunch, prepareLaunch, TOOL_PREFIX } from "./launch.ts";
import { findProgram } from "./program.ts";

/** Time from SIGTERM to SIGKILL. */
const graceMs = 2_000;
const stderrChars = 4_000;

export class ClaudeDriver implements Driver {
  readonly name = "claude";
  readonly #caller: DriverCaller;
  readonly #exec: HostExec;
  readonly #tmpDir: string;

  /** Each attempt gets its own folder below `tmpDir`. */
  constructor(caller: DriverCaller, exec: HostExec, tmpDir: string) {
    this.#caller = caller;
    this.#exec = exec;
    this.#tmpDir = tmpDir;
  }

  card(model: string): ModelCard {
    return cardOf("claude", model);
  }

  cost(model: string, usage: Usage): number | null {
    return costOf("claude", model, usage);
  }

  async *stream(request: AttemptRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const program = findProgram("claude", this.#caller.env);
    if (program === undefined) throw notInstalled();
    if (signal.aborted) throw cancelled(CLAUDE_DEVICE, signal.reason);
    const card = this.card(request.model);
    const maxOutputTokens = Math.min(request.maxOutputTokens, card.maxOutputTokens);
    const host = { program, callerEnv: this.#caller.env, tmpDir: this.#tmpDir };
    const launch = await prepareLaunch(host, request, { id: card.id, maxOutputTokens });
    try {
      yield* this.#attempt(launch, signal);
    } finally {
      await rm(launch.folder, { recursive: true, force: true });
    }
  }

  async check(): Promise<Check> {
    if (findProgram("claude", this.#caller.env) !== undefined) return { ok: true };
    return { ok: false, error: notInstalled(), hint: INSTALL_HINT };
  }

  async close(): Promise<void> {}

  async *#attempt(launch: ClaudeLaunch, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const lines = new LineQueue();
    let stderr = "";
    const { argv, cwd, env } = launch;
    const child = this.#exec.run(
      {
        argv,
        cwd,
        env,
        stdin: "pipe",
        graceMs,
        owner: `pid ${this.#caller.pid} claude`,
        killed: this.#caller.killed,
        onOutput: (stream, chunk) => {
          if (stream === "stdout") lines.push(chunk);
          else stderr = (stderr + chunk.toString("utf8")).slice(-stderrChars);
        },
      },
      signal,
    );
    const exited = child.exited.finally(() => lines.end());
    try {
      await feed(child, launch.input);
      if (yield* decode(lines)) return;
      if (signal.aborted) throw cancelled(CLAUDE_DEVICE, signal.reason);
      if (lines.hasOverflowed) throw malformed("more output than could be kept");
      const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN } = env;
      throw exitError(await exited, stderr, ANTHROPIC_API_KEY || ANTHROPIC_AUTH_TOKEN || "");
    } catch (error) {
      throw signal.aborted ? cancelled(CLAUDE_DEVICE, signal.reason) : error;
    } finally {
      await child.kill();
      await exited;
    }
  }
}

/** Writes the input. Errors are ignored: if the child has already ended, its exit tells why. */
async function feed(child: ExecChild, input: string): Promise<void> {
  try {
    await child.write(input);
    child.endInput();
  } catch {
    // EPIPE
  }
}

/** Decodes the reply from the program's output; returns whether it is complete. */
async function* decode(lines: LineQueue): AsyncGenerator<StreamEvent, boolean> {
  const decoder = new MessagesDecoder();
  let hasStarted = false;
  for await (const text of lines) {
    const line = parseLine(text);
    if (line.type === "result") throw resultError(line);
    if (line.type === "system" && line.subtype === "init") checkBridge(line);
    // events of the program's own sub-agents are ignored
    if (line.type !== "stream_event" || (line.parent_tool_use_id ?? null) !== null) continue;
    const event = decoder.decode(objectOf(line.event));
    if (event === undefined) continue;
    if (event.type === "message_start") {
      if (hasStarted) throw malformed("the program began its reply anew");
      hasStarted = true;
    }
    yield withoutPrefix(event);
    if (event.type === "message_stop") return true;
  }
  return false;
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
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function malformed(message: string): LlmError {
  return new LlmError({ kind: "stream_malformed", device: CLAUDE_DEVICE, message });
}

/** Maps the program's failures to error kinds. */
const CLAUDE_DEVICE = "/dev/llm/claude";

const INSTALL_HINT = "npm install -g @anthropic-ai/claude-code, then run `claude` and log in";
const loginHint = "Run `claude` and log in (/login), then try again.";

function notInstalled(): LlmError {
  return notConfigured(CLAUDE_DEVICE, "the program `claude` is not on the PATH", INSTALL_HINT);
}

/** The error of a `result` line that came instead of a reply. */
function resultError(result: Json): LlmError {
  const text = (stringOf(result.result) || stringOf(result.subtype) || "no explanation").slice(0, 500);
  if (/not logged in|please run \/login|oauth token (has )?expired/i.test(text))
    return notConfigured(CLAUDE_DEVICE, "the program `claude` is not logged in", loginHint);
  const status = typeof result.api_error_status === "number" ? result.api_error_status : undefined;
  const message = `claude: ${text}`;
  if (result.terminal_reason === "prompt_too_long")
    return new LlmError({ kind: "prompt_too_long", device: CLAUDE_DEVICE, message, status });
  if (/(usage|session|weekly|5-hour) limit/i.test(text))
    return new LlmError({ kind: "quota", device: CLAUDE_DEVICE, message, status });
  if (status === undefined && stringOf(result.api_error) === "connection_failed")
    return new LlmError({ kind: "connection", device: CLAUDE_DEVICE, message });
  const kind = kindOf({ status, type: stringOf(result.api_error_type), code: "", message: text });
  return new LlmError({
    kind,
    device: CLAUDE_DEVICE,
    message,
    status,
    hint: kind === "auth" ? loginHint : undefined,
  });
}

/** The error when the program ended without a reply or a result. */
function exitError(
  exit: { code: number | null; signal: string | null; error?: Error },
  stderr: string,
  secret: string,
): LlmError {
  if (exit.error !== undefined)
    return notConfigured(CLAUDE_DEVICE, `claude did not start: ${exit.error.message}`, INSTALL_HINT);
  const said = (secret === "" ? stderr : stderr.replaceAll(secret, "[key]")).trim().slice(-500);
  const how = exit.signal === null ? `with exit code ${exit.code ?? "?"}` : `by ${exit.signal}`;
  return new LlmError({
    kind: "server",
    device: CLAUDE_DEVICE,
    message: `claude ended ${how} without a reply${said === "" ? "" : `: ${said}`}`,
    hint: /unknown option/.test(said) ? "Update it: npm install -g @anthropic-ai/claude-code" : undefined,
  });
}

/** The most unread output of a child, in characters; if the reader falls further behind, the output is cut off. */
const MAX_QUEUED_CHARS = 32 * 1024 * 1024;

/** The lines of a child's output as they arrive. */
class LineQueue {
  readonly #decoder = new StringDecoder("utf8");
  #partial: string[] = [];
  #lines: string[] = [];
  #chars = 0;
  #isOver = false;
  #hasOverflowed = false;
  #changed = Promise.withResolvers<void>();

  /** Whether the queue has overflowed; later output is lost. */
  get hasOverflowed(): boolean {
    return this.#hasOverflowed;
  }

  push(chunk: Uint8Array): void {
    if (this.#hasOverflowed) return;
    const pieces = this.#decoder.write(Buffer.from(chunk)).split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#lines.push(this.#partial.join("") + piece);
      this.#partial = [];
    }
    this.#partial.push(rest);
    this.#chars += chunk.byteLength;
    this.#hasOverflowed = this.#chars > MAX_QUEUED_CHARS;
    this.#notify();
  }

  /** Ends the queue; a last line without a line end counts as a line. */
  end(): void {
    const rest = this.#partial.join("");
    if (rest !== "") this.#lines.push(rest);
    this.#partial = [];
    this.#isOver = true;
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
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
