/**
 * Tests write `crux hello` for an intent of one word. At a shell that is refused as a mistyped command, so it is put
 * after `--` here, as a user must write it. Tests of typed command lines skip this.
 */
import { Fault } from "../../abi/errors.ts";
import { findFirstWord, parseFlags, RUN_FLAGS } from "../args.ts";
import { COMMANDS } from "../commands.ts";

export function intentArgv(argv: readonly string[]): readonly string[] {
  const first = findFirstWord(argv);
  if (first === undefined || first.word === "" || Object.hasOwn(COMMANDS, first.word)) return argv;
  if (!isOneWord(argv)) return argv;
  return [...argv.filter((_, at) => at !== first.at), "--", first.word];
}

function isOneWord(argv: readonly string[]): boolean {
  try {
    const { flags, words, behind } = parseFlags(argv, RUN_FLAGS);
    return words.length === 1 && behind === undefined && !flags.has("continue") && !flags.has("resume");
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
