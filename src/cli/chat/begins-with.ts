/** Flags that only apply when a session begins. */
export const BEGINS_WITH = [
  ...["agent", "model", "fallback-model", "effort", "max-steps", "budget", "max-usd", "max-time"],
  ...[
    "permission-mode",
    "plan",
    "enable-auto-mode",
    "dangerously-skip-permissions",
    "allow",
    "deny",
    "allowed-tools",
    "disallowed-tools",
    "tools",
    "system-prompt",
    "system-prompt-file",
    "append-system-prompt",
    "append-system-prompt-file",
    "settings",
    "add-dir",
    "mcp-config",
    "strict-mcp-config",
    "trust",
  ],
];
