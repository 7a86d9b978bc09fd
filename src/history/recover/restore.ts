/**
 * Restores processes as they were: same pid and name, same rights and no more. This file restores all that others see
 * of a process; the context of an agent is read when it is needed (contents.ts). Synchronous: nothing changes in
 * between.
 */

import type { Amounts } from "../../abi/budget.ts";
import { asPid, PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { ContextSpaces } from "../../kernel/context/spaces.ts";
import type { Facts } from "../../kernel/facts/facet.ts";
import type { GroupRecord, Groups } from "../../kernel/ipc/groups.ts";
import type { JournalRecord, RecordOwner } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { Process } from "../../kernel/process/process.ts";
import type { ProcessSeed } from "../../kernel/process/process-seed.ts";
import { presentMode } from "../../kernel/process/rights/kept-rights.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";
import { lineBelow } from "../../kernel/process/spawn/seed.ts";
import { type Attending, attend } from "../../kernel/process/spawn/spawn.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { type Redacting, wordingOf } from "../../kernel/redact/model-bound.ts";
import { secretValues } from "../../lib/redact/secret-values.ts";
import { HELD_EARLY } from "./facets.ts";
import type { Shares } from "./shares.ts";

/** What restoring a process needs of the kernel. */
export type Rebuilding = Attending &
  Redacting & {
    readonly ports: Pick<KernelPorts, "clock" | "permitFor">;
    readonly table: Pick<ProcessTable, "add" | "get" | "remove">;
    readonly groups: Pick<Groups, "leaveAll" | "restore">;
    readonly contexts: ContextSpaces;
  };

/** The records of a process that are needed to restore it, without its history. */
export interface Remains {
  readonly owner: RecordOwner;
  readonly spawned: SpawnedBody;
  /** The rights recorded at its spawn. */
  readonly rights: Rights;
  readonly mail: readonly Message[];
  readonly groups: readonly GroupRecord[];
  readonly tokensUsed: number;
  /** null: not known before its history is read. */
  readonly microUsdUsed: number | null;
  /** By it and all below it, as their rows tell. */
  readonly spentInTree: Amounts;
  /** The run time in ms, as exactly as known. */
  readonly ranMs: number;
  readonly facts: Facts;
  /** The age in ms, as age.ts counts it. */
  readonly ageMs: number;
  readonly isPaused: boolean;
}

/** The fields of a seed that are restored in the same way for every kind of process. */
type Told =
  | ("pid" | "uuid" | "intent" | "skills" | "createdAt" | "createdMono")
  | ("cwd" | "maxSteps" | "line" | "mode");

/** The parts of a process that depend on its kind. */
export interface OfKind {
  readonly parent: Process;
  /** The highest mode allowed, that of its parent; undefined: no parent is in memory. */
  readonly highest: PermissionMode | undefined;
  readonly own: Omit<ProcessSeed, Told>;
  /** Restores what is not in the seed, before any client can follow the process. */
  fill?(proc: Process): void;
}

/** The input for restoring a supervisor (src/supervise). */
export interface Left {
  readonly remains: Remains;
  readonly spawned: JournalRecord;
  /** Its newest `process.state` record. */
  readonly state: JournalRecord | undefined;
  readonly shares: Shares;
  /** The amounts reserved by a process and all its descendants for calls without a result. */
  reservedBelow(proc: ProcUuid): Amounts;
}

/** A process in the table. `begin` is called once the records of the boot are synced. */
export interface Returned {
  readonly proc: Process;
  begin(): void;
}

/**
 * Adds the process to the table; its program has not begun. Throws when there is no room, and then undoes everything.
 */
export function restore(core: Rebuilding, remains: Remains, ofKind: OfKind): Process {
  const { parent, own } = ofKind;
  const seed = { ...toldSeed(core, remains, ofKind), ...own, wording: wordingOf(core) };
  const proc = new Process(seed, parent.pid);
  core.ports.redactor?.learn(secretValues(own.env));
  proc.dial.comeBack(remains.facts.of(modeFacet)?.prior ?? null);
  core.table.add(proc);
  try {
    fill(core, proc, remains);
    ofKind.fill?.(proc);
  } catch (error) {
    leave(core, proc);
    throw error;
  }
  if (remains.isPaused) proc.pause(core.ports.clock.mono());
  attend(core, proc);
  return proc;
}

function toldSeed(core: Rebuilding, remains: Remains, { highest }: OfKind): Pick<ProcessSeed, Told> {
  const { owner, spawned, ageMs } = remains;
  const { intent, skills, createdAt, cwd, maxSteps } = spawned;
  return {
    pid: owner.pid,
    uuid: owner.proc,
    intent,
    skills,
    createdAt: new Date(createdAt),
    createdMono: core.ports.clock.mono() - ageMs,
    cwd,
    maxSteps,
    line: lineOf(core, spawned),
    mode: modeNow(core, remains, highest),
  };
}

/**
 * The mode is no higher than that of the parent, unless the user granted it; the grant is checked once the session of
 * an agent is read.
 */
function modeNow(core: Rebuilding, remains: Remains, highest: PermissionMode | undefined): PermissionMode {
  const { spawned, facts, rights } = remains;
  const mode = facts.of(modeFacet);
  const kept = presentMode(core.ports, mode?.mode ?? readMode(spawned.mode), spawned.cwd);
  if (mode?.given === true && spawned.kind === "agent") return kept;
  return lowest(kept, rights.mode, highest);
}

/** The pids above the process. Older versions did not record them: then as far as they are known. */
function lineOf(core: Rebuilding, { line, ppid }: SpawnedBody): readonly Pid[] {
  if (line !== undefined) return line.map(asPid);
  const parent = core.table.get(asPid(ppid));
  if (parent !== undefined) return lineBelow(parent);
  return ppid === PID_KERNEL ? [] : [asPid(ppid)];
}

/** Removes a restored process whose program has not begun. */
export function leave(core: Rebuilding, proc: Process): void {
  core.groups.leaveAll(proc);
  proc.contexts.freeAll(core.contexts);
  core.table.remove(proc.pid);
  proc.mailbox?.close();
  proc.watchers.end();
  proc.closeChannels();
}

function fill({ groups }: Pick<Rebuilding, "groups">, proc: Process, remains: Remains): void {
  for (const group of remains.groups) groups.restore(proc, group);
  for (const message of remains.mail) proc.ownMailbox().restore(message);
  proc.used.carryOver({ tokens: remains.tokensUsed, microUsd: remains.microUsdUsed ?? 0 });
  proc.facts.adopt(HELD_EARLY, remains.facts);
  proc.halt.time.carryOver(remains.ranMs);
}
