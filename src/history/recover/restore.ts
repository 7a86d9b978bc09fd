/**
 * Processes brought back as they were: same pid and name, same rights and no more. Here they get all that others see of
 * them; what they remember is read when it is needed (restore-contents.ts). Synchronous: nothing changes in between.
 */
import { asPid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { limitsAtSpawn } from "../../kernel/account/kept-account.ts";
import type { Core } from "../../kernel/core.ts";
import type { Facts } from "../../kernel/facts/facet.ts";
import type { GroupRecord } from "../../kernel/ipc/groups.ts";
import { Mailbox } from "../../kernel/ipc/mailbox.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { RecordOwner } from "../../kernel/ports/journal.ts";
import { closeChannels, freeContexts } from "../../kernel/process/end/reap.ts";
import { HELD_EARLY } from "../../kernel/process/facets.ts";
import { Process, type ProcessSeed } from "../../kernel/process/process.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";
import { lineBelow } from "../../kernel/process/spawn/seed.ts";
import { attend } from "../../kernel/process/spawn/spawn.ts";
import type { Turnstile } from "../../kernel/process/turnstile.ts";
import { secretValues } from "../../lib/secret-values.ts";
import { recallWith } from "./contents.ts";
import type { History } from "./history.ts";
import { presentMode, rightsOf } from "./kept-rights.ts";
import { agentOf, type KeptState, type SpawnedBody } from "./kept-state.ts";
import { restoredBody } from "./restored-body.ts";
import type { Shares } from "./shares.ts";

/** What is left of a process, without its history. */
export interface Remains {
  readonly owner: RecordOwner;
  readonly spawned: SpawnedBody;
  readonly kept: KeptState;
  readonly mail: readonly Message[];
  readonly groups: readonly GroupRecord[];
  readonly tokensUsed: number;
  /** Milliseconds, as near as it is known. */
  readonly ranMs: number;
  readonly facts: Facts;
  /** As age.ts counts. */
  readonly ageMs: number;
  readonly isPaused: boolean;
}

export interface Restoring {
  readonly shares: Shares;
  /** Who reads their histories. */
  readonly turnstile: Turnstile;
  /** Of the client that brings it back; absent: the daemon's own serves until a client's takes its place. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onHistory?: (proc: Process, history: History) => void;
}

/** In the table; its program has not begun. Throws when there is no room: then nothing of it is left. */
export function restore(core: Core, remains: Remains, restoring: Restoring): Process {
  const { owner, spawned, kept } = remains;
  const parent = core.table.get(asPid(spawned.ppid));
  const { shares } = restoring;
  const above = parent?.seed.account ?? shares.above(spawned.accounts);
  const session = parent?.seed.session ?? shares.session(kept.session);
  if (kept.isInteractive) session.approvers.expect(core.ports.clock.mono());
  const own = { tokens: remains.tokensUsed, depth: spawned.depth ?? 0 };
  const account = shares.account(owner, limitsAtSpawn(spawned), () => above, own);
  account.work.atLeast(account.limits.wallMs === undefined ? 0 : remains.ranMs);
  const seed = { ...seedOf(core, remains, restoring), account, session };
  const proc = new Process(seed, parent?.pid ?? PID_KERNEL);
  core.ports.redactor?.learn(secretValues(seed.env));
  proc.wording = (text) => core.ports.redactor?.redact(text) ?? text;
  if (proc.mode === "plan") proc.priorMode = remains.facts.of(modeFacet)?.prior ?? null;
  enter(core, proc, parent ?? core.root, () => fill(core, proc, remains, restoring));
  return proc;
}

function seedOf(core: Core, remains: Remains, { env }: Restoring): Omit<ProcessSeed, "account" | "session"> {
  const { owner, spawned, kept, ageMs } = remains;
  const { clock, scratchDir } = core.ports;
  const { intent, skills, createdAt, cwd, maxSteps } = spawned;
  const agent = agentOf(kept);
  const scratch = scratchDir(owner.proc);
  return {
    pid: owner.pid,
    uuid: owner.proc,
    kind: "agent",
    body: restoredBody(agent, kept),
    intent,
    agent,
    skills,
    createdAt: new Date(createdAt),
    createdMono: clock.mono() - ageMs,
    cwd,
    roots: kept.roots,
    scratch,
    env: { ...(env ?? core.ports.env), CRUX_SCRATCH: scratch },
    rights: rightsOf(spawned),
    mode: modeNow(core, remains),
    line: lineOf(core, spawned),
    maxSteps,
    onParentExit: kept.onParentExit,
    ...(kept.isSession ? { isSession: true } : {}),
    ...(kept.client === "" ? {} : { client: kept.client }),
  };
}

/** No higher than what lives above it may, unless a person gave it that; that grant is looked at once its session is read. */
function modeNow(core: Core, { spawned, facts }: Remains): PermissionMode {
  const { ppid, cwd } = spawned;
  const mode = facts.of(modeFacet);
  const kept = presentMode(core, mode?.mode ?? readMode(spawned.mode), cwd);
  if (mode?.given === true) return kept;
  return lowest(kept, rightsOf(spawned).mode, core.table.get(asPid(ppid))?.mode);
}

/** Of a version that did not keep it: as far as it is known. */
function lineOf(core: Core, { line, ppid }: SpawnedBody): readonly Pid[] {
  if (line !== undefined) return line.map(asPid);
  const parent = core.table.get(asPid(ppid));
  if (parent !== undefined) return lineBelow(parent);
  return ppid === PID_KERNEL ? [] : [asPid(ppid)];
}

function enter(core: Core, proc: Process, parent: Process, fillIn: () => void): void {
  core.table.add(proc);
  parent.children.add(proc.pid);
  try {
    fillIn();
  } catch (error) {
    leave(core, proc);
    throw error;
  }
}

/** Takes one out again whose program has not begun. */
export function leave(core: Core, proc: Process): void {
  core.groups.leaveAll(proc);
  freeContexts(core, proc);
  (core.table.get(proc.ppid) ?? core.root).children.delete(proc.pid);
  core.table.remove(proc.pid);
  proc.mailbox?.close();
  proc.watchers.end();
  closeChannels(proc);
}

function fill(core: Core, proc: Process, remains: Remains, restoring: Restoring): void {
  proc.ctxId = core.contexts.alloc(LIMITS.contextMessages);
  proc.contexts.add(proc.ctxId);
  for (const group of remains.groups) core.groups.restore(proc, group);
  if (remains.mail.length > 0) proc.mailbox = mailboxOf(remains.mail);
  proc.model = remains.spawned.model;
  proc.modelDevice = remains.spawned.modelDevice;
  proc.tokensUsed = remains.tokensUsed;
  proc.facts.adopt(HELD_EARLY, remains.facts);
  proc.isRestorable = true;
  proc.lendEnv = lender(core, proc);
  proc.carryOver(remains.ranMs);
  const { onHistory = () => {} } = restoring;
  proc.recall = recallWith(core, proc, restoring.turnstile, (history) => onHistory(proc, history));
  if (remains.isPaused) proc.pause(core.ports.clock.mono());
  attend(core, proc);
}

function mailboxOf(mail: readonly Message[]): Mailbox {
  const box = new Mailbox();
  for (const message of mail) box.restore(message);
  return box;
}

/** What it has now, the daemon's own or a client's, serves until another client's takes its place. */
function lender(core: Core, { seed }: Process): (env: Readonly<Record<string, string>>) => void {
  const env = seed.env as Record<string, string>;
  return (lent) => {
    core.ports.redactor?.learn(secretValues(lent));
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, lent, { CRUX_SCRATCH: seed.scratch });
  };
}
