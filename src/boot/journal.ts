/** Opens the journal of this daemon, and starts its keeper. */
import { join } from "node:path";
import { messageOf } from "../abi/errors.ts";
import type { Settings } from "../abi/settings/settings.ts";
import type { BootContext, Booted } from "../daemon/boot-context.ts";
import type { Configuration } from "../daemon/configuration.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Journal } from "../kernel/ports/journal.ts";
import type { Retention } from "../kernel/ports/journal-tools.ts";
import { EndsFile } from "../store/journal/ends-file.ts";
import type { Lease } from "../store/lease.ts";
import { DEFAULT_RETENTION, JournalKeeper } from "../store/offline/keeper.ts";
import { openAsItIs } from "../store/sqlite/read-only.ts";

const SHOWN_PIDS = 8;

export interface OpenJournal {
  readonly journal: Journal;
  readonly ends: EndsFile;
  /** Present if the disk cannot be written; settles when it can. */
  readonly over?: Promise<void>;
  readonly isWritable: boolean;
  /**
   * False: existing data may only be read. In safe mode until the user leaves it, on a read-only disk until it can be
   * written.
   */
  readonly isTouched: boolean;
}

export async function openJournal(context: BootContext<Lease>): Promise<OpenJournal> {
  const { lease, paths, clock, log } = context;
  const opened = await openAsItIs(
    {
      dir: join(paths.stateDir, "journal"),
      clock,
      maxBytes: retentionOf(context.settings).maxBytes,
      onNotice: ({ message }) => log("warn", `journal: ${message}`),
    },
    lease.refusal,
  );
  const { journal } = opened;
  const isWritable = opened.over === undefined;
  const ends = await endsOf(context, journal, isWritable);
  lease.describe({ kernelId: journal.kernelId, epoch: journal.epoch });
  return { ...opened, ends, isWritable, isTouched: !context.isSafeMode && isWritable };
}

/** Records in the journal what ended while the disk was full, before anything is restored. */
async function endsOf(
  { paths, clock, log }: BootContext<Lease>,
  journal: Journal,
  isWritable: boolean,
): Promise<EndsFile> {
  const ends = new EndsFile(join(paths.stateDir, "journal", "ends"), {
    now: () => clock.now(),
    epoch: journal.epoch,
  });
  const forget = async (): Promise<void> => {
    const folded = await ends.fold(journal);
    if (folded > 0)
      log("info", `the journal has ${folded} signals and ends that a full disk had no room for`);
  };
  journal.onState(({ state }) => {
    if (state !== "well") return;
    journal
      .sync()
      .then(forget)
      .catch((error: unknown) => log("warn", `ends: ${messageOf(error)}`));
  });
  if (!isWritable) return ends;
  await forget();
  ends.prepare();
  return ends;
}

interface Kept {
  readonly context: BootContext<Lease>;
  readonly store: OpenJournal;
  readonly config: Configuration;
}

/** Starts anchoring, cleanup and warnings, as far as the disk and safe mode allow. */
export function keepJournal({ context, store, config }: Kept, kernel: Kernel): JournalKeeper {
  const { paths, clock, log } = context;
  const keeper = new JournalKeeper({
    dir: join(paths.stateDir, "journal"),
    journal: store.journal,
    clock,
    retention: () => retentionOf(config.settings),
    anchorFile: () => config.settings.audit?.anchor ?? undefined,
    isHeld: (pid) => kernel.holds(pid),
    log,
  });
  if (store.isWritable) keeper.start({ clearsOut: store.isTouched });
  return keeper;
}

/** The agents that safe mode did not restore, so that an empty process list can be explained. */
export async function unrestoredOf(journal: Journal): Promise<Pick<Booted["serves"], "unrestored">> {
  const agents = (await journal.rows({ live: true })).filter(({ kind }) => kind === "agent");
  if (agents.length === 0) return {};
  const pids = agents.map(({ pid }) => pid).sort((a, b) => a - b);
  return { unrestored: { agents: agents.length, pids: pids.slice(0, SHOWN_PIDS) } };
}

function retentionOf({ cleanupPeriodDays, journal }: Settings): Retention {
  return {
    cleanupPeriodDays: cleanupPeriodDays ?? DEFAULT_RETENTION.cleanupPeriodDays,
    maxBytes: journal?.maxBytes ?? DEFAULT_RETENTION.maxBytes,
  };
}
