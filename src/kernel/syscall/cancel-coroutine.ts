import type { CoId } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const cancelCoroutine: Call<{ id: CoId }, void> = {
  name: "CancelCoroutine",
  args: ({ id }) => ({ id }),
  run() {
    throw new Error("to be written");
  },
};
