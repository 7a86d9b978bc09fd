/**
 * Which session the user means: the latest of this folder, a pid, a uuid or words of a title.
 */
import { Fault } from "../../abi/errors.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import { WORKTREES } from "../../abi/worktree.ts";
import { isWithin } from "../../lib/path.ts";
import type { Call } from "../command.ts";
import { safeLine } from "../screen/text/safe-text.ts";

const CANDIDATES = 8;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether the folder is a worktree of ours of this name, or lies in one; "": of any name. */
export function isInWorktree(cwd: string, name: string): boolean {
  return `${cwd}/`.includes(`/${WORKTREES}/${name === "" ? "" : `${name}/`}`);
}

/** `worktree`: the latest that works in the worktree of this name. NOT_FOUND: no session in this folder, with what to do. */
export async function latestHere(call: Call, cwd: string, worktree?: string): Promise<number> {
  const isThere = ({ cwd: at }: WireSession): boolean => {
    const [main = ""] = at.split(`/${WORKTREES}/`, 1);
    return isInWorktree(at, worktree ?? "") && isWithin(main, cwd);
  };
  const [latest] =
    worktree === undefined ? await listed(call, { cwd }) : (await listed(call, {})).filter(isThere);
  if (latest !== undefined) return latest.pid;
  throw new Fault({
    code: "NOT_FOUND",
    message: `no session in this folder: ${cwd}`,
    hint: "crux chat begins one; crux sessions --all shows those of other folders, crux ps -a runs, named by their pid",
  });
}

/** NOT_FOUND: no match. CONFLICT: several matches, which are listed. */
export async function sessionOf(call: Call, ref: string): Promise<number> {
  if (/^\d{1,15}$/.test(ref)) return Number(ref);
  const all = await listed(call, { all: true });
  const words = ref.toLowerCase();
  const found = all.filter(({ uuid, title }) =>
    UUID.test(ref) ? uuid === words : title.toLowerCase().includes(words),
  );
  const exact = found.filter(({ title }) => title.toLowerCase() === words);
  const [only] = exact.length === 1 ? exact : found.length === 1 ? found : [];
  if (only !== undefined) return only.pid;
  if (found.length === 0)
    throw new Fault({
      code: "NOT_FOUND",
      message: `no session: ${ref}`,
      hint: "crux sessions --all lists them",
    });
  const shown = found.slice(0, CANDIDATES).map(({ pid, title }) => `${pid} ${safeLine(title)}`);
  const rest = found.length > CANDIDATES ? `; and ${found.length - CANDIDATES} more` : "";
  throw new Fault({
    code: "CONFLICT",
    message: `several sessions: ${ref}: ${shown.join("; ")}${rest}`,
    hint: "crux -r <pid>",
  });
}

async function listed(call: Call, filter: { cwd?: string; all?: boolean }): Promise<readonly WireSession[]> {
  const client = await call.host.daemon.ensure();
  try {
    return (await client.request("session.list", filter)).sessions;
  } finally {
    client.close();
  }
}
