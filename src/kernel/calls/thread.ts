/** The calls of threads: further reasoning loops in one process. */
import { SyscallError } from "../../abi/errors.ts";
import type { Tid } from "../../abi/ids.ts";
import type { KernelCall } from "../gate/gate.ts";
import type { Scope } from "../gate/scope.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { threadsOf } from "../process/thread/threads.ts";

const THREADS = "/proc/self/threads";

/**
 * SpawnThread(intent): a further reasoning loop in the caller. It has all the caller's rights and spends from its
 * account.
 */
const spawnThread: KernelCall<"spawnThread", { intent: string; maxTurns: number }> = {
  name: "SpawnThread",
  holds: true,
  take: (intent, { maxTurns = 0 } = {}) => ({ intent, maxTurns }),
  args: ({ intent }) => ({ intent }),
  result: (tid) => tid,
  run({ core, self, scope, signal }, { intent, maxTurns }) {
    checkArguments(self, intent, maxTurns);
    if (scope !== null) checkDeclared(self, scope);
    return threadsOf(core, self).spawn(intent, maxTurns, signal);
  },
};

function checkArguments(self: Process, intent: string, maxTurns: number): void {
  if (self.model.device === "")
    throw invalid(self, `a process of kind ${self.seed.kind} has no reasoning loop`);
  if (intent.trim() === "") throw invalid(self, "intent is empty");
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes)
    throw invalid(self, `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`);
  if (!Number.isInteger(maxTurns) || maxTurns < 0) throw invalid(self, `not a step limit: ${maxTurns}`);
}

/**
 * A thread outlasts the call of a program under /bin, so only a program that declared a change of the threads may start
 * one.
 */
function checkDeclared({ pid }: Pick<Process, "pid">, { tool, effects }: Scope): void {
  if (effects.some((effect) => effect.kind === "state" && effect.path === THREADS)) return;
  const message = `tool ${tool} did not declare this effect: state ${THREADS}`;
  throw new SyscallError({ syscall: "SpawnThread", pid, device: THREADS, code: "PERMISSION", message });
}

function invalid(self: Process, message: string): SyscallError {
  return new SyscallError({ syscall: "SpawnThread", pid: self.pid, code: "INVALID", message });
}

/** JoinThread(tid): how a thread ended. Its failure is data; cancelling the call leaves the thread alone. */
const joinThread: KernelCall<"joinThread", { tid: Tid }> = {
  name: "JoinThread",
  take: (tid) => ({ tid }),
  args: ({ tid }) => ({ tid }),
  run: ({ core, self, signal }, { tid }) => threadsOf(core, self).join(tid, signal),
};

/** CancelThread(tid): idempotent; JoinThread reports how the thread ended. */
const cancelThread: KernelCall<"cancelThread", { tid: Tid }> = {
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
