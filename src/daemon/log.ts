/**
 * daemon.log. The daemon's stdout and stderr are the same file, opened for appending by the client that started it; so
 * rotation copies and truncates it instead of renaming it under them. Created with the first line. Never throws: a full
 * disk must not end the daemon.
 */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  truncateSync,
} from "node:fs";
import type { Clock } from "../abi/program.ts";
import { parent } from "../lib/paths.ts";
import type { Log } from "../wire/server/deps.ts";

const MAX_BYTES = 10 * 1024 * 1024;
/** Rotated files; `daemon.log.1` is the newest. */
const KEPT = 3;
/** The longest line, in characters: a long stack is cut. */
const MAX_LINE = 16 * 1024;

interface LogOptions {
  readonly maxBytes?: number;
  readonly kept?: number;
  /** Removes what must not appear in the log. */
  readonly wording?: (text: string) => string;
  /** The file for lines that cannot be written to the log. */
  readonly fallback?: string;
}

export function openLog(
  path: string,
  clock: Pick<Clock, "now">,
  { maxBytes = MAX_BYTES, kept = KEPT, fallback, wording = (text) => text }: LogOptions = {},
): Log {
  return (level, message) => {
    const text = oneLine(wording(message)).slice(0, MAX_LINE);
    const line = `${new Date(clock.now()).toISOString()} ${level} ${text}\n`;
    const append = (to: string): void => {
      mkdirSync(parent(to), { recursive: true, mode: 0o700 });
      rotate(to, { maxBytes, kept });
      appendFileSync(to, line, { mode: 0o600 });
    };
    if (!attempt(() => append(path)) && fallback !== undefined) attempt(() => append(fallback));
  };
}

function rotate(path: string, { maxBytes, kept }: { maxBytes: number; kept: number }): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return;
  for (let n = kept - 1; n >= 1; n--)
    if (existsSync(`${path}.${n}`)) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  copyFileSync(path, `${path}.1`);
  chmodSync(`${path}.1`, 0o600);
  truncateSync(path);
}

/**
 * Escapes control characters: text from a client or a model can neither forge a line nor control the terminal of a
 * reader.
 */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (char) =>
    char === "\n" ? "\\n" : JSON.stringify(char).slice(1, -1),
  );
}

/** Runs `act`; false if it failed. */
function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
