import { GLOBAL } from "./help-flags.ts";

export const REPLAY_TOPICS: Readonly<Record<string, string>> = {
  replay: `Run a process again from its records, and compare

Usage:
  crux replay <pid|file> [--to <n>]
  crux replay <pid|file> --show [--to <n>]

      --verify      run it again, in memory alone (default): what its calls gave is taken from the journal. No model is
                    asked, no file is touched, no program started
      --show        print what a client saw then; nothing runs, and records of any version will do
      --to <n>      stop at its n-th step

A file holds records, one a line, as crux journal <pid> --json prints them. A process that still runs is replayed as
far as it has come. Exit code 0: it does what it did. 1: the first difference is shown, or why it cannot be replayed.
Modes: --quiet prints nothing, with --show the replies alone.

${GLOBAL}

Examples:
  crux replay 3
  crux replay 3 --show --to 4
  crux journal 3 --json > run.ndjson && crux replay run.ndjson`,
};
