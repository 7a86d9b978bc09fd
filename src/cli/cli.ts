/** From a command line to an exit code: chooses the command, loads only that one, and shows what it throws. */
import { Fault } from "../abi/errors.ts";
import { WireFault } from "../wire/client/wire-fault.ts";
import {
  type Args,
  findFirstWord,
  findGlobalFlags,
  findPrint,
  modeOf,
  parseFlags,
  ValueMissing,
} from "./args.ts";
import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { Console } from "./console.ts";
import type { Host } from "./host/host.ts";
import { refuseKept } from "./run/intent-words.ts";

export async function runCli(argv: readonly string[], host: Host): Promise<number> {
  const global = findGlobalFlags(argv);
  const console = new Console(host, modeOf(global), global.has("no-color"));
  try {
    return await dispatch(argv, global, console, host);
  } catch (error) {
    await console.fail(error);
    return 1;
  }
}

async function dispatch(
  argv: readonly string[],
  global: ReadonlySet<string>,
  console: Console,
  host: Host,
): Promise<number> {
  const first = findFirstWord(argv);
  const printAt = findPrint(argv);
  const isCommand = first !== undefined && Object.hasOwn(COMMANDS, first.word);
  // behind -p every word belongs to the prompt
  const name = isCommand && (printAt === undefined || printAt > first.at) ? first.word : undefined;
  const isPrint = name === undefined && printAt !== undefined;
  const command = isPrint ? (await import("./print/print.ts")).print : await load(name);
  const rest = name === undefined ? argv : argv.filter((_, at) => at !== first?.at);
  const args = await parse(command, rest, name).catch(async (error: unknown) => {
    const line = console.mode === "json" ? undefined : command.refusal?.(argv, error);
    if (line !== undefined) await console.line(line);
    throw error;
  });
  if (global.has("version"))
    return (await load("version")).run({ args: { ...args, words: [] }, console, host });
  if (global.has("help")) {
    const words = name === undefined ? [] : [name];
    return (await load("help")).run({ args: { ...args, words }, console, host });
  }
  // the first word after -r refers to a session
  const isNew = !args.flags.has("continue") && !args.flags.has("resume");
  if (name === undefined && first !== undefined && isNew && !isPrint) refuseKept(args);
  using _reader = command.follows?.(args) === true ? await host.lifecycle.endWithReader() : undefined;
  try {
    // awaited here, so that the reader is watched until the end
    return await command.run({ args, console, host });
  } catch (error) {
    throw withWay(error, name);
  }
}

/** Arguments that a command refused without saying what to type: its help says it. */
function withWay(error: unknown, name: string | undefined): unknown {
  if (!(error instanceof Fault) || error instanceof WireFault) return error;
  if (error.code !== "INVALID" || error.hint !== undefined) return error;
  return new Fault({ code: error.code, message: error.message, hint: helpOf(name), cause: error });
}

function helpOf(name: string | undefined): string {
  return name === undefined ? "crux help lists commands and flags" : `see crux help ${name}`;
}

/** A flag error gets the hint from the help of the command. */
async function parse(command: Command, argv: readonly string[], name: string | undefined): Promise<Args> {
  try {
    return command.parse?.(argv) ?? parseFlags(argv, command.flags);
  } catch (error) {
    if (!(error instanceof Fault) || error.hint !== undefined) throw error;
    const { code, message } = error;
    const help = helpOf(name);
    const use = error instanceof ValueMissing ? await useOf(name ?? "", error.flag) : "";
    const hint = use === "" ? help : name === undefined ? use : `${use}; ${help}`;
    throw new Fault({ code, message, hint, cause: error });
  }
}

async function useOf(name: string, flag: string): Promise<string> {
  return (await import("./help/main.ts")).findFlagUse(name, flag);
}

async function load(name: string | undefined): Promise<Command> {
  const known = name === undefined ? undefined : COMMANDS[name];
  return known === undefined ? (await import("./command/session/run.ts")).run : known();
}
