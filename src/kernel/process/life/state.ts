/** The state machine: one table drives it, every pair that is not in it is a bug and changes nothing. */
import { SyscallError } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { ProcessState } from "../../../abi/process.ts";

const NEXT: Readonly<Record<ProcessState, ProcessState | null>> = {
  created: "running",
  running: "zombie",
  zombie: "dead",
  dead: null,
};

/** `to`, if it may follow `from`; else INTERNAL `illegal transition: <from> → <to>`. */
export function transition(from: ProcessState, to: ProcessState, pid: Pid, syscall: string): ProcessState {
  if (NEXT[from] === to) return to;
  throw new SyscallError({ syscall, pid, code: "INTERNAL", message: `illegal transition: ${from} → ${to}` });
}
