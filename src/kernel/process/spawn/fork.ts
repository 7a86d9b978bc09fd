/** A fork that a process starts of itself: who may have one, and how it gets the conversation. */
import { COORDINATOR } from "../../../abi/child.ts";
import { O_RDWR } from "../../../abi/device.ts";
import { Fault, SyscallError } from "../../../abi/errors.ts";
import { FORK, type ForkWish, hasCall, isDirective, isInternal } from "../../../abi/fork.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import type { ContextSpaces } from "../../context/spaces.ts";
import { LIMITS } from "../../limits.ts";
import type { AgentHost } from "../agent-body.ts";
import type { Making } from "../body.ts";
import type { Process } from "../process.ts";
import { settleMode } from "../rights/settle-mode.ts";
import type { ProcessTable } from "../table.ts";
import { messagesOfFork } from "./fork-messages.ts";
import type { Birth } from "./seed.ts";

/** What the rules for forks need of the kernel. */
export interface ForkRuling {
  readonly table: Pick<ProcessTable, "childrenOf" | "get">;
  readonly asks: { canAsk(proc: Process): boolean };
  readonly contexts: Pick<ContextSpaces, "prompt">;
}

/** The wish with what the program of the caller has offered for the call. UNAVAILABLE: nothing. PERMISSION: the caller is a fork. */
export function asOffered(caller: Process, opts: SpawnOpts): SpawnOpts {
  const { fork, child } = opts;
  if (fork?.label !== FORK || child === undefined) return opts;
  if (caller.seed.fork !== undefined) throw cannotFork(caller.pid);
  const { forkOffer } = caller;
  if (forkOffer === null || !hasCall(forkOffer, child))
    throw refuse(caller.pid, "UNAVAILABLE", "only a call of its own model forks a process");
  return { ...opts, fork: { label: FORK, ...forkOffer } };
}

export type ForkRights = Pick<ForkRuling, "asks"> & { readonly table: Pick<ProcessTable, "get"> };

/** Whether the model of the process may fork it: not where a coordinator gives the work, nor with no client to follow it. */
export function mayFork({ table, asks }: ForkRights, proc: Process): boolean {
  const { kind, fork, agent, line } = proc.seed;
  if (kind !== "agent" || fork !== undefined || agent === null || !asks.canAsk(proc)) return false;
  const isOfCoordinator = (each: Process | undefined) => each?.seed.body.name === COORDINATOR;
  return !isOfCoordinator(proc) && !line.some((pid) => isOfCoordinator(table.get(pid)));
}

export function checkFork(
  core: ForkRuling,
  { caller, parent, body, opts }: Birth,
  { label, prefix }: ForkWish,
): void {
  const { pid, seed, ctxId } = caller;
  if (caller !== parent || seed.kind !== "agent" || body.kind !== "agent")
    throw refuse(pid, "INVALID", "only an agent has a conversation to fork");
  if (isInternal(label) !== (opts.child === undefined))
    throw refuse(pid, "INVALID", `a fork that a call starts, and no other, is labelled ${FORK}`);
  if (prefix === undefined) throw refuse(pid, "INVALID", "a fork needs the beginning of its requests");
  if (seed.fork !== undefined || core.contexts.prompt(ctxId).messages.some(isDirective))
    throw cannotFork(pid);
  if (JSON.stringify(prefix).length > LIMITS.forkPrefixChars)
    throw refuse(pid, "INVALID", `the prefix of a fork has at most ${LIMITS.forkPrefixChars} characters`);
  if (!isInternal(label)) {
    if (!mayFork(core, caller))
      throw refuse(
        pid,
        "UNAVAILABLE",
        "no fork here: a coordinator and its workers have none, nor has a run with no client attached",
      );
    return;
  }
  const running = core.table
    .childrenOf(pid)
    .filter(({ isLive, seed: own }) => isLive && isInternal(own.fork?.label));
  if (running.length >= LIMITS.internalForks)
    throw refuse(pid, "UNAVAILABLE", `${LIMITS.internalForks} forks of process ${pid} run already`);
}

/** How often the conversation of a parent that works on is copied anew. */
const MOST_COPIES = 16;

/**
 * The conversation of the parent, followed by what the fork is told, and the parent's model. The record up to which the
 * histories are one is looked up after the copy: if the conversation has changed meanwhile, it is copied again.
 */
export async function prepareFork(core: AgentHost, making: Making): Promise<void> {
  const { parent, proc } = making;
  const { journal } = core.ports;
  const { uuid } = parent.seed;
  for (let copies = 1; proc.past.origin === null; copies++) {
    core.contexts.copy(parent.ctxId, proc.ctxId);
    await journal.sync();
    const at = (await journal.row(uuid))?.lastSeq;
    if (at !== undefined && core.contexts.areEqual(parent.ctxId, proc.ctxId))
      proc.past.origin = { from: uuid, at };
    else if (at === undefined || copies >= MOST_COPIES)
      throw new Fault({ code: "CONFLICT", message: `the conversation of process ${parent.pid} changes` });
  }
  for (const message of messagesOfFork(proc)) core.contexts.append(proc.ctxId, message);
  if (!isInternal(proc.seed.fork?.label)) proc.seen.adopt(parent.seen);
  proc.model.share(parent.model);
  await core.handle(proc, null).open(proc.model.device, O_RDWR, making.signal);
  settleMode(core, making);
}

function cannotFork(pid: Pid): Error {
  return refuse(pid, "PERMISSION", "a fork cannot be forked");
}

function refuse(pid: Pid, code: "INVALID" | "PERMISSION" | "UNAVAILABLE", message: string): SyscallError {
  return new SyscallError({ syscall: "Spawn", pid, code, message });
}
