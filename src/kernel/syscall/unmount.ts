import type { Call } from "./call.ts";

export const unmount: Call<{ path: string }, void> = {
  name: "Unmount",
  args: ({ path }) => ({ path }),
  run() {
    throw new Error("to be written");
  },
};
