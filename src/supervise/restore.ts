/**
 * A supervisor that an earlier daemon left, brought back from its records: its specification, its rights and limits, what was
 * known of its children, and the times of its restarts. None of its children runs any more; what follows from that is decided
 * as for any exit, once it runs itself.
 */
import { messageOf } from "../abi/errors.ts";
import { readEarly } from "../history/recover/early-facts.ts";
import type { History } from "../history/recover/history.ts";
import { readLines, readSinceState } from "../history/recover/history-reader.ts";
import type { Core } from "../kernel/core.ts";
import type { JournalRecord } from "../kernel/ports/journal.ts";
import { HELD_LATE } from "../kernel/process/facets.ts";
import { runProgram } from "../kernel/process/spawn/run.ts";
import { Comeback } from "./comeback.ts";
import type { KeptProject } from "./compose/kept.ts";
import { type Made, type Parts, projectOf } from "./compose/restored.ts";
import { type SupervisorFold, supervisorFacet } from "./facet.ts";
import { isUp } from "./kept-supervisor.ts";
import { lastExits } from "./last-exits.ts";
import { accountOf, endowmentsOf } from "./restored-account.ts";
import { enterTable, placeOf, processOf } from "./restored-process.ts";
import { specOfRecord } from "./spec-record.ts";
import { Supervisor } from "./supervisor.ts";

/**
 * Enters it in the table under its old pid, its program not begun; parents come first. The result begins it, once the records
 * of the boot are synced. undefined: it is lost, and the log says why.
 */
export async function restoreSupervisor(
  core: Core,
  spawned: JournalRecord,
  state: JournalRecord | undefined,
): Promise<(() => void) | undefined> {
  try {
    if (state === undefined) return lost(core, spawned, "too little of it was kept");
    const history = await readSinceState(core.ports.journal, state, spawned);
    const fold = state.v === 1 ? history.of(supervisorFacet) : null;
    if (fold === null) return lost(core, spawned, "its record has a form that is not known here");
    return await restore(core, spawned, { history, fold });
  } catch (error) {
    return lost(core, spawned, messageOf(error));
  }
}

function lost(core: Core, { pid }: JournalRecord, why: string): undefined {
  core.ports.log("warn", `pid ${pid}: supervisor lost with the last daemon: ${why}`);
  return undefined;
}

async function restore(
  core: Core,
  spawned: JournalRecord,
  { history, fold }: { readonly history: History; readonly fold: SupervisorFold },
): Promise<(() => void) | undefined> {
  const { kept } = fold;
  if (!kept.isOpen) return lost(core, spawned, "it had not started all its children");
  const place = placeOf(core, spawned, kept);
  if (place === undefined) return lost(core, spawned, "the supervisor above it starts it again");
  const { exits, diedAt } = await lastExits(core, kept);
  const account = await accountOf(core, spawned, kept, place);
  const parts = { spawned, place, account, comeback: new Comeback(fold, exits, diedAt) };
  const { proc, body } = spawned;
  const endowment =
    place.above?.supervisor.endowmentOf(place.above.id) ?? (await endowmentsOf(core, spawned, fold, account));
  const row = await core.ports.journal.row(proc);
  const facts = await readEarly(core.ports.journal, proc);
  const { supervisor: record } = body as { supervisor: unknown };
  const made =
    kept.project === null
      ? plain(core, { ...parts, endowment }, record)
      : await projectOf(core, { ...parts, endowment }, record, kept.project as KeptProject);
  const self = processOf(core, spawned, kept, { place, account, body: made.supervisor.body(), row, facts });
  // its children are there at once, and ask for nothing first
  await core.grants.load(self.seed.session);
  const lines = await readLines(core.ports.journal, history);
  enterTable(core, self, place.parent, row);
  self.facts.adopt(HELD_LATE, history);
  self.logs?.remember(lines);
  made.supervisor.resume(self);
  place.above?.supervisor.adopt(place.above.id, proc, self);
  made.entered?.(self);
  return () => {
    runProgram(core, self, 0);
    for (const words of made.words) self.log("warn", words, core.ports.clock.mono());
  };
}

/** As its specification was kept. */
function plain(core: Core, { comeback, endowment, place }: Parts, record: unknown): Made {
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
