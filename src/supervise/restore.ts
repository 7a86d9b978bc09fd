/**
 * Restores a supervisor of an earlier daemon: its specification, its rights and limits, the recorded state of its
 * children, and the times of its restarts. None of its children is running any more; each loss is judged like any exit,
 * once the supervisor itself runs.
 */
import { messageOf } from "../abi/errors.ts";
import { asPid, PID_KERNEL } from "../abi/ids.ts";
import { HELD_LATE } from "../history/recover/facets.ts";
import type { History } from "../history/recover/history.ts";
import { readLines, readSinceState } from "../history/recover/history-reader.ts";
import {
  type Left,
  type OfKind,
  type Rebuilding,
  type Returned,
  restore,
} from "../history/recover/restore.ts";
import type { Account } from "../kernel/account/account.ts";
import { NOTHING, plus } from "../kernel/account/amounts.ts";
import { limitsAtSpawn, spentOf } from "../kernel/account/kept-account.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { Process } from "../kernel/process/process.ts";
import { narrow } from "../kernel/process/rights/narrow.ts";
import { devicesOf } from "../kernel/process/rights/rights.ts";
import type { Session } from "../kernel/process/session.ts";
import { type Running, runProgram } from "../kernel/process/spawn/run.ts";
import { Bequests } from "./bequests.ts";
import { Comeback, lastExits } from "./comeback.ts";
import type { Endowment } from "./endowment.ts";
import { type SupervisorFold, supervisorFacet } from "./record/facet.ts";
import { isUp, type KeptSupervisor } from "./record/kept-supervisor.ts";
import { specOfRecord } from "./spec-record.ts";
import { type Supervising, Supervisor } from "./supervisor.ts";

/** What restoring a supervisor needs of the kernel. */
export type Restoring = Supervising &
  Rebuilding &
  Running & {
    readonly ports: Pick<KernelPorts, "env">;
    readonly root: Process;
    readonly grants: { load(session: Session): Promise<void> };
  };

/** The parts from which a supervisor is restored. */
export interface Parts {
  /** Its specification, from the record of its spawn. */
  readonly record: object;
  readonly place: Place;
  readonly comeback: Comeback;
  readonly endowment: Endowment;
}

export interface Made {
  readonly supervisor: Supervisor;
  /** Lines for its log, written once it runs. */
  readonly words: readonly string[];
  /** Called when the process is in the table. */
  readonly entered?: (proc: Process) => void;
}

/** Restores a supervisor with a project (compose/restored.ts). */
type MadeOf<Kernel> = (core: Kernel, parts: Parts, project: object) => Promise<Made>;

/** The place of a supervisor in the process tree. */
interface Place {
  readonly parent: Process;
  /** The supervisor above it, which was restored before it, and its child id there; null: not nested. */
  readonly above: { readonly supervisor: Supervisor; readonly id: string } | null;
  /** The process whose rights its children get a part of; null: its own. */
  readonly rights: Process | null;
}

/**
 * Restores it under its old pid, with its program not begun; parents first. undefined: it is lost, and the log says
 * why.
 */
export function restoringWith<Kernel extends Restoring>(
  projectOf: MadeOf<Kernel>,
): (core: Kernel, left: Left) => Promise<Returned | undefined> {
  return async (core, left) => {
    try {
      return await comeBack(core, left, projectOf);
    } catch (error) {
      const { pid } = left.spawned;
      core.ports.log("warn", `pid ${pid}: supervisor lost with the last daemon: ${messageOf(error)}`);
      return undefined;
    }
  };
}

async function comeBack<Kernel extends Restoring>(
  core: Kernel,
  left: Left,
  projectOf: MadeOf<Kernel>,
): Promise<Returned> {
  const { journal, clock } = core.ports;
  const history = await historyOf(core, left);
  const fold = history.of(supervisorFacet);
  if (fold === null) throw new Error("its record has a form that is not known here");
  const { kept } = fold;
  if (!kept.isOpen) throw new Error("it had not started all its children");
  const place = placeOf(core, left, kept);
  const { exits, diedAt = clock.now() } = await lastExits(journal, kept);
  const account = accountOf(left, kept, place);
  const endowment = await endowmentOf(core, left, { place, fold, account });
  const { supervisor: record } = left.spawned.body as { supervisor: object };
  const parts = { record, place, endowment, comeback: new Comeback(fold, exits, diedAt) };
  const made = kept.project === null ? plain(core, parts) : await projectOf(core, parts, kept.project);
  const { supervisor } = made;
  const own = { ...ownSeed(core, left, { place, kept }), account, body: supervisor.body() };
  // its children may start immediately, so the grants must be loaded before
  await core.grants.load(own.session);
  const lines = await readLines(journal, history);
  const highest = (place.rights ?? place.parent).mode;
  const proc = restore(core, left.remains, {
    parent: place.parent,
    highest,
    own,
    fill: (proc) => proc.facts.adopt(HELD_LATE, history),
  });
  proc.logs?.remember(lines);
  supervisor.resume(proc);
  place.above?.supervisor.adopt(place.above.id, proc.seed.uuid, proc);
  made.entered?.(proc);
  const begin = (): void => {
    runProgram(core, proc, 0);
    for (const words of made.words) proc.log("warn", words, clock.mono());
  };
  return { proc, begin };
}

async function historyOf({ ports }: Restoring, { state, spawned }: Left): Promise<History> {
  if (state === undefined) throw new Error("too little of it was kept");
  if (state.v !== 1) throw new Error("its record has a form that is not known here");
  return readSinceState(ports.journal, state, spawned);
}

/** Throws if its place is gone: the supervisor above it then starts a new one. */
function placeOf(core: Restoring, { remains }: Left, kept: KeptSupervisor): Place {
  const ppid = asPid(remains.spawned.ppid);
  const parent = core.table.get(ppid);
  if (kept.nestedAs === null) {
    const rights = kept.rights === "person" ? core.root : null;
    return { parent: parent ?? core.root, above: null, rights };
  }
  const supervisor = core.supervisors.get(ppid);
  if (parent === undefined || !(supervisor instanceof Supervisor))
    throw new Error("the supervisor above it starts it again");
  return { parent, above: { supervisor, id: kept.nestedAs }, rights: supervisor.rights ?? parent };
}

/** What was spent stays spent; amounts reserved for calls without a result count as spent, too. */
function accountOf({ remains, shares, reservedBelow }: Left, kept: KeptSupervisor, place: Place): Account {
  const given = place.above?.supervisor.endowmentOf(place.above.id).account;
  if (given != null) return given;
  const { owner, spawned } = remains;
  const { parent } = place;
  return shares.account(owner, {
    atSpawn: limitsAtSpawn(spawned),
    above: () => (parent.pid === PID_KERNEL ? shares.above(kept.accounts) : parent.seed.account),
    spent: kept.children.reduce(
      (sum, { endowment }) => plus(sum, spentOf(endowment)),
      plus(NOTHING, reservedBelow(owner.proc)),
    ),
    depth: spawned.depth ?? 0,
    givesAll: true,
  });
}

interface Bequeathed {
  readonly place: Place;
  readonly fold: SupervisorFold;
  readonly account: Account;
}

async function endowmentOf(
  { ports }: Restoring,
  { remains, reservedBelow }: Left,
  { place: { above }, fold, account }: Bequeathed,
): Promise<Endowment> {
  if (above !== null) return above.supervisor.endowmentOf(above.id);
  return new Bequests(ports.journal, reservedBelow).of({ owner: remains.owner, fold, account });
}

function ownSeed(
  core: Restoring,
  { remains, shares }: Left,
  { place, kept }: { readonly place: Place; readonly kept: KeptSupervisor },
): Omit<OfKind["own"], "account" | "body"> {
  const { parent } = place;
  const giver = place.rights ?? parent;
  const isPersons = giver.pid === PID_KERNEL;
  const { rights, owner } = remains;
  return {
    kind: "supervisor",
    agent: null,
    roots: kept.roots,
    scratch: "",
    env: isPersons ? core.ports.env : giver.seed.env,
    rights: isPersons ? rights : narrow({ ...giver.seed.rights, devices: devicesOf(giver) }, rights),
    session: parent.pid === PID_KERNEL ? shares.session(kept.session ?? owner) : parent.seed.session,
    onParentExit: kept.onParentExit,
  };
}

/** A supervisor without a project, from its recorded specification. */
function plain(core: Restoring, { record, comeback, endowment, place }: Parts): Made {
  const { spec, bare } = specOfRecord(record);
  const { fold } = comeback;
  const held = spec.children.flatMap(({ id, start }) => {
    const isMeant = start.kind === "withheld" && isUp(fold.find(id));
    if (isMeant) fold.withhold(id, "stopped");
    return isMeant ? [`${id} is not started: ${start.reason}`] : [];
  });
  const words = [BACK, ...held];
  if (bare.length > 0) words.push(`started with the environment of the daemon: ${bare.join(", ")}`);
  const { rights, above } = place;
  const supervisor = new Supervisor(core, spec, {
    endowment,
    comeback,
    ...(rights === null ? {} : { rights }),
    ...(above === null ? {} : { nestedAs: above.id }),
  });
  return { supervisor, words };
}

const BACK = "brought back by a new daemon";
