import type { CommandRow } from "./row.ts";

const MODES = `Modes: --quiet prints names, or what is wrong alone. --json prints all of it.
Exit code of check: 0 nothing is wrong, 1 something is ignored or cannot be loaded.`;

export const DEFINITIONS: readonly CommandRow[] = [
  {
    name: "agents",
    head: "agents",
    brief: "agent files: list, show, check",
    words: [["list", "show", "check"]],
    summary: "Show agent files, and what is wrong with them",
    usage: [
      [
        "agents",
        "all that are found here, with model, place and file; ! beside one that has something wrong",
      ],
      ["agents show <name>", "the file that counts; # shadowed names those of weaker places"],
      ["agents check [name|path]", "unknown keys, tools and skills, and YAML errors, with file and line"],
    ],
    options: [{ flag: "agents", value: "<json>", meaning: "as with a run: agents of the command line" }],
    about: `A name is taken from the strongest place that has it: policy, --agents, .crux/agents and .claude/agents of a trusted
project (the nearest folder first), settings.json, your own agents, ~/.claude/agents, shipped ones.
${MODES}`,
    examples: ["crux agents", "crux agents check reviewer", "crux agents check ./agent.yaml"],
  },
  {
    name: "skills",
    head: "skills",
    brief: "skill files: list, show, check",
    words: [["list", "show", "check"]],
    summary: "Show skill files, and what is wrong with them",
    usage: [
      [
        "skills",
        "those that agents can use here, with source and file; ! beside one that has something wrong",
      ],
      ["skills show <name>", "its file"],
      ["skills check [name|path]", "unknown keys and tools, and YAML errors, with file and line"],
    ],
    about: `Call one as /name: crux "/release-notes for v2".
${MODES}`,
    examples: ["crux skills", "crux skills check", "crux skills show user:review"],
  },
  {
    name: "memory",
    head: "memory",
    brief: "notes of agents: list, show, check, forget",
    words: [["list", "show", "check", "forget", "undo", "off", "on"]],
    summary: "Show what agents keep of this project and of you, and forget it",
    usage: [
      ["memory", "the notes, and the folders that they are in; ! beside one that agents do not find"],
      ["memory show <note>", "its text; one that an agent keeps for itself is reviewer/tests"],
      ["memory check", "notes without a type, a description or a line in the index"],
      ["memory forget <note>", "removes it, and its line in the index"],
      ["memory undo", "takes back what Crux has tidied last, where a note has not changed since"],
      ["memory off <pid>", "for one process: it is told of none, recalls and keeps none; on <pid>"],
    ],
    about: `A note is named by its file or its path; edit it like any other file.
Exit code of check: 0 nothing is wrong, 1 something is not found; of undo: 1 a note was left as it is.`,
    examples: ["crux memory", "crux memory show tests", "crux memory forget tests"],
  },
];
