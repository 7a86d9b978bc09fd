import { Fault } from "../../abi/errors.ts";

/**
 * The fault for a stream that ended without its last line: the daemon has vanished, but what it had acknowledged is
 * kept. `pid`: the process that was followed.
 */
export function daemonVanished(pid?: number, isSession = false): Fault {
  if (pid === undefined)
    return new Fault({
      code: "UNAVAILABLE",
      message: "daemon closed the connection",
      fact: { kind: "stopping" },
    });
  if (isSession) return sessionCutOff(pid);
  const message = `the daemon ended while process ${pid} worked; what it had done is kept`;
  const hint = `crux resume ${pid} resumes it if it waits, crux attach ${pid} follows it`;
  return new Fault({ code: "UNAVAILABLE", message, hint });
}

function sessionCutOff(pid: number): Fault {
  const message = `the daemon ended; what was said and done in session ${pid} is kept`;
  return new Fault({ code: "UNAVAILABLE", message, hint: `crux -r ${pid} continues it` });
}
