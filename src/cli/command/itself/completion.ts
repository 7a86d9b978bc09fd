/** `crux completion bash|zsh|fish`: prints the script that makes a shell call `crux __complete`. */
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { COMPLETION_SCRIPTS, isShell } from "./completion-scripts.ts";

export const completion: Command = { flags: {}, run };

const USAGE = `crux completion ${Object.keys(COMPLETION_SCRIPTS).join("|")}`;

async function run({ args, console }: Call): Promise<number> {
  const [shell, ...more] = args.words;
  if (shell === undefined) throw invalid("a shell is missing", USAGE);
  if (!isShell(shell)) throw invalid(`no completion for ${shell}`, USAGE);
  if (more[0] !== undefined) throw invalid(`unknown argument: ${more[0]}`, USAGE);
  const script = COMPLETION_SCRIPTS[shell];
  if (console.mode === "json") await console.data({ shell, script });
  else await console.raw(script);
  return 0;
}
