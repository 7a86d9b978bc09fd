/** The calls of coroutines: bodies that run only between a resume and a yield. */
import { SyscallError } from "../../abi/errors.ts";
import type { CoId, Pid } from "../../abi/ids.ts";
import type { Call, CallName } from "../gate/call.ts";
import type { CoroutineBody } from "../process/thread/coroutine.ts";
import type { Coroutines } from "../process/thread/coroutines.ts";

type CoroutineCall<Name extends CallName, Args> = Call<Name, Args, unknown, Owner>;

interface Owner {
  readonly pid: Pid;
  readonly coroutines: Coroutines;
}

/** SpawnCoroutine(): a body that starts at the first resume. */
const spawnCoroutine: CoroutineCall<"spawnCoroutine", { body: CoroutineBody }> = {
  name: "SpawnCoroutine",
  take: (body) => ({ body }),
  args: () => ({}),
  result: (id) => id,
  run({ self }, { body }) {
    if (typeof body === "function") return self.coroutines.spawn(body);
    const message = "the body of a coroutine is a function";
    throw new SyscallError({ syscall: "SpawnCoroutine", pid: self.pid, code: "INVALID", message });
  },
};

/** ResumeCoroutine(id): runs a coroutine to its next yield or its end, and rejects with what its body throws. */
const resumeCoroutine: CoroutineCall<"resumeCoroutine", { id: CoId; value: unknown }> = {
  name: "ResumeCoroutine",
  take: (id, value) => ({ id, value }),
  args: ({ id }) => ({ id }),
  run: ({ self, signal }, { id, value }) => self.coroutines.resume(id, value, signal),
};

/** CancelCoroutine(id): idempotent. Its body gets CANCELLED where it waits. */
const cancelCoroutine: CoroutineCall<"cancelCoroutine", { id: CoId }> = {
  name: "CancelCoroutine",
  take: (id) => ({ id }),
  args: ({ id }) => ({ id }),
  run: ({ self }, { id }) => self.coroutines.cancel(id),
};

export const coroutineCalls = { spawnCoroutine, resumeCoroutine, cancelCoroutine };
