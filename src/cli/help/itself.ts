import type { CommandRow } from "./row.ts";

export const ITSELF: readonly CommandRow[] = [
  {
    name: "demo",
    head: "demo",
    brief: "a tour of one minute, with a scripted model",
    summary: "A tour of about one minute: a question, a kill and recovery, rewind, replay, a pipe",
    usage: ["demo [--yes]"],
    options: [{ flag: "yes", short: "y", meaning: "do not stop between the steps, and ask nothing" }],
    about: `It runs the real commands in a folder of its own, with a daemon of its own: yours, its journal and your settings are
not touched. Its model is a script. Folder and daemon are gone when it ends, however it ends.`,
  },
  {
    name: "daemon",
    head: "daemon <verb>",
    brief: "start, status, stop, restart",
    words: [["start", "status", "stop", "restart"]],
    summary: "Look after the daemon that holds the kernel",
    usage: [
      ["daemon start", "start it, where it does not run"],
      ["daemon status", "whether and how it runs; exit code 1 if it does not"],
      ["daemon stop", "end all processes, then the daemon"],
      ["daemon restart", "both"],
    ],
    options: [
      { flag: "force", meaning: "end one that does not answer" },
      { flag: "normal", meaning: "with start: leave safe mode" },
    ],
    about: `A daemon whose last three died within a minute of their start comes up in safe mode: it restores nothing. Every command
says so, and "crux daemon start --normal" leaves it. CRUX_SAFE_MODE_AFTER=0 in its environment: never.

Every command that needs the daemon starts it, and it stops by itself when it has had nothing to do for a minute.`,
  },
  {
    name: "shutdown",
    head: "shutdown",
    brief: "as daemon stop",
    summary: "End all processes, then the daemon (as crux daemon stop)",
    usage: ["shutdown [--force]"],
    options: [{ flag: "force", meaning: "end one that does not answer" }],
  },
  {
    name: "doctor",
    head: "doctor",
    brief: "check what Crux needs: model, sandbox, trust, disk, journal",
    summary: "Check what Crux needs, with a remedy for each thing that is not in order",
    usage: ["doctor [--offline]"],
    options: [{ flag: "offline", meaning: "without the test call to the model" }],
    about: `✓ works, ! works in part, ✗ does not work. The test call is a run of one step in plan mode with the environment of this
terminal; it costs a few tokens. Modes: --quiet prints what is not in order.`,
    examples: ["crux doctor", "crux doctor --offline --json"],
    after: "Exit codes: 0, or 1 where a line has ✗.",
  },
  {
    name: "auth",
    head: "auth [verb]",
    brief: "store the key of a provider",
    words: [
      ["status", "login", "logout"],
      ["anthropic", "openai", "gemini", "xai", "vllm"],
    ],
    summary: "Store, show and remove the keys of model providers",
    usage: [
      ["auth [status]", "the providers that have a key, and where it comes from"],
      ["auth login [<provider>]", "type a key; it is tried, then stored"],
      ["auth logout <provider>", "remove the stored key"],
    ],
    options: [
      { flag: "key-stdin", meaning: "with login: read the key from stdin, for scripts" },
      { flag: "base-url", value: "<url>", meaning: "with login: another server than the provider's own" },
      { flag: "no-check", meaning: "with login: store the key without a test call" },
      { flag: "check", meaning: "with status: make a test call with each key; exit 1 if one fails" },
    ],
    about: `A stored key lies in the state directory, readable by you alone and hidden from every command. It is used where
the environment names neither a key nor a server of that provider: a key goes to the server it was stored for.
Only its last 4 characters are shown.`,
    examples: ["crux auth login anthropic", "pass show openai | crux auth login openai --key-stdin"],
  },
  {
    name: "model",
    head: "model [verb]",
    brief: "which model answers here and why; list, set",
    words: [["list", "set", "<pid>"]],
    summary:
      "Show which model would answer here and what says so, list what there is, choose one, also for a process",
    usage: [
      ["model", "which would answer, and why"],
      ["model list", "drivers and how to set them up, models with context and list price"],
      ["model set <name>", "the one that answers where nothing else is said: your setting model"],
      [
        "model <pid> <name>",
        "another one for a process: a session from its next run, others from their next step",
      ],
    ],
    options: [
      { flag: "model", short: "m", value: "<name>", meaning: "as if a run had this flag" },
      { flag: "agent", value: "<name>", meaning: "as if a run had this flag", from: ["<agent>"] },
    ],
    about: `What says so, the first that names one: --model, the agent file, CRUX_MODEL and CRUX_PROVIDER, settings.json; else the
first driver that is set up. A name is a model (claude-haiku-4-5), a short name (opus, small) or driver/model. Prices
are list prices in US dollars per million tokens; models.<name>.price in the settings comes before them.
Modes: --quiet prints names alone.`,
    examples: ["crux model", "crux model list", "crux model set openai/gpt-6.1-terra"],
  },
  {
    name: "config",
    head: "config <verb>",
    brief: "settings: list, get, set, unset, with where each value stands",
    words: [["list", "get", "set", "unset"], ["<setting>"]],
    summary: "Show settings, with where each value stands, and change them",
    usage: [
      ["config list [--all]", "what is set, and in which file; with --all the defaults too"],
      ["config get <key>", "what holds here; exit code 1 where nothing does"],
      ["config set <key> <value>", "write it: text, a number, true, false, or JSON"],
      ["config unset <key>", "take it out"],
    ],
    options: [
      { flag: "all", short: "a", meaning: "with list: the defaults, too" },
      { flag: "user", meaning: "with set and unset: your own settings (default)" },
      { flag: "project", meaning: "those of this folder, .crux/settings.json: rules and directories alone" },
      { flag: "local", meaning: "yours for this folder, .crux/settings.local.json, which git leaves out" },
    ],
    about: `Later places win: user, project, local, then the policy of the machine; lists unite. What a folder's files may not
say, and what the environment says in their place, is shown as not counting. A value is checked before it is written,
every other byte of the file stays, and it holds at once.
Modes: --verbose with get shows each place. --quiet prints keys, or the value alone.`,
    examples: [
      "crux config list",
      "crux config set model sonnet",
      `crux config set permissions.allow '["bash(npm test:*)"]' --project`,
      'crux config set models.gpt-5.price \'{"input": 1.25, "output": 10}\'',
    ],
  },
  {
    name: "init",
    head: "init [what] [name]",
    brief: "files to begin with: AGENTS.md, settings, an agent, a skill, a compose file",
    words: [["agents", "settings", "agent", "skill", "compose"]],
    summary: "Write files to begin with into this folder",
    usage: [
      ["init", "AGENTS.md and .crux/settings.json"],
      ["init agents", "AGENTS.md: what every agent that works here reads"],
      ["init settings", ".crux/settings.json: rules of this project"],
      ["init agent [name]", "an agent file below .crux/agents"],
      ["init skill [name]", "a skill below .crux/skills"],
      ["init compose [name]", "crux.compose.yaml: services that wait for one another"],
    ],
    about: `What is there already is left as it is. What a folder brings acts once you have trusted it: crux trust.
Modes: --quiet prints the paths that were written.`,
    examples: ["crux init", "crux init agent release-notes"],
  },
  {
    name: "completion",
    head: "completion <shell>",
    brief: "completion for bash, zsh or fish",
    words: [["bash", "zsh", "fish"]],
    summary: "Print the script that completes crux in a shell",
    usage: ["completion bash|zsh|fish"],
    about: `It completes commands, their words and flags, pids, groups, agents, modes and settings. The daemon is asked where it
runs, and none is started.`,
    examples: [
      "source <(crux completion bash)                                    in ~/.bashrc",
      "source <(crux completion zsh)                                     in ~/.zshrc, after compinit",
      "crux completion fish > ~/.config/fish/completions/crux.fish",
    ],
  },
  {
    name: "man",
    head: "man",
    brief: "the manual page",
    summary: "Print the manual page, crux(1), in roff",
    usage: ["man"],
    examples: ["crux man | man -l -", "crux man > ~/.local/share/man/man1/crux.1"],
  },
  {
    name: "__complete",
    head: "__complete",
    brief: "",
    summary: "What may stand at the end of a command line, for the scripts of crux completion",
    usage: ["__complete -- [word…]"],
    hidden: true,
  },
  {
    name: "version",
    head: "version",
    brief: "versions of Crux and of what it found",
    summary: "Versions of Crux and of the claude program",
    usage: ["version [flags]"],
    about: `Modes: --verbose adds the other configured model drivers and the daemon, --quiet prints the number alone.`,
  },
  {
    name: "help",
    head: "help [command]",
    brief: "help on Crux or one of its commands",
    words: [["<command>"]],
    summary: "Help on Crux or one of its commands",
    usage: ["help [command]", "<command> --help"],
  },
];
