import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const PROCESS_TOPICS: Readonly<Record<string, string>> = {
  top: `Watch the processes, live

Usage:
  crux top [flags]

      --once            one look, also where there is no terminal
      --sort <key>      rate (tokens a minute, default), tokens, cost, age, pid, name, children
  -d, --delay <s>       seconds between looks, 0.1 to 3600 (1)
  -a, --all             services and other helpers too

Keys:
  up, down, page up, page down, home, end   choose a process (Esc: none)
  p  pause it     r  let it go on     k  send it a signal, which is asked for
  s  sort by the next key     t  as a tree     /  rows with a text     a  services too
  q  quit

Above the table: what the processes do, and what the daemon uses; loop lag is how late it was at worst with anything it
does in the last 10 seconds. --json prints one object for one look, --quiet pids.

${GLOBAL}

Examples:
  crux top --sort tokens
  crux top --once --json | jq .data.metrics.rss_bytes`,

  tree: `Show who started whom

Usage:
  crux tree [<pid>] [flags]

  -a, --all         services and other helpers too
      --ascii       without line drawing characters

TOKENS are those of the process itself, SUBTREE with all below it. With a pid, it and what is below it.
Modes: --quiet prints pids alone, in the order of the tree.

${GLOBAL}

Examples:
  crux tree
  crux tree 3 -q | xargs -n1 crux logs`,

  attach: `Follow a process that runs, as the command that started it would

Usage:
  crux attach <pid> [--read-only]

      --read-only   leave its questions to others

It shows steps, refusals and the result, with -v tools and log lines too, and what a program writes. Questions of the
permission gate can be answered. Of one that has just ended it shows how, and the result. Ctrl-C or Ctrl-] leaves; the
process goes on. It ends with the process, and with its exit code. Where stdout is no terminal, and with --json, it
prints one JSON event a line.

${GLOBAL}

Examples:
  crux attach 3
  crux attach 3 --json > events.ndjson`,

  wait: `Wait for the end of a process, and end as it did

Usage:
  crux wait <pid>

The exit code is that of the process. A process that was waited for is gone from crux ps; crux logs still has it.
Ctrl-C ends the waiting, not the process. Modes: --verbose adds the reason, --quiet prints nothing.

${GLOBAL}

Examples:
  pid=$(crux -dq "run the long tests"); crux wait $pid && echo passed`,

  logs: `What a process said, alive or gone

Usage:
  crux logs <pid> [-f] [--tail <n>]

  -f, --follow      go on until it ends
  -n, --tail <n>    the last n lines (200)

Steps, tools and notices of an agent, a line each, and its result at last; the output of a program as it is.
Modes: --verbose adds time and level, --quiet leaves out who said it, --json prints one object a line.

${GLOBAL}

Examples:
  crux logs 3 -f
  crux logs 3 --tail 20 --json`,

  send: `Send an agent a message

Usage:
  crux send <pid> <text…>
  crux send <pid> < file

It is kept from then on, also over a restart of the daemon; the agent reads it before its next step. At most 256 KiB.

${GLOBAL}

Examples:
  crux send 3 leave the tests alone, please
  git diff | crux send 3`,

  pause: `Hold a process

Usage:
  crux pause <pid> [--tree]

      --tree        all below it too

What is under way comes to its end and is kept; nothing new begins, and its time stands still. crux cont lets it go on,
also after a restart of the daemon.

${GLOBAL}

Examples:
  crux pause 3 --tree`,

  cont: `Let a paused process go on

Usage:
  crux cont <pid> [--tree]

      --tree        all below it too

A process that came back after a restart of the daemon goes on with the environment of this terminal: its model keys.

${GLOBAL}

Examples:
  crux cont 3 --tree`,

  steps: `What an agent did, step by step

Usage:
  crux steps <pid> [-n <count>]

  -n, --last <count>   the newest so many (100)

A step is one reply of the model with the results of its calls: crux fork and crux rewind go back to the end of one.
Step 0 is before the first reply. Of each, its first words, the commands that it ran and the files that it changed.
Also of an agent that has ended. Modes: --quiet prints numbers alone.

${GLOBAL}

Examples:
  crux steps 3 -n 20`,

  fork: `Go on from a step of an agent, as a process of its own

Usage:
  crux fork <pid> [--at <step>] [-m <text>] [--attach]

      --at <step>       where it begins (the last complete step); seq:<n> for a record, as crux journal numbers them
  -m, --message <text>  what it is told; it goes on at once
      --attach          and talk to it, as crux -r does

The new process remembers what the other knew at that step, and has its agent, model, directory and rights, and no
more than that. The other is left as it is, running or ended; what happened is kept once for both. Answers that were
given "always" are asked again. Without a message it rests: crux -r <pid> talks to it. Files stay as they are:
crux rewind puts them back. Modes: --quiet prints the pid alone.

${GLOBAL}

Examples:
  crux fork 3 --at 4 -m "use the other library instead"
  crux -r $(crux fork 3 -q)`,

  rewind: `Take an agent back to a step, and its files with it

Usage:
  crux rewind <pid> [--at <step>] [--files [--dry-run] [--force] [--yes]]

      --at <step>   back to the end of this step (before the last message that it was given); crux steps lists them
      --files       put back what it has changed since: content and permissions; files that it made go
      --dry-run     change nothing, show what would change
      --force       also files that somebody else has changed since
  -y, --yes         do not ask

It goes on as a new process, a fork at that step, and the old one stays as it is. A process that runs must be paused
first, or wait for a message. If somebody else has changed one of the files since, nothing is touched, and the exit
code is 1. What it replaces is kept: rewind to a later step to have it back. What commands changed (bash), and what
its children changed, is not put back. Files over 64 MiB are not kept; files go back over the last 100 messages.
Modes: --quiet prints the pid of the new process alone.

${GLOBAL}

Examples:
  crux rewind 3 --files --dry-run
  crux rewind 3 --at 4 --files --yes`,

  undo: `Put back the files that an agent has changed since its last message

Usage:
  crux undo [pid] [--dry-run] [--force] [--yes]

      --dry-run     change nothing, show what would change
      --force       also files that somebody else has changed since
  -y, --yes         do not ask

Without a pid it is the latest session of this folder. Only files go back: the process remembers all, and has to view
them again before it changes them; crux rewind takes the process back, too. One that runs must be paused first, or wait
for a message. If somebody else has changed one of the files since, nothing is touched, and the exit code is 1. What it
replaces is kept. What commands changed (bash), and what its children changed, is not put back: it is named.

${GLOBAL}

Examples:
  crux undo --dry-run
  crux undo 3 --yes`,

  groups: `List process groups and their members

Usage:
  crux groups

Modes: --quiet prints names alone.

${GLOBAL}`,

  resume: `Let a process go on that is paused, rests or has ended

Usage:
  crux resume <pid>

It goes on in the background where it was, with its pid, its rights and what is left of its budget, and with the
environment of this terminal. A session waits for a message again; an agent that had completed becomes one: crux send.

${GLOBAL}

Examples:
  crux resume 7 && crux attach 7`,

  signal: `Send all members of a group a signal

Usage:
  crux signal <group> <signal>

The group by its name, or by its number where it has none. The signal as for crux kill.

${GLOBAL}

Examples:
  crux signal authors pause`,
};
