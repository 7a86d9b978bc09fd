/**
 * The calls of threads, which are further reasoning loops in one process, and of coroutines, whose bodies run only between
 * a resume and a yield.
 */
import { Fault, SyscallError } from "../../abi/errors.ts";
import type { CoId, Tid } from "../../abi/ids.ts";
import type { CoroutineLoop } from "../../abi/sys.ts";
import { checkLasting } from "../gate/covers.ts";
import type { KernelCall } from "../gate/gate.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import type { CoroutineBody } from "../process/thread/coroutine.ts";
import { type LoopHost, loopBody } from "../process/thread/loop-body.ts";
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
function checkLoop({ self, syscall }: At, intent: string, maxTurns: number): void {
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

/** SpawnCoroutine(): a body, or a loop, that starts at the first resume. */
const spawnCoroutine: KernelCall<"spawnCoroutine", { body: CoroutineBody | CoroutineLoop }, LoopHost> = {
  name: "SpawnCoroutine",
  holds: true,
  take: (body) => ({ body: body as CoroutineBody | CoroutineLoop }),
  args: () => ({}),
  result: (id) => id,
  run({ core, self, scope }, { body }) {
    if (typeof body === "function" && scope === null) return self.coroutines.spawn(body);
    if (typeof body !== "object" || typeof body?.intent !== "string")
      throw new Fault({ code: "INVALID", message: "the body of a coroutine is a function, or a task" });
    const { intent, maxTurns = 0 } = body;
    const at = { self, syscall: "SpawnCoroutine" };
    checkLasting(scope, "coroutines", at);
    checkLoop(at, intent, maxTurns);
    const id = self.coroutines.spawn(loopBody(core, self, { intent, maxTurns }));
    // recorded before any call of the loop: a replay ends here
    self.tape?.input("threads", () => id);
    return id;
  },
};

/** ResumeCoroutine(id): runs a coroutine to its next yield or its end, and rejects with what its body throws. */
const resumeCoroutine: KernelCall<"resumeCoroutine", { id: CoId; value: unknown }> = {
  name: "ResumeCoroutine",
  take: (id, value) => ({ id, value }),
  args: ({ id }) => ({ id }),
  run: ({ self, signal }, { id, value }) => self.coroutines.resume(id, value, signal),
};

/** CancelCoroutine(id): idempotent. Its body gets CANCELLED where it waits. */
const cancelCoroutine: KernelCall<"cancelCoroutine", { id: CoId }> = {
  name: "CancelCoroutine",
  take: (id) => ({ id }),
  args: ({ id }) => ({ id }),
  run: ({ self }, { id }) => self.coroutines.cancel(id),
};

export const coroutineCalls = { spawnCoroutine, resumeCoroutine, cancelCoroutine };
