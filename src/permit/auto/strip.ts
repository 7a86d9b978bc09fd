/**
 * Allow rules that do not count while a model judges in a person's place: each of them would let whole programs past it. They
 * are left out of a decision, and written nowhere: when the mode ends they are simply there again.
 */
import type { Subject } from "../../kernel/ports/permit.ts";
import type { Rule } from "../rules/rule.ts";

/** Run whatever they are given: as code, as a file, or as another command. */
const RUNNERS: ReadonlySet<string> = new Set(
  (
    "python python2 python3 pypy pypy3 node nodejs deno bun tsx ts-node ruby irb perl php lua luajit Rscript R julia swift groovy " +
    "jshell osascript ghci guile racket erl elixir iex scala kotlin awk gawk mawk sqlite3 psql mysql gdb lldb ed vim vi emacs " +
    "bash sh dash zsh fish ksh mksh tcsh csh busybox pwsh powershell powershell.exe pwsh.exe cmd cmd.exe " +
    "sudo su doas pkexec runuser chroot unshare nsenter systemd-run at batch ssh docker podman kubectl " +
    "eval exec source . env command builtin nice ionice nohup setsid stdbuf time timeout chrt taskset flock watch script strace " +
    "ltrace coproc xargs parallel find make cmake ninja npx bunx pnpx uvx pipx dlx Invoke-Expression iex"
  ).split(" "),
);

/** Package runners: dangerous where what they run is not named. */
const SCRIPTED: ReadonlySet<string> = new Set(
  (
    "npm run|npm run-script|npm exec|npm x|npm explore|yarn run|yarn exec|yarn dlx|pnpm run|pnpm exec|pnpm dlx|bun run|bun x|" +
    "uv run|poetry run|pipenv run|cargo run|go run|gradle|gradlew|mvn|bundle exec|rake|composer exec|dotnet run|deno run|just"
  ).split("|"),
);
const PACKAGERS: ReadonlySet<string> = new Set([...SCRIPTED].map((words) => words.split(" ")[0] ?? ""));
const STARTERS: ReadonlySet<string> = new Set(["agent", "spawn"]);
const SHELLS: ReadonlySet<string> = new Set(["bash", "shell", "powershell", "pwsh"]);

/** Does a model judge for this process what would ask? The only signal; everything about mode auto goes by it. */
export function isAutoModeActive({ mode, judgesPlan }: Pick<Subject, "mode" | "judgesPlan">): boolean {
  return mode === "auto" || (mode === "plan" && judgesPlan === true);
}

export function withoutDangerous(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter((rule) => !isDangerous(rule));
}

/** Would it let a program run that runs what it is told? */
export function isDangerous({ tool, match, spelled }: Pick<Rule, "tool" | "match" | "spelled">): boolean {
  if (STARTERS.has(tool)) return true;
  if (!SHELLS.has(tool.toLowerCase())) return false;
  if (match.kind !== "command") return match.kind === "all";
  const name = baseName(match.name);
  if (/[*?[]/.test(name)) return true;
  const isOpen = match.rest || spelled.some((word) => word.includes("*"));
  if (RUNNERS.has(name)) return isOpen || spelled.length <= 1;
  if (!PACKAGERS.has(name)) return false;
  if (!isOpen) return false;
  // what is run is not named: anything may follow
  const said = spelled.slice(1).filter((word) => !word.startsWith("-") && !word.includes("*"));
  if (SCRIPTED.has(name)) return said.length === 0;
  return said.length === 0 || (said.length === 1 && SCRIPTED.has(`${name} ${said[0]}`));
}

/** A character that is escaped stands for itself. */
function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replaceAll("\\", "");
}
