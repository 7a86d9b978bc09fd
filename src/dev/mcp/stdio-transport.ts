/**
 * Messages over the pipes of an OS child, one JSON object a line (MCP, stdio transport). The child belongs to its service;
 * this only reads and writes.
 */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ExecChild } from "../../kernel/ports/host.ts";
import { MCP_LIMITS } from "./limits.ts";
import { LineSplitter } from "./lines.ts";

/** Of a line that is no message. */
const SHOWN_CHARS = 60;

interface StdioHooks {
  /** A line that is no message. */
  garbage(line: string): void;
  /** It cannot go on: too long a message, a flood of what is none, or a program that does not read. The service is to be stopped. */
  broken(why: string): void;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The library takes a transport that has both for one over pipes: silence then means an older server, not an outage. */
  readonly stderr = null;
  readonly pid: number | undefined;
  /** Why it could not go on; "" where it was not its fault. */
  brokenBy = "";
  readonly #child: ExecChild;
  readonly #hooks: StdioHooks;
  readonly #lines = new LineSplitter(MCP_LIMITS.messageBytes);
  /** Bytes handed to the pipe and not taken by it. */
  #unread = 0;
  /** Lines since its last message that are none. */
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

  /** The library is done with it, or its program is: nothing is read or written any more. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  /** Its program wrote this. */
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

  /** A few lines on the wrong stream are a blemish; a program that writes nothing else is no server. */
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

/** Whether its parts are right, the library looks. */
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
