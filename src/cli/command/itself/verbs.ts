/** A command whose first word selects the action: `crux config set …`, `crux model list`. */
import type { Call } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { invalid } from "../../screen/errors.ts";

/** `words`: those after the verb. */
export type Verb = (call: Call, client: DaemonClient, words: readonly string[]) => Promise<number>;

/** Runs the given verb, or `none` without one, with a connection to the daemon. INVALID: unknown verb. */
export async function runVerb(
  call: Call,
  verbs: Readonly<Record<string, Verb>>,
  none: string,
  usage: string,
): Promise<number> {
  const [name = none, ...words] = call.args.words;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw invalid(`unknown argument: ${name}`, usage);
  const client = await call.host.daemon.ensure();
  try {
    return await verb(call, client, words);
  } finally {
    client.close();
  }
}
