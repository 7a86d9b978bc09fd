import type { LogPayload, WireStreamLine } from "../../../abi/wire.ts";
import { counted } from "../../../lib/text/counted.ts";
import type { Mode } from "../../args.ts";
import type { Console } from "../../console.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { oneLine } from "../../screen/text/json.ts";
import { SafeStream } from "../../screen/text/safe-stream.ts";
import { safeLines } from "../../screen/text/safe-text.ts";

/** Prints the log of one process: the output of an agent line by line, the output of a program unchanged. */
export class LogPrinter {
  readonly #console: Console;
  readonly #mode: Mode;
  /** undefined: stdout is not a terminal and gets the bytes. */
  readonly #safe: SafeStream | undefined;

  /** `isTerminal`: stdout is a terminal, so control sequences in a program's output are escaped. */
  constructor(console: Console, isTerminal: boolean, mode: Mode = console.mode) {
    this.#console = console;
    this.#mode = mode;
    this.#safe = isTerminal ? new SafeStream() : undefined;
  }

  /** Prints until the end of the stream. Rejects when it breaks off. */
  async printAll(lines: AsyncIterable<WireStreamLine>): Promise<void> {
    for await (const { type, payload } of lines) {
      if (type === "log") await this.#print(payload as LogPayload);
      if (type === "eof") return this.#end((payload as { dropped?: number } | undefined)?.dropped ?? 0);
    }
    throw daemonVanished();
  }

  async #print(piece: LogPayload): Promise<void> {
    if (this.#mode === "json") await this.#console.line(oneLine(piece));
    else if ("data" in piece) await this.#write(Buffer.from(piece.data.base64, "base64"));
    else await this.#console.line(this.#entryLine(piece));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#console.raw(this.#safe === undefined ? bytes : this.#safe.push(bytes));
  }

  #entryLine({ pid, timestamp_ms, level, message }: Extract<LogPayload, { message: string }>): string {
    const text = safeLines(message);
    switch (this.#mode) {
      case "quiet":
        return text;
      case "verbose":
        return `[${(timestamp_ms / 1000).toFixed(3).padStart(7)}s] [agent/${pid}] ${level}: ${text}`;
      case "default":
      case "json":
        return `[agent/${pid}] ${text}`;
    }
  }

  async #end(dropped: number): Promise<void> {
    const rest = this.#safe?.end() ?? "";
    if (rest !== "") await this.#console.raw(rest);
    if (dropped > 0) await this.#console.errorLine(`[logs] ${counted(dropped, "line")} dropped`);
  }
}
