/** Programs that only read: their known harmless flags, and what their operands are. */

import { wordList as words } from "../tables.ts";
import type { Grammar } from "./grammar.ts";

/** The grammar of a program, with defaults. */
export const row = (operands: Grammar["operands"], flags = "", more: Partial<Grammar> = {}): Grammar => ({
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

/** Programs that print their operands, or facts about the machine. */
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
  // not -f, -L: they load programs from files
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

/** undefined: not in the tables, or more than a table is needed. */
export function readerGrammar(name: string): Grammar | undefined {
  const table = Object.hasOwn(PROGRAMS, name) ? PROGRAMS : Object.hasOwn(PLAIN, name) ? PLAIN : {};
  return table[name];
}
