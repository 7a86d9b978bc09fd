/**
 * Commands that only read, as data: the flags that are known to be harmless and what the operands are. A flag that is
 * not listed makes a command not read-only; so does everything else that is not understood.
 */
import { posix } from "node:path";
import { readNames } from "./evaluation.ts";
import { type Grammar, operandsOf, type ReadOperand, readArguments, readsOf } from "./grammar.ts";
import { gitGrammar } from "./read-git.ts";
import { isReadingAwk, isReadingJq, isReadingSed } from "./read-script.ts";
import { isSystemProgram, wordList as words } from "./tables.ts";
import { isHarmlessName } from "./variables.ts";
import { mayBeFlag, textsOf, type Word } from "./word.ts";

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
  `--regexp --replace --glob --iglob --type --type-not --max-count --context --after-context --before-context --max-depth --max-columns
   --sort --sortr --color --threads --ignore --ignore-dir`,
);
const DIGEST: Grammar = row("path", "btz", { anyFlag: true, long: words("--binary --text --tag --zero") });
const HEAD: Grammar = row("path", "qvz", {
  anyFlag: true,
  valued: "nc",
  long: words("--quiet --verbose"),
  longValued: words("--lines --bytes"),
  digits: true,
});
const search: Grammar = row("pattern", "ivwxclnNHIoqsSFPUu0", {
  valued: "eABCgtTmjMr",
  long: [...GREP_LONG, ...SEARCH_LONG],
  longValued: SEARCH_VALUED,
  separateValues: true,
  patternFlags: words("-e --regexp --files"),
  recursive: "always",
  readsCwd: true,
});

const GREP: Grammar = row("pattern", "EFGPivwxclLnHhoqsaIbrTuzUZ", {
  anyFlag: true,
  valued: "eABCm",
  long: [...GREP_LONG, ...words("--color --recursive --text --perl-regexp --basic-regexp")],
  longValued: words(
    `--regexp --include --exclude --exclude-dir --max-count --context --after-context --before-context --binary-files
       --color`,
  ),
  patternFlags: words("-e --regexp"),
  digits: true,
  recursive: words("-r --recursive"),
});

/** They print what they are given, or facts of the machine. */
const PLAIN: Readonly<Record<string, Grammar>> = {
  nl: row("path", "p", {
    anyFlag: true,
    valued: "bdfhilnsvw",
    longValued: words("--body-numbering --number-width"),
  }),
  tac: row("path", "br", { anyFlag: true, valued: "s" }),
  rev: row("path", "0", { anyFlag: true }),
  seq: row("text", "w", {
    anyFlag: true,
    valued: "fs",
    longValued: words("--format --separator"),
    digits: true,
  }),
  expand: row("path", "i", { anyFlag: true, valued: "t", digits: true }),
  unexpand: row("path", "a", { anyFlag: true, valued: "t" }),
  fold: row("path", "bs", { anyFlag: true, valued: "w", longValued: ["--width"], digits: true }),
  fmt: row("path", "cstu", { anyFlag: true, valued: "wp", longValued: ["--width"], digits: true }),
  column: row("path", "txeJnLR", {
    anyFlag: true,
    valued: "scoNdHRTOW",
    long: words("--table --json --fillrows"),
    longValued: words("--separator --output-separator --output-width --table-columns --table-right"),
  }),
  join: row("path", "iz", { anyFlag: true, valued: "12tjaveo", long: ["--header"], maxOperands: 2 }),
  tsort: row("path", "", { anyFlag: true, maxOperands: 1 }),
  factor: row("text", "h", { anyFlag: true }),
  numfmt: row("text", "z", {
    anyFlag: true,
    valued: "d",
    longValued: words(
      "--to --from --to-unit --from-unit --format --padding --field --suffix --header --round --delimiter",
    ),
  }),
  whoami: row("none"),
  hostname: row("none", "fsidIA", { long: words("--fqdn --short --domain") }),
  arch: row("none"),
  nproc: row("none", "", { long: ["--all"], longValued: ["--ignore"] }),
  groups: row("text"),
  users: row("none"),
  tty: row("none", "s"),
  uptime: row("none", "ps", { long: words("--pretty --since") }),
  free: row("none", "bkmghtlwv", { long: words("--human --mega --giga --total --wide"), valued: "c" }),
  who: row("none", "abdHlmpqrstTuw"),
  w: row("text", "hsfoi"),
  cal: row("text", "13jmsywh", { valued: "ABnd" }),
  ps: row("text", "aAdeflFjlLMNrTvwxyZcHhmsu", {
    valued: "poCuUtgGsO",
    long: words("--forest --headers --no-headers"),
    longValued: words("--pid --ppid --sort --format --user --cols --width"),
    separateValues: true,
  }),
  pgrep: row("text", "aflnovxcwi", {
    valued: "uUPgst",
    long: words("--list-name --list-full --count --newest --oldest"),
  }),
  lscpu: row("none", "aebcxJp", {
    long: words("--json --all --extended --parse"),
    longValued: words("--extended --parse"),
  }),
  lsblk: row("text", "abfimnpSJlPrtdO", {
    valued: "o",
    long: words("--json --fs --list"),
    longValued: ["--output"],
  }),
  lsmod: row("none"),
  getconf: row("text", "a"),
  locale: row("text", "amkc"),
  printenv: row("text", "0"),
  env: row("none", "0", { long: ["--null"] }),
  sleep: row("text", "", { anyFlag: true }),
  type: row("text", "aftpP", { anyFlag: true }),
  md5sum: DIGEST,
  sha1sum: DIGEST,
  sha224sum: DIGEST,
  sha256sum: DIGEST,
  sha384sum: DIGEST,
  sha512sum: DIGEST,
  b2sum: DIGEST,
  shasum: row("path", "btU", { valued: "a", longValued: ["--algorithm"] }),
  cksum: row("path", "", { anyFlag: true, valued: "a", longValued: ["--algorithm"] }),
  sum: row("path", "rs", { anyFlag: true }),
  base64: row("path", "di", {
    valued: "w",
    long: words("--decode --ignore-garbage"),
    longValued: ["--wrap"],
    maxOperands: 1,
  }),
  base32: row("path", "di", { valued: "w", long: ["--decode"], longValued: ["--wrap"], maxOperands: 1 }),
  strings: row("path", "afwo", {
    anyFlag: true,
    valued: "ntes",
    long: ["--all"],
    longValued: words("--bytes --radix"),
    digits: true,
  }),
  hexdump: row("path", "bcCdovx", { anyFlag: true, valued: "nse", long: ["--canonical"] }),
  hd: row("path", "bcCdovx", { anyFlag: true, valued: "nse" }),
  fd: row("pattern", "HIsigap0", {
    valued: "teEdcSo",
    long: words(
      "--hidden --no-ignore --glob --absolute-path --print0 --full-path --case-sensitive --ignore-case",
    ),
    longValued: words(
      "--type --extension --exclude --max-depth --min-depth --color --max-results --size --changed-within",
    ),
    separateValues: true,
    recursive: "always",
    readsCwd: true,
  }),
  yq: row("pattern", "rjMCePn", {
    long: words("--raw-output --tojson --colors"),
    longValued: ["--output-format"],
  }),
};

const PROGRAMS: Readonly<Record<string, Grammar>> = {
  cat: row("path", "AbeEnstTuv", {
    anyFlag: true,
    long: words("--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs"),
  }),
  head: HEAD,
  tail: HEAD,
  wc: row("path", "clmwL", {
    anyFlag: true,
    long: words("--bytes --chars --lines --words --max-line-length"),
  }),
  cut: row("path", "nsz", {
    anyFlag: true,
    valued: "bcdf",
    long: words("--complement --only-delimited"),
    longValued: words("--bytes --characters --delimiter --fields --output-delimiter"),
  }),
  paste: row("path", "sz", { anyFlag: true, valued: "d", long: ["--serial"], longValued: ["--delimiters"] }),
  comm: row("path", "123z", {
    anyFlag: true,
    long: words("--check-order --nocheck-order --total"),
    maxOperands: 2,
  }),
  cmp: row("path", "bls", {
    anyFlag: true,
    valued: "in",
    long: words("--print-bytes --verbose --silent --quiet"),
    maxOperands: 4,
  }),
  tr: row("text", "cCdst", { long: words("--complement --delete --squeeze-repeats --truncate-set1") }),
  od: row("path", "abcdfilosxv", {
    anyFlag: true,
    valued: "AjNtw",
    longValued: words("--address-radix --format --read-bytes --skip-bytes --width"),
  }),
  realpath: row("path", "emPLsqz", {
    anyFlag: true,
    long: words("--canonicalize-existing --canonicalize-missing --no-symlinks --quiet"),
    longValued: words("--relative-to --relative-base"),
  }),
  readlink: row("path", "femnqsvz", {
    anyFlag: true,
    long: words("--canonicalize --canonicalize-existing --no-newline"),
  }),
  id: row("text", "agGnruz", { anyFlag: true }),
  uname: row("none", "asnrvmpio"),
  df: row("path", "ahHiklTP", {
    anyFlag: true,
    long: words("--human-readable --inodes --local --print-type --total"),
    valued: "tx",
  }),
  which: row("text", "as", { anyFlag: true }),
  whereis: row("text", "bms", { anyFlag: true }),
  locate: row("text", "bceiqrS", { valued: "nl" }),
  ls: row("path", "aAbBcCdfFgGhHiklmnopqQrRsStuUxX1", {
    anyFlag: true,
    long: words(
      `--all --almost-all --human-readable --reverse --recursive --size --directory --classify --inode --color
       --group-directories-first --full-time --numeric-uid-gid`,
    ),
    longValued: words("--color --sort --time --time-style"),
    recursive: words("-R --recursive"),
    readsCwd: true,
  }),
  pwd: row("none", "LP"),
  basename: row("text", "az", {
    anyFlag: true,
    valued: "s",
    long: words("--multiple --zero"),
    longValued: ["--suffix"],
  }),
  dirname: row("text", "z", { anyFlag: true, long: ["--zero"] }),
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
    anyFlag: true,
    valued: "c",
    long: words("--dereference --file-system --terse"),
    longValued: words("--format --printf"),
  }),
  du: row("path", "abchkmsSx0", {
    anyFlag: true,
    valued: "d",
    long: words("--all --apparent-size --bytes --total --human-readable --summarize --one-file-system"),
    longValued: words("--max-depth --exclude"),
    recursive: "always",
    readsCwd: true,
  }),
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: search,
  ag: { ...search, flags: "ivwclnsQ", valued: "ABCGm" },
  ack: { ...search, flags: "ivwclnsQ", valued: "ABCm" },
  // not -f, -L: they take programs from files
  jq: row("pattern", "ceghjnrsSaCM", {
    anyFlag: true,
    long: words(
      "--compact-output --raw-output --raw-input --slurp --sort-keys --null-input --exit-status --tab --join-output",
    ),
  }),
  // operands may be directories
  diff: row("path", "uqsiwbBaycErN", {
    valued: "UC",
    long: words(
      `--brief --recursive --no-dereference --new-file --unified --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --text --side-by-side
       --color`,
    ),
    longValued: words("--unified --context --color --exclude --label --width"),
    recursive: "always",
  }),
};

/** What asks them for their version, and for nothing else. */
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
/** Not those that look for a toolchain, a plugin or a version of their own in the project: yarn, pnpm, mvn, pytest … */
const VERSIONED = new Set(
  words(
    `gcc g++ cc clang cmake make ninja bash zsh sh jq rg fd fzf tar gzip kubectl helm terraform gh glab aws gcloud az sqlite3 psql
     mysql redis-cli ffmpeg pandoc uv ruff black eslint prettier biome npx gem dotnet julia R lua ghc sed awk gawk grep find ls cat
     sort podman systemctl openssl ssh`,
  ),
);
/** Text, whatever it is. */
const TEXT = new Set(words("echo printf true false : test [ [["));
const TEXT_GRAMMAR: Grammar = row("text");
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
     -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype -newer -anewer -cnewer -newermt -samefile -fstype`,
  ),
);

/** A question for its version, which starts nothing of the project. `cargo` and its kin take a toolchain as their own. */
function isVersionQuery(name: string, args: readonly Word[]): boolean {
  const [flag, other] = args;
  if (flag?.text == null || other !== undefined) return false;
  const own = Object.hasOwn(VERSION_FLAGS, name) ? words(VERSION_FLAGS[name] ?? "") : [];
  return own.includes(flag.text) || (VERSIONED.has(name) && flag.text === "--version");
}

/** What the command reads, or null: it is not known to be read-only. */
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
  const found = name === "git" ? gitGrammar(args.map(({ text }) => text)) : programGrammar(name);
  if (found === null) return null;
  const read = readArguments(found.grammar, args.slice(found.skip));
  if (read === null || (name === "jq" && !isReadingJq(read.operands[0]?.text ?? "import"))) return null;
  return readsOf(found.grammar, read);
}

/** Package managers and the like, asked for what lies here. undefined: it is none of them. */
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

/** Does the command take its operands as mere text? Then they name no files. */
export function takesText(name: string): boolean {
  return TEXT.has(name) || CONTROL.has(name) || programGrammar(name)?.grammar.operands === "text";
}

function programGrammar(name: string): { grammar: Grammar; skip: number } | null {
  const table = Object.hasOwn(PROGRAMS, name) ? PROGRAMS : Object.hasOwn(PLAIN, name) ? PLAIN : {};
  const grammar = table[name];
  return grammar === undefined ? null : { grammar, skip: 0 };
}

/** Its places, then listed predicates. */
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

/** `-exec … ;` runs what is judged as a command of its own. */
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

/** `-name *.ts` without quotes: what it comes to is no predicate. */
function isFileName({ among = [] }: Word): boolean {
  return (
    among.length > 0 && among.every(({ kind, text }) => kind === "glob" && /^[\w./]*\*\.\w+$/.test(text))
  );
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
