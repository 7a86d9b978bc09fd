/** A folder for files that are needed now, wherever one can be made: `/tmp` may be full, read-only or not there. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./paths.ts";

/** New, the user's alone; the caller removes it. Throws what the host says of the last place that was tried. */
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
