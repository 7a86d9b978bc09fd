/** Flags that several commands take. */
import type { OptionRow } from "./row.ts";

export const GLOBAL_OPTIONS: readonly OptionRow[] = [
  { flag: "json", meaning: "JSON on stdout, errors too" },
  { flag: "verbose", short: "v", meaning: "more" },
  { flag: "quiet", short: "q", meaning: "only what a script needs" },
  { flag: "no-color", meaning: "no colour (as NO_COLOR=1 does)" },
  { flag: "help", short: "h", meaning: "help on the command" },
  { flag: "version", short: "V", meaning: "as crux version" },
];

export const RUN_OPTIONS: readonly OptionRow[] = [
  {
    flag: "model",
    short: "m",
    value: "<name>",
    from: ["<model>"],
    meaning: "sonnet, opus, haiku, or any model name",
  },
  {
    flag: "fallback-model",
    value: "<names>",
    meaning: "models that answer when it is overloaded or missing, in order: haiku,openai/model-large",
  },
  {
    flag: "agent",
    value: "<name>",
    from: ["<agent>", "none"],
    meaning: "an agent file by its name; none for plain reasoning",
  },
  {
    flag: "agents",
    value: "<json>",
    meaning: 'more agents for this run, by name: {"reviewer": {"description": "…", "prompt": "…"}}',
  },
  {
    flag: "effort",
    value: "<level>",
    from: ["low", "medium", "high", "xhigh", "max"],
    meaning: "how much the model is asked to think: low, medium, high, xhigh, max",
  },
  { flag: "max-steps", value: "<n>", meaning: "stop after n steps (0: the agent's own limit)" },
  { flag: "budget", value: "<tokens>", meaning: "stop after that many tokens (0: the agent's own limit)" },
  { flag: "max-usd", value: "<n>", meaning: "stop before it has cost more dollars, with all that it starts" },
  {
    flag: "max-time",
    value: "<time>",
    meaning: "stop after it has worked so long, like 10m, with all that it starts",
  },
  { flag: "timeout", value: "<time>", meaning: "stop it so long after its start, pauses aside; exit code 1" },
  {
    flag: "permission-mode",
    value: "<mode>",
    from: ["<mode>"],
    meaning: "plan, dont_ask, default, accept_edits (edits inside the folder pass), auto, bypass",
  },
  { flag: "plan", meaning: "plan first: nothing changes before you have approved the plan" },
  {
    flag: "enable-auto-mode",
    meaning: "auto mode: a model judges what would ask; crux auto-mode shows by what",
  },
  { flag: "allow", value: "<rule>", meaning: "a rule as in settings, for this run; as often as needed" },
  { flag: "deny", value: "<rule>", meaning: "the same, for what it must not do" },
  {
    flag: "allowed-tools",
    value: "<rules>",
    meaning: "as --allow, for several rules: 'bash(git log *), edit'",
  },
  { flag: "disallowed-tools", value: "<rules>", meaning: "as --deny, for several rules" },
  { flag: "tools", value: "<names>", meaning: "the only tools that it has: 'view,grep'; '' for none" },
  { flag: "system-prompt", value: "<text>", meaning: "instructions in place of the agent's own" },
  { flag: "system-prompt-file", value: "<file>", from: ["<file>"], meaning: "the same, from a file" },
  {
    flag: "append-system-prompt",
    value: "<text>",
    meaning: "more instructions for the agent, after its own",
  },
  { flag: "append-system-prompt-file", value: "<file>", from: ["<file>"], meaning: "the same, from a file" },
  {
    flag: "settings",
    value: "<file>",
    from: ["<file>"],
    meaning: "rules, model and limits for this run from a file, or as JSON",
  },
  { flag: "dangerously-skip-permissions", meaning: "bypass mode: all but what is denied" },
  { flag: "cwd", value: "<dir>", from: ["<directory>"], meaning: "work in another folder" },
  {
    flag: "add-dir",
    value: "<dir>",
    from: ["<directory>"],
    meaning: "work in that folder too; as often as needed",
  },
  {
    flag: "mcp-config",
    value: "<file>",
    from: ["<file>"],
    meaning: "MCP servers for this run, from a file like .mcp.json, or as JSON",
  },
  { flag: "strict-mcp-config", meaning: "no other MCP servers than those of --mcp-config" },
  {
    flag: "worktree",
    meaning:
      "work in a new git worktree of the folder's repository; --worktree=<name> names it and its branch",
  },
  { flag: "trust", meaning: "trust what the folder brings, as it is now (crux help trust)" },
  { flag: "continue", short: "c", meaning: "continue the latest session of this folder" },
  { flag: "resume", short: "r", meaning: "continue the session whose pid or title words follow" },
  { flag: "detach", short: "d", meaning: "print the pid and return; the process keeps running" },
];

/** Of `crux -p`, besides those of a run. */
export const PRINT_OPTIONS: readonly OptionRow[] = [
  { flag: "print", short: "p", meaning: "for scripts: the answer alone on stdout, nobody is asked" },
  {
    flag: "output-format",
    value: "<format>",
    from: ["text", "json", "stream-json"],
    meaning: "with -p: text, json (one result), stream-json (a line for each event)",
  },
  {
    flag: "input-format",
    value: "<format>",
    from: ["text", "stream-json"],
    meaning: "with -p: text, or stream-json: a message on each line of stdin",
  },
  { flag: "include-partial-messages", meaning: "with stream-json: also the pieces of replies" },
  {
    flag: "permission-prompt-tool",
    value: "<tool>",
    from: ["stdio"],
    meaning: "with stream-json on both sides: stdio asks on stdout and reads the answer on stdin",
  },
  {
    flag: "json-schema",
    value: "<schema>",
    from: ["<file>"],
    meaning: "with -p: the answer is JSON that matches this schema: JSON, or a file of it",
  },
  { flag: "max-turns", value: "<n>", meaning: "with -p: stop after n replies of the model" },
  { flag: "max-budget-usd", value: "<n>", meaning: "with -p: as --max-usd" },
  {
    flag: "allow-dangerously-skip-permissions",
    meaning: "taken for the sake of scripts: bypass mode is --permission-mode bypass alone",
  },
  {
    flag: "setting-sources",
    value: "<names>",
    meaning: "taken for the sake of scripts: all settings are read, a folder's once you trust it",
  },
  {
    flag: "session-id",
    value: "<uuid>",
    meaning: "with -p: the session that begins, or a fork, gets this uuid",
  },
  { flag: "name", short: "n", value: "<title>", meaning: "with -p: the title of the session that begins" },
  {
    flag: "replay-user-messages",
    meaning: "with stream-json on both sides: each message is printed once it is read",
  },
  {
    flag: "no-session-persistence",
    meaning: "with -p: the session (of -c, -r a copy) ends with the command, which says what stays recorded",
  },
  { flag: "debug", meaning: "with -p: as --verbose" },
  { flag: "fork-session", meaning: "with -p and -c or -r: continue a copy of the session" },
];
