import type { Call, Command } from "./command.ts";
import { invalid } from "./screen/errors.ts";
import { findHelp } from "./table/main.ts";

export const help: Command = { flags: {}, run };

async function run({ args, console }: Call): Promise<number> {
  const [topic = ""] = args.words;
  const text = findHelp(topic);
  if (text === undefined) throw invalid(`no help on: ${topic}`, "crux help lists the commands");
  if (console.mode === "json") await console.data({ topic, text });
  else await console.line(text);
  return 0;
}
