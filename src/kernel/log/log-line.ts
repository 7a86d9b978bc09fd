/** The log line of a process event; undefined: not logged, the event is shown elsewhere. */
import type { LogEntry, ProcessEvent, RunEnd } from "../../abi/events.ts";
import { retryWords, slotWords, stallWords, switchWords } from "../../lib/text/model-words.ts";
import { LIMITS } from "../limits.ts";

export function logLine(event: ProcessEvent): Omit<LogEntry, "timestampMs"> | undefined {
  switch (event.event) {
    case "step":
      return { level: "info", message: `reasoning step ${event.step}...` };
    case "tool":
      return {
        level: "info",
        message: `tool ${event.device} ${event.inBytes}B → ${event.outBytes}B ${(event.durationMs / 1000).toFixed(1)}s`,
      };
    case "log":
      return noticeOf(event.entry);
    case "api_retry":
      return { level: "warn", message: retryWords(event) };
    case "model_switch":
      return { level: "warn", message: switchWords(event) };
    case "llm.stall":
      return { level: "info", message: stallWords(event) };
    case "sched.waiting":
      return { level: "info", message: slotWords(event) };
    case "ask":
      return { level: "warn", message: `asks: ${event.text}` };
    case "mode":
      return { level: "info", message: `${event.mode} mode` };
    case "error":
      return { level: "error", message: `error: ${event.message}` };
    case "input":
      return { level: "info", message: `input #${event.seq}: ${event.text.slice(0, LIMITS.logTextChars)}` };
    case "reply":
      return { level: "info", message: event.text.slice(0, LIMITS.logTextChars) };
    case "idle":
      return idleLine(event);
    case "spawn":
    case "call":
    case "child":
    case "said":
    case "message":
    case "tool_result":
    case "output":
    case "delta":
    case "tombstone":
    // the program logs it
    case "context.moved":
    case "ask_closed":
    case "complete":
    case "paused":
    case "queued":
    case "withdrawn":
      return undefined;
  }
}

function noticeOf({ timestampMs: _, ...line }: LogEntry): Omit<LogEntry, "timestampMs"> {
  return line;
}

function idleLine({ outcome, message }: RunEnd): Omit<LogEntry, "timestampMs"> {
  if (outcome === "completed") return { level: "info", message: "run completed" };
  const words = message === "" ? "" : `: ${message}`;
  return { level: outcome === "failed" ? "error" : "warn", message: `run ${outcome}${words}` };
}

/**
 * The result of an agent as the last line of its log, at most as long as in the journal; no line without a result. It
 * is journalled once, in the record of the exit.
 */
export function resultLines(result: string, timestampMs: number): LogEntry[] {
  if (result === "") return [];
  return [{ timestampMs, level: "info", message: `result: ${result.slice(0, LIMITS.journalResultChars)}` }];
}
