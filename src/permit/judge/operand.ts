/**
 * Judges paths among the operands of commands that are not read-only: what forbids a path also forbids passing it to a
 * command.
 */
import { posix } from "node:path";
import { operandPath } from "../shell/operand-path.ts";
import { isTextWord } from "../shell/program/escalating.ts";
import { takesText } from "../shell/read/read-only.ts";
import type { Spelling } from "../shell/spelling.ts";
import type { Part } from "../shell/unfold.ts";
import type { Cwds } from "../shell/where.ts";
import { globSpellings, programOf, type Word } from "../shell/word.ts";
import type { Case } from "./case.ts";
import { kernelMention } from "./kernel-mention.ts";
import { type PathAccess, restrictGlob, restrictPath } from "./path.ts";
import { restrictUnknownPath } from "./unknown-path.ts";
import { deny, hardAsk, strictest, type Verdict } from "./verdict.ts";

/** Commands that change or remove all files that they name. */
const CHANGE_ALL = new Set(
  "rm rmdir unlink shred touch mkdir mkfifo tee truncate chmod chown chgrp".split(" "),
);
/** Commands that copy the first operands to the last. `mv` also removes its sources; `rsync` reads like `cp`. */
const COPY = new Set("cp ln install mv rsync".split(" "));
/** Subcommands of `git` that fill a folder that they name. */
const MAKES = new Set("clone init worktree".split(" "));
/** Commands that with the flag `-i` change the files that they otherwise only read. */
const IN_PLACE = new Set("sed gsed perl ruby".split(" "));
/** The programs take one target flag; a second is judged too, since some words only look like a target flag. */
const MAX_TARGETS = 2;
/** Options of `find` that are followed by a pattern, not a file. */
const FIND_PATTERNS = /^-i?(name|path|wholename|regex|lname)$/;

/**
 * null: no operand is forbidden. For a command that is not in the tables, a rule's refusal becomes a question that no
 * mode answers.
 */
export function restrictOperands(
  c: Case,
  argv: readonly Word[],
  { isOpen, cwds }: Pick<Part, "isOpen" | "cwds">,
): Verdict | null {
  const name = posix.basename(programOf(argv) ?? "");
  if (takesText(name)) return null;
  const isUnknown = isOpen || argv.some((word, i) => i > 0 && word.text === null && !isTextWord(argv, i));
  const unknown = isUnknown || (cwds === null && argv.length > 1) ? restrictUnknownPath(c, "any") : null;
  const texts = argv.flatMap((word, i) => (i > 0 && isTextWord(argv, i) ? [] : textsFor(word)));
  const found = accessesOf(texts).flatMap(({ operand, ...access }) =>
    (operand.startsWith("/") ? ["/"] : (cwds ?? [])).map((cwd) => {
      const verdict = restrictPath(c, { ...access, path: operandPath(cwd, operand) });
      return access.isGuess === true ? soften(verdict) : verdict;
    }),
  );
  const verdicts = [unknown, ...found, ...globsOf(c, argv, cwds), kernelOf(c, texts)].filter(
    (verdict) => verdict !== null,
  );
  return verdicts.length === 0 ? null : strictest(verdicts);
}

/** The texts that a word may have; for an unknown word, a path in the folder of its known prefix. */
function textsFor({ text, prefix, among }: Word): readonly string[] {
  if (text !== null) return [text];
  if (among !== undefined) return among.flatMap(textsOfSpelling);
  return prefix.includes("/") ? [`${prefix.slice(0, prefix.lastIndexOf("/") + 1)}x`] : [];
}

function textsOfSpelling({ kind, text }: Spelling): readonly string[] {
  if (kind === "stream") return [];
  if (kind === "names") return [`${text}/x`];
  return kind === "text" ? [text] : globSpellings(text);
}

/** Judges patterns among the words: every command may read secrets that match; writers may also change what matches. */
function globsOf(c: Case, argv: readonly Word[], cwds: Cwds): readonly Verdict[] {
  const name = posix.basename(programOf(argv) ?? "");
  const isChanging =
    isWriter(name) &&
    (!IN_PLACE.has(name) || argv.some(({ text }) => /^(?:-[A-Za-z0-9]*i|--in-place)/.test(text ?? "")));
  const accesses = isChanging ? (["read", "write"] as const) : (["read"] as const);
  const globs = argv.slice(1).flatMap(({ among = [] }) => among.filter(({ kind }) => kind === "glob"));
  return globs
    .flatMap(({ text }) =>
      text.startsWith("/") ? [text] : (cwds ?? []).map((cwd) => operandPath(cwd, text)),
    )
    .flatMap((glob) => accesses.map((access) => restrictGlob(c, access, glob)))
    .filter((verdict) => verdict !== null);
}

/** A word that is itself a small program may name a file of the kernel anywhere in it. */
function kernelOf(c: Case, texts: readonly string[]): Verdict | null {
  const found = texts.filter((text) => /[\s'"(=]/.test(text)).map((text) => kernelMention(c, text));
  const kernel = found.find((each) => each !== undefined);
  return kernel === undefined
    ? null
    : deny("protected", `${kernel} belongs to crux itself; no mode or rule opens it`);
}

/** Whether the command changes files that it names. */
export function isWriter(name: string): boolean {
  return CHANGE_ALL.has(name) || COPY.has(name) || IN_PLACE.has(name) || name === "dd";
}

type Access = Omit<PathAccess, "path" | "real"> & { readonly operand: string };

/** The accesses of a command to its operands, judged by its name; for known commands an upper bound. */
export function accessesOf(argv: readonly string[]): readonly Access[] {
  const [path = "", ...args] = argv;
  const name = posix.basename(path);
  const operands = args.flatMap(pathsIn);
  if (CHANGE_ALL.has(name)) return operands.map(change);
  if (COPY.has(name)) return copies(name, args, operands);
  if (IN_PLACE.has(name) && args.some((arg) => /^(-[A-Za-z0-9]*i|--in-place)/.test(arg)))
    return operands.flatMap((operand) => [...guesses(operand), change(operand)]);
  if (name === "git" && args.some((arg) => MAKES.has(arg)))
    return operands.flatMap((operand) => [...guesses(operand), write(operand)]);
  const files = name === "find" ? args.filter((_, i) => !FIND_PATTERNS.test(args[i - 1] ?? "")) : args;
  const written = name === "dd" ? args.filter((arg) => arg.startsWith("of=")).map((arg) => arg.slice(3)) : [];
  return [...files.flatMap(pathsIn).flatMap(guesses), ...written.map(change)];
}

const read = (operand: string): Access => ({ operand, access: "read" });
const write = (operand: string): Access => ({ operand, access: "write" });
const change = (operand: string): Access => ({ operand, access: "write", replaces: true });

function guesses(operand: string): readonly Access[] {
  return [
    { operand, access: "read", isGuess: true },
    { operand, access: "write", isGuess: true },
  ];
}

/**
 * A target that is a directory receives each source under its own name. A hard link lets the source be changed by its
 * new name, so linking counts as a write.
 */
function copies(name: string, args: readonly string[], operands: readonly string[]): readonly Access[] {
  const named = args.flatMap((arg, i) => targetFlag(arg, args[i + 1])).slice(0, MAX_TARGETS);
  const rest = operands.filter((operand) => !named.includes(operand));
  const isLone = name === "ln" && rest.length === 1;
  const targets = [...named, ...(isLone ? ["."] : rest.slice(-1))];
  const sources = named.length > 0 || isLone ? rest : rest.slice(0, -1);
  const has = (flag: RegExp) => args.some((arg) => flag.test(arg));
  const isWhole = name === "rsync" || has(/^(-[A-Za-z]*T|--no-t)/);
  const isSymbolic = has(/^(-[A-Za-z]*s|--s)/);
  const isLink = (name === "ln" && !isSymbolic) || (name === "cp" && has(/^(-[A-Za-z]*l|--l)/));
  const from = name === "mv" ? (source: string) => [read(source), change(source)] : linked(isLink);
  return [
    ...sources.flatMap(from),
    ...targets.map(isWhole ? change : write),
    ...targets.flatMap((target) => sources.map((source) => change(below(target, source)))),
  ];
}

function linked(isLink: boolean) {
  return (source: string) => (isLink ? [read(source), write(source)] : [read(source)]);
}

/** `x/.` and `..` have no name of their own: their content goes into the target itself. */
function below(target: string, source: string): string {
  const name = posix.basename(source);
  return name === "." || name === ".." ? target : `${target}/${name}`;
}

/** The value of `-t dir`, `-vtdir` or `--target-directory=dir`, also with the long flag abbreviated. */
function targetFlag(arg: string, next: string | undefined): readonly string[] {
  const long = /^--t[a-z-]*(?:=(.*))?$/.exec(arg);
  const short = /^-[A-Za-z]*?t(.*)$/.exec(arg);
  const found = long ?? short;
  if (found === null) return [];
  const value = found[1] === undefined || found[1] === "" ? next : found[1];
  return value === undefined ? [] : [value];
}

/** The paths that a word may name: itself, the part after `=` or `@`, and the value attached to a short flag. */
export function pathsIn(arg: string): readonly string[] {
  const value = arg.slice(arg.indexOf("=") + 1);
  if (/^-[A-Za-z][^=]*[./]/.test(arg)) return [arg.slice(2), ...(arg.includes("=") ? [value] : [])];
  if (arg.startsWith("-")) return arg.includes("=") && value !== "" ? [value] : [];
  const plain = arg.startsWith("@") ? arg.slice(1) : arg;
  return arg.includes("=") && value !== "" ? [plain, value] : [plain];
}

function soften(verdict: Verdict | null): Verdict | null {
  if (verdict?.behavior !== "deny" || verdict.reason.kind === "protected") return verdict;
  return hardAsk("rule", verdict.reason.detail, `${verdict.reason.detail}; the command may use it`);
}
