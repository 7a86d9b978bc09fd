/** What a server prints beside its messages, as log lines of its service. Bounded: the journal keeps every one. */

import { MCP_LIMITS } from "./limits.ts";
import { LineSplitter } from "./lines.ts";

type LogLine = (level: "info" | "warn" | "error", message: string) => void;

export class ServerLog {
  readonly #say: LogLine;
  readonly #stderr = new LineSplitter(MCP_LIMITS.messageBytes);
  #left: number = MCP_LIMITS.logLines;

  constructor(say: LogLine) {
    this.#say = say;
  }

  stderr(chunk: Uint8Array): void {
    if (this.#left === 0) return;
    for (const line of this.#stderr.push(chunk) ?? []) if (line.trim() !== "") this.#line("info", line);
  }

  /** A line on stdout that is no message. */
  garbage(line: string): void {
    if (line.trim() !== "") this.#line("warn", `not a message, dropped: ${line}`);
  }

  #line(level: "info" | "warn", text: string): void {
    if (this.#left === 0) return;
    this.#left--;
    const max = MCP_LIMITS.logLineChars;
    this.#say(level, text.length <= max ? text : `${text.slice(0, max)}…`);
    if (this.#left === 0) this.#say("warn", "it prints a lot: no more of it is logged");
  }
}
