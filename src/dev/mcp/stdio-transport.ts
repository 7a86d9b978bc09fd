/**
 * Messages over the pipes of an OS child, one JSON object per line (MCP, stdio transport). The child belongs to its
 * service; this class only reads and writes.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ExecChild } from "../../kernel/ports/host.ts";
import { MCP_LIMITS } from "./limits.ts";
import { LineSplitter } from "./lines.ts";

/** How much of an invalid line is shown. */
const SHOWN_CHARS = 60;

interface StdioHooks {
  /** Called for each line that is not a message. */
  garbage(line: string): void;
  /**
   * The transport failed: a message was too long, too many lines were not messages, or the program does not read. The
   * service must be stopped.
   */
  broken(why: string): void;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /**
   * The library takes a transport that has `stderr` and `pid` for one over pipes: no answer then means an older
   * server, not an outage.
   */
  readonly stderr = null;
  readonly pid: number | undefined;
  /** Why the transport failed; empty if it did not. */
  brokenBy = "";
  readonly #child: ExecChild;
  readonly #hooks: StdioHooks;
  readonly #lines = new LineSplitter(MCP_LIMITS.messageBytes);
  /** Bytes written that the pipe has not accepted yet. */
  #unread = 0;
  /** Lines since the last message that are not messages. */
  #garbage = 0;
  #isClosed = false;

  constructor(child: ExecChild, hooks: StdioHooks) {
    this.#child = child;
    this.#hooks = hooks;
    this.pid = child.osPid;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error("the connection is closed");
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    this.#unread += line.byteLength;
    if (this.#unread > MCP_LIMITS.unreadBytes) this.#break("it does not read what it is sent");
    try {
      await this.#child.write(line);
    } finally {
      this.#unread -= line.byteLength;
    }
  }

  /** Called when the library or the program has ended: nothing more is read or written. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  /** Takes output of the program. */
  take(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    const lines = this.#lines.push(chunk);
    for (const line of lines ?? []) this.#receive(line);
    if (lines === null) this.#break(`it sent a message of more than ${MCP_LIMITS.messageBytes} bytes`);
  }

  #receive(line: string): void {
    if (this.#isClosed) return;
    const message = parseMessage(line);
    if (message === undefined) this.#discard(line);
    else {
      this.#garbage = 0;
      this.onmessage?.(message);
    }
  }

  /** A few stray lines on stdout are tolerated; a program that prints nothing else is not a server. */
  #discard(line: string): void {
    this.#garbage++;
    if (this.#garbage <= MCP_LIMITS.garbageLines) this.#hooks.garbage(line);
    else
      this.#break(`what it writes to stdout is not a message: ${JSON.stringify(line.slice(0, SHOWN_CHARS))}`);
  }

  #break(why: string): void {
    if (this.#isClosed) return;
    this.brokenBy = why;
    this.#hooks.broken(why);
    void this.close();
  }
}

/** Checks only the frame; the library checks the members. */
function parseMessage(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isMessage =
      typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
    return isMessage ? (value as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
