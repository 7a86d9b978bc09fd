/** `crux man`: the manual page, generated from the table of commands. */
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { manPage } from "../../help/main.ts";

export const man: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  noWords(args, "crux man | man -l -");
  const page = manPage(host.version);
  if (console.mode === "json") await console.data({ page });
  else await console.raw(page);
  return 0;
}
