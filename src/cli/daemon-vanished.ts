import { Fault } from "../abi/errors.ts";

/** A stream that ended without its last line: the daemon is gone, what it had acknowledged is not. `pid`: whose it was. */
export function daemonVanished(pid?: number): Fault {
  if (pid === undefined) return new Fault({ code: "UNAVAILABLE", message: "daemon closed the connection" });
  const message = `the daemon ended while process ${pid} worked; what it had done is kept`;
  const hint = `crux resume ${pid} lets it go on if it waits, crux attach ${pid} follows it`;
  return new Fault({ code: "UNAVAILABLE", message, hint });
}
