import { GLOBAL } from "./help-flags.ts";

export const COMPOSE_TOPICS: Readonly<Record<string, string>> = {
  compose: `Run the services of a compose file: agents and programs that wait for one another

Usage:
  crux compose [-f FILE] [-p NAME] <verb>

  up [service…]     start what does not run, replace what changed, and show the logs until all is done
    -d, --detach            return once all is up that waits for nothing; the project goes on
        --remove-orphans    stop what runs and is no longer in the file
  down              stop all, in reverse order
        --timeout <ms>      kill what is not gone by then (10000)
  ps                what runs
  logs [service…]   what the services wrote, merged
    -f, --follow            and what they will write
        --tail <n>          the last n lines of each (200)
  config            check the file, and print it with its variables and defaults filled in

  -f, --file <file>         before the verb; else crux.compose.yaml or crux.compose.yml is looked for here and in
                            the folders above, up to the root of the repository
  -p, --project <name>      another name for the project; the file's, or that of its folder

Modes: --verbose tells why services exited. --quiet prints what services wrote and nothing else (up -d: the pid,
ps: pids, config: nothing). --json prints one event a line.

${GLOBAL}

Examples:
  crux compose up
  crux compose up -d && crux compose logs -f writer
  RANGE=v1.2.. crux compose up
  crux compose down

Ctrl-C during up is down, a second one kills. Closing the terminal leaves the project running.
Exit code of up: 0 if all exited 0 or run on, else that of the first service that failed; 130 after Ctrl-C.`,
};
