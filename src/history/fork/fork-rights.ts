/**
 * The rights of a fork: those of its origin at that step, and no more than the origin has now. Rights removed since
 * then stay removed, also by denies of the origin's session, which the fork does not share. Temporary grants are not
 * copied.
 */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS, type Rights } from "../../abi/rights.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { presentMode, rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest, narrow } from "../../kernel/process/rights/narrow.ts";
import { readEarly } from "../recover/early-facts.ts";

export interface ForkRights {
  readonly rights: Rights;
  readonly mode: PermissionMode;
}

interface Forking {
  readonly uuid: ProcUuid;
  readonly pid: Pid;
  readonly spawned: SpawnedBody;
}

export interface Bounding {
  readonly ports: Pick<KernelPorts, "journal" | "permitFor">;
  readonly grants: { bounds(pid: Pid): Promise<Pick<Rights, "deny" | "ask">> };
  readonly table: { get(pid: Pid): { readonly mode: PermissionMode } | undefined };
}

export async function rightsAt(
  core: Bounding,
  { uuid, pid, spawned }: Forking,
  place: { readonly proc: ProcUuid; readonly seq: number },
): Promise<ForkRights> {
  const kept = rightsOf(spawned);
  const { deny, ask } = await core.grants.bounds(pid);
  const then = await modeAt(core, place.proc, place.seq);
  const now = core.table.get(pid)?.mode ?? (await modeAt(core, uuid, Number.POSITIVE_INFINITY));
  return {
    rights: narrow(kept, { ...ALL_RIGHTS, deny, ask }),
    mode: presentMode(core.ports, lowest(kept.mode, then, now), spawned.cwd),
  };
}

async function modeAt({ ports }: Bounding, proc: ProcUuid, seq: number): Promise<PermissionMode> {
  const newest = (await readEarly(ports.journal, proc, seq)).of(modeFacet);
  if (newest !== undefined) return newest.mode;
  const [spawned] = await ports.journal.ofKind(proc, "process.spawned");
  return readMode((spawned?.body as Partial<SpawnedBody> | undefined)?.mode);
}
