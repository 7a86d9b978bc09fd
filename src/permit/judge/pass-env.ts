/**
 * Which environment variables a command gets although their names look like secrets: those that the user has given to
 * its program. A shell passes its environment to everything it starts, so every program in the text must have been
 * given the name, and the text must be known to the last word.
 */
import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { isSystemProgram } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { programOf, textsOf } from "../shell/word.ts";
import { analysisOf, isCertainText } from "./exec.ts";

/** For each program, names of variables or prefixes such as `AWS_*`. */
type PassEnv = Readonly<Record<string, readonly string[]>>;

type Exec = Extract<Effect, { kind: "exec" }>;

/** `home`: the user's home directory. The grammar must be loaded; without it nothing passes. */
export function passesEnv(passEnv: PassEnv, effect: Exec, home: string): (name: string) => boolean {
  if (Object.keys(passEnv).length === 0) return () => false;
  try {
    const analysis = analysisOf({ home, realPath: (path) => path }, effect);
    if (!isCertainText(analysis)) return () => false;
    const given = analysis.parts.filter((part) => !isMove(part)).map((part) => namesFor(passEnv, part));
    return (name) => given.length > 0 && given.every((names) => names.some((each) => matches(each, name)));
  } catch {
    return () => false;
  }
}

function namesFor(passEnv: PassEnv, { levels, isOpen, evaluates }: Part): readonly string[] {
  const argv = levels.at(-1) ?? [];
  const program = programOf(argv);
  if (isOpen || evaluates !== null || program === null || textsOf(argv) === null) return [];
  if (!isSystemProgram(program)) return [];
  const name = posix.basename(program);
  return Object.hasOwn(passEnv, name) ? (passEnv[name] ?? []) : [];
}

/** The part only changes the directory. */
function isMove({ levels, redirects }: Part): boolean {
  return levels.length === 1 && redirects.length === 0 && programOf(levels[0] ?? []) === "cd";
}

function matches(given: string, name: string): boolean {
  return given.endsWith("*") ? name.startsWith(given.slice(0, -1)) : given === name;
}
