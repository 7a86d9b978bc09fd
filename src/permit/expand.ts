/**
 * What a simple command runs in the end. Wrappers (env, timeout, xargs, sh -c …) are unwrapped by their own flag
 * grammar; a flag that is not listed makes the whole text uncertain. Deny and ask rules see every level, an allow rule
 * must cover the innermost.
 */
import { posix } from "node:path";
import { analyse, type Joiner } from "./shell.ts";
import { CHANGES_SHELL, LAUNCHERS, SHELLS, WRAPPERS, type Wrapper } from "./wrapper.ts";

export interface Command {
  /** Outermost first, innermost last; never empty. */
  readonly levels: readonly (readonly string[])[];
  /** Further arguments are not known (xargs, find -exec). */
  readonly isOpen: boolean;
  readonly joiner: Joiner;
}

export type Expansion =
  | { readonly certain: true; readonly commands: readonly Command[] }
  /** `commands`: what could be read all the same. Deny rules see it; nothing is allowed by it. */
  | { readonly certain: false; readonly why: string; readonly commands: readonly Command[] };

const MAX_DEPTH = 8;

export function expandText(text: string, depth = 0): Expansion {
  const analysis = analyse(text);
  if (!analysis.certain) return unknown(analysis.why);
  const parts = analysis.commands.map(({ argv, joiner }) => {
    const inner = expandArgv(argv, depth);
    const commands = inner.commands.map((command, i) => (i === 0 ? { ...command, joiner } : command));
    return { ...inner, commands };
  });
  return join(parts);
}

export function expandArgv(argv: readonly string[], depth = 0): Expansion {
  const [path = "", ...args] = argv;
  const name = posix.basename(path);
  if (name === "") return unknown("no command name");
  if (depth > MAX_DEPTH) return unknown("wrappers nested too deeply");
  if (CHANGES_SHELL.has(name)) return unknown(`${name} changes what the shell does next`);
  if (name === "printf" && args.some((arg) => arg.startsWith("-v"))) return unknown("printf -v");
  if (SHELLS.has(name)) return expandShell(argv, depth);
  if (name === "find") return expandFind(argv, depth);
  const wrapper = WRAPPERS.get(name);
  return wrapper === undefined ? single(argv) : expandWrapper(argv, wrapper, depth);
}

/** Programs that run what stands among their arguments in ways that are not unwrapped. */
export function isLauncher(argv: readonly string[]): boolean {
  const name = posix.basename(argv[0] ?? "");
  return LAUNCHERS.has(name) || SHELLS.has(name);
}

function unknown(why: string): Expansion {
  return { certain: false, why, commands: [] };
}

/** Certain only if each part is. */
function join(parts: readonly Expansion[]): Expansion {
  const commands = parts.flatMap((part) => part.commands);
  const odd = parts.find((part) => !part.certain);
  return odd === undefined ? { certain: true, commands } : { ...odd, commands };
}

function single(argv: readonly string[]): Expansion {
  return { certain: true, commands: [{ levels: [argv], isOpen: false, joiner: "start" }] };
}

function below(outer: readonly string[], inner: Expansion, isOpen = false): Expansion {
  const commands = inner.commands.map((command) => ({
    ...command,
    levels: [outer, ...command.levels],
    isOpen: isOpen || command.isOpen,
  }));
  return { ...inner, commands };
}

function expandShell(argv: readonly string[], depth: number): Expansion {
  const [, first, text] = argv;
  if (first === "-c" && text !== undefined) return below(argv, expandText(text, depth + 1));
  if (first === undefined || first.startsWith("-")) return unknown("a shell whose text is not known");
  return single(argv);
}

function expandWrapper(argv: readonly string[], wrapper: Wrapper, depth: number): Expansion {
  const at = operandAt(argv, wrapper);
  if (typeof at === "string") return unknown(at);
  const inner = argv.slice(at);
  if (inner.length === 0) return single(argv);
  return below(argv, expandArgv(inner, depth + 1), wrapper.isOpen === true);
}

/** Index of the inner command, or why it is not known. */
function operandAt(argv: readonly string[], wrapper: Wrapper): number | string {
  const name = argv[0] ?? "";
  let at = 1;
  for (; at < argv.length; at++) {
    const arg = argv[at] as string;
    if (arg === "--") {
      at++;
      break;
    }
    if (!arg.startsWith("-") || arg === "-") break;
    if (wrapper.flags.includes(arg)) continue;
    if (wrapper.valued.includes(arg)) at++;
    else if (!wrapper.valued.some((flag) => isAttached(flag, arg))) return `${name} ${arg}`;
  }
  if (wrapper.isEnv === true && (argv[at] ?? "").includes("=")) return `${name} with an assignment`;
  return at + (wrapper.operands ?? 0);
}

/** `-n5` and `--signal=TERM`. */
function isAttached(flag: string, arg: string): boolean {
  return flag.startsWith("--") ? arg.startsWith(`${flag}=`) : arg.length > 2 && arg.startsWith(flag);
}

/** The find itself, and each program after -exec, whose further arguments are not known. */
function expandFind(argv: readonly string[], depth: number): Expansion {
  const parts: Expansion[] = [single(argv)];
  for (let i = 1; i < argv.length; i++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(argv[i] as string)) continue;
    const rest = argv.slice(i + 1);
    const end = rest.findIndex((arg) => arg === ";" || arg === "+");
    const inner = rest.slice(0, end < 0 ? rest.length : end);
    const runsFound = inner[0]?.includes("{}") === true;
    parts.push(
      runsFound ? unknown("find runs what it finds") : below(argv, expandArgv(inner, depth + 1), true),
    );
  }
  return join(parts);
}
