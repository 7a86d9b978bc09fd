/** What a workspace brings that would act, and what a person has said of it. */

export const BROUGHT_KINDS = [
  "settings",
  "server",
  "agent",
  "skill",
  "command",
  "hook",
  "instructions",
  "environment",
] as const;
export type BroughtKind = (typeof BROUGHT_KINDS)[number];

/** trusted: as a person saw it. changed: a person saw another. new: nobody has. */
export type BroughtState = "trusted" | "changed" | "new";

/** The file whose entries count one by one, each as `.mcp.json#<name>`. */
export const MCP_FILE = ".mcp.json";

/** Single files that act, by their path below the root of a workspace. */
export const BROUGHT_FILES: readonly (readonly [path: string, kind: BroughtKind])[] = [
  [".crux/settings.json", "settings"],
  [".crux/settings.local.json", "settings"],
  [".claude/settings.json", "settings"],
  ["AGENTS.md", "instructions"],
  ["CLAUDE.md", "instructions"],
  [".crux/AGENTS.md", "instructions"],
  [".claude/CLAUDE.md", "instructions"],
  ["AGENTS.local.md", "instructions"],
  ["CLAUDE.local.md", "instructions"],
  [".envrc", "environment"],
];

/** Folders of which each file acts. */
export const BROUGHT_FOLDERS: readonly (readonly [path: string, kind: BroughtKind])[] = [
  [".crux/agents", "agent"],
  [".claude/agents", "agent"],
  [".crux/skills", "skill"],
  [".claude/skills", "skill"],
  [".agents/skills", "skill"],
  [".crux/commands", "command"],
  [".claude/commands", "command"],
  [".crux/hooks", "hook"],
  [".claude/hooks", "hook"],
];

/** One thing that would act. */
export interface BroughtItem {
  /** Below the root, with `/`; of a server `.mcp.json#<name>`. */
  readonly path: string;
  readonly kind: BroughtKind;
  /** SHA-256, hex; of a server that of its entry, whatever the file around it. */
  readonly digest: string;
  readonly state: BroughtState;
  /** What it would do, a line each. */
  readonly acts: readonly string[];
  /** From what a person saw last to what is there; only where it was asked for and both are known. */
  readonly diff?: string;
}

export interface WorkspaceView {
  /** A real path. */
  readonly root: string;
  readonly isTrusted: boolean;
  /** What is said of it holds until the last process that works there has ended. */
  readonly isSessionOnly: boolean;
  /** The repository whose worktree this is, and whose trust it has; null: none. */
  readonly main: string | null;
  /** A person has seen all that is here now, and said no. */
  readonly isDeclined: boolean;
  readonly items: readonly BroughtItem[];
  /** What can be trusted by nobody, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface TrustedWorkspace {
  readonly root: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly by: string;
  /** How many files and servers a person has seen. */
  readonly items: number;
  readonly isSessionOnly: boolean;
}
