/** What `crux init` writes: files that are valid as they are and explain what to put into them. */

interface Template {
  /** Relative to the folder; `NAME` is replaced by the given name. */
  readonly path: string;
  readonly text: string;
}

export interface Kind {
  readonly templates: readonly Template[];
  /** Absent: the template takes no name. */
  readonly defaultName?: string;
  /** What to do next; `NAME` as above. */
  readonly next: readonly string[];
}

const AGENTS_MD = `# For agents that work here

What an agent cannot see from the code; short, because every run reads it.

- Build:
- Test, all and one alone:
- Style that no tool checks:
- Do not touch:
`;

const SETTINGS = `{
  "permissions": {
    "allow": [],
    "ask": ["bash(git push:*)"],
    "deny": []
  }
}
`;

const AGENT_YAML = `name: NAME
description: One sentence on what it does, and when another agent should call it
models:
  preferred: inherit
max_steps: 50
`;

const INSTRUCTIONS = `You are NAME. Say here what it does, in which order, and what it leaves alone.

- What it looks at first.
- What its answer contains.
- When it stops and asks.
`;

const SKILL = `---
name: NAME
description: What it helps with, and when to use it
---

# NAME

1. The first step.
2. How to see that it worked.
`;

const COMPOSE = `name: NAME
services:
  collect:
    command: [git, log, --oneline, "-20"]
  write:
    intent: Draft release notes from the log you are given
    depends_on: { collect: { condition: completed } }
pipes:
  - { from: collect, to: write }
`;

const SEE_TRUST = "crux trust lets what this folder brings act, once you have seen it";

export const KINDS: Readonly<Record<string, Kind>> = {
  agents: { templates: [{ path: "AGENTS.md", text: AGENTS_MD }], next: ["fill in AGENTS.md", SEE_TRUST] },
  settings: {
    templates: [{ path: ".crux/settings.json", text: SETTINGS }],
    next: ["crux config list shows what holds here, and from where", SEE_TRUST],
  },
  agent: {
    templates: [
      { path: ".crux/agents/NAME/agent.yaml", text: AGENT_YAML },
      { path: ".crux/agents/NAME/instructions.md", text: INSTRUCTIONS },
    ],
    defaultName: "helper",
    next: [SEE_TRUST, 'crux --agent NAME "what it is to do"'],
  },
  skill: {
    templates: [{ path: ".crux/skills/NAME/SKILL.md", text: SKILL }],
    defaultName: "how-to",
    next: [SEE_TRUST],
  },
  compose: {
    templates: [{ path: "crux.compose.yaml", text: COMPOSE }],
    defaultName: "project",
    next: ["crux compose config checks it", "crux compose up"],
  },
};
