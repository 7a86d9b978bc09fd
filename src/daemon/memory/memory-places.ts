/** Where the memory of agents lies: Markdown that the user reads and edits, outside every workspace. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { OwnNotes } from "../../abi/rights.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { mainOf } from "../trust/subject.ts";

export interface MemoryFolders {
  /** This user, this project: all its worktrees have the same. */
  readonly local: string;
  /** This user, all projects. */
  readonly user: string;
}

const MAX_KEY_CHARS = 120;

/** `root`: of the workspace, a real path. */
export function memoryFolders(configDir: string, root: string, realPath: RealPath): MemoryFolders {
  const canonical = mainOf(root, realPath) ?? root;
  const digest = createHash("sha256").update(canonical).digest("hex").slice(0, 8);
  const key = `${canonical.replace(/[^A-Za-z0-9]/g, "-").slice(0, MAX_KEY_CHARS)}-${digest}`;
  return { local: join(configDir, "memory/projects", key), user: join(configDir, "memory/user") };
}

/** Of the notes that an agent itself keeps. */
export function agentFolder(folders: MemoryFolders, { scope, folder }: Omit<OwnNotes, "tools">): string {
  return join(folders[scope], AGENTS, folder);
}

/** Holds a folder for each agent with notes of its own. */
export const AGENTS = "agents";
