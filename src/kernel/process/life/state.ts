/**
 * The visible states of a process or a thread. One table has all legal transitions; any other is a bug and changes
 * nothing.
 */
import { SyscallError } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { ProcessState } from "../../../abi/process.ts";

const NEXT: Readonly<Record<ProcessState, ProcessState | null>> = {
  created: "running",
  running: "zombie",
  zombie: "dead",
  dead: null,
};

interface Mover {
  readonly pid: Pid;
  readonly syscall: string;
}

/** Returns `to` if it may follow `from`; else INTERNAL `illegal transition: <from> → <to>`. */
export function transition(from: ProcessState, to: ProcessState, mover: Mover): ProcessState {
  if (NEXT[from] === to) return to;
  throw illegal(from, to, mover);
}

export function illegal(from: ProcessState, to: ProcessState, mover: Mover): SyscallError {
  return new SyscallError({ ...mover, code: "INTERNAL", message: `illegal transition: ${from} → ${to}` });
}
