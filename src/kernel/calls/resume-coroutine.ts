/** ResumeCoroutine(id): runs a coroutine to its next yield or its end, and rejects with what its body throws. */
import type { CoId } from "../../abi/ids.ts";
import type { CoroutineStep } from "../../abi/sys.ts";
import type { Call } from "../gate/call.ts";
import { coroutinesOf } from "../process/coroutines.ts";

export const resumeCoroutine: Call<{ id: CoId; value: unknown }, CoroutineStep<unknown, unknown>> = {
  name: "ResumeCoroutine",
  args: ({ id }) => ({ id }),
  run: (_core, self, { id, value }, pass) => coroutinesOf(self).resume(id, value, pass.signal),
};
