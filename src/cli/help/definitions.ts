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
        "those that can be started here, with model and file; ! beside one that has something wrong",
      ],
      ["agents show <name>", "its file"],
      ["agents check [name|path]", "unknown keys, tools and skills, and YAML errors, with file and line"],
    ],
    about: MODES,
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
];
