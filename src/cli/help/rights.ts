import type { CommandRow } from "./row.ts";

export const RIGHTS: readonly CommandRow[] = [
  {
    name: "mode",
    head: "mode <pid> [mode]",
    brief: "what it may do without asking",
    words: [["<pid>"], ["<mode>"]],
    summary: "What a process may do without asking: show it, or set it",
    usage: [
      ["mode <pid>", "the mode it is in, and the highest it may ask for"],
      ["mode <pid> <mode>", "set it, at once"],
    ],
    about: `From the narrowest: plan (looks, changes nothing), dont_ask (what would ask is denied), default, accept_edits (edits
inside the folder pass), auto (a model judges what would ask), bypass (all but what is denied). A lower mode binds all
that it has started and that still runs; a higher one is for it alone. Above its ceiling it goes by a grant, which
crux grants shows and takes back. Into bypass there is only the start: crux --dangerously-skip-permissions.
Modes: --quiet prints the mode alone.`,
    examples: ["crux mode 3", "crux mode 3 plan"],
  },
  {
    name: "grants",
    head: "grants [pid]",
    brief: "what you have permitted",
    words: [["rm", "<pid>"]],
    summary: "List what you have permitted beside the settings, or take it back",
    usage: [
      ["grants [<pid>]", "those that count for a process; else all that are in memory"],
      ["grants rm <id>", "take one back: from the next call on it does not count"],
    ],
    options: [
      { flag: "kill", meaning: "with rm: and end commands in progress that only it allowed" },
      {
        flag: "pid",
        value: "<pid>",
        from: ["<pid>"],
        meaning: "with rm: a process of its session, where that rests",
      },
    ],
    about: `"Always" answers hold for a session, in the journal, and outlive the daemon. What went into a settings file is there.
Modes: --quiet prints ids alone.`,
    examples: ["crux grants 3", "crux grants rm g_00c0ffee00c0ffee --kill"],
  },
  {
    name: "label",
    head: "label <pid>",
    brief: "where what it has read came from",
    words: [["clear", "<pid>"], ["<pid>"]],
    summary: "Show where what a process has read came from, or say that it may be trusted",
    usage: [
      ["label <pid>", "its labels"],
      [
        "label clear <pid> <source>",
        "take away those of a source (web, mcp, file, peer, exec), of one place by its name as it is listed, or all",
      ],
    ],
    about: `A process that has read a page, a file from elsewhere or a secret is asked about what would carry data out, whatever
its mode and its rules say; the question names the page. Its children, its messages and the files that it writes have
its labels too. They go with a rewind to before the read, with a fresh process, or by your word here, for this process
alone.
Modes: --quiet prints kinds and sources alone.`,
    examples: ["crux label 3", "crux label clear 3 web"],
  },
  {
    name: "auto-mode",
    head: "auto-mode",
    brief: "what the model that judges calls in auto mode goes by",
    words: [["defaults", "config"]],
    summary: "Show what the model goes by that judges calls in auto mode",
    usage: [
      [
        "auto-mode defaults",
        "what is built in: 9 it allows, 10 it blocks unless you asked, 4 on the surroundings",
      ],
      ["auto-mode config", "what is in force, with autoMode of your settings"],
    ],
    about: `In settings.json, autoMode has the lists allow, soft_deny and environment. A list that is not empty takes the place of
the built-in one; "$defaults" in it stands for that. stage is both, fast or thinking.
Modes: --json; --quiet prints the entries alone.`,
    examples: ["crux auto-mode defaults", "crux auto-mode config --json"],
  },
  {
    name: "trust",
    head: "trust [dir]",
    brief: "let what a folder brings act: settings, agents, skills, servers",
    words: [["show", "diff", "list", "remove", "<directory>"], ["<directory>"]],
    summary: "Let what a folder brings act, once you have seen it",
    usage: [
      ["trust [dir]", "show what would act there, ask, and trust it"],
      ["trust show [dir]", "show it, and what of it you trust; change nothing"],
      ["trust diff [dir]", "the same with what changed since you trusted it"],
      ["trust list", "the folders that you trust"],
      ["trust remove [dir]", "trust it no longer"],
    ],
    options: [{ flag: "yes", short: "y", meaning: "do not ask; without a terminal nothing is asked either" }],
    about: `Until then agents work in the folder, but its settings widen nothing and its agents, skills, MCP servers, hooks and
instructions (AGENTS.md, CLAUDE.md) are not there. What it forbids holds always. Each file counts as you have seen it:
one that changes is off until you trust it again. A repository inside another is trusted by itself; a worktree has the
trust of its main repository. In /, the home folder and temporary folders trust ends with the last process there,
or after the hour that you give it.
A folder named like one of the words above: ./list. Modes: --quiet prints paths alone.`,
    examples: ["crux trust", "crux trust diff ~/src/app", 'crux --trust "run the release agent" < /dev/null'],
  },
  {
    name: "budget",
    head: "budget [pid]",
    brief: "what processes may spend and have left",
    words: [["set", "<pid>"], ["<pid>"]],
    summary: "Show what processes may use, and change it",
    usage: ["budget [<pid>]", "budget <pid> --add <amount>", "budget set <pid> [limits]"],
    options: [
      { flag: "add", value: "<amount>", meaning: "on top of its limit: 2usd, or a number of tokens" },
      { flag: "tokens", value: "<n>", meaning: "tokens, of it and all below it" },
      { flag: "usd", value: "<x>", meaning: "US dollars" },
      { flag: "steps", value: "<n>", meaning: "model calls that were answered" },
      { flag: "wall", value: "<time>", meaning: "time in which it works, like 90s or 1h30m" },
      { flag: "depth", value: "<n>", meaning: "levels of agents below it" },
      { flag: "children", value: "<n>", meaning: "agents started below it, in all" },
      { flag: "concurrent", value: "<n>", meaning: "agents below it that run at once" },
    ],
    about: `Instead of a number, none takes a limit away.

A call sets its worst case aside in the account of its process and of all above it, before it is made; so a tree of
agents never spends more than it was given. Of what is left to an agent its children leave it a tenth. At a limit a
person who is attached is asked; where nobody is, the process ends with exit code 2. Also of a process that has ended:
crux resume resumes it. With a pid, it and what is below it, also after its end. Modes: --quiet prints pids alone.`,
    examples: [
      "crux budget",
      "crux budget 3 --add 2usd && crux resume 3",
      "crux budget set 3 --usd 10 --wall 2h",
    ],
  },
  {
    name: "cost",
    head: "cost [pid]",
    brief: "where the money went",
    words: [["<pid>"]],
    summary: "Show where the money went",
    usage: ["cost [<pid>] [--by <key>] [--since <time>]"],
    options: [
      {
        flag: "by",
        value: "<key>",
        from: ["pid", "subtree", "call", "model", "tool", "source", "day"],
        meaning:
          "pid (default), subtree (with all below), call, model, tool, source (who had it made) or day",
      },
      { flag: "since", value: "<time>", meaning: "a day like 2026-11-22, or a time ago like 12h" },
    ],
    about: `From the journal: running processes and ended ones; with a pid, it and all below it.
? stands for calls whose price is not known; models.<id>.price in settings.json sets one,
in dollars per million tokens. What the server had cached stands apart; thinking is a part of the output.
Modes: --quiet prints the sum in dollars alone.`,
    examples: ["crux cost --by model --since 7d", "crux cost --by day --json"],
  },
];
