/** Unmount(path): the server goes; files that are open on it answer UNAVAILABLE from then on. */
import type { Call } from "../gate/call.ts";

export const unmount: Call<{ path: string }, void> = {
  name: "Unmount",
  args: ({ path }) => ({ path }),
  run: (core, self, { path }) => core.mounts.unmount(self, path),
};
