import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const BUDGET_TOPICS: Readonly<Record<string, string>> = {
  budget: `Show what processes may use, and change it

Usage:
  crux budget [<pid>]
  crux budget <pid> --add <amount>
  crux budget set <pid> [limits]

      --add <amount>      on top of its limit: 2usd, or a number of tokens
      --tokens <n>        tokens, of it and all below it
      --usd <x>           US dollars
      --steps <n>         model calls that were answered
      --wall <time>       time in which it works, like 90s or 1h30m
      --depth <n>         levels of agents below it
      --children <n>      agents started below it, in all
      --concurrent <n>    agents below it that run at once
  none instead of a number takes a limit away.

A call sets its worst case aside in the account of its process and of all above it, before it is made; so a tree of
agents never spends more than it was given. Of what is left to an agent its children leave it a tenth. At a limit a
person who is attached is asked; where nobody is, the process ends with exit code 2. Also of a process that has ended:
crux resume lets it go on. With a pid, it and what is below it. Modes: --quiet prints pids alone.

${GLOBAL}

Examples:
  crux budget
  crux budget 3 --add 2usd && crux resume 3
  crux budget set 3 --usd 10 --wall 2h`,

  cost: `Show where the money went

Usage:
  crux cost [--by <key>] [--since <time>]

      --by <key>       pid (default), model, tool, source (who had it made) or day
      --since <time>   a day like 2026-11-22, or a time ago like 12h

From the journal: running processes and ended ones. ? stands for calls whose price is not known; models.<id>.price in
settings.json sets one, in dollars per million tokens. Modes: --quiet prints the sum in dollars alone.

${GLOBAL}

Examples:
  crux cost --by model --since 7d
  crux cost --by day --json`,
};
