import type { Call, Command } from "./command.ts";
import { BUDGET_TOPICS } from "./help-budgets.ts";
import { COMPOSE_TOPICS } from "./help-compose.ts";
import { GLOBAL } from "./help-flags.ts";
import { JOB_TOPICS } from "./help-jobs.ts";
import { JOURNAL_TOPICS } from "./help-journal.ts";
import { MOUNT_TOPICS } from "./help-mounts.ts";
import { PROCESS_TOPICS } from "./help-processes.ts";
import { REPLAY_TOPICS } from "./help-replay.ts";
import { RIGHTS_TOPICS } from "./help-rights.ts";
import { SESSION_TOPICS } from "./help-sessions.ts";
import { TRUST_TOPICS } from "./help-trust.ts";
import { invalid } from "./screen/errors.ts";

export const help: Command = { flags: {}, run };

async function run({ args, console }: Call): Promise<number> {
  const [topic = ""] = args.words;
  const text = Object.hasOwn(TOPICS, topic) ? TOPICS[topic] : undefined;
  if (text === undefined) throw invalid(`no help on: ${topic}`, "crux help lists the commands");
  await console.line(text);
  return 0;
}

/** By command; the empty one is Crux itself. */
export const TOPICS: Readonly<Record<string, string>> = {
  ...PROCESS_TOPICS,
  ...SESSION_TOPICS,
  ...MOUNT_TOPICS,
  ...COMPOSE_TOPICS,
  ...BUDGET_TOPICS,
  ...JOB_TOPICS,
  ...JOURNAL_TOPICS,
  ...REPLAY_TOPICS,
  ...RIGHTS_TOPICS,
  ...TRUST_TOPICS,

  "": `Crux, an operating system for AI agents

Usage:
  crux [flags] <intent…>      run an agent on an intent in this folder, print its result
  crux [flags] < file         the same, with the intent on stdin
  crux "…" < file             the same, with the file as its data
  crux "…" | crux "…"         the result of one is the data of the next
  crux                        a conversation in this folder, as crux chat
  crux -c [text…]             go on with the latest one here; -r <pid|title words> with that one
  crux <command> [flags]

Sessions:
  chat [text…]                talk to an agent; sessions lists them, keep <pid> keeps one
Processes:
  ps, tree, top               list them: flat, as a tree, live
  attach <pid>                follow one that runs; logs <pid> what it said
  wait <pid>                  wait for its end, and end as it did
  jobs [pid]                  what it runs in the background; tasks, the lists that agents share
  send <pid> <text…>          a message, which an agent reads before its next step
  pause, cont <pid>           hold it, let it go on
  steps, fork, rewind <pid>   go back: what it did, on from a step, its files as they were
  budget, cost                what processes may spend and have left, and where the money went
  undo [pid]                  put back the files that it has changed since its last message
  resume <pid>                let one go on that rests or has ended
  kill <pid>                  send it a signal; signal <group> to a group, groups lists those
  astrace <pid>               follow what it does, call by call
  replay <pid>                run it again from its records: no model, no effects
  mode <pid> [<mode>]         what it may do without asking; grants lists what you have permitted
  label <pid>                 where what it has read came from
  label <pid>                 where what it has read came from
  auto-mode defaults|config   what the model of mode auto goes by
  trust [dir]                 let what a folder brings act: its settings, agents, skills, servers, instructions
Projects:
  compose up|down|ps|logs|config      the services of a crux.compose.yaml
Servers of tools (MCP):
  mount, umount <name>        for all processes; mcp list shows them
The journal:
  journal <pid>               the records of a process; audit verify whether they are what was written
  fsck, gc                    check and repair it; remove what is old
Crux itself:
  daemon start|stop|status|restart
  shutdown                    as daemon stop
  version                     versions of Crux and of what it found
  help [command]

Flags of a run:
  -m, --model <name>          sonnet, opus, haiku, or any model name
      --agent <name>          an agent file by its name; none for plain reasoning
      --max-steps <n>         stop after n steps (0: the agent's own limit)
      --budget <tokens>       stop after that many tokens (0: the agent's own limit)
      --max-usd <n>           stop before it has cost more dollars, with all that it starts
      --max-time <time>       stop after it has worked so long, like 10m
      --permission-mode <m>   plan, dont_ask, default, accept_edits (edits inside the folder pass), auto, bypass
      --plan                  plan first: nothing changes before you have approved the plan
      --enable-auto-mode      mode auto: a model judges what would ask; crux auto-mode shows by what
      --allow, --deny <rule>  as in settings, for this run; each as often as needed
      --settings <file>       rules, model and limits for this run from a file, or as JSON
      --dangerously-skip-permissions   mode bypass: all but what is denied
      --cwd <dir>             work in another folder
      --trust                 trust what the folder brings, as it is now (crux help trust)
  -d, --detach                print the pid and return; the process goes on

${GLOBAL}

Examples:
  crux "explain this repository"
  crux -m opus --budget 50000 fix the failing test
  echo "what is in here?" | crux -q
  crux "what changed?" < a.diff > answer.txt
  git log | crux "draft release notes" | crux "translate to German"
  crux -- ps explained        after -- every word belongs to the intent

Where stdout is a pipe or a file, it gets the result alone, and the screen goes to stderr. A pipe or a file at stdin is
read to its end, up to 4 MiB: in a script that must not happen, add < /dev/null.
Ctrl-C interrupts the process, a second one kills it. Closing the terminal leaves it running.
Exit codes: 0 done, 1 failed, 2 over budget, 130, 143, 137 ended by a signal.`,

  ps: `List processes

Usage:
  crux ps [flags]

  -a, --all         services and other helpers too
      --tree        as crux tree

Modes: --verbose adds parent and intent, --quiet prints pids alone.

${GLOBAL}

Examples:
  crux ps
  crux ps -q | xargs -n1 crux kill
  crux ps --json --verbose`,

  kill: `Send a process a signal

Usage:
  crux kill [-s <signal>] [--tree] <pid>

      --tree              to all below it too; prints a line for each that was reached
  -s, --signal <signal>   SIGTERM (1, default), SIGKILL (2), SIGINT (3), SIGPAUSE (4), SIGRESUME (5);
                          by name with or without SIG, in any case, or by number

It does not wait for the end of the process.

${GLOBAL}

Examples:
  crux kill 3
  crux kill -s pause 3`,

  astrace: `Follow what a process does, call by call

Usage:
  crux astrace <pid>

Each line has the time since the process began, the call, its result and how long it took. Calls to a model
and slow calls are marked. Ctrl-C detaches; the process does not notice.

Modes: --verbose cuts nothing, shows quiet calls and raw values; --quiet prints calls alone; --json prints one
event a line.

${GLOBAL}

Examples:
  crux astrace 3
  crux astrace 3 --json > trace.ndjson`,

  daemon: `Look after the daemon that holds the kernel

Usage:
  crux daemon start         start it, where it does not run
  crux daemon status        whether and how it runs; exit code 1 if it does not
  crux daemon stop          end all processes, then the daemon
  crux daemon restart       both

      --force               end one that does not answer
      --normal              with start: leave safe mode

A daemon whose last three died within a minute of their start comes up in safe mode: it restores nothing. Every command
says so, and "crux daemon start --normal" leaves it. CRUX_SAFE_MODE_AFTER=0 in its environment: never.

Every command that needs the daemon starts it, and it stops by itself when it has had nothing to do for a minute.

${GLOBAL}`,

  shutdown: `End all processes, then the daemon (as crux daemon stop)

Usage:
  crux shutdown [--force]

      --force               end one that does not answer

${GLOBAL}`,

  version: `Versions of Crux and of the claude program

Usage:
  crux version [flags]

Modes: --verbose adds the other configured model drivers and the daemon, --quiet prints the number alone.

${GLOBAL}`,

  help: `Help on Crux or one of its commands

Usage:
  crux help [command]
  crux <command> --help`,
};
