/** Where the memory of agents lies: Markdown that the user reads and edits, outside every workspace. */
import { createHash } from "node:crypto";
import { basename, join, normalize } from "node:path";
import { Fault } from "../../abi/errors.ts";
import type { OwnNotes } from "../../abi/rights.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { isWithin } from "../../lib/path.ts";
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

/** Where the user wants the memory of projects. Of a folder nothing is taken: it could have notes written anywhere. */
interface WantedPlace {
  /** CRUX_MEMORY_PATH_OVERRIDE: the folder itself. */
  readonly override?: string | undefined;
  /** `autoMemoryDirectory`: holds a folder for each project. */
  readonly directory?: string | undefined;
}

interface Around {
  readonly home: string;
  readonly realPath: RealPath;
  /** Nothing is kept in them. */
  readonly closed: readonly string[];
}

/** INVALID: notes are not kept there. */
export function movedTo(
  folders: MemoryFolders,
  { override = "", directory = "" }: WantedPlace,
  around: Around,
): MemoryFolders {
  const [name, text] =
    override === "" ? ["autoMemoryDirectory", directory] : ["CRUX_MEMORY_PATH_OVERRIDE", override];
  if (text === "") return folders;
  const whole = normalize(text.startsWith("~/") ? join(around.home, text.slice(2)) : text);
  const place = whole.replace(/(?<=.)\/+$/, "");
  const why = refusal(text, place, around);
  if (why !== undefined)
    throw new Fault({
      code: "INVALID",
      message: `${name}: ${text} ${why}, so memory is off`,
      hint: "name an absolute path of a folder of its own",
    });
  return { ...folders, local: override === "" ? join(place, basename(folders.local)) : place };
}

function refusal(text: string, place: string, { home, realPath, closed }: Around): string | undefined {
  if (/^(?:\/\/|\\)/.test(text)) return "is a path of a network";
  if (!place.startsWith("/")) return "is not an absolute path";
  const forms = [place, realPath(place)];
  if (forms.some((form) => isWithin(form, home))) return "holds your home folder";
  const all = closed.flatMap((dir) => [dir, realPath(dir)]);
  return forms.some((form) => all.some((dir) => isWithin(dir, form))) ? "is closed to agents" : undefined;
}

/** Of the notes that an agent itself keeps. */
export function agentFolder(folders: MemoryFolders, { scope, folder }: Omit<OwnNotes, "tools">): string {
  return join(folders[scope], AGENTS, folder);
}

/** Holds a folder for each agent with notes of its own. */
export const AGENTS = "agents";
