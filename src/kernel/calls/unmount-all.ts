/** UnmountAll(): pid 0's, at shutdown. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";

export const unmountAll: Call<Record<string, never>, void> = {
  name: "UnmountAll",
  args: () => ({}),
  async run(core, self) {
    if (self.pid !== PID_KERNEL) {
      const message = "only the kernel's clients may unmount everything";
      throw new SyscallError({ syscall: "UnmountAll", pid: self.pid, code: "PERMISSION", message });
    }
    await core.mounts.unmountAll();
  },
};
