/**
 * Reads a history: the newest snapshot, the records after it, and then only the records whose bodies are needed. So the
 * cost depends on the present state of the process, not on the length of its history.
 */
import type { LogEntry } from "../../abi/events.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { Restored } from "../../abi/program.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { contextFacet, viewsOf } from "../../kernel/context/facet.ts";
import { headOf, numbersOf, type Views } from "../../kernel/context/view.ts";
import { probedOf } from "../../kernel/facts/intents.ts";
import { eachAt, missing, recordsOf } from "../../kernel/facts/records.ts";
import type { Ref } from "../../kernel/facts/refs.ts";
import { mailFacet } from "../../kernel/ipc/facets.ts";
import { logFacet } from "../../kernel/log/facet.ts";
import type { Journal, JournalRecord } from "../../kernel/ports/journal.ts";
import { progressFacet } from "../../kernel/process/facets/progress-facet.ts";
import { intentMessage, type SpawnedBody } from "../../kernel/process/kept-state.ts";
import { keptFacet } from "../../kernel/process/kept-values.ts";
import { type SeenBody, seenFacet } from "../../kernel/process/seen-file-set.ts";
import { History } from "./history.ts";

/** The part of a history that a process needs in memory. */
export interface Contents {
  readonly systemPrompt: string;
  readonly views: Views;
  /** The messages of the view, in its order, as they were written, and their numbers. */
  readonly messages: readonly ContextMessage[];
  readonly numbers: readonly number[];
  readonly restored: Restored;
  /** Values that devices keep for the process, by name. */
  readonly kept: ReadonlyMap<string, unknown>;
  /** The files it has seen, the least recently seen first. */
  readonly seen: readonly SeenBody[];
}

/** The fold of all its records, or of 1 … `atMost`. INTERNAL: a record is damaged, or its version is unknown. */
export async function readHistory(
  journal: Pick<Journal, "read" | "snapshot">,
  proc: ProcUuid,
  atMost = Infinity,
): Promise<History> {
  const history = (await snapshotOf(journal, proc, atMost)) ?? new History(proc);
  if (history.lastSeq >= atMost) return history;
  for await (const record of recordsOf(journal, proc, history.lastSeq + 1)) {
    if (record.seq > atMost) break;
    history.take(record);
    if (record.kind === "process.forked") history.remember(await originOf(journal, history));
  }
  return history;
}

/** The fold from a state record on, which stands for all records between the spawn and it. INTERNAL: as above. */
export async function readSinceState(
  journal: Pick<Journal, "read">,
  state: JournalRecord,
  spawned?: JournalRecord,
): Promise<History> {
  const history = new History(state.proc);
  if (spawned !== undefined) history.take(spawned);
  for await (const record of recordsOf(journal, state.proc, state.seq)) history.take(record);
  return history;
}

async function originOf(
  journal: Pick<Journal, "read" | "snapshot">,
  { forkedFrom, proc }: History,
): Promise<History> {
  if (forkedFrom === null) return new History(proc);
  const origin = await readHistory(journal, forkedFrom.proc, forkedFrom.at);
  if (origin.lastSeq === forkedFrom.at) return origin;
  throw missing({ proc: forkedFrom.proc, seq: origin.lastSeq + 1 });
}

/** The newest readable snapshot. Snapshots are a cache: one that cannot be read is skipped. */
async function snapshotOf(
  journal: Pick<Journal, "snapshot">,
  proc: ProcUuid,
  atMost: number,
): Promise<History | undefined> {
  for (let limit = atMost; limit > 0; ) {
    const kept = await journal.snapshot(proc, limit === Infinity ? undefined : limit);
    if (kept === undefined) return undefined;
    try {
      const history = History.from(proc, kept.state);
      if (history.lastSeq === kept.seq) return history;
    } catch {
      // tries the one before it
    }
    limit = kept.seq - 1;
  }
  return undefined;
}

export async function readContents(journal: Pick<Journal, "readAt">, history: History): Promise<Contents> {
  const { systemPrompt, messages: places, ...kept } = history.of(contextFacet);
  const views = viewsOf({ messages: places, ...kept });
  const numbers = numbersOf(views, headOf(views));
  const { place, since } = history.of(progressFacet);
  const single = async (ref: Ref | null): Promise<Record<string, unknown> | null> =>
    ref === null ? null : bodyOf((await recordsAt(journal, [ref]))[0]);
  const prompt = await single(systemPrompt);
  const state = await single(place);
  const told = await recordsAt(
    journal,
    since.flatMap((event) => (event === "effect" ? [] : ["part" in event ? event.part : event.intent])),
  );
  let next = 0;
  const events = since.map((event) => {
    if (event === "effect") return { kind: "effect" } as const;
    const body = bodyOf(told[next++]);
    if ("part" in event) return { kind: "part", part: body.part } as const;
    return { kind: "probed", probed: probedOf(event.probed, body) } as const;
  });
  return {
    systemPrompt: String(prompt?.system_prompt ?? ""),
    views,
    messages: await messagesAt(journal, places, numbers),
    numbers,
    restored: { state: state?.state ?? null, since: events },
    kept: await readKept(journal, history),
    seen: await eachAt(
      journal,
      [...history.of(seenFacet).values()],
      (record) => bodyOf(record) as unknown as SeenBody,
    ),
  };
}

/** The view of its main context: the messages from number `after` on, and how many there are in all. */
export async function readView(journal: Pick<Journal, "readAt">, history: History, after: number) {
  const { systemPrompt: _, messages: places, ...kept } = history.of(contextFacet);
  const views = viewsOf({ messages: places, ...kept });
  const all = numbersOf(views, headOf(views));
  const numbers = all.filter((n) => n > after);
  return { views, numbers, messages: await messagesAt(journal, places, numbers), shown: all.length };
}

/** The messages with these numbers, in this order. */
function messagesAt(
  journal: Pick<Journal, "readAt">,
  places: readonly Ref[],
  numbers: readonly number[],
): Promise<readonly ContextMessage[]> {
  return eachAt(
    journal,
    numbers.flatMap((n) => places[n - 1] ?? []),
    messageOf,
  );
}

type Source = Pick<Journal, "read" | "readAt" | "snapshot" | "sync">;

/** Reads messages of a process's context by their numbers, whether they are in view or not. */
export function messagesFrom(journalOf: () => Source) {
  return async (
    { seed: { uuid } }: { readonly seed: { readonly uuid: ProcUuid } },
    numbers: readonly number[],
  ): Promise<ReadonlyMap<number, ContextMessage>> => {
    const journal = journalOf();
    await journal.sync();
    const { messages: places } = (await readHistory(journal, uuid)).of(contextFacet);
    const messages = await messagesAt(journal, places, numbers);
    return new Map(numbers.map((n, i) => [n, messages[i] as ContextMessage]));
  };
}

/** The kept values, in the order in which their names were first used. */
async function readKept(
  journal: Pick<Journal, "readAt">,
  history: History,
): Promise<ReadonlyMap<string, unknown>> {
  const kept = history.of(keptFacet);
  const values = await eachAt(journal, [...kept.values()], (record) => bodyOf(record).value);
  return new Map([...kept.keys()].map((name, i) => [name, values[i]]));
}

/** Messages sent to the process and not received yet, in order. */
export async function readMail(
  journal: Pick<Journal, "readAt">,
  history: History,
): Promise<readonly Message[]> {
  const refs = [...history.of(mailFacet).values()].map((seq) => ({ proc: history.proc, seq }));
  return (await recordsAt(journal, refs)).map(({ body }) => mailOf(body));
}

/** The newest lines of its log, oldest first. */
export async function readLines(
  journal: Pick<Journal, "readAt">,
  history: History,
): Promise<readonly LogEntry[]> {
  const refs = history.of(logFacet).map((seq) => ({ proc: history.proc, seq }));
  return (await recordsAt(journal, refs)).map(({ body }) => body as LogEntry);
}

/** Converts the body of a `mail.put` record. */
export function mailOf(body: unknown): Message {
  const { data, request: _, ...message } = body as Record<string, unknown>;
  const bytes = new Uint8Array(Buffer.from(String(data), "base64"));
  return { ...message, data: bytes } as unknown as Message;
}

/** The records at `refs`, in that order. */
function recordsAt(
  journal: Pick<Journal, "readAt">,
  refs: readonly Ref[],
): Promise<readonly JournalRecord[]> {
  return eachAt(journal, refs, (record) => record);
}

function messageOf(record: JournalRecord): ContextMessage {
  const body = bodyOf(record);
  if (record.kind === "ctx.move") return body.put as ContextMessage;
  if (record.kind === "process.spawned") return intentMessage(body as Pick<SpawnedBody, "intent" | "media">);
  const { cid: _cid, replaces: _replaces, ...message } = body;
  return message as unknown as ContextMessage;
}

function bodyOf(record: JournalRecord | undefined): Record<string, unknown> {
  return (record?.body ?? {}) as Record<string, unknown>;
}
