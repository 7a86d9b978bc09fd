/**
 * The file beside the notes of a folder that says when they were tidied last, how many sessions have worked since, and since
 * when one is at it. Who changes it expects what it has read, so of two that begin at once one is refused.
 */
import { codeOf } from "../../abi/errors.ts";
import type { Sys } from "../../abi/sys.ts";
import { readHostText, writeHostText } from "../program/host-file.ts";

/** Wall clock, ms; 0: never. */
export interface TidyState {
  readonly lastMs: number;
  readonly sessions: number;
  /** One is at it since then; 0: nobody is. */
  readonly busyMs: number;
}

export interface TidyFile {
  readonly state: TidyState;
  /** The digest of the file; null: there is none. */
  readonly sha256: string | null;
}

const NAME = ".tidy.md";
const NEVER: TidyState = { lastMs: 0, sessions: 0, busyMs: 0 };
const DAY_MS = 86_400_000;
const MOST_BUSY_MS = 3_600_000;
const LEAST_SESSIONS = 5;

export function isDue({ lastMs, sessions, busyMs }: TidyState, nowMs: number): boolean {
  return sessions >= LEAST_SESSIONS && nowMs - lastMs >= DAY_MS && nowMs - busyMs >= MOST_BUSY_MS;
}

export async function readTidyFile(sys: Sys, dir: string): Promise<TidyFile> {
  try {
    const { text, sha256 } = await readHostText(sys, `${dir}/${NAME}`);
    return { state: parsed(text), sha256 };
  } catch (error) {
    sys.ending.throwIfAborted();
    if (codeOf(error) !== "NOT_FOUND") throw error;
    return { state: NEVER, sha256: null };
  }
}

/** null: another process has changed the file meanwhile. */
export async function writeTidyFile(
  sys: Sys,
  dir: string,
  { state, sha256 }: TidyFile,
): Promise<TidyFile | null> {
  try {
    const wanted = { text: written(state), expect: sha256 };
    return { state, sha256: await writeHostText(sys, `${dir}/${NAME}`, wanted) };
  } catch (error) {
    sys.ending.throwIfAborted();
    if (codeOf(error) !== "CONFLICT") throw error;
    return null;
  }
}

/** What cannot be read counts as never. */
function parsed(text: string): TidyState {
  const of = (key: string): string => new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1]?.trim() ?? "";
  const ms = (key: string): number => Date.parse(of(key)) || 0;
  return { lastMs: ms("tidied"), sessions: Number(of("sessions")) || 0, busyMs: ms("begun") };
}

function written({ lastMs, sessions, busyMs }: TidyState): string {
  const time = (ms: number): string => (ms === 0 ? "" : ` ${new Date(ms).toISOString()}`);
  return `---
tidied:${time(lastMs)}
sessions: ${sessions}
begun:${time(busyMs)}
---
Crux writes here when it tidied the notes beside this file, and how many sessions have worked since.
`;
}
