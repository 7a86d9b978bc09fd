/**
 * Programs of the host as processes of kind `native` (kernel IPC reference, SpawnOptions). The exit is the program's
 * own: its code, or 128 + n and `killed: <NAME>` for signal n; what a signal or deadline of the kernel decided outranks
 * it. The result is the last 4 KiB of its stdout; all of what it printed is in its log.
 */

/** The options for starting a native program. Its limits follow from its rights. */
export interface NativeOptions {
  /** Absolute; absent: the parent's. */
  readonly cwd?: string;
  /** Added to the environment a command gets; may not name PATH or the kernel's own variables: INVALID. */
  readonly env?: Readonly<Record<string, string>>;
  /** `null`: the program reads the end at once. Default `null`; with a pipe at fd 0 it is that pipe. */
  readonly stdin?: "pipe" | "null";
  /** ms; then SIGTERM, 5 s, SIGKILL, reason `timeout`. 0 none. */
  readonly timeoutMs?: number;
}
