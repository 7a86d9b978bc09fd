/**
 * Flags that start a program or write where nobody looks. An allow rule covers one only if it spells it: `git *` does not
 * cover `git -c core.pager=x log`.
 */
import { posix } from "node:path";

const LONG: Readonly<Record<string, readonly string[]>> = {
  git: [
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--config-env",
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--template",
    "--config",
  ],
  tar: [
    "--use-compress-program",
    "--checkpoint-action",
    "--to-command",
    "--rsh-command",
    "--new-volume-script",
  ],
  rsync: ["--rsh"],
  rg: ["--pre", "--hostname-bin"],
  sort: ["--output", "--compress-program"],
};

const SHORT: Readonly<Record<string, readonly string[]>> = {
  git: ["-O"],
  tar: ["-I", "-F"],
  ssh: ["-o", "-F"],
  scp: ["-o", "-F", "-S"],
  rsync: ["-e"],
  sort: ["-o"],
  find: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
};

/** May unknown further arguments of the program be such flags? */
export function canEscalate(program: string): boolean {
  const name = posix.basename(program);
  return Object.hasOwn(LONG, name) || Object.hasOwn(SHORT, name);
}

/** The arguments of a command that an allow rule must spell. */
export function escalatingArgs(argv: readonly string[]): readonly string[] {
  const [path = "", ...args] = argv;
  const name = posix.basename(path);
  const flags = flagsOf(SHORT, name);
  const found = args.filter(
    (arg, i) =>
      isLong(flagsOf(LONG, name), arg) ||
      isShort(flags, arg) ||
      isBundled(flags, arg, name === "tar" && i === 0),
  );
  return name === "git" ? [...found, ...escalatingGit(args)] : found;
}

function flagsOf(table: typeof LONG, name: string): readonly string[] | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** `git` and others take unique beginnings of long flags: `--outp=f`. */
function isLong(flags: readonly string[] | undefined, arg: string): boolean {
  const [name = ""] = arg.split("=");
  return name.length > 3 && name.startsWith("--") && flags?.some((flag) => flag.startsWith(name)) === true;
}

function isShort(flags: readonly string[] | undefined, arg: string): boolean {
  return flags?.some((flag) => arg.startsWith(flag)) === true;
}

/** `-vI`, and `cvI` where the first word needs no dash. What is a value of an earlier letter is taken for letters too. */
function isBundled(flags: readonly string[] | undefined, arg: string, isDashless: boolean): boolean {
  const letters = /^-[^-]/.test(arg) ? arg.slice(1) : isDashless && !arg.startsWith("-") ? arg : "";
  return flags?.some((flag) => flag.length === 2 && letters.includes(flag.charAt(1))) === true;
}

/** Flags before the subcommand, helpers as URLs, and writing its configuration. */
function escalatingGit(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const head = args.slice(0, at < 0 ? args.length : at).filter((arg) => arg === "-c" || arg === "-C");
  const urls = args.filter((arg) => arg.includes("::"));
  const config = args[at] === "config" ? args.slice(at, at + 1) : [];
  return [...head, ...urls, ...config];
}
