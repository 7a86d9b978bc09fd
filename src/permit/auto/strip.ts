/**
 * Allow rules that are ignored while a model judges in the user's place: each would let whole programs past it. They
 * are only left out of decisions, so they apply again when the mode ends.
 */
import type { Subject } from "../../kernel/ports/permit.ts";
import type { Rule } from "../rules/rule.ts";

/** Programs that run whatever they are given: as code, as a file, or as another command. */
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

/** Package runners: dangerous if the rule does not name what they run. */
const SCRIPTED: ReadonlySet<string> = new Set(
  (
    "npm run|npm run-script|npm exec|npm x|npm explore|yarn run|yarn exec|yarn dlx|pnpm run|pnpm exec|pnpm dlx|bun run|bun x|" +
    "uv run|poetry run|pipenv run|cargo run|go run|gradle|gradlew|mvn|bundle exec|rake|composer exec|dotnet run|deno run|just"
  ).split("|"),
);
const PACKAGERS: ReadonlySet<string> = new Set([...SCRIPTED].map((words) => words.split(" ")[0] ?? ""));
const STARTERS: ReadonlySet<string> = new Set(["agent", "spawn"]);
const SHELLS: ReadonlySet<string> = new Set(["bash", "shell", "powershell", "pwsh"]);

/** Whether a model answers the questions of this process. Everything about auto mode depends on this test alone. */
export function isAutoModeActive({ mode, judgesPlan }: Pick<Subject, "mode" | "judgesPlan">): boolean {
  return mode === "auto" || (mode === "plan" && judgesPlan === true);
}

export function withoutDangerous(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter((rule) => !isDangerous(rule));
}

/** Whether the rule would allow a program that runs whatever it is given. */
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
  // the rule does not name what is run: anything may follow
  const said = spelled.slice(1).filter((word) => !word.startsWith("-") && !word.includes("*"));
  if (SCRIPTED.has(name)) return said.length === 0;
  return said.length === 0 || (said.length === 1 && SCRIPTED.has(`${name} ${said[0]}`));
}

/** The base name without backslashes: an escaped character stands for itself. */
function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replaceAll("\\", "");
}
