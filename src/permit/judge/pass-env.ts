/**
 * Which names of the environment a command gets although they look like secrets: those that a person has given to its program.
 * A shell hands its environment to all it starts, so every program in the text must have been given the name, and the text be
 * known to the last word.
 */
import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { isSystemProgram } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { programOf, textsOf } from "../shell/word.ts";
import { analysisOf, isCertainText } from "./exec.ts";

/** By program: names, or how they begin, `AWS_*`. */
type PassEnv = Readonly<Record<string, readonly string[]>>;

type Exec = Extract<Effect, { kind: "exec" }>;

/** `home`: of the user. The grammar must be there; without it nothing passes. */
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

/** It changes the directory, and starts nothing. */
function isMove({ levels, redirects }: Part): boolean {
  return levels.length === 1 && redirects.length === 0 && programOf(levels[0] ?? []) === "cd";
}

function matches(given: string, name: string): boolean {
  return given.endsWith("*") ? name.startsWith(given.slice(0, -1)) : given === name;
}
