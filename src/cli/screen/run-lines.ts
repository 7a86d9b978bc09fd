/** The lines of a run (manual 2), each made from one event of its stream; without final newlines. */
import type { ErrorCode } from "../../abi/errno.ts";
import type { WireError } from "../../abi/errors.ts";
import { EXIT } from "../../abi/process.ts";
import type {
  ApiRetryEvent,
  CompleteEvent,
  IdleEvent,
  LlmStallEvent,
  LogEvent,
  ModeEvent,
  ModelSwitchEvent,
  SchedWaitingEvent,
  SpawnEvent,
  StepEvent,
  ToolEvent,
} from "../../abi/wire-events.ts";
import { retryWords, slotWords, stallWords, switchWords } from "../../lib/text/model-words.ts";
import { microUsd, shownUsd } from "../../lib/usd.ts";
import { unpricedWords } from "./table/process-cells.ts";
import { seconds } from "./text/elapsed.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";

/** How a run ended, whether or not its process ended too. */
export type RunOver = Omit<CompleteEvent | IdleEvent, "event"> &
  Partial<Pick<CompleteEvent, "exit_reason" | "model">>;

export function spawnLine(pid: number): string {
  return `[kernel] spawning PID ${pid}...`;
}

/** The properties of the new process; `-` for a missing one. */
export function detailsLine({ pid, agent, model, max_steps, budget, device, mode }: SpawnEvent): string {
  const details = { agent, model, max_steps, budget, device, ...(mode === undefined ? {} : { mode }) };
  const words = Object.entries(details).map(
    ([name, value]) => `${name}=${value ? safeLine(String(value)) : "-"}`,
  );
  return `[kernel] PID ${pid}: ${words.join(" ")}`;
}

/** The mode changed: from now on the process may do more, or less, without approval. */
export function modeLine({ pid, mode }: ModeEvent): string {
  return `[agent/${pid}] ${mode} mode`;
}

export function stepLine({ pid, step, total }: StepEvent, verbose: boolean): string {
  return `[agent/${pid}] reasoning step ${verbose && total > 0 ? `${step}/${total}` : step}...`;
}

export function toolLine({ pid, device, in_bytes, out_bytes, duration_ms }: ToolEvent): string {
  return `[agent/${pid}] tool ${safeLine(device)} ${in_bytes}B → ${out_bytes}B ${seconds(duration_ms)}`;
}

export function logLine({ pid, message }: LogEvent): string {
  return `[agent/${pid}] log: ${safeLines(message)}`;
}

/** Where calls are shown, the line of the call says why it failed, and the next one that it was tried again. */
export function isSaidByCall({ message }: LogEvent): boolean {
  return message.startsWith("model: malformed call (");
}

export function retryLine(event: ApiRetryEvent, words = retryWords): string {
  return `[agent/${event.pid}] log: ${retryText(event, words)}`;
}

/** The line without its tag. */
export function retryText({ pid: _, ...retry }: ApiRetryEvent, words = retryWords): string {
  const { max_retries: maxRetries, delay_ms: delayMs, error_kind: errorKind } = retry;
  return safeLines(words({ ...retry, maxRetries, delayMs, errorKind }));
}

export function stallLine({ pid, stall_duration_ms, stall_count, total_stall_ms }: LlmStallEvent): string {
  const stall = { durationMs: stall_duration_ms, count: stall_count, totalMs: total_stall_ms };
  return `[agent/${pid}] log: ${stallWords(stall)}`;
}

export function slotLine(event: SchedWaitingEvent, words = slotWords): string {
  return `[agent/${event.pid}] log: ${slotText(event, words)}`;
}

/** The same where it is clear who waits. */
export function slotText(
  { waited_ms: waitedMs, lane, slots, used, ...more }: SchedWaitingEvent,
  words = slotWords,
): string {
  const { closed_for_ms: closedForMs } = more;
  const closed = closedForMs === undefined ? {} : { closedForMs };
  return safeLines(words({ ...more, waitedMs, lane: { lane, slots, used, ...closed } }));
}

/** Only how much it thinks has changed. */
export function isSameModel({ from, to }: ModelSwitchEvent): boolean {
  return from.device === to.device && from.model === to.model;
}

export function switchLine({ pid, ...change }: ModelSwitchEvent, words = switchWords): string {
  return `[agent/${pid}] log: ${safeLines(words(change))}`;
}

export function runErrorLine(pid: number, message: string): string {
  return `[agent/${pid}] error: ${safeLines(message)}`;
}

export function lastLine(
  {
    pid,
    exit_code,
    tokens_used,
    elapsed_ms = 0,
  }: Pick<CompleteEvent, "pid" | "exit_code" | "tokens_used" | "elapsed_ms">,
  paint: Paint,
): string {
  const exited = `exited(${exit_code})`;
  const mark = exit_code === 0 ? paint.green(exited) : paint.red(exited);
  return `[kernel] PID ${pid} ${mark} | tokens: ${tokens_used} | elapsed: ${seconds(elapsed_ms)}`;
}

/**
 * The cost and tokens of the run, and of its whole subtree if that is more. An unknown price is shown as unknown, never
 * as zero. undefined: no model was used.
 */
export function costLine({
  pid,
  tokens_used: tokens,
  cost_usd: own = 0,
  subtree_cost_usd: all = 0,
  unpriced_calls: unpriced = 0,
  cached_tokens: cached = 0,
  thinking_tokens: thinking = 0,
}: Omit<CompleteEvent, "event" | "result" | "exit_code">): string | undefined {
  if (tokens === 0 && all === 0 && unpriced === 0) return undefined;
  const isUnknown = own === 0 && unpriced > 0;
  const cost = isUnknown ? "unknown" : shownUsd(microUsd(own));
  const below =
    all > own ? ` (with all below ${shownUsd(microUsd(all))}${unpriced > 0 ? " and more" : ""})` : "";
  const calls = unpricedWords(unpriced);
  const more = unpriced === 0 ? "" : isUnknown ? `: ${calls}` : `, and ${calls}`;
  const parts = [
    ...(cached === 0 ? [] : [`${cached} cached`]),
    ...(thinking === 0 ? [] : [`${thinking} thinking`]),
  ];
  const apart = parts.length === 0 ? "" : ` (${parts.join(", ")})`;
  return `[kernel] PID ${pid}: cost ${cost} for ${tokens} tokens${apart}${below}${more}`;
}

const MAX_DENIED_LINES = 10;

/** The refused calls of a run, each with the narrowest flag that would allow it. */
export function deniedLines({ pid, denied = [] }: RunOver): readonly string[] {
  const lines = denied.slice(0, MAX_DENIED_LINES).map(({ tool, what, reason, allow }) => {
    const call = safeLine(what.startsWith(`${tool} `) ? what : `${tool}: ${what}`);
    return `[agent/${pid}] denied ${call} (${safeLine(allow === null ? reason : `to allow it: ${allow}`)})`;
  });
  const more = denied.length - lines.length;
  return more === 0 ? lines : [...lines, `[agent/${pid}] denied ${more} more`];
}

/** The model that answered, as its server names it; undefined: no model answered. */
export function answeredLine({ pid, model }: CompleteEvent): string | undefined {
  return model === undefined ? undefined : `[kernel] PID ${pid}: answered by ${safeLine(model)}`;
}

/** The data object of JSON mode. `verbose` adds the model that answered. */
export function runData(
  { pid, result, tokens_used, elapsed_ms = 0, exit_code, denied, model }: RunOver,
  verbose: boolean,
) {
  const refused = denied === undefined ? {} : { denied };
  const answered = verbose && model !== undefined ? { model } : {};
  return { pid, result, tokens_used, elapsed_ms, exit_code, ...refused, ...answered };
}

/** A run with an exit code other than 0, as an error. `error`: the cause of the exit, if known. */
export function failureOf({ exit_code, exit_reason = "" }: RunOver, error: WireError | undefined): WireError {
  return error ?? { code: codeOfExit(exit_code, exit_reason), message: exit_reason || `exit ${exit_code}` };
}

function codeOfExit(code: number, reason: string): ErrorCode {
  if (code === EXIT.budget.code || reason === EXIT.maxSteps.reason) return "BUDGET";
  return reason.startsWith("killed: ") ? "CANCELLED" : "INTERNAL";
}
