/** How an exit is shown: the error behind it stays in the journal. */
import type { ExitStatus } from "../../abi/process.ts";

export function exitOf({ code, reason, kind }: ExitStatus): Omit<ExitStatus, "err"> {
  return { code, reason, kind };
}
