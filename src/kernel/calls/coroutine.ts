/** The calls of coroutines: bodies that run only between a resume and a yield. */
import { Fault } from "../../abi/errors.ts";
import type { CoId } from "../../abi/ids.ts";
import type { CoroutineLoop } from "../../abi/sys.ts";
import { checkLasting } from "../gate/covers.ts";
import type { KernelCall } from "../gate/gate.ts";
import type { CoroutineBody } from "../process/thread/coroutine.ts";
import { type LoopHost, loopBody } from "../process/thread/loop-body.ts";
import { checkLoop } from "./thread.ts";

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
