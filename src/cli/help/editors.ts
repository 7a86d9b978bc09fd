import { RUN_OPTIONS } from "./flags.ts";
import type { CommandRow, OptionRow } from "./row.ts";

const OF_A_SESSION = ["model", "agent", "permission-mode", "dangerously-skip-permissions"];

const MAX_USD: OptionRow = {
  flag: "max-budget-usd",
  value: "<n>",
  meaning: "stop a session before it has cost more dollars, with all that it starts",
};

export const EDITORS: readonly CommandRow[] = [
  {
    name: "acp",
    head: "acp",
    brief: "serve an editor (Agent Client Protocol)",
    summary: "Serve an editor that speaks the Agent Client Protocol on stdin and stdout",
    usage: ["acp [--model <name>] [--agent <name>] [--permission-mode <mode>] [--max-budget-usd <n>]"],
    options: [...RUN_OPTIONS.filter(({ flag }) => OF_A_SESSION.includes(flag)), MAX_USD],
    about: `The editor starts it; docs/editors.md shows how for Zed, JetBrains, Neovim and Emacs. Its sessions are those of
crux sessions: they stay when the editor is closed, and crux -r continues them at a terminal.
stdout carries the protocol alone; what is to be said otherwise goes to stderr.`,
  },
];
