/**
 * The permission mode of a process, and the only code that changes it. Lowering needs no approval, applies at once, and
 * lowers all descendants too; raising changes no other process. Above what its rights and its parent allow, only the
 * user raises it, with a grant.
 */

import { Fault } from "../../../abi/errors.ts";
import type { GrantBy } from "../../../abi/grants.ts";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import type { JournalDraft } from "../../ports/journal.ts";
import type { JournalHold } from "../../ports/journal-hold.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { ModeView } from "../../ports/rights-control.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { autoRefusal } from "./auto-mode.ts";
import type { KeptMode } from "./mode-facet.ts";
import { ruleOfMode } from "./mode-grant.ts";
import { isAbove, lowest } from "./narrow.ts";

/** What a change of mode needs of the kernel. */
export interface ModeKernel {
  readonly ports: Pick<KernelPorts, "classifier" | "clock" | "journal" | "models" | "permitFor">;
  readonly table: Pick<ProcessTable, "all" | "childrenOf" | "get">;
  readonly grants: {
    ceiling(proc: Process): PermissionMode;
    add(proc: Process, wish: ModeWish, adding: { alongside: readonly JournalDraft[] }): Promise<unknown>;
  };
  readonly journalWatch: Pick<JournalHold<Process>, "append">;
}

interface ModeWish {
  readonly behavior: "allow";
  readonly rule: string;
  readonly scope: "process";
  readonly by: GrantBy;
}

/** The requester. The user may go beyond the ceiling, a process may not. */
type ModeBy = GrantBy & { readonly isPerson: boolean };

interface ModeChange {
  readonly mode: PermissionMode;
  readonly by: ModeBy;
}

/**
 * Resolves once the change is synced. PERMISSION: above the ceiling, or closed by settings. INVALID: `bypass` after the
 * start. UNAVAILABLE: auto mode, and no model can judge.
 */
export async function setMode(core: ModeKernel, proc: Process, change: ModeChange): Promise<void> {
  if (change.mode === proc.mode) return;
  if (isAbove(change.mode, proc.mode)) await raise(core, proc, change);
  else await lower(core, proc, change);
}

export function modeView(core: ModeKernel, proc: Process): ModeView {
  return { mode: proc.mode, ceiling: limitOf(core, proc) };
}

interface Raise {
  readonly mode: PermissionMode;
  /** Whether the user requests it. */
  readonly isPerson: boolean;
}

/** Checks a raise, before the user is asked. Errors: as for `setMode`. */
export function checkRaise(core: ModeKernel, proc: Process, { mode, isPerson }: Raise): void {
  if (core.ports.permitFor(proc.seed.cwd).mayEnter?.(mode) === false)
    throw new Fault({ code: "PERMISSION", message: `${mode} mode is closed by settings` });
  const refusal = mode === "auto" ? autoRefusal(core, proc) : "";
  if (refusal !== "") throw new Fault({ code: "UNAVAILABLE", message: `auto mode: ${refusal}` });
  const ceiling = limitOf(core, proc);
  if (!isAbove(mode, ceiling)) return;
  if (!isPerson) throw aboveCeiling(proc.pid, mode, ceiling);
  if (mode !== "bypass") return;
  const message = "bypass is entered at the start of a process, not later";
  throw new Fault({ code: "INVALID", message, fact: { kind: "mode_at_start" } });
}

function aboveCeiling(pid: Pid, mode: PermissionMode, ceiling: PermissionMode): Fault {
  const message = `${mode} mode is above its ceiling, ${ceiling}; only the user can allow it`;
  return new Fault({ code: "PERMISSION", message, fact: { kind: "above_ceiling", pid, mode } });
}

/** Lowers every mode above its ceiling, after a grant was revoked or a mode was closed by settings. */
export async function clampModes(core: ModeKernel, by: ModeBy): Promise<void> {
  for (const proc of [...core.table.all()]) {
    if (!proc.isLive) continue;
    const closed = core.ports.permitFor(proc.seed.cwd).mayEnter?.(proc.mode) === false;
    const most = lowest(core.grants.ceiling(proc), closed ? "default" : undefined);
    if (isAbove(proc.mode, most)) await lower(core, proc, { mode: most, by });
  }
}

/** The ceiling of its own rights and grants, and its parent's current mode. */
function limitOf(core: ModeKernel, proc: Process): PermissionMode {
  const parent = proc.ppid === PID_KERNEL ? undefined : core.table.get(proc.ppid);
  return lowest(core.grants.ceiling(proc), parent?.mode);
}

async function lower(core: ModeKernel, proc: Process, { mode, by }: ModeChange): Promise<void> {
  const all = [proc, ...descendants(core, proc).filter((each) => isAbove(each.mode, mode))];
  for (const each of all) each.dial.turn(mode);
  for (const each of all) tell(core, each);
  await keep(
    core,
    proc,
    by,
    all.filter(isKept).map((each) => modeDraft(each, loweredTo(core, each, mode), by)),
  );
}

/** A lowered mode may still be above the process's own ceiling: then it remains a mode given by the user. */
function loweredTo(core: ModeKernel, proc: Process, mode: PermissionMode): KeptMode {
  const parent = proc.ppid === PID_KERNEL ? undefined : core.table.get(proc.ppid);
  const own = lowest(proc.seed.rights.mode, parent?.mode);
  return isAbove(mode, own) ? { mode, given: true } : { mode };
}

async function raise(core: ModeKernel, proc: Process, { mode, by }: ModeChange): Promise<void> {
  checkRaise(core, proc, { mode, isPerson: by.isPerson });
  const { turns } = proc.dial;
  if (isAbove(mode, limitOf(core, proc))) {
    const { isPerson: _, ...who } = by;
    const wish = { behavior: "allow", rule: ruleOfMode(mode), scope: "process", by: who } as const;
    await core.grants.add(proc, wish, { alongside: [modeDraft(proc, { mode, given: true }, by)] });
  } else await keep(core, proc, by, [modeDraft(proc, { mode }, by)]);
  // if the mode was lowered meanwhile, which is later in the journal, it stays lowered
  if (proc.dial.turns !== turns) return;
  proc.dial.turn(mode);
  tell(core, proc);
}

function tell(core: ModeKernel, proc: Process): void {
  if (isKept(proc)) proc.tell({ event: "mode", pid: proc.pid, mode: proc.mode }, core.ports.clock.mono());
}

function descendants(core: ModeKernel, proc: Process): readonly Process[] {
  return core.table.childrenOf(proc.pid).flatMap((child) => [child, ...descendants(core, child)]);
}

/** A process that is still being spawned has its mode in the record of the spawn. */
function isKept(proc: Process): boolean {
  return proc.state === "running" && (proc.seed.kind === "agent" || proc.seed.kind === "supervisor");
}

/** Drafted after the change when a mode is lowered, and before it when raised. */
export function modeDraft(proc: Process, kept: KeptMode, { principal, client, uid }: GrantBy): JournalDraft {
  const { seed, pid } = proc;
  const { prior: priorMode } = proc.dial;
  const prior = kept.mode === "plan" && priorMode !== null ? { prior: priorMode } : {};
  const body = { ...kept, ...prior, by: { principal, client, uid } };
  return { proc: seed.uuid, pid, kind: "mode.set", v: 1, body };
}

/** If the disk refuses writes, the user gets the error at once; a process waits for the disk. */
async function keep(
  core: ModeKernel,
  proc: Process,
  by: ModeBy,
  drafts: readonly JournalDraft[],
): Promise<void> {
  if (drafts.length === 0) return;
  if (by.isPerson) await core.ports.journal.append(drafts);
  else await core.journalWatch.append(proc, "SetMode", proc.abort.signal, drafts);
}
