/**
 * Commands that only read, as data: their known harmless flags and the meaning of their operands. An unlisted flag, or
 * anything else that is not understood, makes a command not read-only.
 */
import { posix } from "node:path";
import { readNames } from "../evaluation.ts";
import { isSystemProgram, wordList as words } from "../tables.ts";
import { isHarmlessName } from "../variables.ts";
import { mayBeFlag, textsOf, type Word } from "../word.ts";
import { gitGrammar } from "./git.ts";
import { type Grammar, operandsOf, type ReadOperand, readArguments, readsOf } from "./grammar.ts";
import { readerGrammar, row } from "./readers.ts";
import { isReadingAwk, isReadingJq, isReadingSed } from "./script.ts";

/** Commands whose operands are only text. */
const TEXT = new Set(words("echo printf true false : test [ [["));
const TEXT_GRAMMAR: Grammar = row("text");
/** Builtins that only control their own shell. */
const CONTROL = new Set(words("exit return break continue set shift"));

/** The paths that the command reads; null: not known to be read-only. */
export function readOnlyOperands(argv: readonly Word[]): readonly ReadOperand[] | null {
  const path = argv[0]?.text;
  if (path == null || !isSystemProgram(path)) return null;
  const name = posix.basename(path);
  const args = argv.slice(1);
  if (isVersionQuery(name, args)) return [];
  if (TEXT.has(name)) return readsOf(TEXT_GRAMMAR, { used: [], operands: args });
  if (name === "read") return readNames(argv).every(isHarmlessName) ? [] : null;
  if (CONTROL.has(name)) return textsOf(args) === null ? null : [];
  if (name === "command") return /^-[vV]$/.test(args[0]?.text ?? "") ? [] : null;
  if (name === "xargs") return args.length === 0 ? [] : null;
  if (name === "find") return readsOfFind(args);
  if (name === "sed") return readsOfSed(args);
  if (/^[gmn]?awk$/.test(name)) return readsOfAwk(args);
  if (name === "date") return readsOfDate(args);
  const asked = queryOperands(name, args);
  if (asked !== undefined) return asked;
  const found = name === "git" ? gitGrammar(args.map(({ text }) => text)) : whole(readerGrammar(name));
  if (found === null) return null;
  const read = readArguments(found.grammar, args.slice(found.skip));
  if (read === null || (name === "jq" && !isReadingJq(read.operands[0]?.text ?? "import"))) return null;
  return readsOf(found.grammar, read);
}

/** Read-only queries of package managers and similar programs, as patterns over their arguments. */
const QUERIES: Readonly<Record<string, RegExp>> = {
  npm: /^(?:(?:ls|list|ll|la)(?: (?:--depth=\d+|--all|-a|--json|--parseable|--prod|--dev|-g|--global|@?[\w./-]+))*|(?:root|prefix|bin)(?: (?:-g|--global))?|pkg get(?: [\w.-]+)*|config get(?: [a-z-]+)?|run|run-script|help)$/,
  pip: /^(?:list|freeze|show(?: [\w.-]+)+)$/,
  pip3: /^(?:list|freeze|show(?: [\w.-]+)+)$/,
  go: /^env(?: [A-Z0-9_]+)*$/,
};

function queryOperands(name: string, args: readonly Word[]): readonly ReadOperand[] | null | undefined {
  if (!Object.hasOwn(QUERIES, name)) return undefined;
  const texts = textsOf(args);
  return texts !== null && QUERIES[name]?.test(texts.join(" ")) === true
    ? [{ path: ".", subtree: true }]
    : null;
}

/** Whether the command's operands are only text and name no files. */
export function takesText(name: string): boolean {
  return TEXT.has(name) || CONTROL.has(name) || readerGrammar(name)?.operands === "text";
}

function whole(grammar: Grammar | undefined): { grammar: Grammar; skip: number } | null {
  return grammar === undefined ? null : { grammar, skip: 0 };
}

const SED: Grammar = row("pattern", "nErsuz", {
  valued: "e",
  long: words("--quiet --silent --regexp-extended --separate --unbuffered --null-data"),
  longValued: ["--expression"],
  patternFlags: words("-e --expression"),
});
const AWK: Grammar = row("pattern", "", { valued: "Fv", flagsFirst: true });

function readsOfSed(args: readonly Word[]): readonly ReadOperand[] | null {
  const read = readArguments(SED, args);
  const isGiven = read?.used.some((flag) => flag === "-e" || flag === "--expression") === true;
  // a script in several pieces, or attached to its flag, is not assembled here
  if (read === null || read.used.includes("--expression")) return null;
  const given = args.flatMap(({ text }, i) =>
    /^-[nErsuz]*e$/.test(text ?? "") ? [args[i + 1]?.text ?? null] : [],
  );
  if (isGiven && (given.length !== 1 || args.some(({ text }) => /^-[nErsuz]*e./.test(text ?? ""))))
    return null;
  const script = isGiven ? given[0] : read.operands[0]?.text;
  return script != null && isReadingSed(script) ? readsOf(SED, read) : null;
}

function readsOfAwk(args: readonly Word[]): readonly ReadOperand[] | null {
  const read = readArguments(AWK, args);
  const program = read?.operands[0]?.text;
  return read !== null && program != null && isReadingAwk(program) ? readsOf(AWK, read) : null;
}

function readsOfDate(args: readonly Word[]): readonly ReadOperand[] | null {
  const texts = textsOf(args);
  if (texts === null) return null;
  const reads: ReadOperand[] = [];
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] as string;
    if (/^(?:\+.*|-u|--utc|-R|-I\w*|--iso-8601(?:=\w+)?|--date=.*)$/s.test(text)) continue;
    const value = texts[++i];
    if (value === undefined || (text !== "-d" && text !== "-r")) return null;
    if (text === "-r") reads.push({ path: value, subtree: false });
  }
  return reads;
}

/** Predicates of `find` that are known to start and write nothing. */
const FIND_PLAIN = new Set(
  words(
    `-print -print0 -ls -depth -d -daystart -mount -xdev -follow -noleaf -prune -quit -empty -true -false -readable -writable
     -executable -nouser -nogroup -not -and -or -a -o ! ( ) , -H -L -P`,
  ),
);
const FIND_VALUED = new Set(
  words(
    `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin
     -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype -newer -anewer -cnewer -newermt -samefile -fstype`,
  ),
);

/** The places that `find` searches, if all its predicates are listed. */
function readsOfFind(args: readonly Word[]): readonly ReadOperand[] | null {
  const at = args.findIndex(({ text }) => text !== null && (FIND_PLAIN.has(text) || text.startsWith("-")));
  const places = at < 0 ? args : args.slice(0, at);
  const rest = at < 0 ? [] : args.slice(at);
  if (places.some(isOddPlace) || !readsPredicates(rest)) return null;
  return places.length === 0
    ? [{ path: ".", subtree: true }]
    : places.flatMap((word) => operandsOf(word, true));
}

function isOddPlace(word: Word): boolean {
  if (word.text !== null) return false;
  return (
    word.among === undefined || mayBeFlag(word) || word.among.some(({ text }) => /^[(!,*?[]|^$/.test(text))
  );
}

/** Skips `-exec … ;`, which is judged as a command of its own. */
function readsPredicates(args: readonly Word[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const { text } = args[i] as Word;
    if (text === null) return false;
    if (text === "-exec") {
      i += 1 + args.slice(i + 1).findIndex((word) => word.text === ";" || word.text === "+");
      if (args[i]?.text === "-exec") return false;
    } else if (FIND_VALUED.has(text)) {
      const value = args[++i];
      if (value === undefined || (value.isMany && !isFileName(value))) return false;
    } else if (!FIND_PLAIN.has(text)) return false;
  }
  return true;
}

/** Whether the word is an unquoted pattern such as `-name *.ts`, whose expansion is not a predicate. */
function isFileName({ among = [] }: Word): boolean {
  return (
    among.length > 0 && among.every(({ kind, text }) => kind === "glob" && /^[\w./]*\*\.\w+$/.test(text))
  );
}

/** Flags that ask these programs for their version, and nothing else. */
const VERSION_FLAGS: Readonly<Record<string, string>> = {
  node: "--version -v -h --help",
  npm: "--version -v",
  bun: "--version -v",
  deno: "--version -V",
  tsc: "--version -v",
  python: "--version -V",
  python3: "--version -V",
  pip: "--version -V",
  pip3: "--version -V",
  ruby: "--version -v",
  perl: "--version -v",
  php: "--version -v",
  go: "version",
  cargo: "--version",
  rustc: "--version",
  java: "-version --version",
  javac: "-version --version",
  git: "--version version --help help",
  docker: "--version -v",
};
/**
 * Programs that print their version without side effects. Not included: those that look for a toolchain, a plugin or a
 * version of their own in the project: yarn, pnpm, mvn, pytest …
 */
const VERSIONED = new Set(
  words(
    `gcc g++ cc clang cmake make ninja bash zsh sh jq rg fd fzf tar gzip kubectl helm terraform gh glab aws gcloud az sqlite3 psql
     mysql redis-cli ffmpeg pandoc uv ruff black eslint prettier biome npx gem dotnet julia R lua ghc sed awk gawk grep find ls cat
     sort podman systemctl openssl ssh`,
  ),
);

/**
 * Whether the command only asks for a version, which starts nothing of the project. `cargo` and its kin accept a
 * toolchain as their own option.
 */
function isVersionQuery(name: string, args: readonly Word[]): boolean {
  const [flag, other] = args;
  if (flag?.text == null || other !== undefined) return false;
  const own = Object.hasOwn(VERSION_FLAGS, name) ? words(VERSION_FLAGS[name] ?? "") : [];
  return own.includes(flag.text) || (VERSIONED.has(name) && flag.text === "--version");
}
