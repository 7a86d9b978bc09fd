/**
 * From the events of the wire to what the terminal knows: pure. Each event changes the model once; an event that is repeated
 * for what is known already changes nothing.
 */
import type { CallNote } from "../../abi/call-note.ts";
import type { Block, StreamEvent } from "../../abi/llm.ts";
import { totalTokens } from "../../abi/llm.ts";
import type { WireRunFailure } from "../../abi/methods/session.ts";
import type {
  IdleEvent,
  InputEvent,
  MessageEvent,
  OutputEvent,
  QueuedEvent,
  ToolResultEvent,
  WireEvent,
} from "../../abi/wire-events.ts";
import { pausedLine } from "../../cli/screen/chat-lines.ts";
import {
  isSaidByCall,
  isSameModel,
  logLine,
  retryLine,
  retryText,
  slotLine,
  slotText,
  switchLine,
} from "../../cli/screen/run-lines.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { findShellNote } from "../../lib/text/shell-line.ts";
import {
  type AsideEntry,
  type CallEntry,
  isFinal,
  type Model,
  type NoticeLevel,
  type ShellEntry,
  type TranscriptEntry,
  withEntries,
} from "./model.ts";
import { carried, isBegun } from "./shown.ts";

/** How the log of a refused call begins. */
const DENIAL = "denied ";

interface At {
  readonly words: Phrases;
  /** The name of this client, whose messages are its own. */
  readonly client: string;
  readonly mono: number;
}

export function reduce(model: Model, event: WireEvent, at: At): Model {
  switch (event.event) {
    case "spawn":
      return spawned(model, event, at);
    case "mode":
      return { ...model, mode: event.mode };
    case "step":
      return running({ ...sealed(model), replyFrom: undefined }, at);
    case "input":
      return input(model, event, at);
    case "queued":
      return queued(model, event, at);
    case "withdrawn":
      return { ...model, queued: model.queued.filter(({ seq }) => seq !== event.seq) };
    case "delta":
      return piece(running(model, at), event.piece, at);
    case "tombstone":
      return cutOff(model);
    case "message":
      return message(running(model, at), event, at);
    case "output":
      return printed(model, event, at);
    case "call":
      return noted(running(model, at), event.call);
    case "tool_result":
      return resulted(model, event);
    case "idle":
      return asideSettled(idle(model, event, at));
    case "complete":
    case "error":
      return asideSettled(ended(model, event));
    default:
      return told(model, event, at);
  }
}

function told(model: Model, event: WireEvent, at: At): Model {
  const { session } = at.words;
  switch (event.event) {
    case "paused":
      return notice({ ...model, isPaused: event.is_paused }, pausedLine(event, at.words));
    case "log":
      if (event.level === "info" || isSaidByCall(event)) return model;
      return logged(model, event);
    case "api_retry":
      return waiting(
        running(model, at),
        event.pid === model.pid ? retryText(event, session.retry) : retryLine(event, session.retry),
      );
    case "model_switch":
      return isSameModel(event) ? model : notice(model, switchLine(event, session.change), "warning");
    case "context.moved":
      // what the user asked for is answered by its command
      if (event.trigger === "manual" || event.layer === "micro") return model;
      return notice(model, session.shortened(event));
    case "sched.waiting":
      // it stands where the session says what it does
      return waiting(
        running(model, at),
        event.pid === model.pid ? slotText(event, session.slot) : slotLine(event, session.slot),
      );
    case "ask":
      return waiting(running(model, at), "");
    default:
      return model;
  }
}

function logged(model: Model, event: Of<"log">): Model {
  const denial = event.message.startsWith(DENIAL) ? { isDenial: true } : {};
  return inserted(model, { kind: "notice", text: logLine(event), level: levelOf(event.level), ...denial });
}

type Of<E extends WireEvent["event"]> = Extract<WireEvent, { event: E }>;

function spawned(
  model: Model,
  { pid, model: name = "", device = "", mode, notice: why }: Of<"spawn">,
  { words }: At,
): Model {
  const known = name !== "" ? name : device.slice(device.lastIndexOf("/") + 1);
  const next = { ...model, pid, model: known, ...(mode === undefined ? {} : { mode }) };
  return why === undefined ? next : notice(next, [why, ...words.login.ways].join("\n"), "warning");
}

function running(model: Model, { mono }: At): Model {
  if (model.activity !== undefined) return model;
  return { ...model, activity: { sinceMono: mono, chars: 0, tokens: 0, waits: "" } };
}

function waiting(model: Model, waits: string): Model {
  return model.activity === undefined ? model : { ...model, activity: { ...model.activity, waits } };
}

function input(model: Model, { seq, from, client, text }: InputEvent, at: At): Model {
  const queue = model.queued.filter((each) => each.seq !== seq);
  const isMine = from === 0 && client === at.client;
  const line = from === 0 ? findShellNote(text) : undefined;
  // it starts no run, and this terminal has shown its own
  if (line !== undefined)
    return isMine ? model : inserted(model, { kind: "shell", id: `seq-${seq}`, ...line, isFinal: true });
  const { process, otherClient } = at.words.entry;
  const sender = isMine ? "" : from !== 0 ? process(from) : otherClient;
  const next = withEntries(sealed({ ...model, queued: queue, replyFrom: undefined }), [
    { kind: "user", text, from: sender },
  ]);
  return running(next, at);
}

function queued(model: Model, { seq, from, client, text }: QueuedEvent, at: At): Model {
  if (model.queued.some((each) => each.seq === seq) || findShellNote(text) !== undefined) return model;
  const isMine = from === 0 && client === at.client;
  return { ...model, queued: [...model.queued, { seq, text, isMine }] };
}

/** A preview of the reply: its blocks grow where they stand. */
function piece(model: Model, event: StreamEvent, { words }: At): Model {
  switch (event.type) {
    case "message_start": {
      const rest = begunAnew(model, words);
      return { ...rest, replyFrom: rest.entries.length };
    }
    case "content_block_start":
      return startBlock(model, event.index, event.content_block);
    case "content_block_delta": {
      const { delta } = event;
      if (delta.type === "text_delta") return grown(model, event.index, delta.text);
      if (delta.type === "thinking_delta") return grown(model, event.index, delta.thinking);
      return delta.type === "input_json_delta" ? grown(model, event.index, delta.partial_json) : model;
    }
    default:
      return model;
  }
}

function startBlock(model: Model, index: number, block: Block): Model {
  const from = model.replyFrom ?? model.entries.length;
  if (from + index !== model.entries.length) return { ...model, replyFrom: from };
  const entry = entryOf(block, false);
  return { ...withEntries({ ...model, replyFrom: from }, [entry]), activity: fresh(model) };
}

function fresh({ activity }: Model): Model["activity"] {
  return activity === undefined ? undefined : { ...activity, waits: "" };
}

function entryOf(block: Block, isDone: boolean): TranscriptEntry {
  if (block.type === "text") return { kind: "text", text: block.text, isFinal: isDone };
  if (block.type === "thinking") return { kind: "thinking", text: block.thinking, isFinal: isDone };
  if (block.type === "tool_use")
    return { kind: "call", id: block.id, tool: block.name, input: isDone ? block.input : "", isFinal: false };
  return { kind: "thinking", text: "", isFinal: true };
}

function grown(model: Model, index: number, text: string): Model {
  const at = (model.replyFrom ?? model.entries.length) + index;
  const entry = model.entries[at];
  const activity = model.activity && { ...model.activity, chars: model.activity.chars + text.length };
  if (entry === undefined) return { ...model, activity };
  const entries = model.entries.with(at, longer(entry, text));
  return { ...model, entries, activity };
}

function longer(entry: TranscriptEntry, text: string): TranscriptEntry {
  if (entry.kind === "text" || entry.kind === "thinking") return { ...entry, text: entry.text + text };
  if (entry.kind === "call" && typeof entry.input === "string")
    return { ...entry, input: entry.input + text };
  return entry;
}

/** A reply, or a part of it, that is shown already and whose calls are made again: they are noted again, too. undefined: another. */
function cameAgain({ again, ...model }: Model, content: MessageEvent["content"]): Model | undefined {
  const calls = new Set(content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])));
  if (again === undefined || calls.size === 0 || !calls.isSubsetOf(again)) return undefined;
  const entries = model.entries.slice(0, model.replyFrom).map((entry): TranscriptEntry => {
    if (entry.kind !== "call" || !calls.has(entry.id)) return entry;
    const { note: _, ...bare } = entry;
    return bare;
  });
  return { ...model, entries, replyFrom: undefined, again: again.difference(calls) };
}

/** The whole reply takes the place of its preview. What is known of its calls stays. */
function message(
  { again, ...model }: Model,
  { content, model: name, usage }: MessageEvent,
  { words }: At,
): Model {
  const repeated = again && cameAgain({ ...model, again }, content);
  if (repeated !== undefined) return repeated;
  const from = model.replyFrom ?? model.entries.length;
  const known = new Map(
    model.entries.slice(from).flatMap((entry) => (entry.kind === "call" ? [[entry.id, entry] as const] : [])),
  );
  const whole = content.map((block): TranscriptEntry => {
    const entry = entryOf(block, true);
    const before = entry.kind === "call" ? known.get(entry.id) : undefined;
    return before === undefined || entry.kind !== "call" ? entry : { ...before, input: entry.input };
  });
  const preview = model.replyFrom === undefined ? (model.cut ?? []) : model.entries.slice(from);
  const going = carried(preview, whole);
  const { cut: _, ...rest } = model;
  const entries = model.entries.slice(0, from);
  const bare = { ...rest, entries, replyFrom: undefined, model: name || model.model };
  const base = going === undefined ? notice(bare, words.entry.brokeOff) : bare;
  const { activity } = model;
  const counted = activity && {
    ...activity,
    tokens: activity.tokens + totalTokens(usage),
    chars: 0,
    waits: "",
  };
  return { ...withEntries(base, going ?? whole), activity: counted };
}

/**
 * A note names no call: it belongs to the first one of its tool that has none, best to one whose arguments have its subject, or
 * whose arguments its subject is made of. One from the history, which has none either, is taken only where no call is open.
 */
function noted(model: Model, note: CallNote): Model {
  const bare = unnoted(model, note.tool);
  const under = bare.filter(({ entry }) => !entry.isFinal);
  const found = fitting(under.length > 0 ? under : bare, note);
  if (found === undefined)
    return withEntries(model, [{ kind: "call", id: "", tool: note.tool, input: {}, note, isFinal: true }]);
  const { printed: _, ...entry } = found.entry;
  const next = { ...model, entries: model.entries.with(found.at, { ...entry, note }) };
  return note.refused === true && !entry.isFinal ? withoutDenial(next, found.at, note) : next;
}

type Called = Pick<CallNote, "tool" | "about">;

interface Placed {
  readonly entry: CallEntry;
  readonly at: number;
}

function unnoted({ entries }: Model, tool: string): readonly Placed[] {
  return entries.flatMap((entry, at) =>
    entry.kind === "call" && entry.note === undefined && calls(entry, tool) ? [{ entry, at }] : [],
  );
}

function fitting(open: readonly Placed[], called: Called): Placed | undefined {
  return (
    open.find(({ entry }) => called.about !== "" && inputText(entry).includes(called.about)) ??
    open.reduce<Placed | undefined>(
      (best, each) =>
        best === undefined || sharedWith(each.entry, called) > sharedWith(best.entry, called) ? each : best,
      undefined,
    )
  );
}

/** It stands where the call does, until the call is over. */
function printed(model: Model, { call, output, elapsed_ms }: OutputEvent, { mono }: At): Model {
  const open = unnoted(model, call.tool).filter(({ entry }) => !entry.isFinal);
  const found = fitting(open, call);
  if (found === undefined) return model;
  const entry = { ...found.entry, printed: { text: output, beganMono: mono - elapsed_ms } };
  return { ...model, entries: model.entries.with(found.at, entry) };
}

/** How much of the subject are arguments of the call, in characters. */
function sharedWith({ input: given }: CallEntry, { about }: Called): number {
  if (typeof given !== "object" || given === null) return 0;
  const texts = Object.values(given).filter((each) => typeof each === "string" && about.includes(each));
  return texts.join("").length;
}

/** The line of a refused call says it, with its reason: the log that came before it says the same. */
function withoutDenial(model: Model, call: number, { about }: CallNote): Model {
  // what stands before an open call may be on the screen for good
  const denials = model.entries.flatMap((entry, at) =>
    at > call && entry.kind === "notice" && entry.isDenial === true ? [{ entry, at }] : [],
  );
  const fitting = denials.find(({ entry }) => entry.text.includes(about)) ?? denials[0];
  if (fitting === undefined) return model;
  return { ...model, entries: model.entries.toSpliced(fitting.at, 1) };
}

/** `tool_call` is the call of the tool that it names. */
function calls(entry: CallEntry, tool: string): boolean {
  return entry.tool === tool || inputText(entry).includes(`"${tool}"`);
}

function inputText({ input: given }: CallEntry): string {
  return typeof given === "string" ? given : (JSON.stringify(given) ?? "");
}

function resulted(model: Model, { tool_use_id, content, is_error }: ToolResultEvent): Model {
  const at = model.entries.findLastIndex((entry) => entry.kind === "call" && entry.id === tool_use_id);
  const entry = model.entries[at];
  // one that was open when the daemon went has its result later
  if (entry?.kind !== "call" || entry.result !== undefined) return model;
  const isError = is_error === true ? { isError: true } : {};
  return {
    ...model,
    entries: model.entries.with(at, {
      ...entry,
      printed: undefined,
      result: content,
      ...isError,
      isFinal: true,
    }),
  };
}

function idle(model: Model, event: IdleEvent, { words: { entry } }: At): Model {
  const { outcome, message: why = "", error } = event;
  const { cut = [], ...over } = cutOff(model);
  const done = { ...sealed(over), activity: undefined };
  const said = outcome !== "completed" || isBegun(cut) ? withEntries(done, cut) : done;
  if (outcome === "completed") return said;
  if (outcome === "interrupted")
    return withEntries(said, [
      {
        kind: "notice",
        text: cut.length === 0 ? entry.interrupted : entry.interruptedReply,
        level: "warning",
        isInterrupt: true,
      },
    ]);
  return inserted(said, failureEntry({ outcome, message: why, hint: error?.hint }, entry));
}

/** A run that failed or reached a limit, as it ends and when its session is opened later. */
export function failureEntry(
  { outcome, message, hint }: Pick<WireRunFailure, "outcome" | "message"> & { hint?: string | undefined },
  words: Phrases["entry"],
): TranscriptEntry {
  const next = hint === undefined ? "" : `\n→ ${hint}`;
  return {
    kind: "notice",
    text: `${message === "" ? words.outcome[outcome] : message}${next}`,
    level: "error",
  };
}

function ended(model: Model, event: Of<"complete" | "error">): Model {
  const { cut = [], ...over } = cutOff(model);
  const done = { ...withEntries(sealed(over), isBegun(cut) ? cut : []), activity: undefined };
  const why = event.event === "error" ? event.error_message : event.exit_reason;
  const last = done.entries.at(-1);
  // the error has said it, and then the end does
  const isSaid = last?.kind === "notice" && last.level === "error" && last.text === why;
  return why === undefined || isSaid ? done : notice(done, why, "error");
}

/** The user has read the begin of a reply that ends there, which stays on the screen unless another one comes. */
function cutOff(model: Model): Model {
  if (model.replyFrom === undefined) return model;
  const cut = model.entries
    .slice(model.replyFrom)
    .flatMap((entry) =>
      entry.kind === "text" && entry.text.trim() !== "" ? [{ ...entry, isFinal: true, isCut: true }] : [],
    );
  return { ...withoutPreview(model), cut };
}

/** A reply that did not arrive in full was never said. */
function withoutPreview(model: Model): Model {
  if (model.replyFrom === undefined) return model;
  return { ...model, entries: model.entries.slice(0, model.replyFrom), replyFrom: undefined };
}

/** Without a reply that is void. What of it is on the screen stays there, so the next one is told apart from it. */
export function begunAnew(model: Model, words: Phrases): Model {
  const preview = model.replyFrom === undefined ? model.cut : model.entries.slice(model.replyFrom);
  const { cut: _, ...rest } = withoutPreview(model);
  return isBegun(preview) ? notice(rest, words.entry.brokeOff) : rest;
}

/** Nothing more is expected for what is in the transcript. */
export function sealed(model: Model): Model {
  if (model.entries.every(isFinal)) return model;
  return {
    ...model,
    entries: model.entries.map((entry) => ("isFinal" in entry ? { ...entry, isFinal: true } : entry)),
  };
}

export function notice(model: Model, text: string, level: NoticeLevel = "info"): Model {
  return inserted(model, { kind: "notice", text, level });
}

/** An entry that belongs to no reply. */
export function inserted(model: Model, entry: TranscriptEntry): Model {
  const { replyFrom } = model;
  if (replyFrom === undefined) return withEntries(model, [entry]);
  // before the reply in progress, whose blocks stand together
  return { ...model, entries: model.entries.toSpliced(replyFrom, 0, entry), replyFrom: replyFrom + 1 };
}

/** Nothing changes once the line is over. */
export function shellChanged(model: Model, id: string, change: Partial<ShellEntry>): Model {
  const at = model.entries.findLastIndex((entry) => entry.kind === "shell" && entry.id === id);
  const entry = model.entries[at];
  if (entry?.kind !== "shell" || entry.isFinal) return model;
  return { ...model, entries: model.entries.with(at, { ...entry, ...change }) };
}

/** One at a time: the one before it goes into the transcript. */
export function asideAsked(model: Model, question: string): Model {
  const { aside: before } = model;
  const aside = { kind: "aside", question, text: "", problem: "", isFinal: false } as const;
  return { ...(before === undefined ? model : inserted(model, before)), aside };
}

export function asideChanged(model: Model, change: Partial<AsideEntry>): Model {
  const { aside } = model;
  if (aside === undefined || aside.isFinal) return model;
  return asideSettled({ ...model, aside: { ...aside, ...change } });
}

/** It has its place in the transcript once its answer and the run are over. */
function asideSettled(model: Model): Model {
  const { aside, activity } = model;
  if (aside?.isFinal !== true || activity !== undefined) return model;
  return inserted({ ...model, aside: undefined }, aside);
}

function levelOf(level: string): NoticeLevel {
  return level === "error" ? "error" : level === "warn" ? "warning" : "info";
}
