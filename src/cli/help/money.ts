import type { CommandRow } from "./row.ts";

export const MONEY: readonly CommandRow[] = [
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
crux resume resumes it. With a pid, it and what is below it. Modes: --quiet prints pids alone.`,
    examples: [
      "crux budget",
      "crux budget 3 --add 2usd && crux resume 3",
      "crux budget set 3 --usd 10 --wall 2h",
    ],
  },
  {
    name: "cost",
    head: "cost",
    brief: "where the money went",
    summary: "Show where the money went",
    usage: ["cost [--by <key>] [--since <time>]"],
    options: [
      {
        flag: "by",
        value: "<key>",
        from: ["pid", "model", "tool", "source", "day"],
        meaning: "pid (default), model, tool, source (who had it made) or day",
      },
      { flag: "since", value: "<time>", meaning: "a day like 2026-11-22, or a time ago like 12h" },
    ],
    about: `From the journal: running processes and ended ones. ? stands for calls whose price is not known; models.<id>.price in
settings.json sets one, in dollars per million tokens. Modes: --quiet prints the sum in dollars alone.`,
    examples: ["crux cost --by model --since 7d", "crux cost --by day --json"],
  },
];
