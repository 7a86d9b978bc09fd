/** The API for modes and grants that clients use. */

import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import { AUTO_MODE_DEFAULTS } from "../../abi/permit/auto-mode.ts";
import { readEarly } from "../../history/recover/early-facts.ts";
import type { ModeView, RightsControl, RulesWish } from "../../kernel/ports/rights-control.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";
import { recalled } from "../../kernel/process/past.ts";
import type { Process } from "../../kernel/process/process.ts";
import { presentMode, rightsOf } from "../../kernel/process/rights/kept-rights.ts";
import { modeFacet, readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";
import { clampModes, type ModeKernel, modeView, setMode } from "../../kernel/process/rights/set-mode.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { clearLabels, labelsOf } from "../labels/labels.ts";
import type { Grants } from "./grants.ts";

/** What the control of rights needs of the kernel. */
interface Controlling extends ModeKernel {
  readonly sessions: { isHere(pid: Pid): boolean; awake(pid: Pid): Promise<unknown> };
  readonly journalWatch: ModeKernel["journalWatch"] & { check(syscall: string): void };
  readonly table: ModeKernel["table"] & Pick<ProcessTable, "require">;
  readonly grants: Pick<Grants, "add" | "ceiling" | "list" | "remove">;
}

export function makeRightsControl(coreOf: () => Controlling): RightsControl {
  return {
    mode: async (pid, change) => {
      const core = coreOf();
      if (change === undefined) return viewOf(core, pid);
      core.journalWatch.check("SetMode");
      const proc = await present(core, pid);
      await setMode(core, proc, { mode: change.mode, by: { ...change.by, isPerson: true } });
      return modeView(core, proc);
    },
    autoMode: () => {
      const { classifier } = coreOf().ports;
      return {
        lists: classifier?.lists() ?? AUTO_MODE_DEFAULTS,
        stage: classifier?.stages() ?? "both",
        duringPlan: classifier?.judgesPlan() ?? false,
      };
    },
    grants: (pid) => coreOf().grants.list(pid),
    grant: (pid, wish) => grant(coreOf(), pid, wish),
    removeGrant: async (id, by, options) => {
      const core = coreOf();
      await core.grants.remove(id, by, options);
      await clampModes(core, { ...by, isPerson: true });
    },
    labels: (pid) => labelsOf(coreOf(), pid),
    clearLabels: (pid, which, by) => clearLabels(coreOf(), pid, { which, by }),
    recheckModes: () => clampModes(coreOf(), { ...SETTINGS, isPerson: true }),
  };
}

const SETTINGS = { principal: "settings", client: "", uid: null } as const;

/** Brings the process back, with its grants: they are part of its rights. */
async function present(core: Controlling, pid: Pid): Promise<Process> {
  await core.sessions.awake(pid);
  const proc = core.table.get(pid);
  if (proc?.isLive !== true) throw unknown(pid);
  await recalled(proc);
  return proc;
}

/** All or none: every rule is checked before the first is added. */
async function grant(core: Controlling, pid: Pid, { rules, ...how }: RulesWish): Promise<readonly string[]> {
  core.journalWatch.check("Grant");
  const proc = await present(core, pid);
  const permit = core.ports.permitFor(proc.seed.cwd);
  for (const { behavior, rule: text } of rules) {
    const why = permit.notRule?.({ source: "session", behavior, text }) ?? null;
    if (why !== null)
      throw new Fault({ code: "INVALID", message: `not a rule: ${JSON.stringify(text)}: ${why}` });
  }
  const ids: string[] = [];
  try {
    for (const rule of rules) ids.push((await core.grants.add(proc, { ...rule, ...how })).id);
  } catch (error) {
    for (const id of ids) await core.grants.remove(id, how.by, { pid });
    throw error;
  }
  return ids;
}

/** The mode of a process that is not in memory comes from its records. */
async function viewOf(core: Controlling, pid: Pid): Promise<ModeView> {
  const live = core.table.get(pid);
  if (live !== undefined) return modeView(core, live);
  const { journal } = core.ports;
  const proc = await journal.processOf(pid);
  const [spawned] = proc === undefined ? [] : await journal.ofKind(proc, "process.spawned");
  if (proc === undefined || spawned === undefined) throw unknown(pid);
  const body = spawned.body as SpawnedBody;
  const set = (await readEarly(journal, proc)).of(modeFacet);
  const ceiling = rightsOf(body).mode;
  const mode = presentMode(core.ports, set?.mode ?? readMode(body.mode), body.cwd);
  return set?.given === true ? { mode, ceiling: mode } : { mode: lowest(mode, ceiling), ceiling };
}

function unknown(pid: Pid): Fault {
  return new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_history", pid },
  });
}
