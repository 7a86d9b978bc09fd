/** Exit(code): ends the calling process. The call itself never returns. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { cancelled } from "../gate/gate.ts";
import { LIMITS } from "../limits.ts";
import { endLive } from "../process/finish.ts";

export const exit: Call<{ code: number; reason: string }, never> = {
  name: "Exit",
  args: ({ code }) => ({ code }),
  run(core, self, { code, reason }) {
    const { pid } = self;
    if (pid === PID_KERNEL) {
      throw new SyscallError({
        syscall: "Exit",
        pid,
        code: "PERMISSION",
        message: "the kernel does not exit by a call",
      });
    }
    if (!Number.isInteger(code) || code < 0 || code > 255) {
      throw new SyscallError({
        syscall: "Exit",
        pid,
        code: "INVALID",
        message: `exit code must be 0 to 255: ${code}`,
      });
    }
    const words = reason !== "" ? reason : code === 0 ? "completed" : `exit ${code}`;
    self.verdict ??= { code, reason: words, kind: "done" };
    self.revoked = true;
    endLive(core, self, LIMITS.termGraceMs);
    throw cancelled(self, "Exit");
  },
};
