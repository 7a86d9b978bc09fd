import { SyscallError } from "../../../../abi/errors.ts";
import { asPid, PID_KERNEL } from "../../../../abi/ids.ts";
import { ABORTED, linkSignals } from "../../../../lib/abort.ts";
import { MAX_TIMER_MS } from "../../../../lib/time/max-timer.ts";
import { usdOf } from "../../../../lib/usd.ts";
import type { Handler } from "../../handler.ts";

/** The wait ends with the process, the deadline or the client; the process continues in the last two cases. */
export const processWait: Handler<"process.wait"> = async ({ pid, timeout_ms }, { kernel, clock, ended }) => {
  const over = new AbortController();
  const settled = new AbortController();
  let timedOut = false;
  if (timeout_ms !== undefined && timeout_ms <= MAX_TIMER_MS)
    void clock.sleep(timeout_ms, settled.signal).then(
      () => {
        timedOut = true;
        over.abort(ABORTED);
      },
      () => {},
    );
  using until = linkSignals(ended, over.signal);
  try {
    const end = await kernel.waitFor(asPid(pid), until.signal);
    const { code, reason, kind } = end.exit;
    return {
      payload: {
        pid,
        exit_code: code,
        reason,
        kind,
        tokens_used: end.tokensUsed,
        elapsed_ms: Math.floor(end.elapsedMs),
        ...(end.microUsdUsed ? { cost_usd: usdOf(end.microUsdUsed) } : {}),
        ...(end.unpricedCalls ? { unpriced_calls: end.unpricedCalls } : {}),
      },
    };
  } catch (error) {
    if (!timedOut) throw error;
    throw new SyscallError({
      code: "TIMEOUT",
      syscall: "Wait",
      pid: PID_KERNEL,
      message: `process ${pid} still runs after ${timeout_ms}ms`,
      cause: error,
    });
  } finally {
    settled.abort(ABORTED);
  }
};
