/** What a daemon needs from its OS process; tests pass their own. */
export interface DaemonHost {
  readonly pid: number;
  on(event: HostEvent, act: (error?: unknown) => void): void;
  off(event: HostEvent, act: (error?: unknown) => void): void;
  /** Ends the OS process in order: its threads and libraries clean up, however long that takes. */
  exit(code: number): void;
  /** Ends it at once with this code, without waiting for threads and libraries. */
  vanish(code: number): void;
}

export type HostEvent = "SIGTERM" | "SIGINT" | "SIGHUP" | "uncaughtException" | "unhandledRejection";

export const thisProcess: DaemonHost = {
  pid: process.pid,
  on: (event, act) => void process.on(event, act),
  off: (event, act) => void process.off(event, act),
  exit: (code) => process.exit(code),
  vanish: (code) => {
    // replacing the program ends all threads without waiting for them; the warning that execve is experimental is
    // hidden
    process.removeAllListeners("warning");
    try {
      process.execve?.("/bin/sh", ["sh", "-c", `exit ${code}`], {});
    } finally {
      process.kill(process.pid, "SIGKILL");
    }
  },
};
