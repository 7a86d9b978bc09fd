/** Spools on disk: `<dir>/<name>`, 64 MiB each. */
import type { Spool, SpoolReader, SpoolStore } from "../../kernel/ports/spools.ts";

export class DiskSpools implements SpoolStore {
  open(_name: string, _onFull: "drop" | "refuse"): Spool {
    throw new Error("to be written");
  }

  find(_name: string): SpoolReader | undefined {
    return undefined;
  }
}
