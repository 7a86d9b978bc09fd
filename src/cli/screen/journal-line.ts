/** A journal record for the user: its time, its kind, and its essence in a few words. */
import type { JournalLine } from "../../abi/journal/line.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine } from "./text/safe-text.ts";
import { cutToWidth } from "./text/width.ts";

const KIND_COLUMNS = 18;
/** The most columns of the essence; `--verbose` cuts nothing. */
const ESSENCE_COLUMNS = 100;
const SIGNALS = ["", "TERM", "KILL", "INT", "PAUSE", "RESUME"];

type Body = Readonly<Record<string, unknown>>;

export function journalLine(line: JournalLine, paint: Paint, isVerbose: boolean): string {
  const { at, seq, kind } = line;
  const essence = safeLine(essenceOf(line));
  const shown = isVerbose ? essence : cutToWidth(essence, ESSENCE_COLUMNS);
  return `${paint.dim(timeOf(at))} ${String(seq).padStart(5)}  ${kind.padEnd(KIND_COLUMNS)} ${shown}`.trimEnd();
}

/** Local time; the date of an earlier day is visible in `--json`. */
function timeOf(at: number): string {
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function essenceOf({ kind, body, call }: JournalLine): string {
  const known = typeof body === "object" && body !== null ? (body as Body) : {};
  const told = ESSENCES[kind]?.(known) ?? "";
  return [told, ...(call === undefined ? [] : [call])].filter((part) => part !== "").join("  ");
}

const ESSENCES: Readonly<Record<string, (body: Body) => string>> = {
  "process.spawned": (body) => `${text(body.agent) || text(body.kind)}: ${text(body.intent)}`,
  "process.failed": ({ code, message }) => `${text(code)}: ${text(message)}`,
  "process.exited": ({ code, reason, tokensUsed }) =>
    [`${text(code)} ${text(reason)}`, ...tokens(tokensUsed)].join(", "),
  "process.log": ({ level, message }) =>
    level === "info" ? text(message) : `${text(level)}: ${text(message)}`,
  "process.recovered": ({ epoch, resumed }) =>
    `by daemon ${text(epoch)}${resumed === true ? ", resumed" : ""}`,
  "process.forked": ({ from, at }) => `from ${text(from)} at record ${text(at)}`,
  "process.described": ({ title, kept }) =>
    [
      ...(title === undefined ? [] : [`title: ${text(title)}`]),
      ...(kept === undefined ? [] : [kept ? "kept" : "not kept"]),
    ].join(", "),
  "process.failed_run": ({ outcome, message: words }) => `${text(outcome)}: ${text(words)}`,
  "process.weight": ({ weight }) => String(weight),
  "process.model": ({ device, model }) => `${text(device).replace("/dev/llm/", "")} ${text(model)}`.trimEnd(),
  "process.memory": ({ off }) => (off === true ? "off" : "on"),
  "process.note": ({ text: pinned }) => text(pinned) || "taken away",
  "call.intent": ({ tool, device, effects }) =>
    [text(tool), text(device), effectsOf(effects)].filter(Boolean).join("  "),
  "call.result": (body) => [outcome(body), ...tokens((body.cost as Body | undefined)?.tokens)].join(", "),
  "call.unknown": () => "the outcome is not known",
  "call.read": ({ s, e }) => (e === undefined ? text(s) : `${text(s)}: ${text((e as Body).code)}`),
  snapshot: ({ path }) => text(path),
  "ctx.record": message,
  "ctx.move": ({ undo, boundary }) => {
    const { layer, trigger, before, after } = (boundary ?? {}) as Body;
    if (undo === true) return "the view before it again";
    return `${text(layer)}, ${text(trigger)}: about ${text(before)} tokens, now ${text(after)}`;
  },
  "sandbox.violation": ({ text: words }) => text(words),
  "permit.ask": ({ text: asked, operation }) => text(asked) || text(operation),
  "permit.answer": ({ answer, words }) => [text(answer), text(words)].filter(Boolean).join(": "),
  "grant.add": ({ rule }) => text(rule),
  "acct.settle": ({ used }) => `${text(used)} tokens of the limit`,
  "acct.limit": ({ by, budget }) => `new limits: ${JSON.stringify(budget)} (${text(by)})`,
  signal: ({ signal, disposition }) => `SIG${SIGNALS[Number(signal)] ?? text(signal)}: ${text(disposition)}`,
  "mail.put": ({ seq, from, data }) =>
    [`message ${text(seq)}`, ...(from === undefined ? [] : [`from ${text(from)}`]), text(data)].join("  "),
  "mail.done": ({ seq }) => `message ${text(seq)}`,
  "group.join": ({ group, name }) => text(name) || text(group),
  "group.leave": ({ group }) => text(group),
  "supervisor.crash": ({ child, reason }) => `${text(child)}: ${text(reason)}`,
  "supervisor.escalated": ({ child, reason }) => `${text(child)}: ${text(reason)}`,
  "kernel.boot": ({ epoch, clean }) =>
    `daemon ${text(epoch)}${clean === false ? ", after one that did not stop cleanly" : ""}`,
  "kernel.clock": ({ gapMs, jumpMs }) => `gap ${text(gapMs)} ms, jump ${text(jumpMs)} ms`,
  "journal.anchor": ({ root, lsn }) => `${text(root)} over lsn 1 to ${text(lsn)}`,
  "journal.repair": ({ pid, seq, records }) =>
    records === undefined
      ? "tables made again"
      : `pid ${text(pid)}: ${text(records)} records from record ${text(seq)} on`,
  "journal.tombstone": ({ pid, seq }) => `pid ${text(pid)}: ${text(seq)} records removed`,
};

function message({ role, content, system_prompt: prompt }: Body): string {
  if (role === undefined) return prompt === undefined ? "" : `system prompt: ${text(prompt)}`;
  return `${text(role)}: ${text(content)}`;
}

function outcome({ ok, code, message: words }: Body): string {
  return ok === true ? "done" : `${text(code)}: ${text(words)}`;
}

function tokens(count: unknown): string[] {
  return typeof count === "number" && count > 0 ? [`${count} tokens`] : [];
}

function effectsOf(effects: unknown): string {
  if (!Array.isArray(effects)) return "";
  return effects.map((effect) => effectOf(effect as Body)).join("; ");
}

function effectOf({ kind, path, change, argv, shell, host, program, tool, server }: Body): string {
  switch (kind) {
    case "exec":
      return `exec ${text(shell) || (Array.isArray(argv) ? argv.map(text).join(" ") : "")}`;
    case "write":
      return `${text(change)} ${text(path)}`;
    case "network":
      return `network ${text(host)}`;
    case "spawn":
      return `spawn ${text(program)}`;
    case "mcp":
      return `${text(server)} ${text(tool)}`;
    default:
      return [text(kind), text(path)].filter(Boolean).join(" ");
  }
}

/** The value of a body key in one line; "" if it is missing. */
function text(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
