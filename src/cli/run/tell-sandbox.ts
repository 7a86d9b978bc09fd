/** Once for each command that the user follows: that what its agents run is not confined. */
import type { Call } from "../command.ts";
import { safeLine } from "../screen/text/safe-text.ts";

/** `why`: of the daemon; undefined: all is as it should be. */
export async function tellSandbox(
  { console }: Pick<Call, "console">,
  why: string | undefined,
): Promise<void> {
  if (why !== undefined) await console.errorLine(console.errorPaint.dim(`sandbox: off (${safeLine(why)})`));
}
