/** `/proc/<pid>/status`: eight keys in a fixed order, then what else there is to say. */
import type { ProcInfo } from "../../abi/process.ts";
import { exitOf } from "./exit.ts";

export function statusOf(info: ProcInfo): Record<string, unknown> {
  const { exit } = info;
  return {
    pid: info.pid,
    ppid: info.ppid,
    state: info.state,
    intent: info.intent,
    skills: info.skills,
    tokens_used: info.tokensUsed,
    elapsed_ms: Math.round(info.elapsedMs),
    allowed_devices: info.allowedDevices,
    kind: info.kind,
    ...(info.activity === null ? {} : { activity: info.activity }),
    ctx_id: info.ctxId,
    ...(exit === null ? {} : { exit: exitOf(exit) }),
  };
}
