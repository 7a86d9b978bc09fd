import type { Call } from "./call.ts";

export const unmountAll: Call<Record<string, never>, void> = {
  name: "UnmountAll",
  args: () => ({}),
  run() {
    throw new Error("to be written");
  },
};
