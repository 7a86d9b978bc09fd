/**
 * Finds protected paths in shell text that cannot be read with certainty. An incomplete check: it catches paths that
 * are spelled out, behind a redirection or after a command that writes. Text that computes a path is not caught.
 */
import { posix } from "node:path";
import { isInsideAny } from "../rules/paths.ts";
import { findProtection, findProtectionOfGlob, type PathClass } from "../rules/protected.ts";
import { settingsWritten } from "../rules/settings-writer.ts";
import { expandBraces } from "../shell/brace.ts";
import { operandPath } from "../shell/operand-path.ts";
import { charsOf } from "../shell/piece.ts";
import { takesText } from "../shell/read/read-only.ts";
import { staticWord } from "../shell/word.ts";
import { type Case, formsOf } from "./case.ts";
import { accessesOf, isWriter, pathsIn } from "./operand.ts";

interface Mention {
  readonly word: string;
  readonly kind: PathClass;
}

/** In a text with more words symbolic links are not followed: a look at the host for each word would take too long. */
const MAX_RESOLVED = 1000;
const MAX_DIRECTORIES = 4;

const TOKEN =
  /(?<![^\s;&|()])#[^\n]*|(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s;&|()<>'"\\`])+|>[>|&]?|<>|[;&|()`\n]/g;
const HERE_DOCUMENT = /(?<!<)<<(?!<)-?[ \t]*(?:'([^']+)'|"([^"]+)"|\\?([A-Za-z_][\w.-]*))/g;

interface Named {
  readonly word: string;
  readonly access: "read" | "write";
}

export function findMention(c: Case, given: string, cwd: string): Mention | undefined {
  const segments = segmentsIn(withoutHereDocuments(spelledOut(given.replaceAll("\\\n", ""))));
  for (const { words } of segments)
    for (const [i, word] of words.entries()) {
      const place = /^[\w./-]+$/.test(word) ? settingsWritten(words.slice(i).map(staticWord)) : null;
      if (place !== null && !takesText(posix.basename(words[0] ?? "")))
        return { word: place, kind: "execution" };
    }
  const count = segments.reduce((sum, { words }) => sum + words.length, 0);
  const resolve = count > MAX_RESOLVED ? (path: string) => path : c.places.realPath;
  const dirs = directoriesIn(segments, cwd, c.places.home);
  for (const { word, access } of segments.flatMap(namedIn)) {
    const path = atHome(word, c.places.home);
    for (const dir of path.startsWith("/") ? ["/"] : dirs) {
      const whole = operandPath(dir, path);
      const forms = formsOf(whole, resolve(whole)).filter((form) => !isInsideAny(c.free, form));
      const find = /[*?[]/.test(whole) ? findProtectionOfGlob : findProtection;
      const found = forms
        .map((form) => find(c.places.protections, access, form))
        .find((each) => each !== undefined);
      if (found !== undefined) return { word, kind: found.kind };
    }
  }
  return undefined;
}

/** The text with extended patterns made plain and variables replaced by the text assigned to them. */
function spelledOut(text: string): string {
  const plain = text.replace(/[?*+@!]\([^()\n]*\)/g, "*");
  let all = plain;
  for (const [, name = "", value = ""] of plain.matchAll(/(?<![\w$])([A-Za-z_]\w*)=([\w./~*?[\]-]+)/g))
    all = all.replaceAll(new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}\\})`, "g"), () => value);
  return all.length > 4 * text.length + 4096 ? plain : all;
}

/**
 * Removes the bodies of here-documents, which are data, but not the rest of their first line. Without its end line a
 * here-document is not one.
 */
function withoutHereDocuments(text: string): string {
  const kept: string[] = [];
  const ends: string[] = [];
  for (const line of text.split("\n")) {
    if (ends.length > 0) {
      if (line.replace(/^\t+/, "") === ends[0]) ends.shift();
      continue;
    }
    kept.push(line);
    for (const [, single, double, plain] of line.matchAll(HERE_DOCUMENT))
      ends.push(single ?? double ?? plain ?? "");
  }
  return ends.length === 0 ? kept.join("\n") : text;
}

interface Segment {
  readonly words: readonly string[];
  readonly written: readonly string[];
}

/** The simple commands of the text, without their redirections. */
function segmentsIn(text: string): readonly Segment[] {
  const segments: { words: string[]; written: string[] }[] = [{ words: [], written: [] }];
  const inner: Segment[] = [];
  let isTarget = false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith("#")) continue;
    if (/^[;&|()`\n]$/.test(token)) {
      segments.push({ words: [], written: [] });
      isTarget = false;
    } else if (/^[<>]/.test(token)) isTarget = true;
    else {
      segments.at(-1)?.[isTarget ? "written" : "words"].push(unquote(token));
      isTarget = false;
      // bash runs substitutions in double quotes: without the quotes they are read as text of their own
      if (token.includes('"') && /\$\(|`/.test(token)) inner.push(...segmentsIn(token.replaceAll('"', " ")));
    }
  }
  return [...segments, ...inner];
}

function unquote(token: string): string {
  return token.replace(/'([^']*)'|["\\]/g, "$1");
}

/**
 * The paths that a segment names: every word may be read; targets of redirections and operands of writers are written.
 */
function namedIn({ words, written }: Segment): readonly Named[] {
  const at = words.findIndex((word) => isWriter(posix.basename(word)));
  const isText = takesText(posix.basename(words[0] ?? ""));
  const accesses = at < 0 || isText ? [] : accessesOf(words.slice(at));
  const writes = accesses.filter(({ access, isGuess }) => access === "write" && isGuess !== true);
  const reads = at < 0 ? words.flatMap(pathsIn) : accesses.filter(isRead).map(({ operand }) => operand);
  return [
    ...[...written, ...writes.map(({ operand }) => operand)].flatMap(spellings("write")),
    ...(isText ? [] : reads.flatMap(spellings("read"))),
  ];
}

function isRead({ access }: { readonly access: string }): boolean {
  return access === "read";
}

/** One access for each alternative of the word's braces. */
function spellings(access: Named["access"]) {
  return (word: string): readonly Named[] => {
    const words = word.includes("{") ? expandBraces(charsOf(word, false)) : null;
    const texts = (words ?? []).map((each) =>
      each.map((piece) => (piece.kind === "char" ? piece.char : "")).join(""),
    );
    return [word, ...texts.filter((each) => each !== word)].map((each) => ({ word: each, access }));
  };
}

function atHome(word: string, home: string): string {
  return word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, home);
}

/** The directories where relative paths may begin: the working directory, and the targets of `cd`. */
function directoriesIn(segments: readonly Segment[], cwd: string, home: string): readonly string[] {
  const dirs = [cwd];
  for (const { words } of segments) {
    const at = words.findIndex((word) => /^(?:cd|pushd)$/.test(word));
    const target = at < 0 ? undefined : words[at + 1];
    if (target === undefined || dirs.length >= MAX_DIRECTORIES) continue;
    dirs.push(operandPath(dirs.at(-1) ?? cwd, atHome(target, home)));
  }
  return dirs;
}
