/** The process of a supervisor that comes back: the same name, below whom it was, with the rights it had and no more. */
import { asPid, PID_KERNEL } from "../abi/ids.ts";
import type { PermissionMode } from "../abi/process.ts";
import { ageMs } from "../history/recover/age.ts";
import { presentMode, rightsOf } from "../history/recover/kept-rights.ts";
import type { SpawnedBody } from "../history/recover/kept-state.ts";
import { Shares } from "../history/recover/shares.ts";
import type { Account } from "../kernel/account/account.ts";
import type { Core } from "../kernel/core.ts";
import type { Facts } from "../kernel/facts/facet.ts";
import type { JournalRecord, ProcessRow } from "../kernel/ports/journal.ts";
import type { Body } from "../kernel/process/body.ts";
import { Process } from "../kernel/process/process.ts";
import { type KeptMode, modeFacet, readMode } from "../kernel/process/rights/mode-facet.ts";
import { lowest, narrow } from "../kernel/process/rights/narrow.ts";
import { devicesOf } from "../kernel/process/rights/rights.ts";
import { lineBelow } from "../kernel/process/spawn/seed.ts";
import { attend } from "../kernel/process/spawn/spawn.ts";
import type { KeptSupervisor } from "./kept-supervisor.ts";
import { Supervisor } from "./supervisor.ts";

/** Where it stands. */
export interface TreePosition {
  readonly parent: Process;
  /** The supervisor above it, that came back before it, and which of its children it is. */
  readonly above: { readonly supervisor: Supervisor; readonly id: string } | null;
  /** Of whose rights its children get part; null: its own. */
  readonly rights: Process | null;
}

/** undefined: its place is gone; whoever is above it starts another. */
export function placeOf(core: Core, { body }: JournalRecord, kept: KeptSupervisor): TreePosition | undefined {
  const { ppid } = body as SpawnedBody;
  const parent = core.table.get(asPid(ppid));
  if (kept.nestedAs === null) {
    const rights = kept.rights === "person" ? core.root : null;
    return { parent: parent ?? core.root, above: null, rights };
  }
  const supervisor = core.supervisors.get(asPid(ppid));
  if (parent === undefined || !(supervisor instanceof Supervisor)) return undefined;
  return { parent, above: { supervisor, id: kept.nestedAs }, rights: supervisor.rights ?? parent };
}

interface Restored {
  readonly place: TreePosition;
  readonly account: Account;
  readonly body: Body;
  readonly row: ProcessRow | undefined;
  readonly facts: Facts;
}

/** Not in the table yet. */
export function processOf(
  core: Core,
  { proc: uuid, pid, body }: JournalRecord,
  kept: KeptSupervisor,
  { place, account, body: own, row, facts }: Restored,
): Process {
  const { clock, env } = core.ports;
  const spawned = body as SpawnedBody;
  const { parent } = place;
  const giver = place.rights ?? parent;
  const isPersons = giver.pid === PID_KERNEL;
  const rights = rightsOf(spawned);
  const shares = new Shares(core, () => undefined);
  return new Process(
    {
      pid,
      uuid,
      kind: "supervisor",
      body: own,
      intent: spawned.intent,
      agent: null,
      skills: spawned.skills,
      createdAt: new Date(spawned.createdAt),
      createdMono: clock.mono() - ageMs(spawned, row),
      cwd: spawned.cwd,
      roots: kept.roots,
      scratch: "",
      env: isPersons ? env : giver.seed.env,
      rights: isPersons ? rights : narrow({ ...giver.seed.rights, devices: devicesOf(giver) }, rights),
      mode: modeOf(core, spawned, facts.of(modeFacet), giver),
      line: spawned.line?.map(asPid) ?? lineBelow(parent),
      maxSteps: spawned.maxSteps,
      account,
      session:
        parent.pid === PID_KERNEL ? shares.session(kept.session ?? { proc: uuid, pid }) : parent.seed.session,
      onParentExit: kept.onParentExit,
    },
    parent.pid,
  );
}

/** `isPaused`, `ranMs`: by its row. */
export function enterTable(
  core: Core,
  proc: Process,
  parent: Process,
  row: { readonly isPaused: boolean; readonly ranMs: number } | undefined,
): void {
  core.table.add(proc);
  parent.children.add(proc.pid);
  proc.carryOver(row?.ranMs ?? 0);
  if (row?.isPaused === true) proc.pause(core.ports.clock.mono());
  attend(core, proc);
}

function modeOf(
  core: Core,
  spawned: SpawnedBody,
  kept: KeptMode | undefined,
  giver: Process,
): PermissionMode {
  const mode = presentMode(core, kept?.mode ?? readMode(spawned.mode), spawned.cwd);
  return lowest(mode, rightsOf(spawned).mode, giver.mode);
}
