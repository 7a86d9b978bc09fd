/** Stat(path): no open needed. */
import type { FileStat } from "../../abi/device.ts";
import { abortable } from "../../lib/abort.ts";
import type { Call } from "../gate/call.ts";
import { vfsError } from "../gate/errors.ts";
import { callerOf, checkAllowed } from "./open.ts";

export const stat: Call<{ path: string }, FileStat> = {
  name: "Stat",
  quiet: true,
  args: ({ path }) => ({ path }),
  result: (found) => found.size,
  async run(core, self, { path }, pass) {
    const found = core.devices.resolve(path, "Stat", self.pid);
    checkAllowed(core, self, found, path, "Stat");
    if (found.device.stat === undefined) {
      return { name: found.device.name, size: 0, isDevice: true, devicePath: found.mount };
    }
    try {
      const told = await abortable(found.device.stat(found.subpath, callerOf(core, self)), pass.signal);
      return { ...told, devicePath: found.mount };
    } catch (error) {
      throw vfsError("Stat", self, path, error, pass.signal);
    }
  },
};
