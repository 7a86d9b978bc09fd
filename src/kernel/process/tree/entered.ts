/**
 * A process that works in a worktree for a while: its folder and its directories are those of the worktree, and the checkout
 * is closed to it until it leaves. Both steps are records, so it is there again after a restart, and a fork of it works there
 * too. Its rights only narrow meanwhile: the project's own restrictions hold in the worktree as they do in the checkout.
 */
import { SyscallError } from "../../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import { ALL_RIGHTS, type Rights } from "../../../abi/rights.ts";
import type { RuleText } from "../../../abi/rules.ts";
import type { Worktree } from "../../../abi/worktree.ts";
import { isWithin } from "../../../lib/path.ts";
import { Serial } from "../../../lib/serial.ts";
import { type LiveFacet, plainFacet } from "../../facts/facet.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { TreeLeaving, Trees } from "../../ports/worktrees.ts";
import type { Process } from "../process.ts";
import { narrow } from "../rights/narrow.ts";
import type { ProcessTable } from "../table.ts";
import { checkHeld, wallOf, worktreeFacet } from "./worktree.ts";

/** null: it works where it was started. */
export const enteredFacet: LiveFacet<Worktree | null> = plainFacet("entered", {
  init: null as Worktree | null,
  folds: {
    "worktree.enter": (_now, { worktree }) => worktree as Worktree,
    "worktree.exit": () => null,
  },
  fork: (origin) => origin,
  isHeld: true,
});

interface Entering {
  readonly ports: Pick<KernelPorts, "journal" | "nonce" | "permitFor" | "worktrees">;
  readonly table: Pick<ProcessTable, "all" | "require">;
}

export function makeTrees(coreOf: () => Entering): Trees {
  const turns = new WeakMap<Process, Serial>();
  /** One step of a process after the other. */
  const inTurn = <T>(pid: Pid, act: (proc: Process) => Promise<T>, signal: AbortSignal): Promise<T> => {
    const proc = coreOf().table.require(PID_KERNEL, pid, "Worktree", "see");
    const serial = turns.get(proc) ?? new Serial();
    turns.set(proc, serial);
    return serial.run(() => act(proc), signal);
  };
  return {
    enter: (pid, name, signal) => inTurn(pid, (proc) => enter(coreOf(), proc, { name, signal }), signal),
    leave: (pid, leaving, signal) =>
      inTurn(pid, (proc) => leave(coreOf(), proc, { ...leaving, signal }), signal),
  };
}

async function enter(
  core: Entering,
  proc: Process,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<Worktree> {
  const { facts, seed } = proc;
  const present = facts.of(enteredFacet) ?? facts.of(worktreeFacet);
  if (seed.child !== undefined)
    throw refuse(proc, "PERMISSION", "only an agent that the user started moves to a worktree");
  if (present !== null) throw refuse(proc, "CONFLICT", `it works in a worktree already: ${present.path}`);
  const worktrees = checkHeld(core, { pid: proc.pid, cwd: seed.cwd });
  const slug = name === "" ? `work-${core.ports.nonce().slice(0, 8)}` : name;
  const worktree = await worktrees.open({ cwd: seed.cwd, slug, owner: ownerOf(proc), isTop: true }, signal);
  await record(core, proc, "worktree.enter", { worktree });
  worktrees.recorded(worktree);
  return worktree;
}

async function leave(
  core: Entering,
  proc: Process,
  { removes, discards, signal }: TreeLeaving & { readonly signal: AbortSignal },
): Promise<{ readonly worktree: Worktree; readonly cwd: string }> {
  const worktree = proc.facts.of(enteredFacet);
  if (worktree === null)
    throw refuse(proc, "CONFLICT", "it is in no worktree that worktree_enter has brought it to");
  if (removes) {
    const inside = [...core.table.all()].filter(
      (other) => other !== proc && other.isLive && isWithin(worktree.path, other.cwd),
    );
    if (inside.length > 0) {
      const who = inside.map(({ pid }) => pid).join(", ");
      throw refuse(proc, "CONFLICT", `other processes work in ${worktree.path}: ${who}`);
    }
    await core.ports.worktrees?.remove(worktree, { owner: ownerOf(proc), discards }, signal);
  }
  await record(core, proc, "worktree.exit", {});
  return { worktree, cwd: proc.seed.cwd };
}

/** In the marker of a worktree: only who has made it removes it. */
function ownerOf({ seed }: Process): string {
  return `process ${seed.uuid}`;
}

async function record(
  { ports: { journal } }: Pick<Entering, "ports">,
  { seed, pid, facts }: Process,
  kind: "worktree.enter" | "worktree.exit",
  body: object,
): Promise<void> {
  await journal.append([{ proc: seed.uuid, pid, kind, v: 1, body }]);
  facts.change(enteredFacet, kind, body);
}

/** A process that comes back and whose worktree is gone works where it was started. The text for it; undefined: it is there. */
export async function returnFromGone(
  core: { readonly ports: Pick<KernelPorts, "journal" | "worktrees"> },
  proc: Process,
): Promise<string | undefined> {
  const worktree = proc.facts.of(enteredFacet);
  const { signal } = new AbortController();
  if (worktree === null || (await core.ports.worktrees?.isKept(worktree, signal)) !== false) return undefined;
  const body = {};
  core.ports.journal.note([{ proc: proc.seed.uuid, pid: proc.pid, kind: "worktree.exit", v: 1, body }]);
  proc.facts.change(enteredFacet, "worktree.exit", body);
  return `The worktree ${worktree.path} is gone. You work in ${proc.seed.cwd} again, which is the checkout itself.`;
}

/** The rights of its spawn, narrowed as long as it works in a worktree. */
export function rightsHere(
  { ports }: { readonly ports: Pick<KernelPorts, "permitFor"> },
  { facts, seed }: Pick<Process, "facts" | "seed">,
): Rights {
  const worktree = facts.of(enteredFacet);
  if (worktree === null) return seed.rights;
  const kept = ports.permitFor(seed.cwd).restrictions?.(worktree.path) ?? [];
  const of = (behavior: RuleText["behavior"]) => kept.filter((rule) => rule.behavior === behavior);
  return narrow(seed.rights, { ...ALL_RIGHTS, deny: of("deny"), ask: of("ask"), ...wallOf(worktree) });
}

function refuse({ pid }: Process, code: "PERMISSION" | "CONFLICT", message: string): SyscallError {
  return new SyscallError({ syscall: "Worktree", pid, code, message });
}
