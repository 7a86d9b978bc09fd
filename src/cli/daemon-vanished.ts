import { Fault } from "../abi/errors.ts";

/** A stream that ended without its last line: the daemon is gone, what it had acknowledged is not. */
export function daemonVanished(): Fault {
  return new Fault({ code: "UNAVAILABLE", message: "daemon closed the connection" });
}
