import type { CommandRow } from "./row.ts";

export const SESSIONS: readonly CommandRow[] = [
  {
    name: "chat",
    head: "chat [text…]",
    brief: "talk to an agent",
    hasRunFlags: true,
    summary: "Talk to an agent: a session",
    usage: [
      ["chat [flags] [text…]", "begin one in this folder"],
      ["chat -c [text…]", "continue the latest of this folder"],
      ["chat -r [<pid>|<title words>] [text…]", "continue that one; alone: choose from a list"],
    ],
    about: `A session waits for the next message instead of ending. Leaving it never ends it: when nobody is there and nothing is
left to do, it rests on disk, and -c, -r, attach, send bring it back, over restarts of the daemon and the machine, too.
-r makes a session of an agent that has ended. crux kill <pid> ends one.

While it works, what you type is read at its next step. What others type at the same session waits, and has runs of its
own. Esc, or Ctrl-C on an empty line, ends what it does now; Ctrl-C twice leaves, as Ctrl-D does. What is pasted is one
message, and Alt-Enter begins a new line in it. Ctrl-O shows all that was said and done, with search. /help lists
keys and the words that begin with /. With TERM=dumb, CRUX_ACCESSIBLE=1 or a screen under 40 x 10 it is in lines.

Without a terminal each line of stdin is a message, sent when the one before was answered, and replies go to stdout;
--json prints one event a line, --quiet the last words of each reply.

Flags: those of a run, see crux help. --max-steps counts for each message; without it there is no limit.`,
    examples: [
      'crux chat "what does this repository do?"',
      'crux -c "and now fix it"                 one run in the latest session, then the prompt of the shell again',
      "printf 'hello\\nand goodbye\\n' | crux chat -q",
    ],
  },
  {
    name: "sessions",
    head: "sessions",
    brief: "list sessions",
    summary: "List sessions",
    usage: ["sessions [-a]"],
    options: [{ flag: "all", short: "a", meaning: "of every folder, and those that have ended" }],
    about: `The one with the newest message comes first; AGE counts from there. * marks those that crux keep keeps.
Modes: --quiet prints pids alone.`,
    examples: ["crux sessions", "crux sessions --all --json | jq -r '.data.sessions[].title'"],
  },
  {
    name: "context",
    head: "context <pid>",
    brief: "what the model sees of it, and what that costs",
    words: [["undo", "clear", "pin", "unpin", "snip", "<pid>"], ["<pid>"]],
    summary: "Show what the model sees of a process, why, and what each part costs, or change it",
    usage: [
      ["context <pid>", "its window, the parts, and how the view was shortened"],
      [
        "context pin <pid> <number|text>",
        "a message, or a new text, that stays in view whatever is compacted",
      ],
      ["context unpin <pid> <number>", "it need not stay any longer"],
      [
        "context snip <pid> <number>…",
        "these leave the view, each with its call and results; your own words stay",
      ],
      ["context undo <pid>", "the view before the last change again, with what was said since"],
      ["context clear <pid>", "an empty view, for a session that waits; undo takes it back"],
    ],
    options: [{ flag: "messages", meaning: "also the messages in view, with their numbers" }],
    about: `The tokens of the window by parts, when the view is shortened, and how it has been. ~ marks what is estimated; else
the model reported the count. It works for a process that runs, rests or has ended: the journal keeps everything.
Modes: --quiet prints the tokens used, and those of the window.`,
    examples: ["crux context 3", "crux context undo 3", "crux context 3 --json | jq .data.parts"],
  },
  {
    name: "compact",
    head: "compact <pid> [text]",
    brief: "let a summary take the place of what was said",
    words: [["<pid>"]],
    summary: "Let a summary take the place of the earlier messages of a process",
    usage: ["compact <pid> [<what to pay attention to>] [--from <number> | --up-to <number>]"],
    options: [
      {
        flag: "from",
        value: "<number>",
        meaning: "summarise only what comes after this message, which stays",
      },
      {
        flag: "up-to",
        value: "<number>",
        meaning: "summarise only what comes before this message, which stays",
      },
    ],
    about: `Its own model writes the summary, between two steps if it runs. In view stay the summary, your own words, the newest
steps, and files that were read lately. Nothing is lost: crux context undo <pid> takes it back. A session that rests
is restored for it, with the environment of this terminal. crux context <pid> --messages lists the numbers of messages.`,
    examples: [
      "crux compact 3",
      "crux compact 3 --from 41",
      "crux compact 3 keep the error texts, drop the dead ends",
    ],
  },
  {
    name: "export",
    head: "export <pid|session>",
    brief: "its conversation as Markdown or JSON",
    words: [["<pid>"]],
    summary: "Write down the conversation of a process, of one that is long gone too, as Markdown or JSON",
    usage: ["export <pid|uuid|title words> [--format md|json] [-o <file>] [--force]"],
    options: [
      { flag: "format", value: "<md|json>", meaning: "Markdown (md), or JSON", from: ["md", "json"] },
      { flag: "output", short: "o", value: "<file>", meaning: "a file instead of stdout; - is stdout" },
      { flag: "force", short: "f", meaning: "overwrite a file that is there" },
    ],
    about: `What was said, each call with its arguments and its result, from the journal; of a fork with what it began with.
Secrets that are known are marked in it, as everywhere. Modes: --json prints one object.`,
    examples: ["crux export 3 -o talk.md", "crux export 3 --format json | jq '.messages[].text'"],
  },
  {
    name: "keep",
    head: "keep <pid>",
    brief: "keep its history, however old it gets",
    words: [["<pid>"]],
    summary: "Keep the history of a process, however old it gets",
    usage: ["keep <pid> [--off]"],
    options: [{ flag: "off", meaning: "no longer" }],
  },
];
