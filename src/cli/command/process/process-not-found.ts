import { Fault } from "../../../abi/errors.ts";

/** As the daemon would say it of a pid that is not in its list. */
export function processNotFound(pid: number): Fault {
  return new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_process", pid },
  });
}
