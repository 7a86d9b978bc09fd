/** Where the memory of agents lies: Markdown that the user reads and edits, outside every workspace. */
import { createHash } from "node:crypto";
import { join } from "node:path";
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
