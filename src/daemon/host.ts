/** What a daemon needs of its OS process; a test gives its own. */
export interface DaemonHost {
  readonly pid: number;
  on(event: HostEvent, act: (error?: unknown) => void): void;
  off(event: HostEvent, act: (error?: unknown) => void): void;
  /** Ends the OS process in order: its threads and libraries put away what they have, however long that takes. */
  exit(code: number): void;
  /** Ends it at once with this code, whatever its threads and libraries wait for. */
  vanish(code: number): void;
}

export type HostEvent = "SIGTERM" | "SIGINT" | "SIGHUP" | "uncaughtException" | "unhandledRejection";

export const thisProcess: DaemonHost = {
  pid: process.pid,
  on: (event, act) => void process.on(event, act),
  off: (event, act) => void process.off(event, act),
  exit: (code) => process.exit(code),
  vanish: (code) => {
    // the system ends all threads when the program is replaced, and asks none of them; nobody needs to hear that it is experimental
    process.removeAllListeners("warning");
    try {
      process.execve?.("/bin/sh", ["sh", "-c", `exit ${code}`], {});
    } finally {
      process.kill(process.pid, "SIGKILL");
    }
  },
};
