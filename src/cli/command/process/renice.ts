import { WEIGHT } from "../../../abi/lanes.ts";
import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";

const USAGE = "crux renice <pid> <weight>";

/** The share of a process of the models that others wait for too. */
export const renice: Command = { flags: {}, run };

async function run({ args, host, console }: Call): Promise<number> {
  const [word, text = "", ...more] = args.words;
  if (word === undefined) throw invalid("which process? crux ps lists them", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const pid = pidOf(word, USAGE);
  const weight = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(weight >= WEIGHT.min && weight <= WEIGHT.max))
    throw invalid(`a weight is a whole number from ${WEIGHT.min} to ${WEIGHT.max}`, USAGE);
  const client = await host.daemon.ensure();
  const found = await client.request("process.renice", { pid, weight }).finally(() => client.close());
  if (console.mode === "json") await console.data(found);
  else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: weight ${found.weight}`);
  return 0;
}
