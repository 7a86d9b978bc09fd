/**
 * Commands that only read, as data: the flags that are known to be harmless and what the operands are. A flag that is
 * not listed makes a command not read-only; so does everything else that is not understood.
 */
import { posix } from "node:path";
import { type Grammar, operandOf, type ReadOperand, readArguments, readsOf } from "./grammar.ts";
import { gitGrammar } from "./read-git.ts";
import { isReadingAwk, isReadingJq, isReadingSed } from "./read-script.ts";
import { isSystemProgram, wordList as words } from "./tables.ts";
import { textsOf, type Word } from "./word.ts";

const row = (operands: Grammar["operands"], flags = "", more: Partial<Grammar> = {}): Grammar => ({
  flags,
  valued: "",
  long: [],
  longValued: [],
  operands,
  ...more,
});

const GREP_LONG = words(
  `--ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match
   --line-number --with-filename --no-filename --only-matching --quiet --extended-regexp --fixed-strings
   --no-messages`,
);
const SEARCH_LONG = words(
  `--hidden --no-ignore --no-heading --heading --multiline --pcre2 --stats --smart-case --null --files --trim --nocolor --nogroup
   --column --literal`,
);
const SEARCH_VALUED = words(
  `--regexp --glob --iglob --type --type-not --max-count --context --after-context --before-context --max-depth --max-columns
   --sort --sortr --color --threads --ignore --ignore-dir`,
);
const HEAD: Grammar = row("path", "qvz", {
  valued: "nc",
  long: words("--quiet --verbose"),
  longValued: words("--lines --bytes"),
  digits: true,
});
const search: Grammar = row("pattern", "ivwxclnNHIoqsSFPUu0", {
  valued: "eABCgtTmjM",
  long: [...GREP_LONG, ...SEARCH_LONG],
  longValued: SEARCH_VALUED,
  separateValues: true,
  patternFlags: words("-e --regexp --files"),
  recursive: "always",
  readsCwd: true,
});

const PROGRAMS: Readonly<Record<string, Grammar>> = {
  cat: row("path", "AbeEnstTuv", {
    long: words("--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs"),
  }),
  head: HEAD,
  tail: HEAD,
  wc: row("path", "clmwL", { long: words("--bytes --chars --lines --words --max-line-length") }),
  cut: row("path", "nsz", {
    valued: "bcdf",
    long: words("--complement --only-delimited"),
    longValued: words("--bytes --characters --delimiter --fields --output-delimiter"),
  }),
  paste: row("path", "sz", { valued: "d", long: ["--serial"], longValued: ["--delimiters"] }),
  comm: row("path", "123z", { long: words("--check-order --nocheck-order --total"), maxOperands: 2 }),
  cmp: row("path", "bls", {
    valued: "in",
    long: words("--print-bytes --verbose --silent --quiet"),
    maxOperands: 4,
  }),
  tr: row("text", "cCdst", { long: words("--complement --delete --squeeze-repeats --truncate-set1") }),
  od: row("path", "abcdfilosxv", {
    valued: "AjNtw",
    longValued: words("--address-radix --format --read-bytes --skip-bytes --width"),
  }),
  realpath: row("path", "emPLsqz", {
    long: words("--canonicalize-existing --canonicalize-missing --no-symlinks --quiet"),
    longValued: words("--relative-to --relative-base"),
  }),
  readlink: row("path", "femnqsvz", { long: words("--canonicalize --canonicalize-existing --no-newline") }),
  id: row("text", "agGnruz"),
  uname: row("none", "asnrvmpio"),
  df: row("path", "ahHiklTP", {
    long: words("--human-readable --inodes --local --print-type --total"),
    valued: "tx",
  }),
  which: row("text", "as"),
  whereis: row("text", "bms"),
  locate: row("text", "bceiqrS", { valued: "nl" }),
  ls: row("path", "aAbBcCdfFgGhHiklmnopqQrRsStuUxX1", {
    long: words(
      `--all --almost-all --human-readable --reverse --recursive --size --directory --classify --inode --color
       --group-directories-first --full-time --numeric-uid-gid`,
    ),
    longValued: words("--color --sort --time --time-style"),
    recursive: words("-R --recursive"),
    readsCwd: true,
  }),
  pwd: row("none", "LP"),
  basename: row("text", "az", { valued: "s", long: words("--multiple --zero"), longValued: ["--suffix"] }),
  dirname: row("text", "z", { long: ["--zero"] }),
  sort: row("path", "bdfgiMhnRrVcCmsuz", {
    valued: "kt",
    long: words(
      "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable --check",
    ),
    longValued: words("--key --field-separator"),
  }),
  uniq: row("path", "cdiuz", {
    valued: "fsw",
    long: words("--count --repeated --unique --ignore-case"),
    longValued: words("--skip-fields --skip-chars --check-chars"),
    maxOperands: 1,
  }),
  xxd: row("path", "abeipu", { valued: "clsog", maxOperands: 1 }),
  tree: row("path", "adfhilnpqrstuvAFDS", {
    valued: "LPI",
    long: words("--dirsfirst --noreport --gitignore"),
    recursive: "always",
    readsCwd: true,
  }),
  iconv: row("path", "cs", { valued: "ft", longValued: words("--from-code --to-code") }),
  shuf: row("path", "rz", { valued: "n", longValued: ["--head-count"] }),
  file: row("path", "biLNhrs", { long: words("--brief --mime --mime-type --mime-encoding --dereference") }),
  stat: row("path", "Lft", {
    valued: "c",
    long: words("--dereference --file-system --terse"),
    longValued: words("--format --printf"),
  }),
  du: row("path", "abchkmsSx0", {
    valued: "d",
    long: words("--all --apparent-size --bytes --total --human-readable --summarize --one-file-system"),
    longValued: words("--max-depth --exclude"),
    recursive: "always",
    readsCwd: true,
  }),
  grep: row("pattern", "EFGPivwxclLnHhoqsaIbr", {
    valued: "eABCm",
    long: [...GREP_LONG, ...words("--color --recursive --text --perl-regexp --basic-regexp")],
    longValued: words(
      `--regexp --include --exclude --exclude-dir --max-count --context --after-context --before-context --binary-files
       --color`,
    ),
    patternFlags: words("-e --regexp"),
    digits: true,
    recursive: words("-r --recursive"),
  }),
  rg: search,
  ag: { ...search, flags: "ivwclnsQ", valued: "ABCGm" },
  ack: { ...search, flags: "ivwclnsQ", valued: "ABCm" },
  // not -f, -L: they take programs from files
  jq: row("pattern", "ceghjnrsSaCM", {
    long: words(
      "--compact-output --raw-output --raw-input --slurp --sort-keys --null-input --exit-status --tab --join-output",
    ),
  }),
  // not -r: it follows symbolic links; operands may be directories
  diff: row("path", "uqsiwbBaycE", {
    valued: "UC",
    long: words(
      `--brief --unified --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --text --side-by-side
       --color`,
    ),
    longValued: words("--unified --context --color"),
    recursive: "always",
  }),
};

const VERSIONED = new Set(words("node npm python3 go cargo rustc gcc java make"));
/** Text, whatever it is. */
const TEXT = new Set(words("echo printf true false : test [ [["));
/** Builtins that only say how their own shell goes on. */
const CONTROL = new Set(words("exit return break continue set shift"));
const FIND_PLAIN = new Set(
  words(
    `-print -print0 -ls -depth -d -daystart -mount -xdev -follow -noleaf -prune -quit -empty -true -false -readable -writable
     -executable -nouser -nogroup -not -and -or -a -o ! ( ) , -H -L -P`,
  ),
);
const FIND_VALUED = new Set(
  words(
    `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -atime -ctime -mmin
     -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype -newermt`,
  ),
);

/** What the command reads, or null: it is not known to be read-only. */
export function readOnlyOperands(argv: readonly Word[]): readonly ReadOperand[] | null {
  const path = argv[0]?.text;
  if (path == null || !isSystemProgram(path)) return null;
  const name = posix.basename(path);
  const args = argv.slice(1);
  if (VERSIONED.has(name)) return args.length === 1 && args[0]?.text === "--version" ? [] : null;
  if (TEXT.has(name) || CONTROL.has(name)) return textsOf(args) === null ? null : [];
  if (name === "find") return readsOfFind(args);
  if (name === "sed") return readsOfSed(args);
  if (/^[gmn]?awk$/.test(name)) return readsOfAwk(args);
  if (name === "date") return readsOfDate(args);
  const found = name === "git" ? gitGrammar(args.map(({ text }) => text)) : programGrammar(name);
  if (found === null) return null;
  const read = readArguments(found.grammar, args.slice(found.skip));
  if (read === null || (name === "jq" && !isReadingJq(read.operands[0]?.text ?? "import"))) return null;
  return readsOf(found.grammar, read);
}

/** Does the command take its operands as mere text? Then they name no files. */
export function takesText(name: string): boolean {
  return TEXT.has(name) || CONTROL.has(name) || programGrammar(name)?.grammar.operands === "text";
}

function programGrammar(name: string): { grammar: Grammar; skip: number } | null {
  const grammar = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  return grammar === undefined ? null : { grammar, skip: 0 };
}

/** Its places, then listed predicates. */
function readsOfFind(args: readonly Word[]): readonly ReadOperand[] | null {
  const at = args.findIndex(({ text }) => text !== null && (FIND_PLAIN.has(text) || text.startsWith("-")));
  const places = at < 0 ? args : args.slice(0, at);
  const texts = textsOf(at < 0 ? [] : args.slice(at));
  if (
    texts === null ||
    places.some(({ text, glob, prefix }) => text === null && (glob === undefined || !/^\.?\//.test(prefix)))
  )
    return null;
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] as string;
    if (FIND_VALUED.has(text)) {
      if (++i >= texts.length) return null;
    } else if (!FIND_PLAIN.has(text)) return null;
  }
  return places.length === 0 ? [{ path: ".", subtree: true }] : places.map((word) => operandOf(word, true));
}

const SED: Grammar = row("pattern", "nErsuz", {
  valued: "e",
  long: words("--quiet --silent --regexp-extended --separate --unbuffered --null-data"),
  longValued: ["--expression"],
  patternFlags: words("-e --expression"),
});
const AWK: Grammar = row("pattern", "", { valued: "Fv" });

function readsOfSed(args: readonly Word[]): readonly ReadOperand[] | null {
  const read = readArguments(SED, args);
  const isGiven = read?.used.some((flag) => flag === "-e" || flag === "--expression") === true;
  // a script in several pieces, or attached to its flag, is not put together here
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
