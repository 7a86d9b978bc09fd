import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

const USAGE = "crux note <pid> [text] | crux note rm <pid>";

/** A line that the user pins to a process: shows, sets or removes it. */
export const note: Command = { flags: {}, run };

async function run({ args, host, console }: Call): Promise<number> {
  const isRemoval = args.words[0] === "rm";
  const [word, ...more] = isRemoval ? args.words.slice(1) : args.words;
  if (word === undefined) throw invalid("which process? crux ps lists them", USAGE);
  if (isRemoval) noWords({ ...args, words: more }, USAGE);
  const pid = pidOf(word, USAGE);
  const text = more.join(" ").trim();
  const client = await host.daemon.ensure();
  const change = isRemoval ? { text: "" } : text === "" ? {} : { text };
  const found = await client.request("process.note", { pid, ...change });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (found.note !== "") await console.line(safeLine(found.note));
  else if (console.isScreen) await console.line(`Process ${pid} has no note.`);
  return 0;
}
