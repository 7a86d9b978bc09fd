import { asPid } from "../../../abi/ids.ts";
import { SIGNALS } from "../../../abi/process.ts";
import type { Handler } from "../handler.ts";
import { requireSignal } from "../signal.ts";

export const kill: Handler<"kill"> = async ({ pid, signal = SIGNALS.SIGTERM }, { kernel }) => {
  await kernel.init.kill(asPid(pid), requireSignal(signal, "Kill"));
  return { payload: undefined };
};
