/**
 * Processes brought back from their histories, as they were: same pid and name, same rights and no more, paused. What several
 * of them share (a limit, the grants of a session) is shared again, also where its owner did not come back.
 */
import { Fault } from "../../abi/errors.ts";
import { asPid, PID_KERNEL, type ProcUuid } from "../../abi/ids.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import { Mailbox } from "../ipc/mailbox.ts";
import { LIMITS } from "../limits.ts";
import type { JournalRecord, RecordOwner } from "../ports/journal.ts";
import { History, type SpawnedBody } from "./history.ts";
import { agentOf, type KeptAccounts, type KeptState } from "./kept-state.ts";
import { recordsOf } from "./log-history.ts";
import { Process, type ProcessSeed } from "./process.ts";
import { freeContexts } from "./reap.ts";
import { restoredBody } from "./restored-body.ts";
import { Session } from "./session.ts";
import { attend } from "./spawn.ts";

/** In the table and paused; its program has not begun. */
export interface Revived {
  readonly proc: Process;
  /** 0: none. */
  readonly timeoutMs: number;
  /** It had an fd 1. */
  readonly hadOutput: boolean;
}

/** What a daemon that died had set aside for model calls without a result: it counts as spent. */
export interface OpenTokens {
  readonly byProcess: ReadonlyMap<ProcUuid, number>;
  /** By the owner of the limit. */
  readonly byLimit: ReadonlyMap<ProcUuid, number>;
}

/** A history that is enough to go on from. */
interface Whole {
  readonly history: History;
  readonly spawned: SpawnedBody;
  readonly kept: KeptState;
}

/** One pass at boot; parents come before their children. */
export class Restoration {
  readonly #core: Core;
  readonly #open: OpenTokens;
  readonly #histories = new Map<ProcUuid, Promise<History>>();
  readonly #limits = new Map<ProcUuid, Account>();
  readonly #sessions = new Map<ProcUuid, Session>();

  constructor(core: Core, open: OpenTokens) {
    this.#core = core;
    this.#open = open;
  }

  /** Limits of which more is used than the journal says so far. */
  get unsettled(): readonly Account[] {
    return [...this.#limits].filter(([proc]) => this.#open.byLimit.has(proc)).map(([, account]) => account);
  }

  /** Rejects when it cannot be as it was: then nothing of it is left. */
  async revive({ proc: uuid, pid }: JournalRecord): Promise<Revived> {
    const whole = wholeOf(await this.#historyOf(uuid));
    const { spawned, kept } = whole;
    const parent = this.#core.table.get(asPid(spawned.ppid));
    if (parent === undefined && spawned.ppid !== PID_KERNEL && kept.onParentExit === "terminate")
      throw lost("it ends with its parent, which did not come back");
    const above = parent?.seed.account ?? (await this.#limitAbove(spawned.accounts));
    const session = parent?.seed.session ?? (await this.#session(kept.session));
    const account = await this.#ownAccount({ proc: uuid, pid }, whole, above);
    const seed = this.#seedOf({ proc: uuid, pid }, whole, account, session);
    const proc = new Process(seed, parent?.pid ?? PID_KERNEL);
    this.#enter(proc, parent ?? this.#core.root, whole);
    return { proc, timeoutMs: kept.timeoutMs, hadOutput: kept.hasOutput };
  }

  #historyOf(uuid: ProcUuid): Promise<History> {
    const known = this.#histories.get(uuid) ?? readHistory(this.#core, uuid);
    this.#histories.set(uuid, known);
    return known;
  }

  async #session(owner: RecordOwner): Promise<Session> {
    const known = this.#sessions.get(owner.proc);
    const session = known ?? new Session(owner, (await this.#historyOf(owner.proc)).grants);
    this.#sessions.set(owner.proc, session);
    return session;
  }

  /** The nearest of the limits that it spent from, with those above it. */
  async #limitAbove([nearest, ...above]: KeptAccounts["accounts"]): Promise<Account> {
    if (nearest === undefined) return this.#core.root.seed.account;
    return this.#limit(nearest, nearest.limit, await this.#limitAbove(above));
  }

  async #limit({ proc, pid }: RecordOwner, limit: number, above: Account): Promise<Account> {
    const known = this.#limits.get(proc);
    if (known !== undefined) return known;
    const { limitUsed } = await this.#historyOf(proc);
    const used = limitUsed + (this.#open.byLimit.get(proc) ?? 0);
    const account = new Account(above, limit, { proc, pid }, used);
    this.#limits.set(proc, account);
    return account;
  }

  async #ownAccount(owner: RecordOwner, { history, spawned }: Whole, above: Account): Promise<Account> {
    if (spawned.budget > 0) return this.#limit(owner, spawned.budget, above);
    return new Account(above, 0, owner, this.#tokensOf(owner.proc, history));
  }

  #tokensOf(uuid: ProcUuid, history: History): number {
    return history.tokensUsed + (this.#open.byProcess.get(uuid) ?? 0);
  }

  #seedOf(owner: RecordOwner, { spawned, kept }: Whole, account: Account, session: Session): ProcessSeed {
    const { clock, scratchDir, env } = this.#core.ports;
    const { intent, skills, createdAt, cwd, mode, allowedDevices, maxSteps } = spawned;
    const agent = agentOf(kept);
    const scratch = scratchDir(owner.proc);
    return {
      pid: owner.pid,
      uuid: owner.proc,
      kind: "agent",
      body: restoredBody(agent, kept.servers),
      intent,
      agent,
      skills,
      createdAt: new Date(createdAt),
      createdMono: clock.mono() - Math.max(0, clock.now() - createdAt),
      cwd,
      roots: kept.roots,
      scratch,
      env: { ...env, CRUX_SCRATCH: scratch },
      mode,
      allowedDevices,
      maxSteps,
      account,
      session,
      onParentExit: kept.onParentExit,
    };
  }

  #enter(proc: Process, parent: Process, whole: Whole): void {
    const core = this.#core;
    core.table.add(proc);
    parent.children.add(proc.pid);
    try {
      this.#fill(proc, whole);
    } catch (error) {
      core.groups.leaveAll(proc);
      freeContexts(core, proc);
      parent.children.delete(proc.pid);
      core.table.remove(proc.pid);
      throw error;
    }
  }

  #fill(proc: Process, { history, spawned }: Whole): void {
    const core = this.#core;
    proc.ctxId = core.contexts.alloc(LIMITS.contextMessages);
    proc.contexts.add(proc.ctxId);
    core.contexts.setSystemPrompt(proc.ctxId, history.systemPrompt);
    for (const message of history.messages) core.contexts.append(proc.ctxId, message);
    for (const group of history.groups.values()) core.groups.restore(proc, group);
    if (history.mail.size > 0) proc.mailbox = mailboxOf(history);
    proc.model = spawned.model;
    proc.modelDevice = spawned.modelDevice;
    proc.result = history.result;
    proc.tokensUsed = this.#tokensOf(proc.seed.uuid, history);
    proc.restored = history.restored;
    proc.isRestorable = true;
    proc.lendEnv = lender(proc);
    proc.carryOver(history.ranMs);
    for (const entry of history.log) proc.logs?.emit(entry);
    attend(core, proc);
    proc.pause(core.ports.clock.mono());
  }
}

async function readHistory(core: Core, uuid: ProcUuid): Promise<History> {
  const history = new History();
  for await (const record of recordsOf(core.ports.journal, uuid)) history.take(record);
  return history;
}

function wholeOf(history: History): Whole {
  const { spawned, kept, restored } = history;
  if (spawned === null || kept === null)
    throw lost("too little of it was kept, or it was a supervised child");
  if (kept.hasInput && restored.state === null) throw lost("it had not read its input to the end");
  return { history, spawned, kept };
}

function mailboxOf({ mail }: History): Mailbox {
  const box = new Mailbox();
  for (const message of mail.values()) box.restore(message);
  return box;
}

/** The daemon's own environment serves until a client's takes its place. */
function lender({ seed }: Process): (env: Readonly<Record<string, string>>) => void {
  const env = seed.env as Record<string, string>;
  return (lent) => {
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, lent, { CRUX_SCRATCH: seed.scratch });
  };
}

function lost(message: string): Fault {
  return new Fault({ code: "UNAVAILABLE", message });
}
