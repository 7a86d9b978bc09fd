/** The calls of threads: further reasoning loops in one process. */
import { SyscallError } from "../../abi/errors.ts";
import type { Tid } from "../../abi/ids.ts";
import { checkLasting } from "../gate/covers.ts";
import type { KernelCall } from "../gate/gate.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { type Threading, threadsOf } from "../process/thread/threads.ts";

/**
 * SpawnThread(intent): a further reasoning loop in the caller. It has all the caller's rights and spends from its
 * account.
 */
const spawnThread: KernelCall<"spawnThread", { intent: string; maxTurns: number }, Threading> = {
  name: "SpawnThread",
  holds: true,
  take: (intent, { maxTurns = 0 } = {}) => ({ intent, maxTurns }),
  args: ({ intent }) => ({ intent }),
  result: (tid) => tid,
  run({ core, self, scope, signal }, { intent, maxTurns }) {
    const at = { self, syscall: "SpawnThread" };
    checkLoop(at, intent, maxTurns);
    checkLasting(scope, "threads", at);
    return threadsOf(core, self).spawn(intent, maxTurns, signal);
  },
};

interface At {
  readonly self: Process;
  readonly syscall: string;
}

/** INVALID: not a task for a further loop, or a process without one. */
export function checkLoop({ self, syscall }: At, intent: string, maxTurns: number): void {
  const why = whyNot(self, intent, maxTurns);
  if (why === undefined) return;
  throw new SyscallError({ syscall, pid: self.pid, code: "INVALID", message: why });
}

function whyNot({ model, seed }: Process, intent: string, maxTurns: number): string | undefined {
  if (model.device === "") return `a process of kind ${seed.kind} has no reasoning loop`;
  if (intent.trim() === "") return "intent is empty";
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes) return `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`;
  return Number.isInteger(maxTurns) && maxTurns >= 0 ? undefined : `not a step limit: ${maxTurns}`;
}

/** JoinThread(tid): how a thread ended. Its failure is data; cancelling the call leaves the thread alone. */
const joinThread: KernelCall<"joinThread", { tid: Tid }, Threading> = {
  name: "JoinThread",
  take: (tid) => ({ tid }),
  args: ({ tid }) => ({ tid }),
  run: ({ core, self, signal }, { tid }) => threadsOf(core, self).join(tid, signal),
};

/** CancelThread(tid): idempotent; JoinThread reports how the thread ended. */
const cancelThread: KernelCall<"cancelThread", { tid: Tid }, Threading> = {
  name: "CancelThread",
  take: (tid) => ({ tid }),
  args: ({ tid }) => ({ tid }),
  run: ({ core, self }, { tid }) => threadsOf(core, self).cancel(tid),
};

/** ListThreads(): running threads, and ended ones that were not joined, by rising tid. */
const listThreads: KernelCall<"listThreads", Record<string, never>> = {
  name: "ListThreads",
  take: () => ({}),
  args: () => ({}),
  run: ({ self }) => self.threads?.list() ?? [],
};

export const threadCalls = { spawnThread, joinThread, cancelThread, listThreads };
