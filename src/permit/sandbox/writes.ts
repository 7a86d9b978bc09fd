/**
 * The places that a permitted command names for writing, which its sandbox opens for this one call. The policy has
 * judged each of these paths, and the user each protected one. An existing path is opened alone. To create, remove or
 * move one, its directory must be open: this is done only if every part of the command is known to touch nothing but
 * what it names.
 */
import { posix } from "node:path";
import type { RealPath } from "../../kernel/ports/host.ts";
import { isWithin } from "../../lib/path.ts";
import { accessesOf } from "../judge/operand.ts";
import { matchesGlob, parseGlob } from "../rules/glob.ts";
import { settingsWritten, writesOnlySettings } from "../rules/settings-writer.ts";
import type { Analysis } from "../shell/analysis.ts";
import { climbsBack, operandPath } from "../shell/operand-path.ts";
import { readOnlyOperands } from "../shell/read/read-only.ts";
import { isSystemProgram } from "../shell/tables.ts";
import type { Part } from "../shell/unfold.ts";
import { cdTarget } from "../shell/where.ts";
import { programOf, textsOf } from "../shell/word.ts";

export interface NamedWrites {
  /** Places that are opened with everything below; real paths. */
  readonly places: readonly string[];
  /**
   * Whether the protection of a place is lifted: the command names it or, if it does nothing else, names a part of it
   * or a folder around it.
   */
  gives(place: string): boolean;
}

export interface Looking {
  readonly realPath: RealPath;
  readonly home: string;
  kindOf(path: string): "absent" | "directory" | "other";
}

/** Commands that change the named files in place. */
const IN_PLACE = new Set("tee truncate chmod chown chgrp touch dd cp".split(" "));
/** These and the commands that create, remove or move the named files. None of them does anything else. */
const KNOWN = new Set([...IN_PLACE, ..."rm rmdir unlink shred mkdir mkfifo ln install mv".split(" ")]);
/** Options of `git init` with which its configuration comes from git's own template. */
const INIT_FLAG = /^(?:-q|--quiet|-b|--initial-branch(?:=[\w./-]+)?)$/;

const NOTHING: NamedWrites = { places: [], gives: () => false };

export function namedWrites({ parts, unread }: Analysis, look: Looking): NamedWrites {
  if (unread !== null) return NOTHING;
  const all = parts.map((part) => writesOf(part, look));
  const isKnown = all.every((each) => each.isKnown);
  // nobody was asked about the `.git` that `git init` creates
  const writes = all.flatMap((each) => each.writes).filter(({ isUnasked }) => isKnown || !isUnasked);
  const places = writes.flatMap((write) =>
    write.isUnasked || write.isOpen ? [] : placeOf(write, isKnown, look),
  );
  const named = [...new Set(writes.map(({ path }) => path))];
  return { places: [...new Set(places)], gives: (place) => givesWay(place, named, isKnown) };
}

function givesWay(place: string, named: readonly string[], isKnown: boolean): boolean {
  const path = place.replace(/\/$/, "");
  if (posix.basename(path).includes("*")) return named.some((each) => isOfPattern(path, each));
  return named.some((each) => each === path || (isKnown && (isWithin(path, each) || isWithin(each, path))));
}

function isOfPattern(pattern: string, path: string): boolean {
  const glob = parseGlob(posix.basename(pattern));
  return (
    posix.dirname(path) === posix.dirname(pattern) && glob !== null && matchesGlob(glob, posix.basename(path))
  );
}

/** `inPlace`: the write changes an existing file. `isUnasked`: permitted, though the path was not judged. */
interface Manner {
  readonly inPlace: boolean;
  readonly isUnasked?: boolean;
  /** Its directory is already writable; only the protection of the file is lifted. */
  readonly isOpen?: boolean;
}
/** A write with its real path. */
type Write = Manner & { readonly path: string };
/** A write with its path as written. */
type Named = Manner & { readonly word: string };

function placeOf({ path, inPlace }: Write, isKnown: boolean, look: Looking): readonly string[] {
  const kind = look.kindOf(path);
  if (kind !== "absent" && (inPlace || !isKnown)) return [path];
  const parent = posix.dirname(path);
  return isKnown && parent !== "/" && look.kindOf(parent) === "directory" ? [parent] : [];
}

/** `isKnown`: the part touches nothing but what it names. */
function writesOf(part: Part, look: Looking): { isKnown: boolean; writes: readonly Write[] } {
  const { levels, isOpen, evaluates, unsure, cwds, redirects } = part;
  const nothing = { isKnown: false, writes: [] };
  if (evaluates !== null || unsure !== null || cwds === null) return nothing;
  const targets = redirects.filter(({ operator, target }) => target !== undefined && operator.includes(">"));
  const words = targets.map(({ target }) => target?.text ?? null);
  if (words.some((word) => word === null)) return nothing;
  const into = words.filter((word) => word !== null && !/^\/dev\/(?:null|std(?:out|err)|tty)$/.test(word));
  const argv = levels.at(-1) ?? [];
  const command = isOpen ? null : commandWrites(argv, cwds, look);
  const written: readonly Named[] = [
    ...into.map((word) => ({ word: word ?? "", inPlace: true })),
    ...(command?.words ?? []),
  ];
  if (written.some(({ word }) => climbsBack(word))) return nothing;
  const writes = written.flatMap(({ word, ...manner }) =>
    (word.startsWith("/") ? ["/"] : cwds).map((cwd) => ({
      ...manner,
      path: look.realPath(operandPath(cwd, word)),
    })),
  );
  return { isKnown: command?.isKnown === true, writes };
}

type Words = { readonly isKnown: boolean; readonly words: readonly Named[] };

function commandWrites(argv: Part["levels"][number], cwds: readonly string[], look: Looking): Words {
  const texts = textsOf(argv);
  const program = programOf(argv) ?? "";
  const name = posix.basename(program);
  if (argv.length === 0) return { isKnown: true, words: [] };
  if (texts === null || !isSystemProgram(program)) return { isKnown: false, words: [] };
  const made = initialised(texts);
  if (made !== undefined) return { isKnown: true, words: [{ word: made, inPlace: false, isUnasked: true }] };
  const settings = settingsWritten(argv);
  if (settings !== null) {
    const word = settings.startsWith("~/") ? look.home + settings.slice(1) : settings;
    // a file in the working directory needs no further place; only its protection is lifted
    return {
      isKnown: writesOnlySettings(argv),
      words: [{ word, inPlace: false, isOpen: !word.startsWith("/") }],
    };
  }
  if (!KNOWN.has(name)) {
    const isReader = name === "cd" ? cdTarget(argv, look.home) !== null : readOnlyOperands(argv) !== null;
    return { isKnown: isReader, words: [] };
  }
  const isFolder = (word: string) =>
    cwds.some((cwd) => look.kindOf(look.realPath(operandPath(cwd, word))) === "directory");
  const words = accessesOf(texts)
    .filter(
      ({ access, operand, isGuess }) => access === "write" && isGuess !== true && !operand.startsWith("-"),
    )
    // a directory as target: the file inside it is a write of its own in this list
    .filter(({ operand }) => !(/^(?:cp|mv|ln|install)$/.test(name) && isFolder(operand)))
    .map(({ operand }) => ({ word: operand, inPlace: IN_PLACE.has(name) }));
  return { isKnown: true, words };
}

/** The `.git` that `git init` creates, as written. */
function initialised([git = "", verb, ...args]: readonly string[]): string | undefined {
  if (posix.basename(git) !== "git" || verb !== "init") return undefined;
  const rest = args.filter(
    (arg, i) => !INIT_FLAG.test(arg) && !/^(?:-b|--initial-branch)$/.test(args[i - 1] ?? ""),
  );
  if (rest.length > 1 || rest.some((arg) => arg.startsWith("-"))) return undefined;
  return posix.join(rest[0] ?? ".", ".git");
}
