/**
 * Programs with a command that writes settings to a file that is not among their words. A row's place is judged as a
 * write to that place; commands without a row are assumed to write no settings.
 */
import { posix } from "node:path";
import { programOf, type Word } from "../shell/word.ts";

/** A path: `~/x`, or relative to the working directory. */
type SettingsPlace = string;

interface Row {
  /** Matched against the words after the global options, joined by blanks; an unknown word is `…`. */
  readonly when: RegExp;
  readonly place: SettingsPlace;
  /** `when` is matched against all words, options included. */
  readonly isWhole?: boolean;
}

const rows = (place: SettingsPlace, ...patterns: readonly RegExp[]): readonly Row[] =>
  patterns.map((when) => ({ when, place }));

const WRITERS: Readonly<Record<string, readonly Row[]>> = {
  npm: [
    ...rows(".npmrc", /^(?:config|c|set)\b.*(?:--location[= ]project|-L[= ]?project)/),
    ...rows(
      "~/.npmrc",
      /^(?:config|c) (?:set|delete|rm|edit|fix|…)/,
      /^(?:set|login|adduser|add-user|logout|token)\b/,
    ),
  ],
  pnpm: rows("~/.npmrc", /^(?:config|c) (?:set|delete|edit|…)/, /^(?:set|login|logout)\b/),
  yarn: [
    ...rows("~/.yarnrc.yml", /^config (?:set|unset).* (?:-H|--home)\b/),
    ...rows(".yarnrc.yml", /^config (?:set|unset|delete|…)/, /^set version\b/, /^plugin import\b/),
  ],
  husky: rows(".husky/pre-commit", /^(?:install|init|add|set|uninstall)?(?: |$)/),
  lefthook: rows(".git/hooks/pre-commit", /^(?:install|uninstall)\b/),
  "pre-commit": rows(".git/hooks/pre-commit", /^(?:install|uninstall|init-templatedir)\b/),
  "simple-git-hooks": rows(".git/hooks/pre-commit", /^/),
  "git-lfs": rows(".git/hooks/pre-push", /^(?:install|uninstall|update)\b/),
  pip: rows("~/.config/pip/pip.conf", /^config (?:.* )?(?:set|unset|edit|…)/),
  poetry: rows(
    "~/.config/pypoetry/config.toml",
    /^config (?!--list$)\S+ \S/,
    /^config .*--unset/,
    /^config …/,
  ),
  uv: rows("~/.config/uv/uv.toml", /^auth (?:login|logout)\b/),
  cargo: rows("~/.cargo/credentials.toml", /^(?:login|logout|owner)\b/),
  rustup: rows("~/.rustup/settings.toml", /^(?:default \S|override|set|toolchain link)/),
  go: rows("~/.config/go/env", /^env (?:.* )?-[wu]\b/, /^env …/),
  gh: rows(
    "~/.config/gh/config.yml",
    /^config set\b/,
    /^auth (?:login|logout|refresh|setup-git|switch)\b/,
    /^alias (?:set|delete|import)\b/,
    /^extension (?:install|upgrade|remove)\b/,
  ),
  glab: rows("~/.config/glab-cli/config.yml", /^config (?:set|edit)\b/, /^auth (?:login|logout)\b/),
  crux: rows("~/.config/crux/settings.json", /^config set\b/, /^(?:mount|trust|grants|key|login)\b/),
  claude: rows("~/.claude/settings.json", /^config (?:set|add|remove)\b/, /^mcp (?:add|remove|import)/),
  gcloud: rows(
    "~/.config/gcloud/configurations",
    /^config (?:set|unset|configurations)\b/,
    /^auth (?!list|print)/,
    /^init\b/,
  ),
  aws: rows("~/.aws/config", /^configure(?! list| get)/, /^sso log/),
  az: rows("~/.azure/config", /^config (?:set|unset)\b/, /^(?:configure|login|logout)\b/),
  kubectl: rows("~/.kube/config", /^config (?:set|unset|use|delete|rename)/, /^config …/),
  docker: rows(
    "~/.docker/config.json",
    /^context (?:create|use|update|rm|import)\b/,
    /^(?:login|logout)\b/,
    /^buildx (?:create|use|install)\b/,
  ),
  podman: rows(
    "~/.config/containers/containers.conf",
    /^(?:login|logout)\b/,
    /^system connection (?:add|remove|rename|default)\b/,
  ),
  helm: rows(
    "~/.config/helm/repositories.yaml",
    /^repo (?:add|remove|update)\b/,
    /^plugin (?:install|uninstall|update)\b/,
    /^registry log/,
  ),
  conda: rows("~/.condarc", /^config (?:.* )?--(?:add|set|remove|append|prepend)/, /^init\b/),
  crontab: [{ place: "/var/spool/cron/crontabs", isWhole: true, when: /^(?!-l$|-u \S+ -l$)/ }],
  systemctl: rows(
    "~/.config/systemd/user",
    /^(?:enable|disable|reenable|mask|unmask|link|edit|preset|revert|set-default|set-property|add-wants|add-requires|import-environment|set-environment)\b/,
  ),
  launchctl: rows("~/Library/LaunchAgents", /^(?:load|bootstrap|enable|submit|setenv)\b/),
  direnv: rows(".envrc", /^(?:allow|permit|edit|grant)\b/),
  chsh: rows("/etc/passwd", /^/),
  "ssh-keygen": [{ place: "~/.ssh/id_ed25519", isWhole: true, when: /^(?!.*(?:^| )-[a-zA-Z]*[lFyBQDY])/ }],
  "ssh-copy-id": rows("~/.ssh/known_hosts", /^/),
  "ssh-add": rows("~/.ssh/agent", /^-[dDxX]/),
  gpg: rows(
    "~/.gnupg/pubring.kbx",
    /^(?:.* )?--(?:import|gen-key|generate-key|full-generate-key|quick-gen|delete|edit-key|recv)/,
  ),
};

/** Commands that run another program by its name. */
const RUNNERS =
  /^(?:npx|bunx|pnpx|uvx|bun x|npm exec|npm x|pnpm exec|pnpm dlx|yarn dlx|yarn exec|yarn run|pnpm run|npm run)$/;

/** Where the command writes settings; null: no known place. `isOpen`: more words follow. */
export function settingsWritten(argv: readonly Word[], isOpen = false): SettingsPlace | null {
  const name = posix.basename(programOf(argv) ?? "");
  const words = argv.slice(1).map(({ text, prefix }) => text ?? (prefix === "" ? "…" : prefix));
  const texts = isOpen ? [...words, "…"] : words;
  if (name === "git") return writtenByGit(texts);
  const runner = [name, `${name} ${texts[0] ?? ""}`].findIndex((text) => RUNNERS.test(text));
  if (runner >= 0) {
    const inner = argv
      .slice(1 + runner)
      .filter(
        ({ text }, i, all) =>
          text === null ||
          !text.startsWith("-") ||
          all.slice(0, i).some((each) => each.text?.startsWith("-") === false),
      );
    return inner.length === 0 ? null : settingsWritten(inner, isOpen);
  }
  const known = name.replace(/^(pip|gpg)[\d.]+$/, "$1");
  const table = Object.hasOwn(WRITERS, known) ? (WRITERS[known] ?? []) : [];
  const whole = texts.join(" ");
  const behind = texts.slice(firstOperand(texts)).join(" ");
  return (
    table.find(({ when, isWhole }) => when.test(whole) || (isWhole !== true && when.test(behind)))?.place ??
    null
  );
}

function firstOperand(texts: readonly string[]): number {
  return Math.max(
    texts.findIndex((text) => !text.startsWith("-")),
    0,
  );
}

const GIT_VALUED = /^(?:-[Cc]|--git-dir|--work-tree|--namespace|--config-env|--super-prefix|--attr-source)$/;
const GIT_ACTIONS: Readonly<Record<string, readonly [RegExp, SettingsPlace]>> = {
  remote: [/^(?:add|set-url|rename|remove|rm|set-branches|…)$/, ".git/config"],
  submodule: [/^(?:add|init|deinit|set-url|set-branch|sync|…)$/, ".git/config"],
  lfs: [/^(?:install|uninstall|update|…)$/, ".git/hooks/pre-push"],
  maintenance: [/^(?:start|stop|register|unregister)$/, "~/.gitconfig"],
};

function writtenByGit(texts: readonly string[]): SettingsPlace | null {
  let at = 0;
  while (texts[at]?.startsWith("-") === true) at += GIT_VALUED.test(texts[at] ?? "") ? 2 : 1;
  const [command = "", ...args] = texts.slice(at);
  if (command === "config") return configWritten(args);
  const [when, place] = (Object.hasOwn(GIT_ACTIONS, command) ? GIT_ACTIONS[command] : undefined) ?? [];
  const action = args.find((arg) => !arg.startsWith("-")) ?? "";
  return when?.test(action) === true ? (place ?? null) : null;
}

const CONFIG_READS = /^(?:--get\S*|--list|-l|--show-origin|--show-scope|--name-only)$/;
const CONFIG_WRITES =
  /^(?:--add|--replace-all|--unset|--unset-all|--rename-section|--remove-section|--edit|-e)$/;
const CONFIG_VALUED = /^(?:-f|--file|--blob|--type|--default|--comment|--value|--url)$/;

/** The place that `git config` writes: a lone name is read, a name with a value is set. */
function configWritten(args: readonly string[]): SettingsPlace | null {
  const operands = args.filter((arg, i) => !arg.startsWith("-") && !CONFIG_VALUED.test(args[i - 1] ?? ""));
  const [first = "", ...others] = operands;
  const isVerb = /^(?:set|unset|rename-section|remove-section|edit)$/.test(first);
  const writes = args.some((arg) => CONFIG_WRITES.test(arg)) || isVerb;
  const reads =
    args.some((arg) => CONFIG_READS.test(arg)) || first === "get" || first === "list" || first === "get-all";
  if (!writes && (reads || (others.length === 0 && first !== "…"))) return null;
  const fileAt = args.findIndex((arg) => /^(?:-f|--file)/.test(arg));
  const file = args[fileAt]?.includes("=") === true ? args[fileAt]?.replace(/^[^=]*=/, "") : args[fileAt + 1];
  if (fileAt >= 0) return file ?? "…";
  if (args.includes("--system")) return "/etc/gitconfig";
  return args.includes("--global") ? "~/.gitconfig" : ".git/config";
}

/** Whether the command touches nothing but that place. */
export function writesOnlySettings(argv: readonly Word[]): boolean {
  return posix.basename(programOf(argv) ?? "") === "git" && argv.every(({ text }) => text !== null);
}
