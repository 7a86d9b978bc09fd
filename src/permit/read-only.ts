/**
 * Commands that only read, as data: the flags that are known to be harmless and what the operands are. A flag that is
 * not listed makes a command not read-only; so does everything else that is not understood.
 */
import { posix } from "node:path";

export interface ReadOperand {
  /** As written, relative to the working directory of the command. */
  readonly path: string;
  readonly subtree: boolean;
}

interface Grammar {
  /** Short flags without a value; they may stand together. */
  readonly flags: string;
  /** Short flags with a value, attached or in the next word. */
  readonly valued: string;
  readonly long: readonly string[];
  /** Long flags with a value after `=`. Many programs make it optional, so the next word is not taken for it. */
  readonly longValued: readonly string[];
  /** Of a program whose long values are never optional: they may stand in the next word. */
  readonly separateValues?: boolean;
  /** `pattern`: the first is text, unless a flag of `patternFlags` gave it. `revision`: git, names or paths. */
  readonly operands: "path" | "text" | "pattern" | "revision" | "none";
  readonly patternFlags?: readonly string[];
  readonly maxOperands?: number;
  /** `-5`. */
  readonly digits?: boolean;
  /** Flags that make it descend; "always". */
  readonly recursive?: readonly string[] | "always";
  /** Without a path it reads its working directory; otherwise only its input. */
  readonly readsCwd?: boolean;
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");
const none = { flags: "", valued: "", long: [], longValued: [] } as const;

const GREP_LONG = words(
  `--ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match
   --line-number --with-filename --no-filename --only-matching --quiet --extended-regexp --fixed-strings
   --no-messages`,
);

const GIT_LONG = words(
  `--stat --shortstat --numstat --name-only --name-status --summary --cached --staged --patch --no-patch --raw --color
   --no-color --no-ext-diff --no-textconv --oneline --graph --all --decorate --no-decorate --follow --merges --no-merges
   --first-parent --reverse --word-diff --minimal --ignore-all-space --ignore-space-change --ignore-blank-lines
   --abbrev-commit --left-right --cherry-pick --date-order --topo-order --short --branch --porcelain --long
   --show-stash --ignored --no-renames`,
);
const GIT_LONG_VALUED = words(
  "--color --format --pretty --since --until --after --before --author --committer --grep --max-count --skip --unified --date --diff-filter",
);
const git = (flags: string, valued: string, recursive: Grammar["recursive"]): Grammar => ({
  flags,
  valued,
  long: GIT_LONG,
  longValued: GIT_LONG_VALUED,
  operands: "revision",
  digits: true,
  recursive: recursive ?? [],
});

const PATCH = words("-p --patch -U --unified -S -G");
const GIT: Readonly<Record<string, Grammar>> = {
  status: { ...git("sbvz", "", ["-v"]), longValued: ["--untracked-files", "--porcelain"] },
  diff: git("pswbRz", "U", "always"),
  log: git("pswb", "nSGU", PATCH),
  show: git("pswb", "U", "always"),
};

const PROGRAMS: Readonly<Record<string, Grammar>> = {
  cat: {
    ...none,
    flags: "AbeEnstTuv",
    long: words("--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs"),
    operands: "path",
  },
  head: {
    flags: "qvz",
    valued: "nc",
    long: words("--quiet --verbose"),
    longValued: words("--lines --bytes"),
    operands: "path",
    digits: true,
  },
  tail: {
    flags: "qvz",
    valued: "nc",
    long: words("--quiet --verbose"),
    longValued: words("--lines --bytes"),
    operands: "path",
    digits: true,
  },
  wc: { ...none, flags: "clmwL", long: words("--bytes --chars --lines --words"), operands: "path" },
  ls: {
    ...none,
    flags: "aAbBcCdfFgGhHiklmnopqQrRsStuUxX1",
    long: words(
      "--all --almost-all --human-readable --reverse --recursive --size --directory --classify --inode --color --group-directories-first --full-time --numeric-uid-gid",
    ),
    longValued: words("--color --sort --time --time-style"),
    operands: "path",
    recursive: words("-R --recursive"),
    readsCwd: true,
  },
  pwd: { ...none, flags: "LP", operands: "none" },
  echo: { ...none, operands: "text" },
  true: { ...none, operands: "text" },
  false: { ...none, operands: "text" },
  basename: {
    ...none,
    flags: "az",
    valued: "s",
    long: words("--multiple --zero"),
    longValued: ["--suffix"],
    operands: "text",
  },
  dirname: { ...none, flags: "z", long: ["--zero"], operands: "text" },
  sort: {
    flags: "bdfgiMhnRrVcCmsuz",
    valued: "kt",
    long: words(
      "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --ignore-case --stable --check",
    ),
    longValued: words("--key --field-separator"),
    operands: "path",
  },
  uniq: {
    flags: "cdiuz",
    valued: "fsw",
    long: words("--count --repeated --unique --ignore-case"),
    longValued: words("--skip-fields --skip-chars --check-chars"),
    operands: "path",
    maxOperands: 1,
  },
  stat: {
    flags: "Lft",
    valued: "c",
    long: words("--dereference --file-system --terse"),
    longValued: words("--format --printf"),
    operands: "path",
  },
  du: {
    flags: "abchkmsSx0",
    valued: "d",
    long: words("--all --apparent-size --bytes --total --human-readable --summarize --one-file-system"),
    longValued: words("--max-depth --exclude"),
    operands: "path",
    recursive: "always",
    readsCwd: true,
  },
  grep: {
    flags: "EFGPivwxclLnHhoqsaIbr",
    valued: "eABCm",
    long: [...GREP_LONG, "--color", "--recursive", "--text", "--perl-regexp", "--basic-regexp"],
    longValued: words(
      "--regexp --include --exclude --exclude-dir --max-count --context --after-context --before-context --binary-files --color",
    ),
    operands: "pattern",
    patternFlags: words("-e --regexp"),
    digits: true,
    recursive: words("-r --recursive"),
  },
  rg: {
    flags: "ivwxclnNHIoqsSFPUu0",
    valued: "eABCgtTmjM",
    long: [
      ...GREP_LONG,
      ...words(
        "--hidden --no-ignore --no-heading --heading --multiline --pcre2 --stats --smart-case --null --files --trim",
      ),
    ],
    longValued: words(
      "--regexp --glob --iglob --type --type-not --max-count --context --after-context --before-context --max-depth --max-columns --sort --sortr --color --threads",
    ),
    separateValues: true,
    operands: "pattern",
    patternFlags: words("-e --regexp --files"),
    recursive: "always",
    readsCwd: true,
  },
  // not -r: it follows symbolic links; operands may be directories
  diff: {
    flags: "uqsiwbBaycE",
    valued: "UC",
    long: words(
      "--brief --unified --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --text --side-by-side --color",
    ),
    longValued: words("--unified --context --color"),
    operands: "path",
    recursive: "always",
  },
};

const VERSIONED = new Set(words("node npm python3 go cargo"));
const SYSTEM = new Set(words("/usr/bin /bin /usr/sbin /sbin /usr/local/bin /opt/homebrew/bin"));

/** A path is trusted as the program it names only in a system directory; a bare name is looked up in PATH. */
export function isSystemProgram(path: string): boolean {
  return !path.includes("/") || SYSTEM.has(posix.dirname(path));
}

/** What the command reads, or null: it is not known to be read-only. */
export function readOnlyOperands(argv: readonly string[]): readonly ReadOperand[] | null {
  const [path = "", ...args] = argv;
  if (!isSystemProgram(path)) return null;
  const name = posix.basename(path);
  if (VERSIONED.has(name)) return args.length === 1 && args[0] === "--version" ? [] : null;
  const grammar = name === "git" ? table(GIT, args[0] ?? "") : table(PROGRAMS, name);
  if (grammar === undefined) return null;
  if (grammar.operands === "text" && grammar.flags === "") return [];
  const parsed = parseArgs(grammar, name === "git" ? args.slice(1) : args);
  return parsed === null ? null : operandsOf(grammar, parsed);
}

/** Does the command take its operands as mere text? Then they name no files. */
export function takesText(argv: readonly string[]): boolean {
  return table(PROGRAMS, posix.basename(argv[0] ?? ""))?.operands === "text";
}

function table(of: Readonly<Record<string, Grammar>>, name: string): Grammar | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

interface Parsed {
  readonly used: readonly string[];
  readonly operands: readonly string[];
}

/** null: a flag that is not in the grammar. */
function parseArgs(grammar: Grammar, args: readonly string[]): Parsed | null {
  const used: string[] = [];
  const operands: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === "--") return { used, operands: [...operands, ...args.slice(i + 1)] };
    if (!arg.startsWith("-") || arg === "-") operands.push(arg);
    else if (arg.startsWith("--")) {
      const takesNext = parseLong(grammar, arg, used);
      if (takesNext === null) return null;
      if (takesNext && ++i >= args.length) return null;
    } else if (!(grammar.digits === true && /^-\d+$/.test(arg))) {
      const takesNext = parseShort(grammar, arg, used);
      if (takesNext === null) return null;
      if (takesNext && ++i >= args.length) return null;
    }
  }
  return { used, operands };
}

/** Whether the next word is the flag's value; null: not listed. */
function parseLong(grammar: Grammar, arg: string, used: string[]): boolean | null {
  const at = arg.indexOf("=");
  const name = at < 0 ? arg : arg.slice(0, at);
  used.push(name);
  if (at >= 0) return grammar.longValued.includes(name) ? false : null;
  if (grammar.long.includes(name)) return false;
  return grammar.longValued.includes(name) && grammar.separateValues === true ? true : null;
}

function parseShort(grammar: Grammar, arg: string, used: string[]): boolean | null {
  for (let i = 1; i < arg.length; i++) {
    const flag = arg[i] as string;
    used.push(`-${flag}`);
    if (grammar.flags.includes(flag)) continue;
    return grammar.valued.includes(flag) ? i === arg.length - 1 : null;
  }
  return false;
}

function operandsOf(grammar: Grammar, { used, operands }: Parsed): readonly ReadOperand[] | null {
  if (grammar.operands === "text") return [];
  if (grammar.operands === "none") return operands.length === 0 ? [] : null;
  if (operands.length > (grammar.maxOperands ?? Number.POSITIVE_INFINITY)) return null;
  const isGiven = grammar.patternFlags?.some((flag) => used.includes(flag)) === true;
  const skipsFirst = grammar.operands === "pattern" && !isGiven;
  if (skipsFirst && operands.length === 0) return null;
  const paths = operands.slice(skipsFirst ? 1 : 0).filter((operand) => operand !== "-");
  const subtree =
    grammar.recursive === "always" || (grammar.recursive ?? []).some((flag) => used.includes(flag));
  const reads = paths.map((path) => ({ path, subtree }));
  if (grammar.operands === "revision") return [{ path: ".", subtree }, ...reads.flatMap(withinRevision)];
  return reads.length === 0 && (grammar.readsCwd === true || subtree) ? [{ path: ".", subtree }] : reads;
}

/** `HEAD:secrets/k` names a file as well as a revision. */
function withinRevision(read: ReadOperand): readonly ReadOperand[] {
  const at = read.path.indexOf(":");
  return at < 0 ? [read] : [read, { ...read, path: read.path.slice(at + 1) || "." }];
}
