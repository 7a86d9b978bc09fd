import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const JOURNAL_TOPICS: Readonly<Record<string, string>> = {
  journal: `Show the records of a process, alive or gone

Usage:
  crux journal <pid|uuid> [flags]

  -n, --last <n>    the last n records
      --kind <k>    one kind: ctx.record, call.intent, call.result, signal, …
      --from <seq>  from that record on
  -f, --follow      go on until it ends
      --with-prefix of a fork, first what it remembers of those it came from

A line has time, number, kind and its essence. Pid 0 is the kernel itself: starts, roots, what was removed.
Modes: --verbose cuts nothing. --json prints one record a line exactly as it is stored, with its hash: a recording that
crux replay reads, and that other programs can verify.

${GLOBAL}

Examples:
  crux journal 3 -n 20
  crux journal 3 --kind call.intent
  crux journal 3 --json > session.ndjson`,

  fsck: `Check the journal, and repair it

Usage:
  crux fsck [flags] [pid|uuid…]

      --full        every record, snapshot and large value, not the last 1,000 records of each process alone
      --repair      do what is named behind each finding; the daemon must be stopped
  -y, --yes         without being asked

A process is cut after its last good record, what follows from the records is made again, losses are written down.
What is touched is copied to the quarantine folder of the journal first. Nothing is made up, nothing else is changed.
It starts no daemon; one that runs is asked.
Modes: --quiet prints code, pid and record of each damage.

${GLOBAL}

Examples:
  crux fsck --full
  crux daemon stop && crux fsck --full --repair

Exit codes: 0 clean, 1 damage, 2 repaired, 3 could not be checked.`,

  audit: `Verify that the journal is what was written

Usage:
  crux audit verify [--against <file>]    every hash of every history, and every root
  crux audit roots                        the roots, for keeping elsewhere

      --against <file>    roots kept elsewhere: lines of crux audit roots --json, or of the setting audit.anchor's file

A record that was changed, taken out or put in is named. Whoever can write the journal can make all its hashes again;
what lies before a root that was kept elsewhere cannot be changed unnoticed.
Modes: --quiet prints nothing (roots: the roots alone). --json prints one object (roots: one a line).

${GLOBAL}

Examples:
  crux audit roots --json > roots.ndjson
  crux audit verify --against roots.ndjson

Exit codes of verify: 0 it holds, 1 it is broken, 3 it could not be verified.`,

  gc: `Remove old histories, and tell what the journal takes

Usage:
  crux gc [--dry-run]

  -n, --dry-run     only tell what would go

Histories of processes that have ended go after 30 days (setting cleanupPeriodDays), the oldest sooner when the journal
is nearly full (setting journal.maxBytes, 20 GiB). What crux keep has marked stays, and what a fork goes on from. Large
values that nothing names go after a day. The daemon does it by itself once a day.
Modes: --verbose lists what went, --quiet prints pids alone.

${GLOBAL}`,
};
