import type { WireProc } from "../../../abi/methods.ts";
import type { ProcInfo } from "../../../abi/process.ts";
import type { Handler } from "../handler.ts";

export const listProcs: Handler<"list_procs"> = async (_params, { kernel }) => ({
  payload: { processes: (await kernel.init.listProcs()).map(toWire) },
});

/** Keys in the order of `ps --json`. */
function toWire(proc: ProcInfo): WireProc {
  return {
    pid: proc.pid,
    ppid: proc.ppid,
    state: proc.state,
    intent: proc.intent,
    skills: [...proc.skills],
    tokens_used: proc.tokensUsed,
    elapsed_ms: Math.floor(proc.elapsedMs),
    kind: proc.kind,
    activity: proc.activity,
    created_at: proc.createdAt.toISOString(),
    ctx_id: proc.ctxId,
    allowed_devices: proc.allowedDevices === null ? null : [...proc.allowedDevices],
    groups: [...proc.groups],
    result: proc.result,
    exit:
      proc.exit === null ? null : { code: proc.exit.code, reason: proc.exit.reason, kind: proc.exit.kind },
  };
}
