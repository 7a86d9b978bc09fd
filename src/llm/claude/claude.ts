/**
 * The user's own `claude` program with its own login, one child per attempt. It thinks; Crux keeps the loop: the tools
 * are ours, and when a reply with calls is complete the child is ended. The next attempt tells the whole history.
 */
import { rm } from "node:fs/promises";
import type { ModelCard, StreamEvent, Usage } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";
import { MessagesDecoder } from "../anthropic/events.ts";
import { cardOf, costOf } from "../cards.ts";
import type { AttemptRequest, Check, Driver, DriverCaller } from "../driver.ts";
import { cancelled } from "../http/failure.ts";
import { type Json, objectOf, objectsOf } from "../json.ts";
import { CLAUDE_DEVICE, exitError, INSTALL_HINT, notInstalled, resultError } from "./failure.ts";
import { type ClaudeLaunch, prepareLaunch, TOOL_PREFIX } from "./launch.ts";
import { LineQueue } from "./lines.ts";
import { findProgram } from "./program.ts";

/** From TERM to KILL. */
const graceMs = 2_000;
const stderrChars = 4_000;

export class ClaudeDriver implements Driver {
  readonly name = "claude";
  readonly #caller: DriverCaller;
  readonly #exec: HostExec;
  readonly #tmpDir: string;

  /** Each attempt gets a folder of its own below `tmpDir`. */
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
    const { id, maxOutputTokens } = this.card(request.model);
    const output = Math.min(request.maxOutputTokens, maxOutputTokens);
    const launch = await prepareLaunch(program, request, id, output, this.#caller.env, this.#tmpDir);
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

/** A child that is gone already tells why by its exit. */
async function feed(child: ExecChild, input: string): Promise<void> {
  try {
    await child.write(input);
    child.endInput();
  } catch {
    // EPIPE
  }
}

/** The reply in the program's output; returns whether it is complete. */
async function* decode(lines: LineQueue): AsyncGenerator<StreamEvent, boolean> {
  const decoder = new MessagesDecoder();
  let hasStarted = false;
  for await (const text of lines) {
    const line = parseLine(text);
    if (line.type === "result") throw resultError(line);
    if (line.type === "system" && line.subtype === "init") checkBridge(line);
    // what its own sub-agents would do is none of ours
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

/** A line that is not JSON is a remark of the program's, and is passed over. */
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
