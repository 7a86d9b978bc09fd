/** The process table: which processes exist, and which of them see or control which. */
import { SyscallError } from "../../abi/errors.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { type AgentRuns, isOfRun, type RunEvent } from "../ports/agent-runs.ts";
import type { Process } from "./process.ts";

/** Of the words on what an agent is for. */
const TITLE_CHARS = 40;

type Relation = (a: Process, b: Process) => boolean;

export class ProcessTable implements AgentRuns {
  #runs: ((event: RunEvent) => void) | undefined;
  readonly #hear = (event: ProcessEvent): void => {
    if (this.#runs !== undefined && isOfRun(event)) this.#runs(event);
  };
  readonly #byPid = new Map<Pid, Process>();
  /** By the pid of the parent; most processes have no children. */
  readonly #children = new Map<Pid, Set<Process>>();
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
    if (proc.seed.kind === "agent") proc.watchers.onPublish = this.#hear;
    this.#addChild(proc);
  }

  hear(take: (event: RunEvent) => void): void {
    this.#runs ??= take;
  }

  remove(pid: Pid): void {
    const proc = this.#byPid.get(pid);
    if (proc === undefined) return;
    this.#byPid.delete(pid);
    this.#children.delete(pid);
    this.#removeChild(proc);
  }

  childrenOf(pid: Pid): readonly Process[] {
    return [...(this.#children.get(pid) ?? [])];
  }

  /** Makes the kernel the parent of its children, and returns them. */
  orphanChildren(pid: Pid): readonly Process[] {
    return this.#handOver(this.childrenOf(pid), PID_KERNEL);
  }

  /** A process that has come back is again the parent of those that it had started; returns them. */
  takeBack(parent: Pid): readonly Process[] {
    const own = this.childrenOf(PID_KERNEL).filter(({ isLive, seed }) => isLive && seed.line[0] === parent);
    return this.#handOver(own, parent);
  }

  #handOver(children: readonly Process[], parent: Pid): readonly Process[] {
    for (const child of children) {
      this.#removeChild(child);
      child.fallTo(parent);
      this.#addChild(child);
    }
    return children;
  }

  get(pid: Pid): Process | undefined {
    return this.#byPid.get(pid);
  }

  /** All processes in the order in which they were spawned or restored. */
  all(): IterableIterator<Process> {
    return this.#byPid.values();
  }

  /**
   * Whether `viewer` may look into `pid`, or is a fellow member of its compose project: fellows see that a process
   * exists and where to write to it.
   */
  sees(viewer: Pid, pid: Pid): boolean {
    return this.looksInto(viewer, pid) || this.#are(this.#areFellows, viewer, pid);
  }

  /** A process looks into itself, its descendants, ancestors and group members; the kernel and its clients into all. */
  looksInto(viewer: Pid, pid: Pid): boolean {
    if (viewer === PID_KERNEL) return true;
    return this.isKin(viewer, pid) || this.#are(this.#shareGroup, viewer, pid);
  }

  /** The same process, or one is an ancestor of the other. */
  isKin(a: Pid, b: Pid): boolean {
    return a === b || this.isAncestor(a, b) || this.isAncestor(b, a);
  }

  /** The names of the process and its ancestors, for the user: such as `main-1 › worker-2`. */
  lineOf({ pid }: { readonly pid: Pid }): string {
    const names: string[] = [];
    for (
      let at = this.#byPid.get(pid);
      at !== undefined && at.pid !== PID_KERNEL;
      at = this.#byPid.get(at.ppid)
    )
      names.unshift(`${at.seed.body.name || at.seed.kind}-${at.pid}${titled(at)}`);
    return names.join(" › ");
  }

  #addChild(proc: Process): void {
    const children = this.#children.get(proc.ppid) ?? new Set();
    this.#children.set(proc.ppid, children.add(proc));
  }

  #removeChild(proc: Process): void {
    const children = this.#children.get(proc.ppid);
    children?.delete(proc);
    if (children?.size === 0) this.#children.delete(proc.ppid);
  }

  #are(relation: Relation, a: Pid, b: Pid): boolean {
    const [one, other] = [this.#byPid.get(a), this.#byPid.get(b)];
    return one !== undefined && other !== undefined && relation(one, other);
  }

  /** A process controls itself and its descendants; the kernel controls all. */
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

  /** The process, if the caller sees it; else NOT_FOUND. With `control`: PERMISSION if it does not control it. */
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

/** What an agent is for, as lists of agents name it: its parent has said so. */
function titled({ seed: { child } }: Process): string {
  const title = child?.title?.replace(/[\s\p{Cc}"]+/gu, " ").trim() ?? "";
  return title === "" ? "" : ` "${title.slice(0, TITLE_CHARS).toWellFormed()}"`;
}
