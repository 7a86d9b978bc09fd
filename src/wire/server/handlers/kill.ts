import { SyscallError } from "../../../abi/errors.ts";
import { asPid, PID_KERNEL } from "../../../abi/ids.ts";
import { isSignal, SIGNALS } from "../../../abi/process.ts";
import type { Handler } from "../handler.ts";

export const kill: Handler<"kill"> = async ({ pid, signal = SIGNALS.SIGTERM }, { kernel }) => {
  if (!isSignal(signal))
    throw new SyscallError({
      code: "INVALID",
      syscall: "Kill",
      pid: PID_KERNEL,
      message: `signal must be 1 to 5: ${signal}`,
    });
  await kernel.init.kill(asPid(pid), signal);
  return { payload: undefined };
};
