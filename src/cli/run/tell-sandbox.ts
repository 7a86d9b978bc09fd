/** Warns, once per command that the user follows, that the commands of its agents run unconfined. */
import type { Call } from "../command.ts";
import { safeLine } from "../screen/text/safe-text.ts";

/** `why`: the reason given by the daemon; undefined: the sandbox works. */
export async function tellSandbox(
  { console }: Pick<Call, "console">,
  why: string | undefined,
): Promise<void> {
  if (why !== undefined)
    await console.notice(console.catalogue.session.sandboxOff(safeLine(why)), console.errorPaint.dim);
}
