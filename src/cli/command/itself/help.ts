import type { Call, Command } from "../../command.ts";
import { findHelp } from "../../help/main.ts";
import { nearCommands } from "../../run/intent-words.ts";
import { invalid } from "../../screen/errors.ts";

export const help: Command = { flags: {}, run };

async function run({ args, console }: Call): Promise<number> {
  const [topic = ""] = args.words;
  const text = findHelp(topic, console.columns);
  if (text === undefined) throw invalid(`no help on: ${topic}`, waysFrom(topic));
  if (console.mode === "json") await console.data({ topic, text });
  else await console.line(text);
  return 0;
}

/** The help of a near command belongs to its first word. */
function waysFrom(topic: string): string {
  const near = nearCommands(topic).map((command) => `crux help ${command.split(" ", 1)[0]}`);
  return near.length === 0
    ? "crux help lists the commands"
    : `${[...new Set(near)].join(", ")}; crux help lists the commands`;
}
