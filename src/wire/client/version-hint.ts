import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Shells remembered; the oldest is forgotten first. */
const MAX_SEEN = 32;

/**
 * The one line about a daemon of another version, once per shell session (its pid tells them apart); else undefined.
 * What was said is kept beside the socket; where that cannot be written the hint comes again.
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
    // only the reminder is lost
  }
  return `the daemon runs crux v${daemon}, this is v${own}: crux daemon restart`;
}

function readSeen(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
