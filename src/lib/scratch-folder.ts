/** Makes a temporary folder wherever that is possible: `/tmp` may be full, read-only or missing. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./paths.ts";

/** Makes a new private folder; the caller removes it. Throws the host's error for the last place tried. */
export function makeScratchFolder(prefix: string, env: Environment = process.env): string {
  const runtime = env.XDG_RUNTIME_DIR ?? "";
  const places = [...(runtime.startsWith("/") ? [runtime] : []), tmpdir(), "/dev/shm", env.HOME ?? "/"];
  let reason: unknown;
  for (const place of places) {
    try {
      return mkdtempSync(join(place, prefix));
    } catch (error) {
      reason = error;
    }
  }
  throw reason;
}
