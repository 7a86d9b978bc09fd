/**
 * Flags that start a program, or that write or change configuration where nobody looks. An allow rule covers one only if it
 * spells it: `git *` does not cover `git -c core.pager=x log`. A word that is not known counts as one where a flag could
 * stand.
 */
import { posix } from "node:path";
import { wordList } from "./tables.ts";
import { mayBeFlag, type Word } from "./word.ts";

const rows = (table: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(table).map(([name, flags]) => [name, wordList(flags)]));

const LONG = rows({
  git: `--exec-path --git-dir --work-tree --config-env --output --ext-diff --textconv --open-files-in-pager --upload-pack
    --receive-pack --exec --template --config --super-prefix --namespace --pager --edit-description --extcmd --to-cmd
    --smtp-server --sendmail-cmd --interactive --post-rewrite --pathspec-from-file --output-directory --unsafe-paths
    --build-fake-ancestor --separate-git-dir`,
  tar: `--use-compress-program --checkpoint-action --to-command --rsh-command --new-volume-script --info-script --absolute-names
    --files-from`,
  rsync:
    "--rsh --rsync-path --daemon --log-file --write-batch --only-write-batch --read-batch --files-from --backup-dir",
  rg: "--pre --hostname-bin",
  ag: "--pager",
  ack: "--pager",
  sort: "--output --compress-program --files0-from",
  zip: "--test --unzip-command",
  man: "--pager --html --preprocessor",
  npm: "--script-shell --node-options --prefix --globalconfig --userconfig --git --editor --viewer --browser",
  pnpm: "--script-shell --dir",
  yarn: "--cwd",
  tree: "--output",
  curl: "--output --config --upload-file",
  wget: "--use-askpass --output-document --execute --input-file --config",
  docker: "--privileged --volume --mount",
  make: "--eval --file --makefile --directory",
});

const SHORT = rows({
  git: "-O -x",
  tar: "-I -F -P -T",
  ssh: "-o -F -E -S",
  scp: "-o -F -S -D",
  sftp: "-o -F -S -D -b",
  rsync: "-e -M -T",
  sort: "-o -T",
  find: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
  zip: "-T -TT",
  man: "-P -H",
  tree: "-o",
  file: "-C",
  iconv: "-o",
  shuf: "-o",
  grep: "-f",
  awk: "-f -i -l -e",
  gawk: "-f -i -l -e",
  sed: "-i -f -e",
});

/** Short flags of more than a letter, never in a bundle. */
const isWord = (flag: string) => flag.length > 2;

/** May unknown further arguments of the program be such flags? */
export function canEscalate(program: string): boolean {
  const name = posix.basename(program);
  return LONG.has(name) || SHORT.has(name);
}

/** The arguments that an allow rule must spell. null among them: a word that is not known, which no rule can spell. */
export function escalatingArgs(argv: readonly Word[]): readonly (string | null)[] {
  const [program, ...args] = argv;
  const name = posix.basename(program?.text ?? "");
  if (!canEscalate(name)) return [];
  const end = args.findIndex(({ text }) => text === "--");
  const found = args.flatMap((word, i): readonly (string | null)[] => {
    const isAfter = end >= 0 && i > end && name !== "find" && name !== "rsync";
    if (word.text === null) return !isAfter && isOpen(word) && !isTextValue(name, args, i) ? [null] : [];
    return !isAfter && isEscalating(name, word.text, i) ? [word.text] : [];
  });
  return name === "git" ? [...found, ...escalatingGit(args)] : found;
}

/** Its value may be anything, its flag is known: `--format=$X`. */
function isOpen(word: Word): boolean {
  return mayBeFlag(word) && (word.isMany || !/^--[a-z-]+=/.test(word.prefix));
}

function isEscalating(name: string, arg: string, at: number): boolean {
  const shorts = SHORT.get(name) ?? [];
  return (
    isLong(LONG.get(name) ?? [], arg) ||
    isShort(shorts, arg) ||
    isBundled(shorts, arg, name === "tar" && at === 0)
  );
}

/** `git` and others take unique beginnings of long flags: `--outp=f`. */
function isLong(flags: readonly string[], arg: string): boolean {
  const [name = ""] = arg.split("=");
  return name.length > 3 && name.startsWith("--") && flags.some((flag) => flag.startsWith(name));
}

function isShort(flags: readonly string[], arg: string): boolean {
  return flags.some((flag) => (isWord(flag) ? arg === flag : arg.startsWith(flag)));
}

/** `-vI`, and `cvI` where the first word needs no dash. What is a value of an earlier letter is taken for letters too. */
function isBundled(flags: readonly string[], arg: string, isDashless: boolean): boolean {
  const letters = /^-[^-]/.test(arg) ? arg.slice(1) : isDashless && !arg.startsWith("-") ? arg : "";
  return flags.some((flag) => !isWord(flag) && letters.includes(flag.charAt(1)));
}

/** What `git *` covers. An alias, a program called `git-…`, a server or what keeps configuration a rule must spell. */
const GIT_COMMANDS: ReadonlySet<string> = new Set(
  wordList(
    `add am annotate apply archive bisect blame branch cat-file check-attr check-ignore checkout cherry cherry-pick clean clone
     commit commit-tree count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep
     hash-object init log ls-files ls-remote ls-tree merge merge-base merge-tree mv name-rev notes prune pull push range-diff
     read-tree rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout
     stash status submodule switch symbolic-ref tag update-index update-ref verify-commit verify-tag version whatchanged worktree
     write-tree`,
  ),
);
/** Their second word may run commands or change where git connects. */
const GIT_ACTIONS: ReadonlyMap<string, readonly string[]> = rows({
  submodule: "foreach add update set-url",
  bisect: "run replay",
  remote: "add set-url",
});
/** Short flags that start a program, bring configuration or write a file; letters mean something else elsewhere. */
const GIT_SHORT: ReadonlyMap<string, RegExp> = new Map([
  ["clone", /^-[a-z46]*[cu]/],
  ["archive", /^-[a-z0-9]*o/],
  ["format-patch", /^-[a-zA-Z0-9]*o/],
]);

/** Flags before the subcommand, helpers as URLs, its configuration, and what runs commands by design. */
function escalatingGit(args: readonly Word[]): readonly string[] {
  const at = args.findIndex(({ text, prefix }) => !(text ?? prefix).startsWith("-"));
  const texts = args.map(({ text, prefix }) => text ?? prefix);
  const head = texts.slice(0, at < 0 ? texts.length : at).filter((arg) => /^-[cC]|^--bare$/.test(arg));
  const urls = texts.filter((arg) => arg.includes("::"));
  if (at < 0) return [...head, ...urls];
  const command = texts[at] ?? "";
  const rest = texts.slice(at + 1);
  const action = rest.find((arg) => !arg.startsWith("-")) ?? "";
  const named = !GIT_COMMANDS.has(command) || GIT_ACTIONS.get(command)?.includes(action) === true;
  const flags = rest.filter((arg) => GIT_SHORT.get(command)?.test(arg) === true);
  // a repository at a path runs its own hooks when it receives
  const hooked = command === "push" && /^[^:]*\//.test(action) ? [action] : [];
  return [...head, ...urls, ...(named ? [command] : []), ...flags, ...hooked];
}

/** Words that are text whatever they hold: the message of a commit. */
function isTextValue(name: string, args: readonly Word[], at: number): boolean {
  if (name !== "git" || args[at]?.isMany === true) return false;
  const command = args[0]?.text ?? "";
  const flag = args[at - 1]?.text ?? "";
  return /^(?:commit|tag|merge|stash|notes)$/.test(command) && /^(?:-[a-z]*m|--message)$/.test(flag);
}

/** The same for paths: its words name no files. */
export function isTextWord(argv: readonly Word[], at: number): boolean {
  return isTextValue(posix.basename(argv[0]?.text ?? ""), argv.slice(1), at - 1);
}
