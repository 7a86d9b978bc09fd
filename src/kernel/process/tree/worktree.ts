/** The worktree that was made for a process. Forks and children work in it too, but only its owner's end settles it. */
import { SyscallError } from "../../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { Rights } from "../../../abi/rights.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import type { Worktree } from "../../../abi/worktree.ts";
import { isWithin } from "../../../lib/path.ts";
import { type Facts, type LiveFacet, plainFacet } from "../../facts/facet.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";

/** null: it works where it was started. */
export const worktreeFacet: LiveFacet<Worktree | null> = plainFacet("worktree", {
  init: null as Worktree | null,
  folds: { "process.spawned": (_now, { worktree }) => (worktree ?? null) as Worktree | null },
  isEarly: true,
  isHeld: true,
});

/** As records and ends name it. */
export function treeOf({ facts }: Pick<Treed, "facts">): { readonly worktree?: Worktree } {
  const worktree = facts.of(worktreeFacet);
  return worktree === null ? {} : { worktree };
}

interface Treed {
  readonly pid: Pid;
  readonly isLive: boolean;
  readonly cwd: string;
  readonly facts: Pick<Facts, "of">;
}

/** What making and settling worktrees needs of the kernel. */
export interface Treeing {
  readonly ports: Pick<KernelPorts, "home" | "nonce" | "permitFor" | "worktrees">;
  readonly table: { all(): Iterable<Treed> };
}

/** Makes the worktree that a spawn asks for, and takes it back if the spawn fails. */
export async function inWorktree<T>(
  core: Treeing,
  { caller, opts }: { readonly caller: Treed; readonly opts: SpawnOpts },
  signal: AbortSignal,
  spawn: (worktree: Worktree) => Promise<T>,
): Promise<T> {
  const { home, nonce } = core.ports;
  const cwd = opts.cwd ?? (caller.pid === PID_KERNEL ? home : caller.cwd);
  const { pid } = caller;
  const worktrees = checkHeld(core, { pid, cwd });
  const slug = opts.worktree === "" ? `agent-${nonce().slice(0, 12)}` : (opts.worktree ?? "");
  const made = await worktrees.open({ cwd, slug, owner: `pid ${pid} worktree` }, signal);
  try {
    const spawned = await spawn(made);
    worktrees.recorded(made);
    return spawned;
  } catch (error) {
    settle(core, made);
    throw error;
  }
}

/** UNAVAILABLE: nothing would hold a process to its worktree. */
export function checkHeld(
  { ports: { permitFor, worktrees } }: { readonly ports: Pick<KernelPorts, "permitFor" | "worktrees"> },
  { pid, cwd }: Pick<Treed, "pid" | "cwd">,
): NonNullable<KernelPorts["worktrees"]> {
  if (worktrees !== undefined && permitFor(cwd).sandboxMode !== "off") return worktrees;
  throw new SyscallError({
    ...{ syscall: "Spawn", pid, code: "UNAVAILABLE" },
    message: "a worktree needs the sandbox, which holds a process to it; sandbox.mode is off",
  });
}

/** What closes the checkout to a process that works in a worktree of it. */
export function wallOf({ main, path, gitDir }: Worktree): Required<Pick<Rights, "walls">> {
  return { walls: [{ dir: main, open: path, gitDir }] };
}

/**
 * The worktree to which these rights hold a process, if it is gone: nothing may run with them, least of all in the checkout.
 * undefined: it is there, or there is none.
 */
export async function goneWorktree(
  { ports: { worktrees } }: { readonly ports: Pick<KernelPorts, "worktrees"> },
  { walls = [] }: Pick<Rights, "walls">,
): Promise<string | undefined> {
  const { signal } = new AbortController();
  for (const { open: path, gitDir } of walls)
    if ((await worktrees?.isKept({ path, gitDir }, signal)) === false) return path;
  return undefined;
}

/** Of a process that has left the table: others may still work in the same worktree. */
export function settleWorktree(core: Treeing, { facts }: Pick<Treed, "facts">): void {
  const made = facts.of(worktreeFacet);
  if (made !== null) settle(core, made);
}

function settle({ ports, table }: Treeing, made: Worktree): void {
  for (const { isLive, cwd } of table.all()) if (isLive && isWithin(made.path, cwd)) return;
  ports.worktrees?.settle(made);
}
