/** What a workspace contains that could act, and whether the user trusts it. */

export const BROUGHT_KINDS = [
  "settings",
  "server",
  "agent",
  "skill",
  "command",
  "hook",
  "instructions",
  "environment",
  "compose",
] as const;
export type BroughtKind = (typeof BROUGHT_KINDS)[number];

/**
 * trusted: unchanged since the user saw it. changed: the user saw another version. new: the user has not seen it. holds: as new, but
 * it can only forbid, which it does without trust.
 */
export const BROUGHT_STATES = ["trusted", "changed", "new", "holds"] as const;
export type BroughtState = (typeof BROUGHT_STATES)[number];

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

/** The instruction files of one folder, in the order in which they are read. */
export const INSTRUCTION_NAMES: readonly string[] = BROUGHT_FILES.flatMap(([path, kind]) =>
  kind === "instructions" ? [path] : [],
);

/** Folders of which each file acts. */
export const BROUGHT_FOLDERS: readonly (readonly [path: string, kind: BroughtKind])[] = [
  [".claude/agents", "agent"],
  [".crux/agents", "agent"],
  [".agents/skills", "skill"],
  [".claude/skills", "skill"],
  [".crux/skills", "skill"],
  [".claude/commands", "command"],
  [".crux/commands", "command"],
  [".crux/hooks", "hook"],
  [".claude/hooks", "hook"],
];

const foldersOf = (wanted: BroughtKind): readonly string[] =>
  BROUGHT_FOLDERS.flatMap(([path, kind]) => (kind === wanted ? [path] : []));

/** Folders of agent files in any folder of a workspace, the lowest precedence first. */
export const AGENT_FOLDERS: readonly string[] = foldersOf("agent");

/** Folders of skills and of command files in any folder of a workspace, the lowest precedence first. */
export const SKILL_FOLDERS: readonly string[] = foldersOf("skill");
export const COMMAND_FOLDERS: readonly string[] = foldersOf("command");

/** A file or MCP server of the workspace that could act. */
export interface BroughtItem {
  /** The path below the root, with `/`; for a server `.mcp.json#<name>`. */
  readonly path: string;
  readonly kind: BroughtKind;
  /** SHA-256, in hex; for a server that of its entry alone, not of the file. */
  readonly digest: string;
  readonly state: BroughtState;
  /** What it could do, one line each. */
  readonly acts: readonly string[];
  /** The difference from the version that the user saw last; only on request and where both versions are known. */
  readonly diff?: string;
}

export interface WorkspaceView {
  /** A real path. */
  readonly root: string;
  readonly isTrusted: boolean;
  /** The answer holds until the last process that works there has ended. */
  readonly isSessionOnly: boolean;
  /** The repository whose worktree this is, and whose trust it has; null: none. */
  readonly main: string | null;
  /** The user has seen everything in its present version, and declined to trust it. */
  readonly isDeclined: boolean;
  readonly items: readonly BroughtItem[];
  /** Files that cannot be trusted, and why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

export interface TrustedWorkspace {
  readonly root: string;
  /** ms since the epoch. */
  readonly at: number;
  readonly by: string;
  /** The number of files and servers that the user has seen. */
  readonly items: number;
  readonly isSessionOnly: boolean;
}
