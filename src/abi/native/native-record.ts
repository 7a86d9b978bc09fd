/** Programs that a process starts and talks to: as stored with the process, and as /dev/native answers. */
import type { Pid, ProcUuid } from "../ids.ts";

/** The stored value `native/<pid>` of the process that started it. Plain data. */
export interface NativeRecord {
  /** The name by which its process knows it; the newest of a name counts. */
  readonly id: string;
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly pty: boolean;
  /** How far its output was read, in bytes. */
  readonly read_to: number;
  /** The process knows of its end, by a note or by an answer. */
  readonly is_told: boolean;
}

/** What a request waits for; it also returns at the end of the program. */
export interface NativeWait {
  /** A regular expression that the new output must match. */
  readonly until?: string;
  /** Returns once nothing new has come for so long after something has. 0: never. */
  readonly quiet_ms?: number;
  readonly timeout_ms: number;
}

export type NativeRequest =
  /** The first for each program. `tell`: its process is sent a note when the output matches. */
  | { readonly op: "watch"; readonly tell?: string; readonly wait: NativeWait }
  /** From a byte of the output, or, negative, from so many before its end; absent: where the last answer ended. */
  | { readonly op: "read"; readonly offset?: number; readonly wait: NativeWait }
  | { readonly op: "write"; readonly data: string; readonly eof?: boolean; readonly wait: NativeWait }
  | { readonly op: "resize"; readonly cols: number; readonly rows: number };

/** `lost`: Crux stopped while it ran. */
export type NativeState = "running" | "exited" | "killed" | "lost";

/** What ended the wait. `limit`: so much came that the answer was given before. */
export type NativeWoken = "match" | "quiet" | "end" | "timeout" | "limit";

export interface NativeAnswer {
  readonly id: string;
  readonly pid: Pid;
  readonly state: NativeState;
  /** null: it runs, or its exit is not known. */
  readonly exit_code: number | null;
  readonly reason: string;
  /** Plain text, as a terminal would show it. */
  readonly output: string;
  readonly next_offset: number;
  readonly total_bytes: number;
  /** Bytes before the output that were dropped unread. */
  readonly dropped_bytes: number;
  readonly woken_by: NativeWoken;
  /** Bytes that the program has not taken yet. */
  readonly unwritten_bytes: number;
}

const NAMES = "native/";

/** In the order in which they were started. */
export function findNatives(kept: ReadonlyMap<string, unknown> | undefined): readonly NativeRecord[] {
  const values = [...(kept ?? [])].filter(([name]) => name.startsWith(NAMES));
  return values.map(([, value]) => value as NativeRecord);
}

/** The newest of that name, or the one with that pid. */
export function findNative(
  kept: ReadonlyMap<string, unknown> | undefined,
  ref: string,
): NativeRecord | undefined {
  const all = findNatives(kept);
  return all.findLast(({ id }) => id === ref) ?? all.find(({ pid }) => String(pid) === ref);
}

export function nativeKey(pid: Pid): string {
  return `${NAMES}${pid}`;
}
