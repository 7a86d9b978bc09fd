/**
 * A call that changes files, and has no result because the daemon died: whether it was done is seen by looking at the files,
 * for what they were and were to be is on record before they are touched.
 */
import type { Effect } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import { asCallId, type CallId } from "../../abi/ids.ts";
import type { Probed } from "../../abi/program.ts";
import type { Core } from "../../kernel/core.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import { abortable } from "../../lib/abort.ts";
import { HostFiles } from "./host-files.ts";
import { changesOf } from "./kept-files.ts";
import type { EntryWord, SnapshotBody } from "./snapshot.ts";

type ProbeOutcome = Probed["outcome"] | "unknown";

/** Of all calls together: a file system that hangs keeps no daemon from starting. */
const DEADLINE_MS = 5_000;

/** `now`: what lies at each path. Done: every file is what it was to be; not done: what it was; else unknown. */
export function probeOutcome(
  changes: readonly SnapshotBody[],
  now: ReadonlyMap<string, EntryWord>,
): ProbeOutcome {
  const paths = [...Map.groupBy(changes, ({ path }) => path)];
  const isAll = (is: (change: { before: EntryWord; after: EntryWord }, word: EntryWord) => boolean) =>
    paths.every(([path, of]) => {
      const [before, after] = [of[0]?.before ?? "other", of.at(-1)?.after ?? "other"];
      return before !== after && is({ before, after }, now.get(path) ?? "other");
    });
  if (isAll(({ before }, word) => isSure(word) && word === before)) return "not_done";
  return isAll(({ after }, word) => isSure(word) && word === after) ? "done" : "unknown";
}

/** Two looks at what could not be looked into say nothing. */
function isSure(word: EntryWord): boolean {
  return word !== "other" && word !== "unsaved";
}

/** Of intents without a result, those whose outcome the files tell. Nobody writes their histories now. */
export async function probeCalls(
  core: Core,
  intents: readonly JournalRecord[],
): Promise<ReadonlyMap<JournalRecord, Probed["outcome"]>> {
  const found = new Map<JournalRecord, Probed["outcome"]>();
  const probes = intents.filter(({ body }) => (body as { class?: unknown }).class === "probe");
  if (probes.length === 0) return found;
  const [late, over] = [new AbortController(), new AbortController()];
  core.ports.clock.sleep(DEADLINE_MS, over.signal).then(
    () => late.abort(new Error("looking at the files took too long")),
    () => {},
  );
  try {
    for (const intent of probes) {
      const outcome = await abortable(probeCall(core, intent, late.signal), late.signal);
      if (outcome !== "unknown") found.set(intent, outcome);
    }
  } catch (error) {
    core.ports.log("warn", `calls without a result: ${messageOf(error)}; they count as unknown`);
  } finally {
    over.abort();
  }
  return found;
}

/** What cannot be read or looked at tells nothing. */
async function probeCall(core: Core, intent: JournalRecord, signal: AbortSignal): Promise<ProbeOutcome> {
  try {
    const changes = await changesOf(core.ports.journal, intent);
    if (changes.length === 0) return "unknown";
    const outcome = probeOutcome(changes, await look(core, { call: intent.call, changes }, signal));
    return outcome === "done" && !coversAll(core, intent, changes) ? "unknown" : outcome;
  } catch (error) {
    core.ports.log("warn", `pid ${intent.pid}: what its call did is not known: ${messageOf(error)}`);
    return "unknown";
  }
}

interface Looking {
  readonly call: CallId | undefined;
  readonly changes: readonly SnapshotBody[];
}

async function look(
  core: Core,
  { call, changes }: Looking,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EntryWord>> {
  const effects = changes.map(({ path }): Effect => ({ kind: "read", path, real: path }));
  const scope = { callId: call ?? asCallId(`c_${core.ports.nonce()}`), tool: "probe", effects };
  const files = new HostFiles(core.ports, core.handle(core.root, scope, signal));
  const now = new Map<string, EntryWord>();
  for (const { path } of changes) if (!now.has(path)) now.set(path, (await files.look(path)).word);
  return now;
}

/** A call may have died between two of its files: what it was to change and is not on record was not touched. */
function coversAll(core: Core, { body }: JournalRecord, changes: readonly SnapshotBody[]): boolean {
  const told = new Set(changes.map(({ path }) => path));
  const { effects = [] } = body as { effects?: readonly Effect[] };
  return effects.every(
    (effect) => effect.kind !== "write" || told.has(effect.real ?? core.ports.realPath(effect.path)),
  );
}
