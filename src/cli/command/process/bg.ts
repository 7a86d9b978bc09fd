import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";

const USAGE = "crux bg <pid>";

/** Agents that calls wait for go on in the background, and their callers beside them. */
export const bg: Command = { flags: {}, run };

async function run({ args, host, console }: Call): Promise<number> {
  const [word, ...more] = args.words;
  if (word === undefined) throw invalid("which process? crux tree shows who works for whom", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const pid = pidOf(word, USAGE);
  const client = await host.daemon.ensure();
  const found = await client.request("process.background", { pid }).finally(() => client.close());
  if (console.mode === "json") await console.data(found);
  else
    for (const each of found.handed_over)
      await console.line(console.mode === "quiet" ? `${each}` : `[kernel] PID ${each}: in the background`);
  return 0;
}
