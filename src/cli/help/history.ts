import type { CommandRow } from "./row.ts";

export const HISTORY: readonly CommandRow[] = [
  {
    name: "steps",
    head: "steps <pid>",
    brief: "what it did, step by step",
    words: [["<pid>"]],
    summary: "What an agent did, step by step",
    usage: ["steps <pid> [-n <count>]"],
    options: [{ flag: "last", short: "n", value: "<count>", meaning: "the newest so many (100)" }],
    about: `A step is one reply of the model with the results of its calls: crux fork and crux rewind go back to the end of one.
Step 0 is before the first reply. Of each, its first words, the commands that it ran and the files that it changed.
Also of an agent that has ended. Modes: --quiet prints numbers alone.`,
    examples: ["crux steps 3 -n 20"],
  },
  {
    name: "fork",
    head: "fork <pid>",
    brief: "continue from one of its steps as a new process",
    words: [["<pid>"]],
    summary: "Continue from a step of an agent, as a process of its own",
    usage: ["fork <pid> [--at <step>] [-m <text>] [--attach]"],
    options: [
      {
        flag: "at",
        value: "<step>",
        meaning:
          "where it begins (the last complete step); seq:<n> for a record, as crux journal numbers them",
      },
      { flag: "message", short: "m", value: "<text>", meaning: "its next message; it continues at once" },
      { flag: "attach", meaning: "and talk to it, as crux -r does" },
    ],
    about: `The new process remembers what the other knew at that step, and has its agent, model, directory and rights, and no
more than that. The other is left as it is, running or ended; what happened is kept once for both. Answers that were
given "always" are asked again. Without a message it rests: crux -r <pid> talks to it. Files stay as they are:
crux rewind puts them back. Modes: --quiet prints the pid alone.`,
    examples: ['crux fork 3 --at 4 -m "use the other library instead"', "crux -r $(crux fork 3 -q)"],
  },
  {
    name: "rewind",
    head: "rewind <pid>",
    brief: "take it back to a step, and its files with it",
    words: [["<pid>"]],
    summary: "Take an agent back to a step, and its files with it",
    usage: ["rewind <pid> [--at <step>] [--files [--dry-run] [--force] [--yes]]"],
    options: [
      {
        flag: "at",
        value: "<step>",
        meaning:
          "back to the end of this step (before the last message that it was given); crux steps lists them",
      },
      {
        flag: "files",
        meaning: "put back what it has changed since: content and permissions; files that it made go",
      },
      { flag: "dry-run", meaning: "change nothing, show what would change" },
      { flag: "force", meaning: "also files that somebody else has changed since" },
      { flag: "yes", short: "y", meaning: "do not ask" },
    ],
    about: `It continues as a new process, a fork at that step, and the old one stays as it is. A process that runs must be paused
first, or wait for a message. If somebody else has changed one of the files since, nothing is touched, and the exit
code is 1. What it replaces is kept: rewind to a later step to have it back. What commands changed (bash), and what
its children changed, is not put back. Files over 64 MiB are not kept; files go back over the last 100 messages.
Modes: --quiet prints the pid of the new process alone.`,
    examples: ["crux rewind 3 --files --dry-run", "crux rewind 3 --at 4 --files --yes"],
  },
  {
    name: "undo",
    head: "undo [pid]",
    brief: "put back the files it has changed since its last message",
    words: [["<pid>"]],
    summary: "Put back the files that an agent has changed since its last message",
    usage: ["undo [pid] [--dry-run] [--force] [--yes]"],
    options: [
      { flag: "dry-run", meaning: "change nothing, show what would change" },
      { flag: "force", meaning: "also files that somebody else has changed since" },
      { flag: "yes", short: "y", meaning: "do not ask" },
    ],
    about: `Without a pid it is the latest session of this folder. Only files go back: the process remembers all, and has to view
them again before it changes them; crux rewind takes the process back, too. One that runs must be paused first, or wait
for a message. If somebody else has changed one of the files since, nothing is touched, and the exit code is 1. What it
replaces is kept. What commands changed (bash), and what its children changed, is not put back: it is named.`,
    examples: ["crux undo --dry-run", "crux undo 3 --yes"],
  },
  {
    name: "replay",
    head: "replay <pid>",
    brief: "run it again from its records: no model, no effects",
    words: [["<pid>", "<file>"]],
    summary: "Run a process again from its records, and compare",
    usage: ["replay <pid|file> [--to <n>]", "replay <pid|file> --show [--to <n>]"],
    options: [
      {
        flag: "verify",
        meaning:
          "run it again, in memory alone (default): what its calls gave is taken from the journal. No model is asked, no file is touched, no program started",
      },
      {
        flag: "show",
        meaning: "print what a client saw then; nothing runs, and records of any version will do",
      },
      { flag: "to", value: "<n>", meaning: "stop at its n-th step" },
    ],
    about: `A file holds records, one a line, as crux journal <pid> --json prints them. A process that still runs is replayed as
far as it has come. Exit code 0: it does what it did. 1: the first difference is shown, or why it cannot be replayed.
Modes: --quiet prints nothing, with --show the replies alone.`,
    examples: [
      "crux replay 3",
      "crux replay 3 --show --to 4",
      "crux journal 3 --json > run.ndjson && crux replay run.ndjson",
    ],
  },
];
