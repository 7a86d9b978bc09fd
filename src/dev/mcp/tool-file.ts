/** An open tool: its arguments are written as JSON, and the result of the call is read as the server sent it. */
import type { CallEnd } from "../../abi/call-note.ts";
import type { Act, FileStat, OpenFile, WritePlan } from "../../abi/device.ts";
import { DriverError, MALFORMED_CALL } from "../../abi/errors.ts";
import { linkSignals } from "../../lib/abort.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { cancelled, driverError, throwIfAborted } from "../driver-error.ts";
import type { McpTool } from "./catalogue.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { findMismatch } from "./schema-check.ts";

interface OpenTool {
  readonly tool: McpTool;
  /** The name used in rules: `mcp__memory__create_entities`. */
  readonly callName: string;
  readonly server: string;
  readonly transport: PooledTransport;
  readonly stat: FileStat;
}

export class ToolFile implements OpenFile {
  readonly #of: OpenTool;
  readonly #answer: Answer;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #ending: CallEnd = {};

  constructor(of: OpenTool) {
    this.#of = of;
    this.#answer = new Answer(of.callName);
  }

  /** A server's claims about its tools never avoid a permission question: every call counts as irreversible. */
  plan(data: Uint8Array): WritePlan {
    const { tool, callName, server, transport } = this.#of;
    transport.check("Write");
    const args = parseArguments(this.#of, data);
    this.#refuseRunning();
    this.#answer.expectRequest();
    return {
      effects: [{ kind: "mcp", server, tool: tool.name, host: transport.host }],
      effectClass: "once",
      tool: callName,
      about: Object.keys(args).length === 0 ? "" : JSON.stringify(args),
      parallel: tool.annotations?.readOnlyHint === true,
      view: {
        tool: callName,
        operation: `${callName} on MCP server ${server} (${transport.label})`,
        params: { arguments: shown(args) },
      },
    };
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    this.#refuseRunning();
    this.#answer.expectRequest();
    this.#running = this.#call(parseArguments(this.#of, data), act.signal);
    try {
      await this.#running;
    } finally {
      this.#running = null;
    }
  }

  /** Waits for the call in progress. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    await this.#running?.catch(() => {});
    if (this.#closing.signal.aborted) throw cancelled("Read");
    // the answer of a completed call can be read even after the mount has gone
    if (!this.#answer.isUnread) this.#of.transport.checkMounted("Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running?.catch(() => {});
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return this.#of.stat;
  }

  ending(): CallEnd {
    return this.#ending;
  }

  async #call(args: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const { tool, transport } = this.#of;
    using linked = linkSignals(signal, this.#closing.signal);
    throwIfAborted(linked.signal, "Write");
    const result = await transport.callTool(tool, args, linked.signal);
    this.#ending = endingOf(result);
    this.#answer.set(jsonBytes(result));
  }

  #refuseRunning(): void {
    if (this.#running !== null)
      throw driverError("Write", "CONFLICT", `${this.#of.callName}: a call is still running`);
  }
}

/** INVALID: not an object, or not valid arguments of the tool; nothing was sent. */
function parseArguments({ tool, callName }: OpenTool, data: Uint8Array): Record<string, unknown> {
  const text = Buffer.from(data).toString("utf8");
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    throw notACall(`${callName}: the arguments are not valid JSON`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw notACall(`${callName}: the arguments must be one JSON object`);
  const wrong = findMismatch(tool.inputSchema, value);
  if (wrong !== undefined) throw notACall(`${callName}: ${wrong}; nothing was sent`);
  return value as Record<string, unknown>;
}

/** If the result is an error, its first text is the server's message. */
function endingOf(result: unknown): CallEnd {
  const { isError, content } = (result ?? {}) as { isError?: unknown; content?: unknown };
  if (isError !== true) return {};
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = parts.map((part) => (part as { text?: unknown } | null)?.text).find(isString);
  return { error: text ?? "the tool failed" };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function notACall(message: string): DriverError {
  return new DriverError({ op: "Write", code: "INVALID", message, details: MALFORMED_CALL });
}

const MAX_SHOWN = 4_000;

/** The arguments as shown to the user: bounded, and without characters that are invisible or reorder the text. */
function shown(args: Record<string, unknown>): string {
  const text = JSON.stringify(args, null, 1).replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n]/gu, (char) => {
    const code = char.codePointAt(0)?.toString(16) ?? "";
    return `\\u{${code}}`;
  });
  if (text.length <= MAX_SHOWN) return text;
  const half = MAX_SHOWN / 2 - 30;
  return `${text.slice(0, half).toWellFormed()} [... ${text.length} characters ...] ${text.slice(-half).toWellFormed()}`;
}
