import { asPid } from "../../../abi/ids.ts";
import { SIGNALS } from "../../../abi/process.ts";
import type { Handler } from "../handler.ts";
import { requireSignal } from "../signal.ts";

export const kill: Handler<"kill"> = async (params, { kernel, gone }) => {
  const { pid, signal = SIGNALS.SIGTERM, while_connected: isHeld = false, background } = params;
  if (background !== undefined) await kernel.endBackground(asPid(pid), background);
  await kernel.init.kill(asPid(pid), requireSignal(signal, "Kill"));
  if (isHeld && signal === SIGNALS.SIGPAUSE) {
    const resume = (): void => void kernel.init.kill(asPid(pid), SIGNALS.SIGRESUME).catch(() => undefined);
    if (gone.aborted) resume();
    else gone.addEventListener("abort", resume, { once: true });
  }
  return { payload: undefined };
};
