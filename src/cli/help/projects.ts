import type { CommandRow } from "./row.ts";

export const PROJECTS: readonly CommandRow[] = [
  {
    name: "compose",
    head: "compose <verb>",
    brief: "run the services of a crux.compose.yaml: up, down, ps, logs, config",
    words: [["up", "down", "ps", "logs", "config"]],
    summary: "Run the services of a compose file: agents and programs that wait for one another",
    usage: ["compose [-f FILE] [-p NAME] <verb>"],
    verbs: [
      {
        name: "up",
        head: "up [service…]",
        meaning: "start what does not run, replace what changed, and show the logs until all is done",
        options: [
          {
            flag: "detach",
            short: "d",
            meaning: "return once all is up that waits for nothing; the project keeps running",
          },
          { flag: "remove-orphans", meaning: "stop what runs and is no longer in the file" },
          {
            flag: "trust",
            meaning: "trust the file and what its folder brings, as they are now (crux help trust)",
          },
        ],
      },
      {
        name: "down",
        head: "down",
        meaning: "stop all, in reverse order",
        options: [{ flag: "timeout", value: "<ms>", meaning: "kill what is not gone by then (10000)" }],
      },
      { name: "ps", head: "ps", meaning: "what runs" },
      {
        name: "logs",
        head: "logs [service…]",
        meaning: "what the services wrote, merged",
        options: [
          { flag: "follow", short: "f", meaning: "and what they will write" },
          { flag: "tail", value: "<n>", meaning: "the last n lines of each (200)" },
        ],
      },
      {
        name: "config",
        head: "config",
        meaning: "check the file, and print it with its variables and defaults filled in",
      },
    ],
    options: [
      {
        flag: "file",
        short: "f",
        value: "<file>",
        from: ["<file>"],
        meaning:
          "before the verb; else crux.compose.yaml or crux.compose.yml is looked for here and in the folders above, up to the root of the repository",
      },
      {
        flag: "project",
        short: "p",
        value: "<name>",
        meaning: "another name for the project; the file's, or that of its folder",
      },
    ],
    about: `Modes: --verbose says why services exited. --quiet prints what services wrote and nothing else (up -d: the pid,
ps: pids, config: nothing). --json prints one event a line.`,
    examples: [
      "crux compose up",
      "crux compose up -d && crux compose logs -f writer",
      "RANGE=v1.2.. crux compose up",
      "crux compose down",
    ],
    after: `Ctrl-C during up is down, a second one kills. Closing the terminal leaves the project running.
Exit code of up: 0 if all exited 0 or run on, else that of the first service that failed; 130 after Ctrl-C.`,
  },
];
