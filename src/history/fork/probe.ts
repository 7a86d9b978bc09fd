/**
 * Finds out whether a file-changing call without a result was done before the daemon died, by looking at the files:
 * their state before and after the call is recorded before they are touched.
 */

import type { Effect } from "../../abi/effects.ts";
import { messageOf } from "../../abi/errors.ts";
import { asCallId, type CallId } from "../../abi/ids.ts";
import type { Probed } from "../../abi/program.ts";
import type { EntryWord } from "../../kernel/gate/host-files.ts";
import { type FileAccess, filesOf } from "../../kernel/gate/host-files.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { ABORTED, abortable } from "../../lib/abort.ts";
import { changesOf } from "./kept-files.ts";
import type { SnapshotBody } from "./snapshot.ts";

/** What checks after a crash need of the kernel. */
interface Probing extends FileAccess {
  readonly ports: Pick<KernelPorts, "clock" | "journal" | "log" | "nonce" | "realPath">;
}

type ProbeOutcome = Probed["outcome"] | "unknown";

/** The time for all calls together, so that a hanging file system cannot keep the daemon from starting. */
const DEADLINE_MS = 5_000;

/**
 * `now` is the present state of each path. Done: every file is as it was after the call; not done: every file is as it
 * was before; otherwise unknown.
 */
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

/** States without a digest cannot be compared. */
function isSure(word: EntryWord): boolean {
  return word !== "other" && word !== "unsaved";
}

/**
 * The outcomes of intents without a result that the files reveal. Runs at boot, when nothing writes these histories.
 */
export async function probeCalls(
  core: Probing,
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
    over.abort(ABORTED);
  }
  return found;
}

/** `unknown` where the records or files cannot be read. */
async function probeCall(core: Probing, intent: JournalRecord, signal: AbortSignal): Promise<ProbeOutcome> {
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
  core: Probing,
  { call, changes }: Looking,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, EntryWord>> {
  const effects = changes.map(({ path }): Effect => ({ kind: "read", path, real: path }));
  const scope = { callId: call ?? asCallId(`c_${core.ports.nonce()}`), tool: "probe", effects };
  const files = filesOf(core, scope, signal);
  const now = new Map<string, EntryWord>();
  for (const { path } of changes) if (!now.has(path)) now.set(path, (await files.look(path)).word);
  return now;
}

/**
 * Whether all files of the call have a snapshot. One without was not touched: the call died between two of its files.
 */
function coversAll(core: Probing, { body }: JournalRecord, changes: readonly SnapshotBody[]): boolean {
  const told = new Set(changes.map(({ path }) => path));
  const { effects = [] } = body as { effects?: readonly Effect[] };
  return effects.every(
    (effect) => effect.kind !== "write" || told.has(effect.real ?? core.ports.realPath(effect.path)),
  );
}
