import type { CommandRow } from "./row.ts";

export const PROCESSES: readonly CommandRow[] = [
  {
    name: "ps",
    head: "ps",
    brief: "list processes",
    summary: "List processes",
    usage: ["ps [flags]"],
    options: [
      { flag: "all", short: "a", meaning: "services and other helpers too, and what has ended" },
      { flag: "tree", meaning: "as crux tree" },
    ],
    about: `Ended processes come from the journal, the newest 1,000.
Modes: --verbose adds parent and intent, --quiet prints pids alone.`,
    examples: ["crux ps", "crux ps -q | xargs -n1 crux kill", "crux ps --json --verbose"],
  },
  {
    name: "tree",
    head: "tree [pid]",
    brief: "show who started whom",
    words: [["<pid>"]],
    summary: "Show who started whom",
    usage: ["tree [<pid>] [flags]"],
    options: [
      { flag: "all", short: "a", meaning: "services and other helpers too, and what has ended" },
      { flag: "ascii", meaning: "without line drawing characters" },
    ],
    about: `TOKENS and COST are those of the process itself, TREE TOKENS and TREE COST with all below it. With a pid,
it and what is below it; a process that has ended is shown with all that has ended below it.
Modes: --quiet prints pids alone, in the order of the tree.`,
    examples: ["crux tree", "crux tree 3 -q | xargs -n1 crux logs"],
  },
  {
    name: "top",
    head: "top",
    brief: "watch them, live",
    summary: "Watch the processes, live",
    usage: ["top [flags]"],
    options: [
      { flag: "once", meaning: "one look, also where there is no terminal" },
      {
        flag: "sort",
        value: "<key>",
        from: ["rate", "tokens", "cost", "age", "pid", "name", "children"],
        meaning: "rate (tokens a minute, default), tokens, cost, age, pid, name, children",
      },
      { flag: "delay", short: "d", value: "<s>", meaning: "seconds between looks, 0.1 to 3600 (1)" },
      { flag: "all", short: "a", meaning: "services and other helpers too" },
    ],
    about: `Keys:
  up, down, page up, page down, home, end   choose a process (Esc: none)
  p  pause it     r  let it go on     k  send it a signal, which is asked for
  s  sort by the next key     t  as a tree     /  rows with a text     a  all of them
  q  quit

Above the table: what the processes do, and what the daemon uses; loop lag is how late it was at worst with anything it
does in the last 10 seconds. --json prints one object for one look, --quiet pids.`,
    examples: ["crux top --sort tokens", "crux top --once --json | jq .data.metrics.rss_bytes"],
  },
  {
    name: "attach",
    head: "attach <pid>",
    brief: "follow a running process",
    words: [["<pid>"]],
    summary: "Follow a process that runs, as the command that started it would",
    usage: ["attach <pid> [--read-only]"],
    options: [{ flag: "read-only", meaning: "leave its questions to others" }],
    about: `It shows steps, refusals and the result, with -v tools and log lines too, and what a program writes. Questions of the
permission gate can be answered. Of one that has just ended it shows how, and the result. Ctrl-C or Ctrl-] leaves; the
process goes on. It ends with the process, and with its exit code. Where stdout is no terminal, and with --json, it
prints one JSON event a line.`,
    examples: ["crux attach 3", "crux attach 3 --json > events.ndjson"],
  },
  {
    name: "exec",
    head: "exec -- <command>",
    brief: "run a program of the host as a process",
    summary: "Run a program of the host as a process of the kernel",
    usage: ["exec [-it] [-e NAME[=VALUE]]… -- <command> [args…]"],
    options: [
      { flag: "interactive", short: "i", meaning: "pass stdin on; without it the command reads nothing" },
      { flag: "tty", short: "t", meaning: "on a terminal, of the size of this one" },
      {
        flag: "env",
        short: "e",
        value: "<NAME[=VALUE]>",
        meaning: "a variable for it, with the value of this terminal if none is given; as often as needed",
      },
      { flag: "name", value: "<name>", meaning: "by which clients of the binary wire know it" },
    ],
    about: `It stands in crux ps, obeys crux kill, pause and cont, and is in the journal. It runs in this folder with the
streams of this command, byte for byte, and its exit code is the command's: 128 + n after signal n, 127 if there is no
such program, 126 if it is not executable. Its environment is that of commands that agents run, without keys. Without
-i stdin is left alone, as the shell loop around it needs it. Ctrl-C and SIGTERM go to it, Ctrl-Z pauses it; with -it
both are keys. It ends with this command.
Modes: --verbose tells its pid on stderr, --json prints one event a line: started, stdout and stderr, exited.`,
    examples: ["crux exec -- make test", "crux exec -it -- bash", "tar c src | crux exec -i -- wc -c"],
  },
  {
    name: "wrap",
    head: "wrap -- <command>",
    brief: "run a program, and make events of its output",
    summary: "Run a program as crux exec does, and publish what it prints as events",
    usage: ["wrap [--parser <name|file>] [-it] [-e NAME[=VALUE]]… -- <command> [args…]"],
    options: [
      {
        flag: "parser",
        value: "<name|file>",
        meaning: "how to read the output: ffmpeg, or a YAML file; default: that of the program's name",
        from: ["ffmpeg", "<file>"],
      },
      { flag: "interactive", short: "i", meaning: "pass stdin on; without it the command reads nothing" },
      { flag: "tty", short: "t", meaning: "on a terminal, of the size of this one" },
      {
        flag: "env",
        short: "e",
        value: "<NAME[=VALUE]>",
        meaning: "a variable for it, with the value of this terminal if none is given; as often as needed",
      },
      { flag: "name", value: "<name>", meaning: "by which clients of the binary wire know it" },
    ],
    about: `Streams, signals and exit code pass as with crux exec, unchanged. Each line of the output that a rule of the
parser matches becomes an event of the program (ffmpeg.progress), which clients of the binary wire follow and the
journal keeps; of a name that ends in .progress only the latest. docs/kernel-ipc.md has the format of parsers.
A rule whose pattern takes too long on a line is left out from then on, and named on stderr at the end.
Without a parser for the program only the events are missing; on a terminal stderr says so. What it does is an intent,
which intent.cancel ends: by the text under stop in the parser (ffmpeg: q) with -i, else by SIGINT.
Modes: --json prints one event a line: started, stdout, stderr, what is published, exited.`,
    examples: [
      "crux wrap -- ffmpeg -i talk.mkv talk.mp4",
      "crux wrap --parser build.yaml -- make all",
      "crux wrap --json -- ffmpeg -i a.wav a.mp3 > events.ndjson",
    ],
  },
  {
    name: "wait",
    head: "wait <pid>",
    brief: "wait for its end, and exit with its code",
    words: [["<pid>"]],
    summary: "Wait for the end of a process, and end as it did",
    usage: ["wait <pid>"],
    about: `The exit code is that of the process. It is known for as long as
the journal keeps the process, whoever has seen its end before; crux logs has the output.
Ctrl-C ends the waiting, not the process. Modes: --verbose adds the reason and the cost, --quiet prints nothing.`,
    examples: ['pid=$(crux -dq "run the long tests"); crux wait $pid && echo passed'],
  },
  {
    name: "logs",
    head: "logs <pid>",
    brief: "what it said",
    words: [["<pid>"]],
    summary: "What a process said, alive or gone",
    usage: ["logs <pid> [-f] [--tail <n>]"],
    options: [
      { flag: "follow", short: "f", meaning: "follow until it ends" },
      { flag: "tail", short: "n", value: "<n>", meaning: "the last n lines (200)" },
    ],
    about: `Steps, tools and notices of an agent, a line each, and its result at last; the output of a program as it is.
Modes: --verbose adds time and level, --quiet leaves out who said it, --json prints one object a line.`,
    examples: ["crux logs 3 -f", "crux logs 3 --tail 20 --json"],
  },
  {
    name: "jobs",
    head: "jobs [pid]",
    brief: "commands that agents run in the background",
    words: [["<pid>"]],
    summary: "Show the commands that agents run in the background",
    usage: [
      ["jobs [pid]", "the jobs of all processes, or of one"],
      ["jobs <pid> <job> [flags]", "what a job has printed: job-3, or 3"],
    ],
    options: [
      { flag: "follow", short: "f", meaning: "follow until it ends; Ctrl-C leaves it alone" },
      { flag: "from", value: "<byte>", meaning: "from that byte on" },
    ],
    about: `An agent starts a job with run_in_background, or gets one from a command that takes long. A job ends with its process.
While its process is paused a job goes on. After a crash of the daemon it is lost.
Modes: --quiet prints pid and job. --json prints one object, of an output one object {"output"} for each piece.`,
    examples: ["crux jobs", "crux jobs 3 job-1 -f"],
  },
  {
    name: "tasks",
    head: "tasks [list|pid]",
    brief: "task lists that agents share",
    summary: "Show the task lists that agents share",
    usage: ["tasks [<list>|<pid>]"],
    about: `Without a list, all of them with what is open and done. A list is named after its group, or its session's id, for
which the pid of the session stands, too; the variable CRUX_TASK_LIST_ID of an agent's environment names another. Its
files lie below tasks in the state folder.
Modes: --quiet prints names, or ids.`,
    examples: ["crux tasks", "crux tasks team", "crux tasks 3"],
  },
  {
    name: "send",
    head: "send <pid> <text…>",
    brief: "send it a message, read before its next step",
    words: [["<pid>"]],
    summary: "Send an agent a message",
    usage: ["send <pid> <text…>", "send <pid> < file"],
    about: `It is kept from then on, also over a restart of the daemon; the agent reads it before its next step. At most 256 KiB.`,
    examples: ["crux send 3 leave the tests alone, please", "git diff | crux send 3"],
  },
  {
    name: "kill",
    head: "kill <pid>",
    brief: "send it a signal",
    words: [["<pid>"]],
    summary: "Send a process a signal",
    usage: ["kill [-s <signal>] [--tree] <pid>"],
    options: [
      { flag: "tree", meaning: "to all below it too; prints a line for each that was reached" },
      {
        flag: "signal",
        short: "s",
        value: "<signal>",
        from: ["<signal>"],
        meaning:
          "SIGTERM (1, default), SIGKILL (2), SIGINT (3), SIGPAUSE (4), SIGRESUME (5); by name with or without SIG, in any case, or by number",
      },
    ],
    about: `It does not wait for the end of the process.`,
    examples: ["crux kill 3", "crux kill -s pause 3"],
  },
  {
    name: "stop",
    head: "stop <pid|agent>…",
    brief: "end it and all below it, by force if need be",
    words: [["<pid>", "…"]],
    summary: "End processes, with all below them",
    usage: ["stop <pid|agent>… [--force]"],
    options: [{ flag: "force", meaning: "without the five seconds to end by themselves" }],
    about: `Each gets SIGTERM; what is left of it five seconds later gets SIGKILL. It returns when all have ended. An
agent that another one started can be named by its id or its name. crux daemon stop ends all processes and the
daemon.
Modes: --quiet prints nothing.`,
    examples: ["crux stop 3", "crux stop alice", "crux ps -q | xargs crux stop"],
  },
  {
    name: "pause",
    head: "pause <pid|agent>…",
    brief: "hold it",
    words: [["<pid>", "…"]],
    summary: "Hold processes",
    usage: ["pause <pid|agent>… [--tree]"],
    options: [{ flag: "tree", meaning: "all below it too" }],
    about: `What is under way comes to its end and is kept; nothing new begins, and its time stands still. crux cont resumes it,
also after a restart of the daemon.`,
    examples: ["crux pause 3 --tree"],
  },
  {
    name: "cont",
    head: "cont <pid|agent>…",
    brief: "let a paused one continue",
    words: [["<pid>", "…"]],
    summary: "Resume paused processes",
    usage: ["cont <pid|agent>… [--tree]"],
    options: [{ flag: "tree", meaning: "all below it too" }],
    about: `A process that came back after a restart of the daemon resumes with the environment of this terminal: its model keys.`,
    examples: ["crux cont 3 --tree"],
  },
  {
    name: "resume",
    head: "resume <pid>",
    brief: "continue one that rests or has ended",
    words: [["<pid>"]],
    summary: "Resume a process that is paused, rests or has ended",
    usage: ["resume <pid>"],
    about: `It resumes in the background where it was, with its pid, its rights and what is left of its budget, and with the
environment of this terminal. A session waits for a message again; an agent that had completed becomes one: crux send.`,
    examples: ["crux resume 7 && crux attach 7"],
  },
  {
    name: "note",
    head: "note <pid> [text]",
    brief: "pin a line to a process",
    words: [["rm", "<pid>"], ["<pid>"]],
    summary: "Pin a line to a process, so that you know it again",
    usage: [
      ["note <pid>", "show its note"],
      ["note <pid> <text>", "pin this line to it, in place of the one before"],
      ["note rm <pid>", "take it away"],
    ],
    about: `crux ps -v shows notes below its table. A note outlives the daemon, and a fork has it too. It is not sent to the
model; an agent that may see the process sees it in its list. At most 200 characters.`,
    examples: ["crux note 3 waits for the release", "crux note rm 3"],
  },
  {
    name: "bg",
    head: "bg <pid>",
    brief: "let an agent that is waited for go on in the background",
    words: [["<pid>"]],
    summary: "Hand an agent that a call waits for to the background",
    usage: ["bg <pid>"],
    about: `The call returns, its caller goes on, and gets a message when the agent ends. With the pid of a run or a session:
every agent that it waits for, as Ctrl-B does in a conversation.`,
    examples: ["crux bg 4"],
  },
  {
    name: "renice",
    head: "renice <pid> <weight>",
    brief: "change its share of a busy model",
    words: [["<pid>"]],
    summary: "Change the share of a process of the models that others wait for too",
    usage: ["renice <pid> <weight>"],
    about: `A weight is a number from 1 to 100, usually 10: where calls wait for a slot, a process of weight 20 gets twice
the tokens of one of weight 10. The weight of a process that you started is also that of all below it. It outlives
the daemon. crux cat /proc/<pid>/sched shows weight and place; docs/models.md has the order.`,
    examples: ["crux renice 3 30"],
  },
  {
    name: "groups",
    head: "groups",
    brief: "list process groups",
    summary: "List process groups and their members",
    usage: ["groups"],
    about: `Modes: --quiet prints names alone.`,
  },
  {
    name: "devices",
    head: "devices",
    brief: "list devices of the machine",
    summary: "List the devices of the machine that programs can claim, and who holds them",
    usage: ["devices"],
    about: `Each is a file, too. docs/kernel-ipc.md says how programs claim them. Modes: --quiet prints paths alone.`,
  },
  {
    name: "signal",
    head: "signal <group> <signal>",
    brief: "send a group a signal",
    words: [["<group>"], ["<signal>"]],
    summary: "Send all members of a group a signal",
    usage: ["signal <group> <signal>"],
    about: `The group by its name, or by its number where it has none. The signal as for crux kill.`,
    examples: ["crux signal authors pause"],
  },
  {
    name: "astrace",
    head: "astrace <pid>",
    brief: "follow what it does, call by call",
    words: [["<pid>"]],
    summary: "Follow what a process does, call by call",
    usage: ["astrace <pid>"],
    about: `Each line has the time since the process began, the call, its result and how long it took. Calls to a model
and slow calls are marked. Ctrl-C detaches; the process does not notice.

Modes: --verbose cuts nothing, shows quiet calls and raw values; --quiet prints calls alone; --json prints one
event a line.`,
    examples: ["crux astrace 3", "crux astrace 3 --json > trace.ndjson"],
  },
  {
    name: "ls",
    head: "ls [path]",
    brief: "list the kernel's own tree: /proc/3, /mnt/mcp/notes/tools, /bin",
    summary: "List a path of the kernel's own tree",
    usage: ["ls [-l] [path]"],
    options: [{ flag: "long", short: "l", meaning: "with kind and size" }],
    about: `The tree is what agents see: processes below /proc, servers of tools below /mnt/mcp, programs in /bin, devices below
/dev, outputs below /var/out. Modes: --quiet prints names alone.`,
    examples: ["crux ls /", "crux ls -l /proc/3", "crux ls /mnt/mcp/notes/tools"],
  },
  {
    name: "cat",
    head: "cat <path>…",
    brief: "print a file of it: /proc/3/status",
    summary: "Print files of the kernel's own tree",
    usage: ["cat <path>…"],
    about: `Nothing that steers a terminal reaches one; into a pipe or a file go the bytes as they are. Secrets that are known are
marked. Of a program in /bin, what a model is told of it. At most 4 MiB of each. Devices below /dev answer what agents
write to them and cannot be read.`,
    examples: ["crux cat /proc/3/status | jq", "crux cat /bin/edit"],
  },
];
