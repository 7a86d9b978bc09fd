/**
 * What a process did to files after a point of its history, and what that comes to. Pure: records in, then for each path a
 * decision. Each change names what it found and what it left: where they do not meet, somebody else was there.
 */
import type { FileDeed } from "../../kernel/ports/forks.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { EntryWord, SnapshotBody } from "./snapshot.ts";
import { runsCommand } from "./steps.ts";

/** Messages with changes of files behind them that one can go back over. */
export const MAX_SNAPSHOTS = 100;
const COMMANDS_SHOWN = 20;
const COMMAND_CHARS = 120;

/** All that happened to one path. */
export interface PathHistory {
  readonly path: string;
  /** What it was before. */
  readonly goal: EntryWord;
  readonly blob: string | null;
  readonly mode: number | null;
  /** What it may be now, by what the process did: its last change, or what that found if it was not done. */
  readonly possible: ReadonlySet<EntryWord>;
  /** Somebody else changed it between two changes of the process. */
  readonly isBroken: boolean;
}

export class FileHistory {
  readonly #paths = new Map<string, PathHistory>();
  readonly #made = new Set<string>();
  readonly #runs = new Set<number>();
  readonly #commands: string[] = [];
  commandCount = 0;
  #run = 0;

  /** Of a record after the point. */
  take({ kind, body }: JournalRecord): void {
    const known = (body ?? {}) as Record<string, unknown>;
    if (kind === "ctx.record" && known.role === "user" && known.cid === undefined) this.#run++;
    if (kind === "call.intent" && runsCommand(known)) this.#command(known);
    if (kind === "snapshot") this.#change(body as SnapshotBody);
  }

  /** In order of the first change. */
  get paths(): readonly PathHistory[] {
    return [...this.#paths.values()];
  }

  /** Directories that were made on the way, the innermost first. */
  get made(): readonly string[] {
    return [...this.#made].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  }

  /** Of commands, the newest. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** More messages lie behind it than snapshots are kept for. */
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
  /** For a person; "" where the deed says all. */
  readonly reason: string;
  /** Somebody else has changed it since: only by force. */
  readonly isConflict: boolean;
}

/** What is to be done about a path at which `now` lies. */
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
