/** The known values of variables and substitutions, while the text is walked in execution order. */
import type { Node } from "web-tree-sitter";
import type { SimpleCommand } from "./command.ts";
import { readNames } from "./evaluation.ts";
import type { Piece } from "./piece.ts";
import type { Printed } from "./printed.ts";
import type { Spelling } from "./spelling.ts";
import { isSetOnce, settingsOf } from "./variables.ts";
import type { Cwds } from "./where.ts";
import type { Word } from "./word.ts";

/** The most values of a loop variable; with more, the variable counts as unknown. */
const MAX_SPELLINGS = 64;

export function spellingsOf({ text, among }: Word): Printed {
  return text === null ? among : [{ kind: "text", text }];
}

export class KnownValues {
  readonly #text: string;
  readonly #home: string;
  readonly #variables = new Map<string, readonly Spelling[]>();
  /** The output of substitutions, by start position. */
  readonly #printed = new Map<number, readonly Spelling[]>();
  /** Variables set by `read` from a pipe; forgotten when the pipe ends. */
  readonly #read = new Set<string>();

  constructor(text: string, home: string) {
    this.#text = text;
    this.#home = home;
  }

  spellings({ name, at }: Extract<Piece, { kind: "unknown" }>, cwds: Cwds): Printed {
    if (at !== undefined) return this.#printed.get(at);
    if (name === undefined) return undefined;
    const known = this.#variables.get(name);
    if (known !== undefined || (name !== "HOME" && name !== "PWD")) return known;
    if (settingsOf(this.#text, name) > 0) return undefined;
    const [cwd, other] = cwds ?? [];
    const isStill =
      other === undefined &&
      !/\b(?:cd|pushd|popd|eval|source)\b|\$'/.test(this.#text.replaceAll(/['"\\]/g, ""));
    const text = name === "HOME" ? this.#home : isStill ? cwd : undefined;
    return text === undefined ? undefined : [{ kind: "text", text }];
  }

  /** Records the output of the substitution that begins at `at`. */
  print(at: number, printed: readonly Spelling[]): void {
    this.#printed.set(at, printed);
  }

  /** Records the values of assignments that always run. */
  learn(assignments: SimpleCommand["assignments"]): void {
    for (const { name, value } of assignments) {
      const spellings = spellingsOf(value);
      if (spellings !== undefined && isSetOnce(this.#text, name)) this.#variables.set(name, spellings);
    }
  }

  /**
   * Binds the loop variable to the words of the loop. False if they are unknown or if the variable is also set
   * elsewhere.
   */
  bindLoop(node: Node, name: string, among: readonly Printed[]): boolean {
    const spellings = among.flatMap((each) => each ?? []);
    if (among.length === 0 || spellings.length > MAX_SPELLINGS || among.some((each) => each === undefined))
      return false;
    const heads = [...this.#text.matchAll(new RegExp(`\\bfor\\s+${name}\\s+in\\b`, "g"))].length;
    const within = node
      .descendantsOfType("for_statement")
      .filter((each) => each?.namedChildren[0]?.text === name);
    if (settingsOf(this.#text, name) !== heads || within.length !== 1 || this.#variables.has(name))
      return false;
    this.#variables.set(name, spellings);
    return true;
  }

  forget(name: string): void {
    this.#variables.delete(name);
  }

  /** Binds the variable of `read -r name` to known lines. */
  bindRead(argv: readonly Word[], lines: readonly Spelling[]): void {
    const [name = "", other] = readNames(argv);
    if (other !== undefined || !isSetOnce(this.#text, name)) return;
    this.#variables.set(name, lines);
    this.#read.add(name);
  }

  endPipe(): void {
    for (const name of this.#read) this.#variables.delete(name);
  }
}
