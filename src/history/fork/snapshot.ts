/**
 * What a file was before an agent changed it. The gate hands this to the device of host files (Caller.changing), so that no tool
 * can forget: content and record are synced before the file is touched. Without such a record a file was not touched.
 */
import type { Caller, FileChange, HostEntry } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { CallId } from "../../abi/ids.ts";
import type { Core } from "../../kernel/core.ts";
import type { Process } from "../../kernel/process/process.ts";

/** What lay at a path, in one word that two looks can be compared by. */
export type EntryWord = "absent" | "directory" | "other" | "unsaved" | `sha256:${string}`;

/** The body of `snapshot`, version 1. */
export interface SnapshotBody {
  /** Absolute, symlinks resolved. */
  readonly path: string;
  readonly before: EntryWord;
  /** What was to lie there: a crash may have come before it did. */
  readonly after: EntryWord;
  /** Of a file before: where its content is, and its permission bits. */
  readonly blob?: string;
  readonly mode?: number;
  /** Directories made for it, the outermost first. */
  readonly made?: readonly string[];
  /** A person's rewind did it. */
  readonly rewind?: true;
}

export function wordOf(entry: HostEntry): EntryWord {
  if (entry.kind !== "file") return entry.kind;
  return entry.digest === null ? "unsaved" : `sha256:${entry.digest}`;
}

type Keeper = NonNullable<Caller["changing"]>;

/** Those that take the place of the usual keeping of what files were. */
const KEEPERS = new WeakMap<Process, Keeper>();

export function keepBy(self: Process, keeper: Keeper): void {
  KEEPERS.set(self, keeper);
}

/** undefined: nothing is kept of what this process changes. */
export function fileKeeper(core: Core, self: Process, call: CallId | undefined): Caller["changing"] {
  const own = KEEPERS.get(self);
  if (own !== undefined) return own;
  if (self.seed.kind !== "agent") return undefined;
  return async (change) => {
    await keepFile(core, self, { change, call: change.call ?? call, isPatient: true });
    const { path, after } = change;
    if (after.kind === "file" && after.digest !== null)
      core.fileLabels.wrote(path, after.digest, self.labels);
    return { mode: null };
  };
}

interface Keeping {
  readonly change: FileChange;
  /** Which changes it. */
  readonly call: CallId | undefined;
  readonly rewind?: true;
  /** While the disk takes nothing it waits, as all that the process does. */
  readonly isPatient?: boolean;
}

/** Resolves once it is synced. Rejects: it could not be kept. */
export async function keepFile(core: Core, self: Process, keeping: Keeping): Promise<void> {
  const { pid, seed, abort } = self;
  const { change, call, rewind, isPatient = false } = keeping;
  const { path, before, after, made } = change;
  const [was, willBe] = [wordOf(before), wordOf(after)];
  if (was === willBe && made.length === 0 && was !== "unsaved") return;
  const saved =
    before.kind === "file" && before.digest !== null
      ? { blob: await keepContent(core, self, keeping), mode: before.mode }
      : {};
  const body: SnapshotBody = {
    path,
    before: was,
    after: willBe,
    ...saved,
    ...(made.length === 0 ? {} : { made }),
    ...(rewind === undefined ? {} : { rewind }),
  };
  const record = { proc: seed.uuid, pid, kind: "snapshot", v: 1, body } as const;
  const drafts = [call === undefined ? record : { ...record, call }];
  if (isPatient) await core.journalWatch.append(self, "Write", abort.signal, drafts);
  else await core.ports.journal.append(drafts);
}

/** The digest it is kept under; synced. */
async function keepContent(core: Core, self: Process, { change, isPatient }: Keeping): Promise<string> {
  const { journal } = core.ports;
  const content = await change.content();
  for (;;) {
    try {
      return await journal.putBlob(content);
    } catch (error) {
      const isForNow = codeOf(error) === "UNAVAILABLE" && journal.state.state === "degraded";
      if (isPatient !== true || !isForNow) throw error;
      await core.journalWatch.wait(self, "Write", self.abort.signal);
    }
  }
}
