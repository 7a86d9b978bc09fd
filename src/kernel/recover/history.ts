/**
 * What the records of a process come to. Pure: records in, in their order. It holds places of records, never their words: so
 * a long history folds into little, and what is kept of the fold (a snapshot) is small. A record that cannot be understood
 * whole is an error, for what is left out would be missing from the process.
 */
import { Fault } from "../../abi/errors.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import type { Probed } from "../../abi/program.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { microUsd } from "../../lib/usd.ts";
import type { DenialState } from "../ask/denials.ts";
import type { CircuitState } from "../classify/circuit.ts";
import type { GroupRecord } from "../ipc/groups.ts";
import { readLabels, uniteLabels, withoutLabels } from "../labels/label-set.ts";
import { LIMITS } from "../limits.ts";
import type { JournalRecord, RecordKind } from "../ports/journal.ts";
import { isLoading, isModelCall, isProbed } from "./intents.ts";
import { packRefs, type RecordRange, type Ref, unpackRefs } from "./refs.ts";

/**
 * What followed the last checkpoint: a part of it, an effect that began, what a later daemon found of one. Effects that follow
 * one another are one.
 */
type Since = { readonly part: Ref } | { readonly probed: Probed["outcome"]; readonly intent: Ref } | "effect";

/** Plain data: what a snapshot keeps. */
interface HistoryState {
  /** Of this form. */
  readonly v: 1;
  readonly lastSeq: number;
  readonly forkedFrom: { readonly proc: ProcUuid; readonly at: number } | null;
  readonly systemPrompt: Ref | null;
  /** Runs of places, each of one process. */
  readonly messages: readonly RecordRange[];
  readonly steps: number;
  readonly place: Ref | null;
  readonly since: readonly Since[];
  /** Of messages sent and not received: number and seq. */
  readonly mail: readonly (readonly [number, number])[];
  readonly groups: readonly GroupRecord[];
  readonly log: readonly number[];
  /** Names and places of what devices keep; absent in snapshots of earlier versions. */
  readonly kept?: readonly (readonly [string, Ref])[];
  /** Of files seen: the path and its newest record. Absent in snapshots of earlier versions. */
  readonly seen?: readonly (readonly [path: string, Ref])[];
  readonly epoch?: number;
  readonly tokensUsed: number;
  /** Absent: 0. */
  readonly microUsdUsed?: number;
  readonly limitUsed: number;
  readonly ran: Ran;
  readonly recoveredMs: number | null;
  readonly endedBy: Signal | null;
  /** Questions without an answer: id and digest. Absent: none. */
  readonly asks?: readonly (readonly [string, string])[];
  /** Of the session that it began. Absent: nothing was denied. */
  readonly denials?: DenialState;
  /** Absent: it has none. */
  readonly labels?: readonly Label[];
  readonly circuit?: CircuitState;
}

/** How long it ran, pauses and the time between two daemons not counted. Wall clock, ms: for a deadline it is near enough. */
interface Ran {
  readonly beforeMs: number;
  /** null: it is paused, or has ended. */
  readonly since: number | null;
  readonly until: number;
}

type Body = Record<string, unknown>;

export class History {
  readonly proc: ProcUuid;
  lastSeq = 0;
  forkedFrom: HistoryState["forkedFrom"] = null;
  /** null: it has none. */
  systemPrompt: Ref | null = null;
  /** Its first context. Others it made itself are its program's to make again. */
  messages: Ref[] = [];
  /** Replies of the model. */
  steps = 0;
  /** The last checkpoint; null: it told nothing. */
  place: Ref | null = null;
  since: Since[] = [];
  /** Sent, and not received, by rising number. */
  mail = new Map<number, number>();
  groups = new Map<number, GroupRecord>();
  /** The newest lines that it said. */
  log: number[] = [];
  /** What devices keep for it, by name. */
  kept = new Map<string, Ref>();
  /** Files that it has seen, the least recently seen first. */
  readonly seen = new RecentMap<string, Ref>(LIMITS.seenFiles);
  /** How often a message of its context was replaced. */
  epoch = 0;
  /** By its own calls. */
  tokensUsed = 0;
  microUsdUsed = 0;
  /** Of its own limit, by it and all below it. */
  limitUsed = 0;
  ran: Ran = { beforeMs: 0, since: null, until: 0 };
  /** How long it had run when the newest daemon took it over; null: a signal has said it since, or there was but one. */
  recoveredMs: number | null = null;
  /** It was told to end, and has not yet; null: it was not. */
  endedBy: Signal | null = null;
  /** Questions to a person without an answer: their digests, by id. */
  asks = new Map<string, string>();
  /** Of the session that it began; null: nothing was denied. */
  denials: DenialState | null = null;
  /** Of what it has read. */
  labels: readonly Label[] = [];
  circuit: CircuitState | null = null;

  constructor(proc: ProcUuid) {
    this.proc = proc;
  }

  /** INVALID: no state of this form. */
  static from(proc: ProcUuid, kept: unknown): History {
    const state = kept as HistoryState;
    if (state?.v !== 1) throw new Fault({ code: "INVALID", message: "a snapshot of another form" });
    const history = new History(proc);
    history.lastSeq = state.lastSeq;
    history.forkedFrom = state.forkedFrom;
    history.systemPrompt = state.systemPrompt;
    history.messages = unpackRefs(state.messages);
    history.steps = state.steps;
    history.place = state.place;
    history.since = [...state.since];
    history.mail = new Map(state.mail);
    history.groups = new Map(state.groups.map((group) => [group.group, group]));
    history.log = [...state.log];
    history.kept = new Map(state.kept ?? []);
    for (const [path, ref] of state.seen ?? []) history.seen.set(path, ref);
    history.epoch = state.epoch ?? 0;
    history.tokensUsed = state.tokensUsed;
    history.microUsdUsed = state.microUsdUsed ?? 0;
    history.limitUsed = state.limitUsed;
    history.ran = state.ran;
    history.recoveredMs = state.recoveredMs;
    history.endedBy = state.endedBy;
    history.asks = new Map(state.asks ?? []);
    history.denials = state.denials ?? null;
    history.labels = readLabels(state.labels);
    history.circuit = state.circuit ?? null;
    return history;
  }

  get state(): HistoryState {
    const { lastSeq, forkedFrom, systemPrompt, messages, steps, place, since, log } = this;
    const { tokensUsed, microUsdUsed, limitUsed, ran, recoveredMs, endedBy } = this;
    const [mail, groups] = [[...this.mail], [...this.groups.values()]];
    const remembered = { systemPrompt, messages: packRefs(messages), steps, place, since: [...since] };
    const kept = this.kept.size === 0 ? {} : { kept: [...this.kept] };
    const seen = [...this.seen.entries()];
    const files = seen.length === 0 && this.epoch === 0 ? {} : { seen, epoch: this.epoch };
    const asked = {
      ...(this.asks.size === 0 ? {} : { asks: [...this.asks] }),
      ...(this.denials === null ? {} : { denials: this.denials }),
      ...(this.labels.length === 0 ? {} : { labels: this.labels }),
      ...(this.circuit === null ? {} : { circuit: this.circuit }),
    };
    const own = {
      mail,
      groups,
      log: [...log],
      ...kept,
      ...files,
      ...asked,
      tokensUsed,
      ...(microUsdUsed === 0 ? {} : { microUsdUsed }),
      limitUsed,
      ran,
      recoveredMs,
      endedBy,
    };
    return { v: 1, lastSeq, forkedFrom, ...remembered, ...own };
  }

  /** Without pauses, in ms. */
  get ranMs(): number {
    return ranMs(this.ran);
  }

  /** A fork remembers what its origin did up to the place of the fork. What else that had it has not. */
  remember(origin: History): void {
    this.systemPrompt = origin.systemPrompt;
    this.messages = [...origin.messages];
    this.steps = origin.steps;
    this.place = origin.place;
    this.since = [...origin.since];
    this.kept = new Map(origin.kept);
    this.labels = origin.labels;
    this.epoch = origin.epoch;
    for (const [path, ref] of origin.seen.entries()) this.seen.set(path, ref);
  }

  /** Errors: INTERNAL for a record of another version, and for one whose body was too large to be kept. */
  take(record: JournalRecord): void {
    const { kind, v, lsn, seq, at, body } = record;
    const fold = FOLDS[kind];
    if (fold !== undefined) {
      const known = (body ?? {}) as Body;
      if (v < 1 || v > (VERSIONS[kind] ?? 1))
        throw unreadable(`record ${lsn} (${kind}) has version ${v}, which is not known here`);
      if ("omitted" in known) throw unreadable(`record ${lsn} (${kind}) was not kept: ${known.omitted}`);
      fold(this, known, { proc: this.proc, seq }, record);
    }
    this.lastSeq = seq;
    this.ran = { ...this.ran, until: at };
  }

  /** A message is replaced by its number, from 1. */
  context({ system_prompt, cid, replaces, role }: Body, ref: Ref): void {
    if (cid !== undefined) return;
    if (system_prompt !== undefined) this.systemPrompt = ref;
    else if (replaces !== undefined) {
      this.messages[Number(replaces) - 1] = ref;
      this.epoch++;
    } else {
      this.messages.push(ref);
      if (role === "assistant") this.steps++;
    }
  }

  checkpoint(body: Body, ref: Ref): void {
    if ("part" in body) this.since.push({ part: ref });
    else {
      this.place = ref;
      this.since = [];
    }
  }

  effect(): void {
    if (this.since.at(-1) !== "effect") this.since.push("effect");
  }

  /** `intent`: its record, of this history. */
  probe(outcome: Probed["outcome"], intent: number): void {
    this.since.push({ probed: outcome, intent: { proc: this.proc, seq: intent } });
  }

  run(at: number, beforeMs = this.ranMs): void {
    this.ran = { beforeMs, since: at, until: at };
  }

  stop(at: number, beforeMs = this.ranMs): void {
    this.ran = { beforeMs, since: null, until: at };
  }
}

/** By default. */
const ENDS: ReadonlySet<unknown> = new Set([SIGNALS.SIGTERM, SIGNALS.SIGKILL, SIGNALS.SIGINT]);

type Fold = (history: History, body: Body, ref: Ref, record: JournalRecord) => void;

/** Bodies that have changed since version 1. */
const VERSIONS: Partial<Record<RecordKind, number>> = { "process.state": 2 };

const FOLDS: Partial<Record<RecordKind, Fold>> = {
  "process.forked": (history, { from, at }) => {
    history.forkedFrom = { proc: from as ProcUuid, at: Number(at) };
  },
  // what a fork is for was said to its origin
  "process.spawned": (history, { intent, labels }, ref, { at }) => {
    history.labels = uniteLabels(history.labels, readLabels(labels));
    if (history.forkedFrom === null && intent !== "") history.messages.push(ref);
    history.run(at, 0);
  },
  "process.state": () => {},
  "label.add": (history, { labels }) => {
    history.labels = uniteLabels(history.labels, readLabels(labels));
  },
  "label.clear": (history, { which }) => {
    history.labels = withoutLabels(history.labels, String(which));
  },
  "process.recovered": (history, _body, _ref, { at }) => {
    history.recoveredMs = history.ranMs;
    if (history.ran.since !== null) history.run(at);
  },
  "permit.ask": ({ asks }, { requestId, digest }) => {
    if (typeof requestId === "string" && typeof digest === "string") asks.set(requestId, digest);
  },
  "permit.answer": ({ asks }, { requestId }) => void asks.delete(String(requestId)),
  "permit.denials": (history, body) => {
    history.denials = body as unknown as DenialState;
  },
  "permit.circuit": (history, body) => {
    history.circuit = body as unknown as CircuitState;
  },
  "process.exited": (history, _body, _ref, { at }) => {
    history.asks.clear();
    history.endedBy = null;
    history.stop(at);
  },
  "process.kept": ({ kept }, { name, value }, ref) => {
    if (value === null) kept.delete(String(name));
    else kept.set(String(name), ref);
  },
  "process.checkpoint": (history, body, ref) => history.checkpoint(body, ref),
  "ctx.record": (history, body, ref) => history.context(body, ref),
  "call.intent": (history, body) => {
    if (!isModelCall(body) && !isLoading(body)) history.effect();
  },
  "call.result": (history, body) => {
    spend(history, body);
    if (isProbed(body)) history.probe(body.probed, body.intent);
  },
  "call.unknown": spend,
  "file.seen": ({ seen }, { path }, ref) => seen.set(String(path), ref),
  "acct.settle": (history, { used }) => {
    history.limitUsed = Number(used);
  },
  "mail.put": (history, { seq }, ref) => void history.mail.set(Number(seq), ref.seq),
  "mail.done": (history, { seq }) => void history.mail.delete(Number(seq)),
  "group.join": (history, body) =>
    void history.groups.set(Number(body.group), body as unknown as GroupRecord),
  "group.leave": (history, { group }) => void history.groups.delete(Number(group)),
  "process.log": ({ log }, _body, { seq }) => {
    log.push(seq);
    if (log.length > LIMITS.logEntries) log.shift();
  },
  signal: (history, { signal, disposition, paused, ranMs: told }, _ref, { at }) => {
    if (disposition === "default" && ENDS.has(signal)) history.endedBy = signal as Signal;
    const beforeMs = typeof told === "number" ? told : history.ranMs;
    history.recoveredMs = null;
    if (paused === true) history.stop(at, beforeMs);
    else history.run(at, beforeMs);
  },
};

function ranMs({ beforeMs, since, until }: Ran): number {
  // a wall clock that was set back takes nothing away
  return beforeMs + (since === null ? 0 : Math.max(0, until - since));
}

function spend(history: History, { cost }: Body): void {
  const { tokens = 0, usd = 0 } = (cost ?? {}) as { tokens?: number; usd?: number | null };
  history.tokensUsed += tokens;
  history.microUsdUsed += microUsd(usd ?? 0);
}

function unreadable(message: string): Fault {
  return new Fault({ code: "INTERNAL", message });
}
