/** Reports the progress of a command as output arrives: at most once a second, and only if there is new output. */
import type { Clock } from "../../abi/program.ts";
import type { CommandProgress } from "../../abi/tool.ts";
import { abortable } from "../../lib/abort.ts";
import type { Command } from "./command.ts";

const EACH_MS = 1_000;
const LINES = 20;
const CHARS = 4_000;

export class ProgressReader {
  readonly #command: Command;
  readonly #clock: Pick<Clock, "sleep">;
  #toldBytes = 0;
  #toldAtMs = 0;

  constructor(command: Command, clock: Pick<Clock, "sleep">) {
    this.#command = command;
    this.#clock = clock;
  }

  /** Waits for output that was not reported yet. Rejects when `signal` fires. */
  async next(signal: AbortSignal): Promise<CommandProgress> {
    const { capture } = this.#command;
    if (capture.totalBytes === this.#toldBytes) await this.#untilData(signal);
    const leftMs = this.#toldAtMs + EACH_MS - this.#command.ageMs;
    if (leftMs > 0) await this.#clock.sleep(leftMs, signal);
    this.#toldBytes = capture.totalBytes;
    this.#toldAtMs = this.#command.ageMs;
    return this.#told();
  }

  async #untilData(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const unlisten = this.#command.listen(() => {
      if (this.#command.capture.totalBytes > this.#toldBytes) resolve();
    });
    try {
      await abortable(promise, signal);
    } finally {
      unlisten();
    }
  }

  #told(): CommandProgress {
    const { capture, ageMs } = this.#command;
    return {
      output: lastLines(capture.tail(CHARS * 4)),
      output_path: capture.path ?? "",
      elapsed_time_seconds: Math.round(ageMs / 100) / 10,
      total_lines: capture.totalLines,
      total_bytes: capture.totalBytes,
      is_incomplete: true,
    };
  }
}

function lastLines(text: string): string {
  const lines = text.split("\n");
  const wanted = LINES + (lines.at(-1) === "" ? 1 : 0);
  return lines.slice(-wanted).join("\n").slice(-CHARS).toWellFormed();
}
