/** The parts of the kernel as the calls see them. One instance per daemon, made in kernel.ts. */
import type { Pid } from "../abi/ids.ts";
import type { Signal } from "../abi/process.ts";
import type { Sys } from "../abi/sys.ts";
import type { Asks } from "./ask/asks.ts";
import type { ContextSpaces } from "./context/spaces.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { Process } from "./process/process.ts";
import type { ProcessTable } from "./process/table.ts";
import type { Scope } from "./syscall/call.ts";
import type { DeviceRegistry } from "./vfs/registry.ts";

export interface Core {
  readonly ports: KernelPorts;
  readonly table: ProcessTable;
  readonly devices: DeviceRegistry;
  readonly contexts: ContextSpaces;
  readonly asks: Asks;
  /** pid 0. */
  readonly root: Process;
  /** false once shutdown has begun: no new processes. */
  readonly accepting: boolean;
  /** Pids rise by one and are never used again. */
  nextPid(): Pid;
  /** Hands a zombie whose parent is the kernel to the reaper: `now`, or when it has been seen. */
  offer(proc: Process, when: "now" | "seen"): void;
  /** It has left the table: the reaper waits for it no more. */
  forget(proc: Process): void;
  /** `graceMs`: from TERM to KILL, instead of the usual. */
  deliver(proc: Process, signal: Signal, graceMs?: number): Promise<void>;
  /** The handle of a process; with a scope, one with narrower rights. */
  handle(self: Process, scope: Scope | null): Sys;
}
