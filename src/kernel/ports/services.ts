/** Service processes: helpers the kernel owns, in the process table like all others. The kernel implements it. */
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";

export interface ServiceSpec {
  /** The intent that `ps -a` shows. */
  readonly intent: string;
  readonly name: string;
  /**
   * The work; the process ends when it resolves. `signal` fires at TERM, `killed` at KILL: then it must end everything
   * it started.
   */
  run(context: {
    readonly pid: Pid;
    readonly signal: AbortSignal;
    readonly killed: AbortSignal;
    log(level: "info" | "warn" | "error", message: string): void;
  }): Promise<ExitStatus>;
}

export interface Services {
  /** Starts a child of pid 0, ended with the daemon. UNAVAILABLE: the kernel is shutting down, or the table is full. */
  start(spec: ServiceSpec): Promise<Pid>;
  /** Sends TERM; resolves when it has ended and is reaped. */
  stop(pid: Pid): Promise<void>;
}
