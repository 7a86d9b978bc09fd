/** What a daemon needs of its OS process; a test gives its own. */
export interface Host {
  readonly pid: number;
  on(event: HostEvent, act: (error?: unknown) => void): void;
  off(event: HostEvent, act: (error?: unknown) => void): void;
  /** Ends the OS process at once. */
  exit(code: number): void;
}

export type HostEvent = "SIGTERM" | "SIGINT" | "SIGHUP" | "uncaughtException" | "unhandledRejection";

export const thisProcess: Host = {
  pid: process.pid,
  on: (event, act) => void process.on(event, act),
  off: (event, act) => void process.off(event, act),
  exit: (code) => process.exit(code),
};
