/**
 * Processes brought back as they were: same pid and name, same rights and no more. Here they get all that others see of
 * them; what an agent remembers is read when it is needed (contents.ts). Synchronous: nothing changes in between.
 */

import type { Amounts } from "../../abi/budget.ts";
import { asPid, PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Message } from "../../abi/mail.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { Core } from "../../kernel/core.ts";
import type { Facts } from "../../kernel/facts/facet.ts";
import type { GroupRecord } from "../../kernel/ipc/groups.ts";
import type { JournalRecord, RecordOwner } from "../../kernel/ports/journal.ts";
import { HELD_EARLY } from "../../kernel/process/facets.ts";
import { Process } from "../../kernel/process/process.ts";
import type { ProcessSeed } from "../../kernel/process/process-seed.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";
import { lineBelow } from "../../kernel/process/spawn/seed.ts";
import { attend } from "../../kernel/process/spawn/spawn.ts";
import { wordingOf } from "../../kernel/redact/model-bound.ts";
import { secretValues } from "../../lib/secret-values.ts";
import { presentMode } from "./kept-rights.ts";
import type { SpawnedBody } from "./kept-state.ts";
import type { Shares } from "./shares.ts";

/** What is left of a process, without its history. */
export interface Remains {
  readonly owner: RecordOwner;
  readonly spawned: SpawnedBody;
  /** As its spawn recorded them. */
  readonly rights: Rights;
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

/** Of its seed, what is told for every kind of process in the same words. */
type Told =
  | ("pid" | "uuid" | "intent" | "skills" | "createdAt" | "createdMono")
  | ("cwd" | "maxSteps" | "line" | "mode");

/** What it has by its kind. */
export interface OfKind {
  readonly parent: Process;
  /** In which it may be no higher; undefined: nobody lives above it. */
  readonly highest: PermissionMode | undefined;
  readonly own: Omit<ProcessSeed, Told>;
  /** What it has beside its seed, before anybody follows it. */
  fill?(proc: Process): void;
}

/** What a part of the kernel that brings back processes of a kind of its own gets. */
export interface Left {
  readonly remains: Remains;
  readonly spawned: JournalRecord;
  /** Its newest. */
  readonly state: JournalRecord | undefined;
  readonly shares: Shares;
  /** Set aside by a process and all below it, for calls that nobody saw the end of. */
  reservedBelow(proc: ProcUuid): Amounts;
}

/** In the table. `begin`: once the records of the boot are synced. */
export interface Returned {
  readonly proc: Process;
  begin(): void;
}

/** In the table; its program has not begun. Throws when there is no room: then nothing of it is left. */
export function restore(core: Core, remains: Remains, ofKind: OfKind): Process {
  const { parent, own } = ofKind;
  const seed = { ...toldSeed(core, remains, ofKind), ...own, wording: wordingOf(core) };
  const proc = new Process(seed, parent.pid);
  core.ports.redactor?.learn(secretValues(own.env));
  proc.dial.comeBack(remains.facts.of(modeFacet)?.prior ?? null);
  core.table.add(proc);
  parent.children.add(proc.pid);
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

function toldSeed(core: Core, remains: Remains, { highest }: OfKind): Pick<ProcessSeed, Told> {
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
 * No higher than what lives above it may, unless a person gave it that; that grant is looked at once the session of an agent is
 * read.
 */
function modeNow(core: Core, remains: Remains, highest: PermissionMode | undefined): PermissionMode {
  const { spawned, facts, rights } = remains;
  const mode = facts.of(modeFacet);
  const kept = presentMode(core.ports, mode?.mode ?? readMode(spawned.mode), spawned.cwd);
  if (mode?.given === true && spawned.kind === "agent") return kept;
  return lowest(kept, rights.mode, highest);
}

/** Of a version that did not keep it: as far as it is known. */
function lineOf(core: Core, { line, ppid }: SpawnedBody): readonly Pid[] {
  if (line !== undefined) return line.map(asPid);
  const parent = core.table.get(asPid(ppid));
  if (parent !== undefined) return lineBelow(parent);
  return ppid === PID_KERNEL ? [] : [asPid(ppid)];
}

/** Takes one out again whose program has not begun. */
export function leave(core: Core, proc: Process): void {
  core.groups.leaveAll(proc);
  proc.contexts.freeAll(core.contexts);
  (core.table.get(proc.ppid) ?? core.root).children.delete(proc.pid);
  core.table.remove(proc.pid);
  proc.mailbox?.close();
  proc.watchers.end();
  proc.closeChannels();
}

function fill({ groups }: Pick<Core, "groups">, proc: Process, remains: Remains): void {
  for (const group of remains.groups) groups.restore(proc, group);
  for (const message of remains.mail) proc.ownMailbox().restore(message);
  proc.used.carryOver({ tokens: remains.tokensUsed });
  proc.facts.adopt(HELD_EARLY, remains.facts);
  proc.halt.time.carryOver(remains.ranMs);
}
