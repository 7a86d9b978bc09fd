/**
 * What the user has permitted, beside the settings and the rights given at the spawn. An allow is sealed, journalled
 * and synced before it applies. Grants are read again at every passage of the gate: one that is revoked, spent or
 * expired no longer applies from the next passage on. A deny applies at once.
 */
import { Fault } from "../../abi/errors.ts";
import type { Grant, GrantBy, GrantScope, GrantView } from "../../abi/grants.ts";
import { type CallId, PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { RuleText } from "../../abi/rules.ts";
import { LIMITS } from "../../kernel/limits.ts";
import {
  type Journal,
  type JournalDraft,
  KERNEL_UUID,
  type RecordOwner,
} from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type Grantee, GrantList } from "../../kernel/process/rights/grant-list.ts";
import { type Allows, type Granted, necessary } from "../../kernel/process/rights/granted.ts";
import { ceilingOf, isOfMode } from "../../kernel/process/rights/mode-grant.ts";
import type { Session } from "../../kernel/process/session.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { readGrant, sealed } from "./grant-record.ts";
import { meaningOf } from "./meaning.ts";

/** A grant that the user wants to add. */
export interface GrantWish {
  readonly behavior: Grant["behavior"];
  /** A rule as in the settings. */
  readonly rule: string;
  readonly scope: GrantScope;
  readonly by: GrantBy;
  /** For `project`; absent: the folder in which the process works. */
  readonly root?: string;
  /** Wall clock, ms. */
  readonly expiresAt?: number;
  /** Absent: 1 for `once`, otherwise unlimited. */
  readonly uses?: number;
  readonly requestId?: string;
  /** A later daemon does not know it. */
  readonly isLent?: boolean;
}

interface Adding {
  /** Cancels the wait for the disk. Absent: the signal of the process. */
  readonly signal?: AbortSignal;
  /** The call whose question the grant answers. */
  readonly call?: CallId;
  /** Records appended as one unit with the grant. */
  readonly alongside?: readonly JournalDraft[];
}

/** A running call that may be stopped when the grant it relied on is revoked. */
interface Open {
  readonly proc: Process;
  readonly allows: Allows;
  readonly end: () => void;
}

/** Waits for a disk that refuses writes. */
interface Watch {
  check(syscall: string): void;
  append(
    proc: Process,
    syscall: string,
    signal: AbortSignal,
    drafts: readonly JournalDraft[],
  ): ReturnType<Journal["append"]>;
}

type Ports = Pick<KernelPorts, "clock" | "grantKey" | "journal" | "log" | "nonce" | "realPath">;

const NOTHING: Granted = { allow: [], deny: [], ask: [] };

/** How many revoked grants are remembered, so that a concurrent read of older journal records leaves them out. */
const REMOVED_KEPT = 1_000;

export class Grants {
  readonly #ports: Ports;
  readonly #table: ProcessTable;
  readonly #journalWatch: Watch;
  /** Grants that outlive sessions. */
  readonly #wide = new GrantList();
  readonly #loaded = new WeakSet<Session>();
  readonly #removed = new Set<string>();
  readonly #open = new Set<Open>();

  constructor(ports: Ports, table: ProcessTable, journalWatch: Watch) {
    this.#ports = ports;
    this.#table = table;
    this.#journalWatch = journalWatch;
  }

  /** Resolves when it is synced and applies. INVALID: the rule. UNAVAILABLE: too many grants, or the disk refuses. */
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
    // a deny or ask applies at once; if it cannot be recorded, it holds as long as the daemon lives
    if (grant.behavior !== "allow") list.add(grant);
    await this.#journalWatch.append(proc, "Grant", signal ?? proc.abort.signal, [draft, ...alongside]);
    list.add(grant);
    // its end counts from now on
    this.#applying(proc);
    return grant;
  }

  /**
   * The grants of one process, or all in memory. Those of a resting session come from the journal. NOT_FOUND: no such
   * process.
   */
  async list(pid?: Pid): Promise<readonly GrantView[]> {
    if (pid === undefined) return [...this.#sessions()].flatMap(viewsOf).concat(this.#wide.views(PID_KERNEL));
    const proc = this.#table.get(pid);
    if (proc === undefined) return viewsOf(await this.#resting(pid));
    await this.load(proc.seed.session);
    const ids = new Set(this.#applying(proc).map(({ id }) => id));
    const all = viewsOf(proc.seed.session).concat(this.#wide.views(PID_KERNEL));
    return all.filter(({ id }) => ids.has(id));
  }

  /**
   * Takes effect at the next passage of the gate; with `isKilling`, running calls that only it allowed end too. `pid`:
   * a process of its session, needed if the session rests. NOT_FOUND.
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
    // revoking an allow applies at once
    if (grant?.behavior === "allow") this.#drop(list, id);
    await this.#ports.journal.append([{ ...home, kind: "grant.remove", v: 1, body: { id, by } }]);
    this.#drop(list, id);
    // the session may have come back into memory meanwhile
    for (const session of this.#sessions()) session.grants.remove(id);
    for (const open of before) if (!open.allows(this.of(open.proc))) open.end();
  }

  /** The deny and ask grants that apply to a process, even a resting one. */
  async bounds(pid: Pid): Promise<Pick<Granted, "deny" | "ask">> {
    const live = this.#table.get(pid);
    if (live !== undefined) {
      await this.load(live.seed.session);
      return this.of(live);
    }
    const { grants } = await this.#resting(pid);
    const who = await granteeOf(this.#ports.journal, pid);
    const { clock } = this.#ports;
    return grantedBy([...grants.of(who, clock), ...this.#wide.of(who, clock)]);
  }

  /** Reads the grants that a session got under an earlier daemon, or before it last left memory. Idempotent. */
  async load(session: Session): Promise<void> {
    const { owner } = session;
    if (owner === null || this.#loaded.has(session)) return;
    await this.#read(owner.proc, session.grants);
    this.#loaded.add(session);
  }

  /** Reads the grants that outlive sessions. Called once, before any process is restored. */
  async recover(): Promise<void> {
    await this.#read(KERNEL_UUID, this.#wide);
  }

  of(proc: Process): Granted {
    const { session } = proc.seed;
    if (session.grants.size === 0 && this.#wide.size === 0) return NOTHING;
    return grantedBy(this.#applying(proc));
  }

  /** Approvals that the user gave in words, with a plan: they are no rules for the policy. */
  meanings(proc: Process): readonly string[] {
    const all = this.#applying(proc);
    return all.flatMap((grant) => meaningOf(grant) ?? []);
  }

  /** The highest mode it may be in: by its rights, or by later grants of the user. */
  ceiling(proc: Process): PermissionMode {
    return ceilingOf(proc.seed.rights.mode, this.#applying(proc));
  }

  /**
   * Called in the same turn as a decision to allow: spends one use of each counted grant without which the call would
   * not have been allowed. The records are only noted: no intent is synced before them. Returns whether there are any.
   */
  spend(proc: Process, allows: Allows): boolean {
    const counted = this.#applying(proc).filter(
      ({ uses, behavior }) => uses !== undefined && behavior === "allow",
    );
    if (counted.length === 0) return false;
    const spent = necessary(counted, this.of(proc), allows);
    for (const { id, scope } of spent) {
      const { list, home } = this.#homeOf(proc, scope);
      list.use(id);
      this.#ports.journal.note([{ ...home, kind: "grant.use", v: 1, body: { id } }]);
    }
    return spent.length > 0;
  }

  /** Registers a running call; the result unregisters it. `end`: stops what the call started. */
  attend(proc: Process, allows: Allows, end: () => void): () => void {
    const open = { proc, allows, end };
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /** Running calls that the current grants allow. */
  #relying(): readonly Open[] {
    return [...this.#open].filter(({ proc, allows }) => allows(this.of(proc)));
  }

  #applying(proc: Process): readonly Grant[] {
    const { line, cwd, session } = proc.seed;
    const who = { pid: proc.pid, line, cwd };
    const { clock } = this.#ports;
    return [...session.grants.of(who, clock), ...this.#wide.of(who, clock)];
  }

  #made(proc: Process, wish: GrantWish): Grant {
    const ports = this.#ports;
    const { behavior, rule, scope, by, expiresAt, requestId = "", isLent = false } = wish;
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
      ...(isLent ? { epoch: ports.journal.epoch } : {}),
      requestId,
    };
  }

  /**
   * The history of the session's own process, even for grants to its descendants: a later daemon looks for them there.
   */
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

  /** The grants of a resting session, from the journal; they are not kept in memory. */
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
        else if (event.kind !== "add" || this.#isKept(event.grant)) list.take(event);
      }
    }
  }

  /** False: it was removed meanwhile, or was lent by a connection to an earlier daemon. */
  #isKept({ id, epoch }: Grant): boolean {
    return !this.#removed.has(id) && (epoch === undefined || epoch === this.#ports.journal.epoch);
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

/** The grantee of a process that is not in memory, from its records. */
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
