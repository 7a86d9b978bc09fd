/** Tracks the directories in which commands of a text run, as far as `cd` shows. */
import { climbsBack, operandPath } from "./operand-path.ts";
import { textsOf, type Word } from "./word.ts";

/** The directories in which a command may run; null: any directory. */
export type Cwds = readonly string[] | null;

/** The directories after a statement. `ok`: if it succeeded; `any`: however it ended. */
export interface Flow {
  readonly ok: Cwds;
  readonly any: Cwds;
}

const MAX_DIRECTORIES = 4;
const MOVES = new Set("cd pushd popd".split(" "));
/** Commands that may hide a change of directory: in evaluated text, or through a builtin that calls builtins. */
const MAY_MOVE = new Set("eval source . command builtin dirs".split(" "));

export function both(a: Cwds, b: Cwds): Cwds {
  if (a === null || b === null) return null;
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_DIRECTORIES ? null : all;
}

export function stays(cwds: Cwds): Flow {
  return { ok: cwds, any: cwds };
}

/** The directories after one simple command. */
export function after(argv: readonly Word[], cwds: Cwds, home: string): Flow {
  const name = argv[0];
  if (name === undefined) return stays(cwds);
  if (name.text === null) return stays(null);
  if (MAY_MOVE.has(name.text))
    return argv
      .slice(1)
      .every(({ text }) => text !== null && !/\b(?:cd|pushd|popd|eval|source)\b|^\.$/.test(text))
      ? stays(cwds)
      : stays(null);
  if (!MOVES.has(name.text)) return stays(cwds);
  const target = cdTarget(argv, home);
  if (target === null || (cwds === null && !target.startsWith("/"))) return stays(null);
  const ok = cwds === null ? [target] : cwds.map((cwd) => operandPath(cwd, target));
  return { ok, any: both(cwds, ok) };
}

/** The target of a plain `cd x`; null: unknown here. */
export function cdTarget(argv: readonly Word[], home: string): string | null {
  const texts = textsOf(argv);
  if (texts === null || texts[0] !== "cd") return null;
  const operands = texts[1] === "--" ? texts.slice(2) : texts.slice(1);
  const [target = home, extra] = operands;
  if (extra !== undefined || target === "" || target.startsWith("-") || climbsBack(target)) return null;
  return target;
}
