/** The screen of `crux context`. */
import type { WireContext } from "../../abi/methods/context.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";
import { cutToWidth, wrapped } from "./text/width.ts";

interface Screen {
  readonly room: number | undefined;
  readonly paint: Paint;
}

const NAMES: Readonly<Record<keyof WireContext["parts"], string>> = {
  system: "system prompt",
  tools: "tools",
  mcp: "MCP tools",
  agents: "agents",
  skills: "skills",
  instructions: "instruction files",
  memory: "memory",
  pins: "pinned",
  messages: "messages",
  results: "tool results",
};

type Move = WireContext["moves"][number];

const MOVES: Readonly<Record<Move["layer"], string>> = {
  micro: "old tool results cleared",
  full: "summary written",
  notes: "notes of the session in place of a summary",
  partial: "summary of a part written",
  collapse: "old steps folded",
  snip: "messages left out",
  drop: "oldest steps left out",
  clear: "cleared",
  undo: "undone",
};

const WHY: Readonly<Record<Move["trigger"], string>> = {
  auto: "the window was filling up",
  manual: "you asked for it",
  reactive: "the model had refused the request as too long",
};
/** Of layers that have causes of their own. */
const WHY_AUTO: Readonly<Partial<Record<Move["layer"], string>>> = {
  micro: "the window was filling up, or the pause was long",
  snip: "the model asked for it",
};

/** The newest moves that are shown. */
const MOST_MOVES = 8;
const BAR = 20;

export function contextLines(found: WireContext, screen: Screen): string[] {
  const texts = [...head(found), ""];
  const notes = ["", ...limits(found), ...history(found), ...messages(found, screen)];
  const fit = (text: string): readonly string[] =>
    screen.room === undefined ? [text] : wrapped(text, screen.room);
  return [...texts.flatMap(fit), ...parts(found, screen), ...notes.flatMap(fit)];
}

/** What has become of it after a change. */
export function changedLine({ pid, before, after }: { pid: number; before: number; after: number }): string {
  const back = after < before ? "crux context undo" : "crux compact";
  const does = after < before ? "takes it back" : "shortens it again";
  return `Process ${pid}: ~${num(before)} tokens before, ~${num(after)} now. ${back} ${pid} ${does}.`;
}

function head({ pid, driver, model, window, reserve, used, exact, effective }: WireContext): string[] {
  const asked =
    driver === "" ? "no model asked yet" : safeLine(model === "" ? driver : `${model} (${driver})`);
  const share = ((used / effective) * 100).toFixed(used * 10 < effective ? 1 : 0);
  return [
    `process ${pid}: ${asked}`,
    `${exact ? "" : "~"}${num(used)} of ${num(effective)} tokens used (${share}%); the window has ${num(window)}, ${num(reserve)} of them held back for the reply`,
  ];
}

function parts({ parts: all, used, exact }: WireContext, { room = 80, paint }: Screen): string[] {
  const shown = Object.entries(all ?? {}).filter(([, tokens]) => tokens > 0);
  const width = Math.max(0, ...shown.map(([name]) => nameOf(name).length));
  const digits = Math.max(0, ...shown.map(([, tokens]) => num(tokens).length));
  const bar = Math.max(0, Math.min(BAR, room - width - digits - 14));
  return shown.map(([name, tokens]) => {
    const share = used === 0 ? 0 : tokens / used;
    const figures = `${exact ? " " : "~"}${num(tokens).padStart(digits)}  ${`${Math.round(share * 100)}%`.padStart(4)}`;
    const drawn = "█".repeat(Math.round(share * bar));
    return `  ${nameOf(name).padEnd(width)}  ${figures}${drawn === "" ? "" : `  ${paint.dim(drawn)}`}`;
  });
}

function nameOf(part: string): string {
  return NAMES[part as keyof typeof NAMES];
}

function limits({ thresholds, compact, breaker, level, folding, target, pid }: WireContext): string[] {
  const { warn, auto, block } = thresholds;
  if (!compact) return ["Compaction is turned off: a request that does not fit ends the run."];
  const state =
    auto === null
      ? "Automatic compaction is turned off: the view is shortened only after the model has refused a request."
      : `Old results are cleared from ${num(warn)} tokens on, a summary is written at ${num(auto)}, the oldest steps are left out at ${num(block)}.`;
  const stopped =
    breaker === null
      ? []
      : [
          `No more summaries are written: ${breaker === "failures" ? "three in a row failed" : "three within ten requests did not help"}. crux compact ${pid} tries again.`,
        ];
  const near =
    level === "ok" ? [] : level === "blocked" ? ["The window is full."] : ["The window is filling up."];
  const aim =
    target === undefined
      ? []
      : [`Target of its run: ${num(target.aim)} output tokens, ${num(target.spent)} written.`];
  return [...near, state, ...(folding === undefined ? [] : [foldingLine(folding)]), ...aim, ...stopped];
}

function foldingLine({ active, staged, committed, saved }: NonNullable<WireContext["folding"]>): string {
  const counts = `${committed} folds of old steps in view (~${num(saved)} tokens saved), ${staged} more are written`;
  return active ? `${counts}.` : `${counts}. Folding has stopped: three summaries in a row failed.`;
}

function history({ moves, boundaries, records, shown, can_undo: canUndo, pid }: WireContext): string[] {
  if (boundaries === 0) return [`The model sees all ${records} messages.`];
  const newest = moves.slice(-MOST_MOVES);
  const more = boundaries - newest.length;
  return [
    `The model sees ${shown} of ${records} messages; the journal keeps all.`,
    ...(more > 0 ? [`  ${more} earlier changes: crux journal ${pid} --kind ctx.move`] : []),
    ...newest.map(({ at, layer, trigger, before, after }) => {
      const counts =
        before === undefined || after === undefined
          ? ""
          : `, ~${num(before)} tokens before, ~${num(after)} after`;
      const why = (trigger === "auto" && WHY_AUTO[layer]) || WHY[trigger];
      return `  ${timeOf(at)}  ${MOVES[layer]}${counts}: ${why}`;
    }),
    ...(canUndo ? [`crux context undo ${pid} takes the last one back.`] : []),
  ];
}

function messages({ messages: shown = [], pid }: WireContext, { room = 100 }: Screen): string[] {
  if (shown.length === 0) return [];
  const lines = shown.map(({ n, part, tokens, words }) => {
    const kind = part === "results" ? "result" : part === "pins" ? "pinned" : "";
    return cutToWidth(
      `${`${n}`.padStart(5)} ${num(tokens).padStart(7)}  ${kind.padEnd(6)}  ${safeLine(words)}`,
      room,
    );
  });
  return ["", ...lines, `crux context pin ${pid} <number> keeps one of them in view.`];
}

function timeOf(at: string): string {
  const time = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}`;
}

function num(count: number): string {
  return count.toLocaleString("en-US");
}
