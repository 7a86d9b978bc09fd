import { GLOBAL } from "./help-flags.ts";

/** By command. */
export const SESSION_TOPICS: Readonly<Record<string, string>> = {
  chat: `Talk to an agent: a session

Usage:
  crux chat [flags] [text…]   begin one in this folder
  crux chat -c [text…]        go on with the latest of this folder
  crux chat -r [<pid>|<title words>] [text…]   go on with that one; alone: choose from a list

A session waits for the next message instead of ending. Leaving it never ends it: when nobody is there and nothing is
left to do, it rests on disk, and -c, -r, attach, send bring it back, over restarts of the daemon and the machine, too.
-r makes a session of an agent that has ended. crux kill <pid> ends one.

While it works, what you type is read at its next step. What others type at the same session waits, and has runs of its
own. Ctrl-C ends what it does now; on an empty line, twice leaves, as Ctrl-D does. What is pasted is one message, and
Alt-Enter begins a new line in it. /help lists the words that begin with /.

Without a terminal each line of stdin is a message, sent when the one before was answered, and replies go to stdout;
--json prints one event a line, --quiet the last words of each reply.

Flags: those of a run, see crux help. --max-steps counts for each message; without it there is no limit.

${GLOBAL}

Examples:
  crux chat "what does this repository do?"
  crux -c "and now fix it"                 one run in the latest session, then the prompt of the shell again
  printf 'hello\\nand goodbye\\n' | crux chat -q`,

  sessions: `List sessions

Usage:
  crux sessions [-a]

  -a, --all         of every folder, and those that have ended

The one with the newest message comes first; AGE counts from there. * marks those that crux keep keeps.
Modes: --quiet prints pids alone.

${GLOBAL}

Examples:
  crux sessions
  crux sessions --all --json | jq -r '.data.sessions[].title'`,

  keep: `Keep the history of a process, however old it gets

Usage:
  crux keep <pid> [--off]

      --off         no longer

${GLOBAL}`,
};
