import { RUN_OPTIONS } from "./flags.ts";
import type { CommandRow, OptionRow } from "./row.ts";

const OF_A_SESSION = [
  ...["model", "agent", "permission-mode", "dangerously-skip-permissions"],
  ...["add-dir", "mcp-config", "strict-mcp-config"],
];

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
    usage: [
      "acp [--model <name>] [--agent <name>] [--permission-mode <mode>] [--add-dir <dir>] [--mcp-config <file>] [--max-budget-usd <n>]",
    ],
    options: [...RUN_OPTIONS.filter(({ flag }) => OF_A_SESSION.includes(flag)), MAX_USD],
    about: `The editor starts it; docs/editors.md shows how for Zed, JetBrains, Neovim and Emacs. Its sessions are those of
crux sessions: they stay when the editor is closed, and crux -r continues them at a terminal.
stdout carries the protocol alone; what is to be said otherwise goes to stderr.`,
  },
  {
    name: "acp-link",
    head: "acp-link -- <agent…>",
    brief: "put an agent on a WebSocket",
    summary: "Let clients on a WebSocket talk to an agent that speaks the Agent Client Protocol",
    usage: [
      "acp-link [--port <n>] [--host <address>] [--https <cert>,<key>] [--token-file <file>] -- <agent command>",
    ],
    options: [
      { flag: "port", value: "<n>", meaning: "where it listens (default 9315; 0: any that is free)" },
      {
        flag: "host",
        value: "<address>",
        meaning: "the address it listens on; beyond this machine only with --https",
      },
      { flag: "https", value: "<cert>,<key>", meaning: "files of a certificate and its key" },
      {
        flag: "token-file",
        value: "<file>",
        from: ["<file>"],
        meaning: "a token of your own; otherwise a new one is printed once, at each start",
      },
    ],
    about: `Each connection has an agent of its own, which ends 30 s after it at the latest. A client shows the token in a header
(Authorization: Bearer …) or as the subprotocol crux.auth.<token in base64url>, never in the address.
CRUX_ACP_PERMISSION_MODE is the mode of sessions whose client names none.`,
    examples: ["crux acp-link -- crux acp"],
  },
];
