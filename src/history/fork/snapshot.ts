/**
 * Keeps the state of a file before an agent changes it. The gate passes this to the device of host files
 * (Caller.changing), so that no tool can omit it: content and record are synced before the file is touched. A file
 * without such a record was not touched.
 */
import type { Caller, FileChange, HostEntry } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { CallId } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { EntryWord } from "../../kernel/gate/host-files.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { ModeKernel } from "../../kernel/process/rights/set-mode.ts";

/** The body of `snapshot`, version 1. */
export interface SnapshotBody {
  /** An absolute path, symlinks resolved. */
  readonly path: string;
  readonly before: EntryWord;
  /** The intended state; a crash may have prevented it. */
  readonly after: EntryWord;
  /** If `before` is a file: the digest of its content in the blob store, and its permission bits. */
  readonly blob?: string;
  readonly mode?: number;
  /** Directories created for it, the outermost first. */
  readonly made?: readonly string[];
  /** The change was made by a rewind of the user. */
  readonly rewind?: true;
}

export function wordOf(entry: HostEntry): EntryWord {
  if (entry.kind !== "file") return entry.kind;
  return entry.digest === null ? "unsaved" : `sha256:${entry.digest}`;
}

type Keeper = NonNullable<Caller["changing"]>;

/** What keeping a file needs of the kernel. */
export interface Snapshotting {
  readonly ports: Pick<KernelPorts, "journal">;
  readonly journalWatch: ModeKernel["journalWatch"] & {
    wait(proc: Process, syscall: string, signal: AbortSignal): Promise<void>;
  };
}

interface Labelling {
  readonly fileLabels: { wrote(path: string, sha256: string, labels: readonly Label[]): void };
}

/** Keepers that replace the usual one, by process; a rewind has its own. */
const KEEPERS = new WeakMap<Process, Keeper>();

export function keepBy(self: Process, keeper: Keeper): void {
  KEEPERS.set(self, keeper);
}

/** undefined: no snapshots are kept for this process. */
export function fileKeeper(
  core: Snapshotting & Labelling,
  self: Process,
  call: CallId | undefined,
): Caller["changing"] {
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
  /** The call that makes the change. */
  readonly call: CallId | undefined;
  readonly rewind?: true;
  /** Waits while the disk refuses writes, like all other work of the process. */
  readonly isPatient?: boolean;
}

/** Resolves once the snapshot is synced; rejects if it could not be kept. */
export async function keepFile(core: Snapshotting, self: Process, keeping: Keeping): Promise<void> {
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

/** Stores the old content, synced; returns its digest. */
async function keepContent(
  core: Snapshotting,
  self: Process,
  { change, isPatient }: Keeping,
): Promise<string> {
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
