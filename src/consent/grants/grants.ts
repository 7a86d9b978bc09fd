/**
 * What persons have permitted, beside settings and what a process was given at its spawn. A grant is journalled and synced
 * before it counts, sealed, and looked at anew at every passage of the gate: one that is taken back, spent or out of date
 * counts no more from the next passage on. A deny counts at once.
 */
import { Fault } from "../../abi/errors.ts";
import type { Grant, GrantBy, GrantScope, GrantView } from "../../abi/grants.ts";
import { type CallId, PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { JournalWatch } from "../../kernel/journal-watch.ts";
import { LIMITS } from "../../kernel/limits.ts";
import {
  type Journal,
  type JournalDraft,
  KERNEL_UUID,
  type RecordOwner,
} from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type Allows, type Granted, necessary } from "../../kernel/process/rights/granted.ts";
import type { Session } from "../../kernel/process/session.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { type Grantee, GrantList } from "./grant-list.ts";
import { readGrant, sealed } from "./grant-record.ts";
import { meaningOf } from "./meaning.ts";
import { ceilingOf, isOfMode } from "./mode-grant.ts";

/** What a person permits. */
export interface GrantWish {
  readonly behavior: Grant["behavior"];
  /** As in settings. */
  readonly rule: string;
  readonly scope: GrantScope;
  readonly by: GrantBy;
  /** For `project`; absent: where the process works. */
  readonly root?: string;
  /** Wall clock, ms. */
  readonly expiresAt?: number;
  /** Absent: 1 for `once`, else without a bound. */
  readonly uses?: number;
  readonly requestId?: string;
}

interface Adding {
  /** The caller waits no longer. Absent: the end of the process. */
  readonly signal?: AbortSignal;
  /** The call whose question it answers. */
  readonly call?: CallId;
  /** Records that are one unit with it. */
  readonly alongside?: readonly JournalDraft[];
}

/** A call under way that may end when what it relied on is taken back. */
interface Open {
  readonly proc: Process;
  readonly allows: Allows;
  readonly end: () => void;
}

type Ports = Pick<KernelPorts, "clock" | "grantKey" | "journal" | "log" | "nonce" | "realPath">;

const NOTHING: Granted = { allow: [], deny: [], ask: [] };

/** Taken back not long ago: whoever reads an older journal at this moment leaves them out. */
const REMOVED_KEPT = 1_000;

export class Grants {
  readonly #ports: Ports;
  readonly #table: ProcessTable;
  readonly #journalWatch: JournalWatch;
  /** Of no session. */
  readonly #wide = new GrantList();
  readonly #loaded = new WeakSet<Session>();
  readonly #removed = new Set<string>();
  readonly #open = new Set<Open>();

  constructor(ports: Ports, table: ProcessTable, journalWatch: JournalWatch) {
    this.#ports = ports;
    this.#table = table;
    this.#journalWatch = journalWatch;
  }

  /** Resolves when it is synced, and counts. INVALID: the rule. UNAVAILABLE: there are too many, or the disk refuses. */
  async add(proc: Process, wish: GrantWish, { signal, call, alongside = [] }: Adding = {}): Promise<Grant> {
    const { list, home } = this.#homeOf(proc, wish.scope);
    checkRule(wish.rule);
    if (list.isFull) throw tooMany();
    const grant = this.#made(proc, wish);
    const draft: JournalDraft = {
      ...home,
      kind: "grant.add",
      v: 1,
      body: sealed(grant, home.proc, this.#ports.grantKey),
      ...(call === undefined ? {} : { call }),
    };
    // stricter at once; if it cannot be kept, it holds while the daemon lives
    if (grant.behavior !== "allow") list.add(grant);
    await this.#journalWatch.append(proc, "Grant", signal ?? proc.abort.signal, [draft, ...alongside]);
    list.add(grant);
    return grant;
  }

  /** Of one process, or all that are in memory. A session that rests answers from the journal. NOT_FOUND: no such process. */
  async list(pid?: Pid): Promise<readonly GrantView[]> {
    if (pid === undefined) return [...this.#sessions()].flatMap(viewsOf).concat(this.#wide.views(PID_KERNEL));
    const proc = this.#table.get(pid);
    if (proc === undefined) return viewsOf(await this.#resting(pid));
    await this.load(proc.seed.session);
    const now = this.#ports.clock.now();
    const ids = new Set(this.#applying(proc, now).map(({ id }) => id));
    const all = viewsOf(proc.seed.session).concat(this.#wide.views(PID_KERNEL));
    return all.filter(({ id }) => ids.has(id));
  }

  /**
   * It binds from the next passage of the gate on; with `isKilling` calls that only it allowed end too. `pid`: a process of its
   * session, where that rests. NOT_FOUND.
   */
  async remove(
    id: string,
    by: GrantBy,
    { pid, isKilling = false }: { pid?: Pid; isKilling?: boolean } = {},
  ): Promise<void> {
    this.#journalWatch.check("Grant");
    const found = this.#find(id) ?? (pid === undefined ? undefined : await this.#findResting(id, pid));
    if (found === undefined) throw unknown(id);
    const { list, home } = found;
    const before = isKilling ? this.#relying() : [];
    const grant = list.find(id);
    // stricter at once
    if (grant?.behavior === "allow") this.#drop(list, id);
    await this.#ports.journal.append([{ ...home, kind: "grant.remove", v: 1, body: { id, by } }]);
    this.#drop(list, id);
    // it came back into memory meanwhile
    for (const session of this.#sessions()) session.grants.remove(id);
    for (const open of before) if (!open.allows(this.of(open.proc))) open.end();
  }

  /** The denies and asks that bind a process, also one that rests. */
  async bounds(pid: Pid): Promise<Pick<Granted, "deny" | "ask">> {
    const live = this.#table.get(pid);
    if (live !== undefined) {
      await this.load(live.seed.session);
      return this.of(live);
    }
    const { grants } = await this.#resting(pid);
    const who = await granteeOf(this.#ports.journal, pid);
    const now = this.#ports.clock.now();
    return grantedBy([...grants.of(who, now), ...this.#wide.of(who, now)]);
  }

  /** Reads those of a session that an earlier daemon, or an earlier stay in memory, was given. Twice is once. */
  async load(session: Session): Promise<void> {
    const { owner } = session;
    if (owner === null || this.#loaded.has(session)) return;
    await this.#read(owner.proc, session.grants);
    this.#loaded.add(session);
  }

  /** Those that outlive sessions. Called once, before anything comes back. */
  async recover(): Promise<void> {
    await this.#read(KERNEL_UUID, this.#wide);
  }

  of(proc: Process): Granted {
    const { session } = proc.seed;
    if (session.grants.size === 0 && this.#wide.size === 0) return NOTHING;
    return grantedBy(this.#applying(proc, this.#ports.clock.now()));
  }

  /** What a person approved in words, with a plan: it says nothing to the policy. */
  meanings(proc: Process): readonly string[] {
    const all = this.#applying(proc, this.#ports.clock.now());
    return all.flatMap((grant) => meaningOf(grant) ?? []);
  }

  /** The highest mode it may be in: by its rights, or by what a person gave since. */
  ceiling(proc: Process): PermissionMode {
    return ceilingOf(proc.seed.rights.mode, this.#applying(proc, this.#ports.clock.now()));
  }

  /**
   * In the same turn as a decision to allow: those that are counted, and without which it would not have been allowed, have
   * one use less. Noted: no intent is synced before it.
   */
  spend(proc: Process, allows: Allows): void {
    const counted = this.#applying(proc, this.#ports.clock.now()).filter(
      ({ uses, behavior }) => uses !== undefined && behavior === "allow",
    );
    if (counted.length === 0) return;
    const granted = this.of(proc);
    for (const { id, scope } of necessary(counted, granted, allows)) {
      const { list, home } = this.#homeOf(proc, scope);
      list.use(id);
      this.#ports.journal.note([{ ...home, kind: "grant.use", v: 1, body: { id } }]);
    }
  }

  /** While a call is under way; the result ends that. `end`: what it started ends. */
  attend(proc: Process, allows: Allows, end: () => void): () => void {
    const open = { proc, allows, end };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /** Calls that are allowed as things stand now. */
  #relying(): readonly Open[] {
    return [...this.#open].filter(({ proc, allows }) => allows(this.of(proc)));
  }

  #applying(proc: Process, now: number): readonly Grant[] {
    const { line, cwd, session } = proc.seed;
    const who = { pid: proc.pid, line, cwd };
    return [...session.grants.of(who, now), ...this.#wide.of(who, now)];
  }

  #made(proc: Process, wish: GrantWish): Grant {
    const ports = this.#ports;
    const { behavior, rule, scope, by, expiresAt, requestId = "" } = wish;
    const uses = wish.uses ?? (scope === "once" ? 1 : undefined);
    const isOwn = scope === "once" || scope === "process" || scope === "subtree";
    return {
      id: `g_${ports.nonce()}`,
      at: ports.clock.now(),
      by,
      behavior,
      rule,
      scope,
      ...(isOwn ? { pid: proc.pid } : {}),
      ...(scope === "project" ? { root: ports.realPath(wish.root ?? proc.seed.cwd) } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(uses === undefined ? {} : { uses }),
      requestId,
    };
  }

  /** In the history of the session's own process, whichever of its descendants it is for: there a later daemon looks for it. */
  #homeOf({ seed }: Process, scope: GrantScope): { list: GrantList; home: RecordOwner } {
    const { owner, grants } = seed.session;
    if (scope === "project" || scope === "user")
      return { list: this.#wide, home: { proc: KERNEL_UUID, pid: PID_KERNEL } };
    if (owner !== null) return { list: grants, home: owner };
    throw new Fault({ code: "INVALID", message: "the kernel itself needs no grants" });
  }

  #find(id: string): { list: GrantList; home: RecordOwner } | undefined {
    if (this.#wide.has(id)) return { list: this.#wide, home: { proc: KERNEL_UUID, pid: PID_KERNEL } };
    for (const { owner, grants } of this.#sessions())
      if (owner !== null && grants.has(id)) return { list: grants, home: owner };
    return undefined;
  }

  async #findResting(id: string, pid: Pid): Promise<{ list: GrantList; home: RecordOwner } | undefined> {
    const { owner, grants } = await this.#resting(pid);
    return owner !== null && grants.has(id) ? { list: grants, home: owner } : undefined;
  }

  /** As the journal has it; nothing of it stays in memory. */
  async #resting(pid: Pid): Promise<Pick<Session, "owner" | "grants">> {
    const { journal } = this.#ports;
    const live = this.#table.get(pid);
    if (live !== undefined) {
      await this.load(live.seed.session);
      return live.seed.session;
    }
    const proc = await journal.processOf(pid);
    if (proc === undefined) throw noProcess(pid);
    const state = (await journal.ofKind(proc, "process.state")).at(-1)?.body as
      | { session?: RecordOwner }
      | undefined;
    const owner = state?.session ?? { proc, pid };
    const grants = new GrantList();
    await this.#read(owner.proc, grants);
    return { owner, grants };
  }

  *#sessions(): Generator<Session> {
    const seen = new Set<Session>();
    for (const { seed } of this.#table.all()) {
      if (seen.has(seed.session)) continue;
      seen.add(seed.session);
      yield seed.session;
    }
  }

  async #read(proc: ProcUuid, list: GrantList): Promise<void> {
    const { journal, grantKey, log } = this.#ports;
    for (const kind of ["grant.add", "grant.use", "grant.remove"] as const) {
      for (const record of await journal.ofKind(proc, kind)) {
        const event = readGrant(record, grantKey);
        if (event.kind === "bad") log("warn", `pid ${record.pid}: ${event.why}`);
        else if (event.kind !== "add" || !this.#removed.has(event.grant.id)) list.take(event);
      }
    }
  }

  #drop(list: GrantList, id: string): void {
    list.remove(id);
    this.#removed.add(id);
    const [oldest] = this.#removed;
    if (this.#removed.size > REMOVED_KEPT && oldest !== undefined) this.#removed.delete(oldest);
  }
}

function grantedBy(grants: readonly Grant[]): Granted {
  const rules = grants.filter((grant) => !isOfMode(grant) && meaningOf(grant) === undefined);
  const texts = (behavior: "deny" | "ask"): RuleText[] =>
    rules
      .filter((grant) => grant.behavior === behavior)
      .map(({ rule }) => ({ source: "session", behavior, text: rule }));
  const allow = rules.filter(({ behavior }) => behavior === "allow").map(({ rule }) => rule);
  return { allow, deny: texts("deny"), ask: texts("ask") };
}

/** Of one that is not in memory, by its records. */
async function granteeOf(journal: Journal, pid: Pid): Promise<Grantee> {
  const proc = await journal.processOf(pid);
  const [spawned] = proc === undefined ? [] : await journal.ofKind(proc, "process.spawned");
  const {
    line = [],
    ppid = 0,
    cwd = "",
  } = (spawned?.body ?? {}) as { line?: Pid[]; ppid?: Pid; cwd?: string };
  return { pid, cwd, line: line.length > 0 || ppid === 0 ? line : [ppid as Pid] };
}

function viewsOf({ owner, grants }: Pick<Session, "owner" | "grants">): readonly GrantView[] {
  return grants.views(owner?.pid ?? PID_KERNEL);
}

function checkRule(rule: string): void {
  if (rule.trim() === "") throw new Fault({ code: "INVALID", message: "the rule is empty" });
  if (rule.length <= LIMITS.ruleChars) return;
  const message = `a rule has at most ${LIMITS.ruleChars} characters, not ${rule.length}`;
  throw new Fault({ code: "INVALID", message });
}

function tooMany(): Fault {
  const message = `${LIMITS.sessionGrants} grants are held already`;
  return new Fault({
    code: "UNAVAILABLE",
    message,
    fact: { kind: "grants_full" },
  });
}

function unknown(id: string): Fault {
  return new Fault({
    code: "NOT_FOUND",
    message: `no grant ${id.slice(0, 100)}`,
    fact: { kind: "no_grant" },
  });
}

function noProcess(pid: Pid): Fault {
  return new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_history", pid },
  });
}
