/** The process table: who exists, who sees and who controls whom. */
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "./process.ts";

type Relation = (a: Process, b: Process) => boolean;

export class ProcessTable {
  readonly #byPid = new Map<Pid, Process>();
  readonly #shareGroup: Relation;
  readonly #areFellows: Relation;

  /** `areFellows`: members of one compose project that may write to one another. */
  constructor(shareGroup: Relation = () => false, areFellows: Relation = () => false) {
    this.#shareGroup = shareGroup;
    this.#areFellows = areFellows;
  }

  get size(): number {
    return this.#byPid.size;
  }

  add(proc: Process): void {
    if (this.#byPid.size >= LIMITS.processes) {
      const message = `process table is full: ${LIMITS.processes}`;
      throw new SyscallError({ syscall: "Spawn", pid: proc.pid, code: "UNAVAILABLE", message });
    }
    this.#byPid.set(proc.pid, proc);
  }

  remove(pid: Pid): void {
    this.#byPid.delete(pid);
  }

  get(pid: Pid): Process | undefined {
    return this.#byPid.get(pid);
  }

  /** As they came, or came back. */
  all(): IterableIterator<Process> {
    return this.#byPid.values();
  }

  /** What it may look into, and also the fellow members of its compose project: that they are there, and where to write to them. */
  sees(viewer: Pid, pid: Pid): boolean {
    return this.looksInto(viewer, pid) || this.#are(this.#areFellows, viewer, pid);
  }

  /** Itself, its descendants, ancestors and group members; the kernel and its clients look into all. */
  looksInto(viewer: Pid, pid: Pid): boolean {
    if (viewer === PID_KERNEL) return true;
    return this.isKin(viewer, pid) || this.#are(this.#shareGroup, viewer, pid);
  }

  /** The same process, or one is an ancestor of the other. */
  isKin(a: Pid, b: Pid): boolean {
    return a === b || this.isAncestor(a, b) || this.isAncestor(b, a);
  }

  #are(relation: Relation, a: Pid, b: Pid): boolean {
    const [one, other] = [this.#byPid.get(a), this.#byPid.get(b)];
    return one !== undefined && other !== undefined && relation(one, other);
  }

  /** It controls itself and its descendants. */
  controls(caller: Pid, pid: Pid): boolean {
    return caller === PID_KERNEL || caller === pid || this.isAncestor(caller, pid);
  }

  isAncestor(ancestor: Pid, pid: Pid): boolean {
    for (
      let at = this.#byPid.get(pid);
      at !== undefined && at.ppid !== PID_KERNEL;
      at = this.#byPid.get(at.ppid)
    ) {
      if (at.ppid === ancestor) return true;
    }
    return false;
  }

  /** A process the caller may see; else NOT_FOUND. With `control`, PERMISSION for one it sees but does not control. */
  require(caller: Pid, pid: Pid, syscall: string, right: "see" | "control"): Process {
    const proc = this.#byPid.get(pid);
    if (proc === undefined || !this.sees(caller, pid)) {
      throw new SyscallError({
        syscall,
        pid: caller,
        code: "NOT_FOUND",
        message: `process not found: ${pid}`,
        fact: { kind: "no_process", pid },
      });
    }
    if (right === "control" && !this.controls(caller, pid)) {
      const message = `process ${pid} is not the caller or its descendant`;
      throw new SyscallError({ syscall, pid: caller, code: "PERMISSION", message });
    }
    return proc;
  }
}
