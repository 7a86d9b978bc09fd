import { PRINT_OPTIONS, RUN_OPTIONS } from "./flags.ts";
import type { CommandRow } from "./row.ts";

/** The row of plain `crux`: a run, or a conversation. */
export const ROOT: CommandRow = {
  name: "",
  head: "",
  brief: "run an agent on an intent",
  summary: "Crux, an operating system for AI agents",
  usage: [
    ["[flags] <intent…>", "run an agent on an intent in this folder, print its result"],
    ["[flags] < file", "the same, with the intent on stdin"],
    ['"…" < file', "the same, with the file as its data"],
    ['"…" | crux "…"', "the result of one is the data of the next"],
    ["", "a conversation in this folder, as crux chat"],
    ["-p [flags] [prompt…]", "the answer for a script, as text or JSON; stdin belongs to the prompt"],
    ["-c [text…]", "continue the latest one here; -r <pid|title words> that one"],
    ["<command> [flags]", "one of the commands below"],
  ],
  options: [...RUN_OPTIONS, ...PRINT_OPTIONS],
  words: [["<command>"]],
  examples: [
    'crux "explain this repository"',
    "crux -m opus --budget 50000 fix the failing test",
    'echo "what is in here?" | crux -q',
    'crux "what changed?" < a.diff > answer.txt',
    'git log | crux "draft release notes" | crux "translate to German"',
    "crux -p --output-format json 'name the license' | jq -r .result",
    "crux -- ps explained        after -- every word belongs to the intent",
  ],
  after: `A single word is an intent only behind --, or with data on stdin: crux -- refactor.
Where stdout is a pipe or a file, it gets the result alone, and the screen goes to stderr. A pipe or a file at stdin is
read to its end, up to 4 MiB: in a script that must not happen, add < /dev/null.
Ctrl-C interrupts the process, a second one kills it. Closing the terminal leaves it running.
Exit codes: 0 done, 1 failed, 2 over budget, 130, 143, 137 ended by a signal.`,
};
