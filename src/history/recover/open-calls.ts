/**
 * Calls that the last daemon left without a result. For some, the files show the outcome (fork/probe.ts); for the
 * others it is unknown. The outcome is recorded, the whole reserved amount counts as spent, and no call is repeated.
 */
import type { Amounts } from "../../abi/budget.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Probed } from "../../abi/program.ts";
import { NOTHING, plus } from "../../kernel/account/amounts.ts";
import { useOfKept } from "../../kernel/account/kept-account.ts";
import { isLoading, isModelCall, type ProbedBody } from "../../kernel/facts/intents.ts";
import type { Journal, JournalDraft, JournalRecord, RecordOwner } from "../../kernel/ports/journal.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { usdOf } from "../../lib/usd.ts";
import type { KeptOf } from "./shares.ts";

interface Spent {
  readonly owner: RecordOwner;
  readonly amounts: Amounts;
}

export class OpenCalls {
  readonly #records: readonly JournalRecord[];
  readonly #probed: ReadonlyMap<JournalRecord, Probed["outcome"]>;
  readonly #byProcess = new Map<ProcUuid, Amounts>();
  readonly #byLimit = new Map<ProcUuid, Spent>();
  readonly #above: ReadonlyMap<ProcUuid, ProcUuid | undefined>;
  readonly #below = new Map<ProcUuid, Amounts>();
  #all: Amounts = NOTHING;
  /** Names of the tools with unknown outcome, by process. Model calls are left out: they only cost money. */
  readonly #tools = new Map<ProcUuid, string[]>();
  readonly #loading = new Set<ProcUuid>();

  /**
   * `spenders`: `process.spawned` records of the calling processes, which name the accounts that the calls spend from.
   */
  constructor(
    records: readonly JournalRecord[],
    spenders: readonly JournalRecord[],
    probed: ReadonlyMap<JournalRecord, Probed["outcome"]>,
  ) {
    this.#records = records;
    this.#probed = probed;
    const spawned = new Map(spenders.map(({ proc, body }) => [proc, body as Partial<SpawnedBody>]));
    const byPid = new Map(spenders.map(({ pid, proc }) => [Number(pid), proc]));
    this.#above = new Map(spenders.map(({ proc, body }) => [proc, byPid.get((body as SpawnedBody).ppid)]));
    for (const record of records) this.#take(record, spawned.get(record.proc));
  }

  get size(): number {
    return this.#records.length;
  }

  /** Amounts reserved for calls of this process. */
  of(proc: ProcUuid): Amounts {
    return this.#byProcess.get(proc) ?? NOTHING;
  }

  /** Amounts reserved from the account that this process owns. */
  ofAccount(proc: ProcUuid): Amounts {
    return this.#byLimit.get(proc)?.amounts ?? NOTHING;
  }

  /** Amounts reserved by the process and all its descendants, whatever their accounts. */
  below(proc: ProcUuid): Amounts {
    return this.#below.get(proc) ?? NOTHING;
  }

  /** Amounts reserved by all open calls. */
  get all(): Amounts {
    return this.#all;
  }

  /** Its history was being read when the daemon ended. */
  isMarked(proc: ProcUuid): boolean {
    return this.#loading.has(proc);
  }

  /** A text for the user: `2 calls have an unknown outcome: bash, edit`; "" for none. */
  wordsOf(proc: ProcUuid): string {
    const tools = this.#tools.get(proc) ?? [];
    if (tools.length === 0) return "";
    const named = [...new Set(tools)].slice(0, 5).join(", ");
    return tools.length === 1
      ? `1 call has an unknown outcome: ${named}`
      : `${tools.length} calls have an unknown outcome: ${named}`;
  }

  /** `keptOf` returns the kept use of an account, not counting these calls. */
  drafts(keptOf: KeptOf): JournalDraft[] {
    const settled = [...this.#byLimit.values()].flatMap(({ owner, amounts }): JournalDraft[] => {
      const kept = keptOf(owner.proc);
      if (kept?.isKept !== true) return [];
      return [{ ...owner, kind: "acct.settle", v: 1, body: useOfKept(kept, amounts) }];
    });
    return [...this.#records.map((record) => ended(record, this.#probed.get(record))), ...settled];
  }

  #take(record: JournalRecord, spawned: Partial<SpawnedBody> = {}): void {
    const { proc, pid, body } = record;
    if (isLoading(body)) {
      this.#loading.add(proc);
      return;
    }
    if (!isModelCall(body) && !this.#probed.has(record))
      this.#tools.set(proc, [...(this.#tools.get(proc) ?? []), toolOf(body)]);
    const amounts = reservedBy(record);
    if (amounts.tokens === 0) return;
    const { accounts = [] } = spawned;
    this.#all = plus(this.#all, amounts);
    this.#byProcess.set(proc, plus(this.of(proc), amounts));
    for (const owner of [{ proc, pid }, ...accounts]) {
      const sum = plus(this.ofAccount(owner.proc), amounts);
      this.#byLimit.set(owner.proc, { owner: { proc: owner.proc, pid: owner.pid }, amounts: sum });
    }
    for (let at: ProcUuid | undefined = proc; at !== undefined; at = this.#above.get(at))
      this.#below.set(at, plus(this.below(at), amounts));
  }
}

/**
 * The `process.spawned` records of ended processes with open calls. A process ended by force ends before its calls, and
 * the amounts reserved for them still count as spent.
 */
export async function endedSpenders(
  journal: Journal,
  open: readonly JournalRecord[],
  unfinished: readonly JournalRecord[],
): Promise<readonly JournalRecord[]> {
  const live = new Set(unfinished.map(({ proc }) => proc));
  const ended = open.filter((call) => reservedBy(call).tokens > 0 && !live.has(call.proc));
  const spawned: JournalRecord[] = [];
  for (const proc of new Set(ended.map((call) => call.proc)))
    spawned.push(...(await journal.ofKind(proc, "process.spawned")));
  return spawned;
}

function toolOf(intent: unknown): string {
  return String((intent as { tool?: unknown }).tool ?? "").slice(0, 100) || "a call";
}

/** A model call without a result counts as an answered one. */
function reservedBy({ body }: Pick<JournalRecord, "body">): Amounts {
  const { reserved = 0, reservedUsd = 0 } = body as { reserved?: number; reservedUsd?: number };
  return { tokens: reserved, microUsd: reservedUsd, steps: reserved > 0 && isModelCall(body) ? 1 : 0 };
}

/** The closing record of a call. Its true cost is unknown, so all that was reserved counts. */
function ended(record: JournalRecord, probed: Probed["outcome"] | undefined): JournalDraft {
  const { proc, pid, call } = record;
  const { tokens, microUsd } = reservedBy(record);
  const usd = microUsd === 0 ? null : usdOf(microUsd);
  const cost = tokens === 0 ? {} : { cost: { tokens, usd }, estimated: true };
  const of = { proc, pid, v: 1, ...(call === undefined ? {} : { call }) } as const;
  if (probed === undefined) return { ...of, kind: "call.unknown", body: cost };
  const found: ProbedBody = { probed, intent: record.seq };
  const outcome = probed === "done" ? { ok: true } : { ok: false, code: "CANCELLED", message: NOT_BEGUN };
  return { ...of, kind: "call.result", body: { ...outcome, ...found, ...cost } };
}

const NOT_BEGUN = "the daemon ended before anything was changed";
