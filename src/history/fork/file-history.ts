/**
 * What a process did to files after a point of its history, and what a rewind to that point must do. Pure: takes
 * records, then decides per path. Each change records the state before and after it: where two successive ones do not
 * match, something other than the process has changed the file.
 */
import type { EntryWord } from "../../kernel/gate/host-files.ts";
import type { FileDeed } from "../../kernel/ports/forks.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { SnapshotBody } from "./snapshot.ts";
import { runsCommand } from "./steps.ts";

/** The number of messages with file changes that a rewind may cross. */
export const MAX_SNAPSHOTS = 100;
const COMMANDS_SHOWN = 20;
const COMMAND_CHARS = 120;

/** The changes of one path since the point, summed up. */
export interface PathHistory {
  readonly path: string;
  /** The state before the first change, to which a rewind returns. */
  readonly goal: EntryWord;
  readonly blob: string | null;
  readonly mode: number | null;
  /** The states that the process may have left: that after its last change, or before it if the change was not made. */
  readonly possible: ReadonlySet<EntryWord>;
  /** Something else changed it between two changes of the process. */
  readonly isBroken: boolean;
}

export class FileHistory {
  readonly #paths = new Map<string, PathHistory>();
  readonly #made = new Set<string>();
  readonly #runs = new Set<number>();
  readonly #commands: string[] = [];
  commandCount = 0;
  #run = 0;

  /** Takes the records after the point, in order. */
  take({ kind, body }: JournalRecord): void {
    const known = (body ?? {}) as Record<string, unknown>;
    if (kind === "ctx.record" && known.role === "user" && known.cid === undefined) this.#run++;
    if (kind === "call.intent" && runsCommand(known)) this.#command(known);
    if (kind === "snapshot") this.#change(body as SnapshotBody);
  }

  /** The changed paths, in order of their first change. */
  get paths(): readonly PathHistory[] {
    return [...this.#paths.values()];
  }

  /** Directories that were created for the files, the innermost first. */
  get made(): readonly string[] {
    return [...this.#made].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }

  /** The newest commands that ran, at most `COMMANDS_SHOWN`. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** More messages have changed files than `MAX_SNAPSHOTS`, so some snapshots may be removed. */
  get isEvicted(): boolean {
    return this.#runs.size > MAX_SNAPSHOTS;
  }

  #change({ path, before, after, blob, mode, made = [] }: SnapshotBody): void {
    this.#runs.add(this.#run);
    for (const directory of made) this.#made.add(directory);
    const known = this.#paths.get(path);
    this.#paths.set(path, {
      path,
      goal: known?.goal ?? before,
      blob: known === undefined ? (blob ?? null) : known.blob,
      mode: known === undefined ? (mode ?? null) : known.mode,
      possible: new Set([before, after]),
      isBroken: known !== undefined && (known.isBroken || !known.possible.has(before)),
    });
  }

  #command({ input, effects }: Record<string, unknown>): void {
    this.commandCount++;
    const exec = (effects as { kind: string; shell?: string; argv?: readonly string[] }[]).find(
      ({ kind }) => kind === "exec",
    );
    const words = exec?.shell ?? exec?.argv?.join(" ") ?? String(input);
    this.#commands.push(words.replaceAll(/\s+/g, " ").trim().slice(0, COMMAND_CHARS).toWellFormed());
    if (this.#commands.length > COMMANDS_SHOWN) this.#commands.shift();
  }
}

export interface Decision {
  readonly deed: FileDeed;
  /** Shown to the user; "" where the deed says enough. */
  readonly reason: string;
  /** Something else has changed it since: it is overwritten only by force. */
  readonly isConflict: boolean;
}

/** Decides what a rewind does with a path whose present state is `now`. */
export function decide({ goal, blob, possible, isBroken }: PathHistory, now: EntryWord): Decision {
  if (now === goal && now !== "other" && now !== "unsaved")
    return { deed: "unchanged", reason: "", isConflict: false };
  if (goal === "unsaved" || (isFile(goal) && blob === null))
    return kept("its content was not kept: over 64 MiB");
  if (goal === "other") return kept("it was not a regular file");
  if (now === "other") return kept("its path leads elsewhere now", true);
  const isConflict = isBroken || !possible.has(now);
  const fits = fittingDeed(goal, now);
  if (fits !== null) return { deed: fits, reason: isConflict ? CHANGED : "", isConflict };
  return kept(now === "directory" ? "a directory is there now" : "a file is there now", true);
}

const CHANGED = "changed by somebody else since";

function fittingDeed(goal: EntryWord, now: EntryWord): FileDeed | null {
  if (isFile(goal)) return isFile(now) ? "restored" : now === "absent" ? "recreated" : null;
  if (goal === "directory") return now === "absent" ? "recreated" : null;
  return isFile(now) || now === "directory" ? "removed" : null;
}

function kept(reason: string, isConflict = false): Decision {
  return { deed: "kept", reason, isConflict };
}

function isFile(word: EntryWord): boolean {
  return word.startsWith("sha256:");
}
