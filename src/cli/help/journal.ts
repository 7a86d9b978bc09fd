import type { CommandRow } from "./row.ts";

export const JOURNAL: readonly CommandRow[] = [
  {
    name: "journal",
    head: "journal <pid>",
    brief: "the records of a process",
    words: [["<pid>"]],
    summary: "Show the records of a process, alive or gone",
    usage: ["journal <pid|uuid> [flags]"],
    options: [
      { flag: "last", short: "n", value: "<n>", meaning: "the last n records" },
      { flag: "kind", value: "<k>", meaning: "one kind: ctx.record, call.intent, call.result, signal, …" },
      { flag: "from", value: "<seq>", meaning: "from that record on" },
      { flag: "follow", short: "f", meaning: "follow until it ends" },
      { flag: "with-prefix", meaning: "of a fork, first what it remembers of those it came from" },
    ],
    about: `A line has time, number, kind and its essence. Pid 0 is the kernel itself: starts, roots, what was removed.
Modes: --verbose cuts nothing. --json prints one record a line exactly as it is stored, with its hash: a recording that
crux replay reads, and that other programs can verify.`,
    examples: [
      "crux journal 3 -n 20",
      "crux journal 3 --kind call.intent",
      "crux journal 3 --json > session.ndjson",
    ],
  },
  {
    name: "audit",
    head: "audit verify|roots",
    brief: "verify that they are what was written",
    words: [["verify", "roots"]],
    summary: "Verify that the journal is what was written",
    usage: [
      ["audit verify [--against <file>]", "every hash of every history, and every root"],
      ["audit roots", "the roots, for keeping elsewhere"],
    ],
    options: [
      {
        flag: "against",
        value: "<file>",
        from: ["<file>"],
        meaning:
          "roots kept elsewhere: lines of crux audit roots --json, or of the setting audit.anchor's file",
      },
    ],
    about: `A record that was changed, taken out or put in is named. Whoever can write the journal can make all its hashes again;
what lies before a root that was kept elsewhere cannot be changed unnoticed.
Modes: --quiet prints nothing (roots: the roots alone). --json prints one object (roots: one a line).`,
    examples: ["crux audit roots --json > roots.ndjson", "crux audit verify --against roots.ndjson"],
    after: `Exit codes of verify: 0 it holds, 1 it is broken, 3 it could not be verified.`,
  },
  {
    name: "fsck",
    head: "fsck",
    brief: "check and repair it",
    words: [["<pid>", "…"]],
    summary: "Check the journal, and repair it",
    usage: ["fsck [flags] [pid|uuid…]"],
    options: [
      {
        flag: "full",
        meaning: "every record, snapshot and large value, not the last 1,000 records of each process alone",
      },
      { flag: "repair", meaning: "do what is named behind each finding; the daemon must be stopped" },
      { flag: "yes", short: "y", meaning: "without being asked" },
    ],
    about: `A process is cut after its last good record, what follows from the records is made again, losses are written down.
What is touched is copied to the quarantine folder of the journal first. Nothing is made up, nothing else is changed.
It starts no daemon; one that runs is asked.
Modes: --quiet prints code, pid and record of each damage.`,
    examples: ["crux fsck --full", "crux daemon stop && crux fsck --full --repair"],
    after: `Exit codes: 0 clean, 1 damage, 2 repaired, 3 could not be checked.`,
  },
  {
    name: "gc",
    head: "gc",
    brief: "remove what is old",
    summary: "Remove old histories, and show what the journal takes",
    usage: ["gc [--dry-run]"],
    options: [{ flag: "dry-run", short: "n", meaning: "only show what would go" }],
    about: `Histories of processes that have ended go after 30 days (setting cleanupPeriodDays), the oldest sooner when the journal
is nearly full (setting journal.maxBytes, 20 GiB). What crux keep has marked stays, and what a fork goes on from. Large
values that nothing names go after a day. The daemon does it by itself once a day.
Modes: --verbose lists what went, --quiet prints pids alone.`,
  },
];
