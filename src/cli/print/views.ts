/** The three output formats: where the lines of a print run go. */
import type { CompleteEvent, IdleEvent, WireEvent } from "../../abi/wire-events.ts";
import type { Console } from "../console.ts";
import { hintLine } from "../screen/errors.ts";
import {
  deniedLines,
  logLine,
  retryLine,
  runErrorLine,
  slotLine,
  stallLine,
  switchLine,
  toolLine,
} from "../screen/run-lines.ts";
import { safeLine, safeLines } from "../screen/text/safe-text.ts";
import type { View } from "./conversation.ts";
import type { OutputFormat } from "./flags.ts";
import type { Outlet } from "./outlet.ts";
import type { Ended, Printer } from "./printer.ts";

interface Screen {
  readonly console: Console;
  readonly printer: Printer;
  readonly outlet: Outlet;
  /** stdout is a terminal, so a bare result must not contain control sequences. */
  readonly isTerminal: boolean;
  readonly isVerbose: boolean;
}

export function viewOf(format: OutputFormat, screen: Screen): View {
  return format === "stream-json" ? streamView(screen) : resultView(format, screen);
}

/** One line of JSON for each. */
function streamView({ printer, outlet }: Screen): View {
  return {
    show: (event) => {
      for (const line of printer.take(event)) outlet.put(`${JSON.stringify(line)}\n`);
    },
    replay: (said) => outlet.put(`${JSON.stringify(printer.replayed(said))}\n`),
    notice: (message, { level = "error" as const, ...about }) =>
      outlet.put(`${JSON.stringify(printer.notice(level, message, about))}\n`),
    result: ({ line }) => {
      for (const each of [...printer.dropped(), line]) outlet.put(`${JSON.stringify(each)}\n`);
    },
  };
}

/** The result alone; what else there is to say goes to stderr. */
function resultView(format: "text" | "json", screen: Screen): View {
  const { console, printer, outlet, isTerminal, isVerbose } = screen;
  const aside = (line: string): void => {
    if (console.mode !== "quiet") void console.errorLine(line);
  };
  return {
    show: (event) => {
      printer.take(event);
      const line = asideOf(event, isVerbose);
      if (line !== undefined) aside(line);
    },
    replay: () => {},
    notice: (message) => aside(safeLines(message)),
    result: (ended, event) => {
      if (format === "json") outlet.put(`${JSON.stringify(ended.line)}\n`);
      else putText(ended, { console, outlet, isTerminal }, event);
      if (event !== undefined) for (const line of deniedLines(event)) aside(line);
    },
  };
}

function putText(
  { line }: Ended,
  { console, outlet, isTerminal }: Omit<Screen, "printer" | "isVerbose">,
  event: CompleteEvent | IdleEvent | undefined,
): void {
  const text = line.structured_output === undefined ? line.result : JSON.stringify(line.structured_output);
  if (text !== "") outlet.put(`${isTerminal ? safeLines(text) : text}${text.endsWith("\n") ? "" : "\n"}`);
  if (!line.is_error || event === undefined) return;
  // what else there is was told as a warning
  for (const error of line.errors?.slice(0, 1) ?? []) void console.errorLine(runErrorLine(event.pid, error));
  if (line.hint !== undefined) void console.errorLine(hintLine(line.hint, console.words));
}

function asideOf(event: WireEvent, isVerbose: boolean): string | undefined {
  switch (event.event) {
    case "spawn":
      return event.notice === undefined ? undefined : safeLine(event.notice);
    case "log":
      return isVerbose || event.level !== "info" ? logLine(event) : undefined;
    case "api_retry":
      return retryLine(event);
    case "model_switch":
      return switchLine(event);
    case "llm.stall":
      return isVerbose ? stallLine(event) : undefined;
    case "sched.waiting":
      return isVerbose ? slotLine(event) : undefined;
    case "tool":
      return isVerbose ? toolLine(event) : undefined;
    default:
      return undefined;
  }
}
