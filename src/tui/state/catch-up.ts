/** What was said before this client came, or while it was cut off, from the pages of the history. */
import { INTERRUPTED_NOTE } from "../../abi/events.ts";
import type { WireHistoryItem, WireMadeCall } from "../../abi/methods/session.ts";
import { isHouseNote } from "../../cli/screen/chat-lines.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { findShellNote } from "../../lib/text/shell-line.ts";
import { type CallEntry, type Model, type TranscriptEntry, withEntries } from "./model.ts";
import { begunAnew, failureEntry, sealed } from "./reduce.ts";

export function entriesOf(item: WireHistoryItem, { entry }: Phrases): readonly TranscriptEntry[] {
  const said = saidIn(item, entry);
  return item.end === undefined ? said : [...said, failureEntry(item.end, entry)];
}

function saidIn(
  { role, text, calls, made }: WireHistoryItem,
  { interrupted }: Phrases["entry"],
): readonly TranscriptEntry[] {
  if (text === INTERRUPTED_NOTE)
    return [{ kind: "notice", text: interrupted, level: "warning", isInterrupt: true }];
  if (role === "user" && isHouseNote(text)) return [];
  const line = role === "user" ? findShellNote(text) : undefined;
  if (line !== undefined) return [{ kind: "shell", id: "", ...line, isFinal: true }];
  if (role === "user") return [{ kind: "user", text, from: "" }];
  const done = calls.map((line, n) => callOf(line, made?.[n]));
  return text.trim() === "" ? done : [{ kind: "text", text, isFinal: true }, ...done];
}

/** A call stands in the history as its tool and its arguments, which may be cut. */
function callOf(line: string, made: WireMadeCall | undefined): CallEntry {
  const [, tool = line, json = ""] = /^(\S+) (.*)$/s.exec(line) ?? [];
  const { id = "", input = parsed(json), result, is_error } = made ?? {};
  return {
    ...{ kind: "call", id, tool, input },
    ...(result === undefined ? {} : { result }),
    ...(is_error === true ? { isError: true } : {}),
    isFinal: true,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/**
 * The model with those messages of the history that it does not have yet. Each message shown accounts for one of the same
 * words, so that nothing is shown twice and nothing is left out.
 */
export function caughtUp(model: Model, items: readonly WireHistoryItem[], words: Phrases): Model {
  const shown = new Map<string, number>();
  for (const entry of model.entries) {
    const key = keyOf(entry);
    if (key !== undefined) shown.set(key, (shown.get(key) ?? 0) + 1);
  }
  const missing = items
    .flatMap((item) => entriesOf(item, words))
    .filter((entry) => {
      const key = keyOf(entry);
      const count = key === undefined ? 0 : (shown.get(key) ?? 0);
      if (key !== undefined && count > 0) shown.set(key, count - 1);
      return count === 0;
    });
  return withEntries(model, missing);
}

/** A session, and the newest messages in it. */
export interface KnownSession {
  readonly pid: number;
  readonly items: readonly WireHistoryItem[];
}

/** The session is still being opened. */
export function knownModel(model: Model, { pid, items }: KnownSession, words: Phrases): Model {
  return caughtUp({ ...model, pid }, items, words);
}

interface Opening extends KnownSession {
  readonly isAgain: boolean;
  readonly session: { readonly state: string } | undefined;
  readonly uuid: string | undefined;
}

/** The session is there. `isAgain`: after the daemon was gone, when a message that waited may have been read. */
export function openedModel(model: Model, { isAgain, session, uuid, ...at }: Opening, words: Phrases): Model {
  const isPaused = session?.state === "paused";
  const known = { ...knownModel(model, at, words), link: "connected", isPaused, uuid } as const;
  const read = new Set(
    known.entries.slice(model.entries.length).map((entry) => ("text" in entry ? entry.text : "")),
  );
  return { ...known, queued: isAgain ? known.queued.filter(({ text }) => !read.has(text)) : known.queued };
}

/** The daemon is gone: the reply in progress will come again, whole, and so will one whose calls are open. */
export function lostModel(model: Model, words: Phrases): Model {
  const whole = begunAnew(model, words);
  const open = whole.entries.flatMap((entry) => (entry.kind === "call" && !entry.isFinal ? [entry.id] : []));
  return {
    ...sealed(whole),
    ...(open.length === 0 ? {} : { again: new Set(open) }),
    activity: undefined,
    link: "lost",
  };
}

function keyOf(entry: TranscriptEntry): string | undefined {
  if (entry.kind === "user") return `user ${entry.text.trim()}`;
  if (entry.kind === "shell") return `shell ${entry.command} ${entry.output.trim()}`;
  if (entry.kind === "text" && entry.isCut !== true) return `text ${entry.text.trim()}`;
  if (entry.kind === "call") return `call ${entry.id}`;
  if (entry.kind !== "notice") return undefined;
  if (entry.level === "error") return `error ${entry.text}`;
  return entry.isInterrupt === true ? "interrupted" : undefined;
}
