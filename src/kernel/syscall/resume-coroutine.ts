import type { CoId } from "../../abi/ids.ts";
import type { CoroutineStep } from "../../abi/sys.ts";
import type { Call } from "./call.ts";

export const resumeCoroutine: Call<{ id: CoId; value: unknown }, CoroutineStep<unknown, unknown>> = {
  name: "ResumeCoroutine",
  args: ({ id }) => ({ id }),
  run() {
    throw new Error("to be written");
  },
};
