/** The methods of the registry, one file each where they are more than a few lines. A missing one does not compile. */

import type { Handlers } from "./handler.ts";
import { askAnswer } from "./handlers/ask-answer.ts";
import { attachDebug } from "./handlers/attach-debug.ts";
import { kill } from "./handlers/kill.ts";
import { listProcs } from "./handlers/list-procs.ts";
import { processWait } from "./handlers/process-wait.ts";
import { spawn } from "./handlers/spawn.ts";

const missing = (): never => {
  throw new Error("to be written");
};

export const HANDLERS: Handlers = {
  ping: async (_params, call) => ({ payload: { version: call.deps.version } }),
  spawn,
  list_procs: listProcs,
  kill,
  attach_debug: attachDebug,
  // the response is written out, then shutdown begins, then the connection closes
  shutdown: async (_params, call) => ({ payload: undefined, follow: async () => call.deps.shutdown() }),
  "process.wait": processWait,
  "process.list": missing,
  "process.signal": missing,
  "process.attach": missing,
  "process.logs": missing,
  "group.list": missing,
  "group.signal": missing,
  "mail.send": missing,
  "supervisor.start_child": missing,
  "supervisor.stop_child": missing,
  "supervisor.restart_child": missing,
  "compose.config": missing,
  "compose.up": missing,
  "compose.down": missing,
  "compose.ps": missing,
  "compose.logs": missing,
  "mcp.list": missing,
  "mcp.mount": missing,
  "mcp.unmount": missing,
  "kernel.metrics": missing,
  "ask.answer": askAnswer,
  "kernel.status": async (_params, call) => ({
    payload: {
      version: call.deps.version,
      os_pid: process.pid,
      processes: call.kernel.active(),
      connections: call.connections,
      uptime_ms: call.uptimeMs,
    },
  }),
};
