import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nextStep } from "../codec/error.ts";

/** The most shells remembered; beyond this the oldest is dropped. */
const MAX_SEEN = 32;

/**
 * The one line about a daemon of another version, once per shell session (identified by the shell's pid); otherwise
 * undefined. The shells that have seen it are recorded beside the socket; if that cannot be written, the hint is shown
 * again.
 */
export function versionHint(
  own: string,
  daemon: string,
  shell: { readonly runtimeDir: string; readonly pid: number },
): string | undefined {
  if (own === daemon) return undefined;
  const path = join(shell.runtimeDir, "version-hint");
  const key = `${shell.pid} ${own} ${daemon}`;
  const seen = readSeen(path);
  if (seen.includes(key)) return undefined;
  try {
    writeFileSync(path, `${[...seen, key].slice(-MAX_SEEN).join("\n")}\n`, { mode: 0o600 });
  } catch {
    // only the record of shown hints is lost
  }
  return `the daemon runs crux v${daemon}, this is v${own}: ${nextStep({ kind: "other_version" })}`;
}

function readSeen(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
