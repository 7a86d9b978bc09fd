/** A replay for the user: its outcome, and what a client saw of the process when it ran. */
import type { Result } from "../../abi/methods/methods.ts";
import { counted } from "../../lib/text/counted.ts";
import { resultBox } from "./result-box.ts";
import { lastLine, spawnLine } from "./run-lines.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";

type Report = Result<"process.replay">;

export function reportLines(report: Report): string[] {
  const { pid, steps, outcome, difference, reason = "" } = report;
  const head = `[replay] PID ${pid}: replayed ${counted(steps, "step")}`;
  if (outcome === "same") return [`${head}, 0 differences`];
  if (difference === undefined) return [`[replay] PID ${pid}: not replayable: ${safeLine(reason)}`];
  const { seq, what, expected, got } = difference;
  return [
    `${head}, then it differs at record ${seq} (${safeLine(what)})`,
    `  expected: ${safeLine(expected)}`,
    `  got:      ${safeLine(got)}`,
    `  recorded by crux ${report.recorded.join(", ") || "-"}, replayed by crux ${report.version || "-"}`,
  ];
}

/** The shown part of a record. */
export interface ShownRecord {
  readonly seq: number;
  readonly pid: number;
  readonly kind: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly body: unknown;
}

interface ShownLine {
  readonly seq: number;
  readonly at: number;
  /** `reply`: the text of the model; the end has several lines. */
  readonly what: "spawn" | "input" | "log" | "reply" | "end";
  readonly text: string;
}

/** Turns records, in their order, into lines. */
export class Showing {
  readonly #paint: Paint;
  readonly #limit: number;
  #steps = 0;
  #begun: number | null = null;
  #isFork = false;
  /** The last reply, which a session also has in its log. */
  #said: string | null = null;

  /** `limit`: the number of replies to show. */
  constructor(paint: Paint, limit = Infinity) {
    this.#paint = paint;
    this.#limit = limit;
  }

  get isOver(): boolean {
    return this.#steps >= this.#limit;
  }

  take({ seq, pid, kind, at, body }: ShownRecord): ShownLine[] {
    const known = (body ?? {}) as Record<string, unknown>;
    const line = (what: ShownLine["what"], text: string): ShownLine[] => [{ seq, at, what, text }];
    switch (kind) {
      case "process.forked":
        this.#isFork = true;
        return line("spawn", `[kernel] PID ${pid} continues from here`);
      case "process.spawned":
        return this.#spawned(pid, at) ? line("spawn", spawnLine(pid)) : [];
      case "process.recovered":
        return line("spawn", `[kernel] PID ${pid} is back`);
      case "ctx.record":
        return this.#message(pid, known, line);
      case "process.log":
        return this.#isSaid(known) ? [] : line("log", `[agent/${pid}] ${safeLines(String(known.message))}`);
      case "process.exited":
        return line("end", this.#end(pid, at, known));
      default:
        return [];
    }
  }

  #spawned(_pid: number, at: number): boolean {
    this.#begun ??= at;
    return !this.#isFork;
  }

  #message(
    pid: number,
    { role, content, cid, replaces }: Record<string, unknown>,
    line: (what: ShownLine["what"], text: string) => ShownLine[],
  ): ShownLine[] {
    const text = String(content ?? "");
    if (cid !== undefined || replaces !== undefined) return [];
    if (role === "user") return line("input", `> ${safeLines(text)}`);
    if (role !== "assistant") return [];
    this.#steps++;
    this.#said = text;
    return text.trim() === "" ? [] : line("reply", `[agent/${pid}] ${safeLines(text)}`);
  }

  #isSaid({ message }: Record<string, unknown>): boolean {
    const text = String(message);
    return text !== "" && (this.#said?.startsWith(text) ?? false);
  }

  #end(pid: number, at: number, { code, result, tokensUsed }: Record<string, unknown>): string {
    const text = String(result ?? "");
    const end = {
      pid,
      exit_code: Number(code),
      tokens_used: Number(tokensUsed ?? 0),
      elapsed_ms: this.#begun === null ? 0 : Math.max(0, at - this.#begun),
    };
    const last = lastLine(end, this.#paint);
    return text === "" ? last : `${resultBox(text)}\n${last}`;
  }
}
