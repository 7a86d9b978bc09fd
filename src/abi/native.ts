/**
 * Programs of the host as processes of kind `native` (kernel IPC reference, SpawnOptions). The exit is the program's
 * own: its code, or 128 + n and `killed: <NAME>` for signal n; what a signal or deadline of the kernel decided outranks
 * it. The result is the last 4 KiB of its stdout; all of what it printed is in its log.
 */

/** The size of the window of a program that runs on a terminal. */
export interface WindowSize {
  readonly cols: number;
  readonly rows: number;
}

/** Where an event stands in its story (kernel IPC chapter, 7.1). */
export interface EventIds {
  readonly intentId?: string;
  readonly correlationId?: string;
  /** The direct cause. `r_…`: a request; `e_<seq>`: an event. */
  readonly causationId?: string;
}

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
  /**
   * The name by which its spawner knows it, unique among its live ones. Programs with a name are steered over the
   * binary wire: each of their streams is also stored unchanged, in a spool of its own.
   */
  readonly id?: string;
  /** It runs on a terminal: its output is one stream, stdout. `term` is its TERM. */
  readonly pty?: WindowSize & { readonly term: string };
  /** It is ended when it and what it started use more memory, in bytes of resident pages. */
  readonly memoryBytes?: number;
  /** The processors that it and what it started may use, as an average; beyond, it is stopped for part of the time. */
  readonly cpuCores?: number;
  /** What a program with a name may do over the wire in its own name. */
  readonly scopes?: readonly string[];
  /** The bytes of a stream that are kept. Default 64 MiB. */
  readonly spoolBytes?: number;
  /** `drop`, the default: the oldest are dropped. `block`: the program waits for the readers of the stream. */
  readonly onSpoolFull?: "drop" | "block";
  /** It and what it starts run in the sandbox of an agent's commands, although the user starts it. */
  readonly confined?: true;
  /** The story that it belongs to; its events have the same, and what it does over the wire. */
  readonly ids?: EventIds;
}
