import type { SyscallEventWire } from "../../abi/wire.ts";
import { callDuration } from "./text/elapsed.ts";
import { Decimal, oneLine } from "./text/json.ts";
import type { Words } from "./text/language.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";

/** The most characters of a text shown before it is cut. */
const SHOWN_CHARACTERS = 64;
const SLOW_MS = 1000;
const MESSAGE_DEVICE = /^\/(?:dev\/llm\/|dev\/shell(?:\/|$)|bin\/|mnt\/mcp\/)/;

/** One call of `crux astrace`; verbose cuts nothing and adds a line with the raw arguments. */
export function traceLine(event: SyscallEventWire, words: Words, paint: Paint, verbose: boolean): string {
  const time = `[${(event.timestamp_ms / 1000).toFixed(3).padStart(7)}s]`;
  const args = Object.keys(event.args)
    .sort()
    .map((key) => `${key}=${valueText(event.args[key], verbose)}`)
    .join(", ");
  const mark = markOf(event, words);
  const tail = mark === "" ? "" : `  ${paint.dim(mark)}`;
  const call = `${time} ${event.syscall}(${args}) → ${outcome(event, verbose, paint)}    ${callDuration(event.duration_ms)}${tail}`;
  if (!verbose) return call;
  return `${call}\n${" ".repeat(11)}${safeLine(`args=${oneLine(event.args)} result=${oneLine(event.result)}`)}`;
}

/** One event in JSON mode, without the keys used only by the text screen. */
export function traceJson(event: SyscallEventWire): string {
  const { timestamp_ms, pid, syscall, args, result, error, duration_ms } = event;
  return oneLine({ timestamp_ms, pid, syscall, args, result, error, duration_ms: new Decimal(duration_ms) });
}

function outcome(event: SyscallEventWire, verbose: boolean, paint: Paint): string {
  if (event.error !== undefined) return paint.red(safeLine(shortError(event.error)));
  if (event.result === undefined || event.result === null) return "<nil>";
  if (event.syscall === "Read" && typeof event.result === "number" && isMessageDevice(event))
    return `${event.result}B`.padEnd(6);
  return valueText(event.result, verbose);
}

function isMessageDevice(event: SyscallEventWire): boolean {
  if (event.traffic !== undefined) return event.traffic === "message";
  return MESSAGE_DEVICE.test(event.device ?? "");
}

function markOf(event: SyscallEventWire, words: Words): string {
  if (event.syscall === "Write" && event.device?.startsWith("/dev/llm/")) return words.modelCall;
  return event.duration_ms > SLOW_MS ? words.slowCall : "";
}

function valueText(value: unknown, verbose: boolean): string {
  if (typeof value !== "string") return safeLine(oneLine(value));
  const characters = Array.from(value);
  const shown =
    verbose || characters.length <= SHOWN_CHARACTERS
      ? value
      : `${characters.slice(0, SHOWN_CHARACTERS).join("")}…`;
  return safeLine(JSON.stringify(shown));
}

/** `[CODE] PID 1 Open: /dev/x (cause)` without place and device: `[CODE] cause`. */
export function shortError(printed: string): string {
  const [, code = "", rest = ""] = /^(\[[A-Z_]+\]) ([\s\S]*)$/.exec(printed) ?? [];
  if (code === "") return printed;
  const cause = rest.replace(/^(?:PID|CtxID) \d+ \w+: /, "");
  const [, inParentheses] = /^(?:\w+: )?\/\S* \(([\s\S]*)\)$/.exec(cause) ?? [];
  return `${code} ${inParentheses ?? cause}`;
}
