/** What an event of a process is in its log; undefined: nothing, it is told elsewhere. */
import type { LogEntry, ProcessEvent } from "../../abi/events.ts";

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
      return { level: event.entry.level, message: event.entry.message };
    case "ask":
      return { level: "warn", message: `asks: ${event.ask.text}` };
    case "error":
      return { level: "error", message: `error: ${event.message}` };
    case "spawn":
    case "ask_closed":
    case "complete":
      return undefined;
  }
}
