/** Git commands that only read, as data. */

import { wordList as words } from "../tables.ts";
import type { Grammar } from "./grammar.ts";

const LONG = words(
  `--stat --shortstat --numstat --name-only --name-status --summary --cached --staged --patch --no-patch --raw --color
   --no-color --no-ext-diff --no-textconv --oneline --graph --all --decorate --no-decorate --follow --merges --no-merges
   --first-parent --reverse --word-diff --minimal --ignore-all-space --ignore-space-change --ignore-blank-lines
   --abbrev-commit --left-right --cherry-pick --date-order --topo-order --short --branch --porcelain --long
   --show-stash --ignored --no-renames --check --quiet --exit-code --function-context --full-index --branches --tags --remotes`,
);
const LONG_VALUED = words(
  `--color --format --pretty --since --until --after --before --author --committer --grep --max-count --skip --unified --date
   --diff-filter --stat --abbrev --decorate`,
);
const PATCH = words("-p --patch -U --unified -S -G");

const history = (flags: string, valued: string, recursive: Grammar["recursive"]): Grammar => ({
  flags,
  valued,
  long: LONG,
  longValued: LONG_VALUED,
  operands: "revision",
  digits: true,
  recursive: recursive ?? [],
});

const listing = (flags: string, long: string, operands: Grammar["operands"] = "none"): Grammar => ({
  flags,
  valued: "",
  long: words(long),
  longValued: words("--format --sort --contains --merged --no-merged --points-at"),
  operands,
});

const GREP = `--line-number --ignore-case --files-with-matches --files-without-match --name-only --count --word-regexp --extended-regexp
  --fixed-strings --perl-regexp --cached --untracked --no-index --heading --break --show-function --and --or --not --all-match --only-matching
  --full-name --function-context`;
const FILTERS = words("--format --sort --count --points-at --contains --merged --no-merged --exclude");

const SUBCOMMANDS: Readonly<Record<string, Grammar>> = {
  status: { ...history("sbvz", "", ["-v"]), longValued: ["--untracked-files", "--porcelain"] },
  diff: history("pswbRz", "U", "always"),
  log: history("pswbiEFPc", "nSGUL", PATCH),
  show: history("pswb", "U", "always"),
  blame: {
    ...history("swletfnpcM", "L", "always"),
    long: words("--porcelain --line-porcelain --show-email --root"),
  },
  shortlog: { ...history("nse", "", []), long: [...LONG, ...words("--numbered --summary --email")] },
  describe: {
    ...listing("", "--tags --all --always --long --dirty --exact-match", "revision"),
    longValued: words("--match --abbrev --candidates --dirty"),
  },
  "rev-parse": listing(
    "q",
    `--abbrev-ref --show-toplevel --show-prefix --show-cdup --short --verify --quiet --git-dir --git-common-dir --is-inside-work-tree
     --is-inside-git-dir --is-bare-repository --symbolic --symbolic-full-name --all --branches --tags --remotes`,
    "revision",
  ),
  "ls-files": {
    ...listing(
      "cdmoistuzkfv",
      "--cached --deleted --modified --others --ignored --stage --unmerged --exclude-standard --full-name --error-unmatch",
      "path",
    ),
    readsCwd: true,
    recursive: "always",
  },
  "ls-tree": {
    ...listing("drtlz", "--name-only --name-status --full-name --full-tree --long", "revision"),
    recursive: "always",
  },
  "cat-file": { ...listing("pste", "", "revision"), recursive: "always" },
  branch: listing("arvl", "--all --remotes --list --verbose --show-current --no-color --color --no-column"),
  tag: listing("l", "--list --no-column"),
  remote: listing("v", "--verbose"),
  grep: {
    ...listing("nilcvwEFGPhHLoqIWpz", GREP, "revision"),
    valued: "eABCm",
    longValued: words("--max-depth --max-count --color --context"),
    digits: true,
    recursive: "always",
  },
  reflog: history("", "n", []),
  "merge-base": listing("a", "--all --is-ancestor --fork-point --octopus --independent", "revision"),
  "rev-list": {
    ...history("", "n", []),
    long: [...LONG, ...words("--count --objects --parents --left-only --right-only")],
  },
  "show-ref": listing("dhsq", "--heads --tags --head --dereference --hash --verify --quiet", "text"),
  "for-each-ref": {
    ...listing("", "--merged --no-merged --contains --ignore-case", "text"),
    longValued: FILTERS,
  },
  "name-rev": listing("", "--name-only --tags --all --always", "revision"),
  "count-objects": listing("vH", "--verbose --human-readable"),
  "check-ignore": listing("vqn", "--verbose --quiet --non-matching --no-index", "path"),
  "check-attr": listing("a", "--all", "text"),
  "diff-tree": { ...history("rpstzm", "", "always"), long: [...LONG, ...words("--no-commit-id --root")] },
  "diff-index": history("rp", "", "always"),
  "diff-files": history("p", "", "always"),
  whatchanged: history("pswb", "nSG", PATCH),
  cherry: listing("v", "--verbose --abbrev", "revision"),
  "range-diff": history("", "", "always"),
  "show-branch": listing("", "--all --current --list", "revision"),
  var: listing("l", "", "text"),
  version: listing("", "--build-options"),
};

/** Commands that only read with a word that makes them list, and the options they then take. */
const LISTS: readonly { readonly begins: readonly string[]; readonly rest: Grammar }[] = [
  ...["branch --list", "branch -l", "tag --list", "tag -l"].map((text) => ({
    begins: text.split(" "),
    rest: listing("arv", "--all --remotes --verbose --no-color --no-column", "text"),
  })),
  ...["--contains", "--merged", "--no-merged"].flatMap((flag) =>
    ["-r", "-a"].map((all) => ({ begins: ["branch", all, flag], rest: listing("", "--no-color", "text") })),
  ),
  ...[["branch"], ["tag"]].flatMap(([name = ""]) =>
    words("--merged --no-merged --contains --no-contains --points-at -n -vv -av -va --sort").map((flag) => ({
      begins: [name, flag],
      rest: listing("arv", "--all --remotes --verbose --no-color --no-column --list", "text"),
    })),
  ),
  ...["show", "exists"].map((verb) => ({ begins: ["reflog", verb], rest: history("", "n", []) })),
  { begins: ["remote", "get-url"], rest: listing("", "--push --all", "text") },
  { begins: ["notes", "list"], rest: listing("", "", "text") },
  { begins: ["notes", "show"], rest: listing("", "", "text") },
  { begins: ["bisect", "log"], rest: listing("", "") },
  { begins: ["submodule", "status"], rest: listing("", "--cached --recursive", "path") },
  { begins: ["stash", "list"], rest: listing("p", "--oneline --stat") },
  { begins: ["stash", "show"], rest: { ...history("pu", "U", "always"), maxOperands: 1 } },
  { begins: ["worktree", "list"], rest: listing("vz", "--porcelain --verbose") },
  ...["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"].flatMap((flag) =>
    [[], ["--global"], ["--local"], ["--system"]].map((scope) => ({
      begins: /^-/.test(flag) ? ["config", ...scope, flag] : ["config", flag, ...scope],
      rest: listing("z", "--show-origin --show-scope --name-only --null", "text"),
    })),
  ),
];

/** The grammar of the arguments and how many words precede them; null: not known to be read-only. */
export function gitGrammar(given: readonly (string | null)[]): { grammar: Grammar; skip: number } | null {
  const free = given.findIndex((arg) => arg === null || !HARMLESS_GLOBAL.has(arg));
  const found = free < 0 ? null : grammarOf(given.slice(free));
  return found === null ? null : { ...found, skip: found.skip + free };
}

/** Harmless options before the subcommand: they start nothing and name no place. */
const HARMLESS_GLOBAL = new Set(
  words("--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects"),
);

function grammarOf(args: readonly (string | null)[]): { grammar: Grammar; skip: number } | null {
  const list = LISTS.find(({ begins }) => begins.every((word, i) => word === args[i]));
  if (list !== undefined) return { grammar: list.rest, skip: list.begins.length };
  const [name, first, second, more] = args;
  if (
    name === "config" &&
    more === undefined &&
    second === undefined &&
    /^[A-Za-z][\w-]*\.[\w.-]+$/.test(first ?? "")
  )
    return { grammar: listing("", "", "text"), skip: 1 };
  if (name === "reflog" && first !== undefined && /^(?:expire|delete|drop|write)$/.test(first ?? "expire"))
    return null;
  const grammar = name != null && Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  return grammar === undefined ? null : { grammar, skip: 1 };
}

/**
 * Environment of a read-only command: git then starts no monitor, hook or pager that a repository's configuration
 * names. An external diff and a textconv cannot be switched off this way; the configuration that names them is a
 * protected path.
 */
export const QUIET_GIT: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "5",
  GIT_CONFIG_KEY_0: "core.fsmonitor",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "core.hooksPath",
  GIT_CONFIG_VALUE_1: "/dev/null",
  GIT_CONFIG_KEY_2: "core.pager",
  GIT_CONFIG_VALUE_2: "cat",
  GIT_CONFIG_KEY_3: "safe.bareRepository",
  GIT_CONFIG_VALUE_3: "explicit",
  GIT_CONFIG_KEY_4: "log.showSignature",
  GIT_CONFIG_VALUE_4: "false",
  GIT_PAGER: "cat",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
};

/**
 * Environment of every other git command that was allowed without a question: a repository without `.git` may have been
 * created by the same text, and no protected path covers its configuration.
 */
export const CAREFUL_GIT: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};
