/** Files and devices: an agent acts by opening, writing, reading and closing files. A device serves a mounted path. */

import type { CallEnd } from "./call-note.ts";
import type { Charge, Effect, EffectClass, PermissionView } from "./effects.ts";
import type { CallId, Pid, ProcUuid } from "./ids.ts";
import type { Label } from "./labels.ts";
import type { LaneReport, LaneRequest } from "./lanes.ts";
import type { Stall, StreamEvent } from "./llm.ts";
import type { PermissionMode } from "./process.ts";
import type { SandboxProfile } from "./sandbox.ts";
import type { SkillsInReach } from "./skill.ts";
import type { Syscalls } from "./sys.ts";

export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export type OpenFlag = 0 | 1 | 2;

export interface FileStat {
  name: string;
  /** In bytes; 0 where a device has no size. */
  size: number;
  isDevice: boolean;
  /** The path at which the device is mounted. */
  devicePath: string;
  /** Only for a program under /bin. */
  tool?: ToolStat;
  /** Only for a file of the host. */
  host?: HostStat;
}

/** The entry at a path of the host, links resolved. */
export interface HostStat {
  kind: "file" | "directory" | "symlink" | "fifo" | "socket" | "device";
  /** Nanoseconds since the epoch, decimal. */
  mtimeNs: string;
  inode: string;
  /** Permission bits. */
  mode: number;
}

/** The public description of a tool: what `stat("/bin/<tool>")` returns and what a model is sent. */
export interface ToolStat {
  name: string;
  /** Text for the model; constant bytes. */
  description: string;
  /** JSON Schema 2020-12, terse. */
  inputSchema: Record<string, unknown>;
  /** Whether any call of it may run beside others of its turn. For a single call: WritePlan.parallel. */
  parallel: boolean;
  maxResultChars: number;
  /** Search words. */
  readonly hint?: string;
  /** `deferred`: not sent with each request, but found by search. */
  readonly listed?: "core" | "deferred";
  /** With any arguments, it changes nothing outside Crux's own lists. */
  readonly readOnly?: boolean;
  /** Its results may be removed from a context that grows too long. */
  readonly compactable?: boolean;
}

/** The entry at a path of the host. `digest`: SHA-256 in hex; null: too large to hash. `mode`: permission bits. */
export type HostEntry =
  | { readonly kind: "absent" | "directory" | "other" }
  | { readonly kind: "file"; readonly digest: string | null; readonly mode: number };

/** A change of one path of the host, about to happen; nothing else in this daemon touches the path until it is done. */
export interface FileChange {
  /** Absolute, symlinks resolved; for a removal or a rename, a final symlink is not resolved. */
  readonly path: string;
  readonly before: HostEntry;
  /** The entry after the change; the mode is not known yet if a file is created. */
  readonly after: HostEntry;
  /** Directories that were created for it, the outermost first. */
  readonly made: readonly string[];
  readonly call?: CallId;
  /** The bytes of the file before the change. */
  content(): Promise<Uint8Array>;
}

/** What a process has seen of one file, without its content. Plain data. */
export interface SeenFile {
  /** Hash of the whole file, in hex. */
  readonly sha256: string;
  /** `injected`: it was added to the context without a request of the model. */
  readonly source: "view" | "edit" | "write" | "injected";
  /** Only a part was shown, and the model did not choose it: the file must be viewed before it is changed. */
  readonly partial?: boolean;
  /** The page that the model was shown and the file's stat just before it was read. Only from view. */
  readonly page?: SeenPage;
  /** The epoch of the context then. If it has risen since, a message was replaced, and the page may be missing. */
  readonly epoch?: number;
}

export interface SeenPage {
  readonly offset: number;
  readonly limit: number;
  readonly mtimeNs: string;
  readonly size: number;
  readonly inode: string;
}

/** One per process: 1,000 paths; the least recently used is dropped first, and has to be viewed again. */
export interface SeenFiles {
  /** Rises when a message of the context is replaced. */
  readonly epoch: number;
  /** Counts as a use. */
  get(path: string): SeenFile | undefined;
  /** Does not count as a use: for callers that must not change anything. */
  has(path: string): boolean;
  set(path: string, seen: SeenFile): void;
}

/**
 * Values that devices store for a process: journalled, restored after a restart, and in a fork as of the point of the
 * fork.
 */
export interface KeptValues {
  get(name: string): unknown;
  /** In the order in which the names were first set. */
  entries(): ReadonlyMap<string, unknown>;
  /** Plain data, at most 256 KiB; null removes the name. INVALID: too large, or more than 512 names. */
  set(name: string, value: unknown): void;
}

/** The calling process, as far as a device may know it. Passed at open; constant for the life of the file. */
export interface Caller {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** Working directory: absolute host path. */
  readonly cwd: string;
  /**
   * The environment the process was started with: for model credentials and for commands. Never journalled or shown.
   */
  readonly env: Readonly<Record<string, string>>;
  /** Fires when the process ends: everything the file started must end. */
  readonly signal: AbortSignal;
  /**
   * Fires when the process is killed: what it started gets no time to end by itself. Fires with `signal` or after it.
   */
  readonly killed?: AbortSignal;
  /** Directories the process works in: cwd first, then added ones. */
  readonly roots: readonly string[];
  /** For this opening, or this look. Absent: it needed no permission. */
  readonly covers?: Covers;
  /** Its permission mode; absent: `default`. */
  readonly mode?: PermissionMode;
  /** A client that can answer questions is attached. */
  readonly interactive?: boolean;
  /** A session: it waits for the user's next message instead of ending. */
  readonly isSession?: boolean;
  /** The name of its agent; absent: it has none. */
  readonly agent?: string;
  /** A call of an agent started it. */
  readonly isChild?: boolean;
  /** A call of its model that names no agent means a fork of it, if the settings allow that; a fork is refused one. */
  readonly forksUnnamed?: boolean;
  /** Its present model; `supportsImages`: the model accepts images and documents. */
  readonly model?: { readonly device?: string; readonly name: string; readonly supportsImages: boolean };
  /** Set for an internal fork: the process whose requests begin as its own do. */
  readonly prefixOf?: ProcUuid;
  /** The files it has seen, stored across restarts. Absent: nothing is stored. */
  readonly seen?: SeenFiles;
  /** Named values of the process, stored across restarts. Absent: nothing is stored. */
  readonly kept?: KeptValues;
  /** The skills in reach of it. Absent: none. */
  readonly skills?: () => Promise<SkillsInReach>;
  /**
   * Whether every call of a tool, named as in rules, is refused to the process. Such a tool is neither listed, found
   * nor opened: it is treated as if it did not exist. Absent: no tool is hidden.
   */
  readonly hides?: (tool: string) => boolean;
  /**
   * Takes each piece of a reply as the model device receives it: counted, and shown to clients. Asked for each attempt.
   * Absent: nobody takes them.
   */
  readonly preview?: () => (piece: StreamEvent) => void;
  /** Tells clients of a long silence within a reply. Absent: nobody is told. */
  readonly stalled?: (stall: Stall) => void;
  /** Publishes a log entry of the process (`[agent/1] log: …`). */
  log(level: "info" | "warn" | "error", message: string): void;
  /** Adds to its history a text on what a sandbox refused to one of its programs. Absent: nothing is stored. */
  readonly violation?: (text: string) => void;
  /**
   * Called by the device of host files before each change: resolves once the replaced state is stored. Rejects: the
   * change must not happen. `mode`: the permission bits that a written file gets instead of its usual ones. Absent:
   * nothing is stored.
   */
  readonly changing?: (change: FileChange) => Promise<{ readonly mode: number | null }>;
}

/**
 * What a write would do. Returned by `OpenFile.plan`, which changes nothing; the gate decides on it, then calls
 * `write`.
 */
export interface WritePlan {
  readonly effects: readonly Effect[];
  /** How to treat a crash during the act. `none` is not journalled before the act. */
  readonly effectClass: EffectClass;
  /** The contents of the dialog; absent: derived from the effects. */
  readonly view?: PermissionView;
  /** The name that rules match: `bash`, `edit`. Absent: the last segment of the device path. */
  readonly tool?: string;
  /** The subject of a tool call in one line, for attached clients: a path, a command. Absent: none. */
  readonly about?: string;
  /** Worst-case cost, reserved before the act. */
  readonly reserve?: Charge;
  /** The minimum of tokens that must be affordable for the act to make sense; default: all of `reserve`. */
  readonly reserveLeast?: number;
  /** The same minimum in dollars. */
  readonly reserveLeastUsd?: number | null;
  /**
   * A read-only check for calls that must fail anyway; runs before the user is asked, and replaces no check in the act.
   * Returns a better dialog if what it found allows one.
   */
  prepare?(sys: Syscalls): Promise<PermissionView | undefined>;
  /** Whether the call may run beside others of its turn. */
  readonly parallel?: boolean;
  /** The slot that it needs before it may begin. Absent: none. */
  readonly lane?: LaneRequest;
  /** It changes only the caller's own lists. For the policy; it does not override a deny or an ask. */
  readonly readOnly?: boolean;
}

/**
 * Whether an effect, with the place that its path leads to as `real`, is among the permitted ones. A path may lead elsewhere at any
 * moment: a device that follows one asks for the place where it is about to act.
 */
export type Covers = (effect: Effect) => boolean;

/** What the gate passes to a permitted write. */
export interface Act {
  /** Fires when the caller, its process or the fd ends. */
  readonly signal: AbortSignal;
  readonly callId: CallId;
  /** The reserved amount: possibly less than requested, and not to be exceeded. Absent: nothing was requested. */
  readonly granted?: Charge;
  /** The slot that the write holds, if its plan asked for one. */
  readonly lane?: LaneReport;
  /** Absent: the act needed no permission. */
  readonly covers?: Covers;
  /** The sandbox in which every OS process of the act must run; null: no sandbox. */
  readonly sandbox?: SandboxProfile | null;
  /**
   * For work that outlives the act: `end` is called if the user revokes the grant that permitted it and wants it ended.
   * Call the returned function once the work is over. Absent: the grant cannot be revoked.
   */
  readonly attend?: (end: () => void) => () => void;
  /** The user allowed this call to read a secret: its output is not masked. */
  readonly showsSecrets?: true;
  /** For clients that follow closely: what the act has printed so far, its last lines. Absent: it is no call of a tool. */
  readonly printed?: (output: string) => void;
  /** Variables for the environment of every OS process that the act starts; they override existing ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** The caller's handle, narrowed to the permitted effects. Only programs under /bin act through it. */
  readonly sys: Syscalls;
}

/**
 * An open file. Calls of one direction run one after another; a read may wait while a write is in progress.
 * Errors are DriverError with a documented code.
 */
export interface OpenFile {
  /** Up to `length` bytes; empty: the end of the file. */
  read(length: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Resolves when the act is over. */
  write(data: Uint8Array, act: Act): Promise<void>;
  /** Ends a call in progress and frees everything. Idempotent. */
  close(): Promise<void>;
  stat(): Promise<FileStat>;
  /**
   * Its reads settle by themselves when the signal fires: the kernel waits for them, so that data they took is not
   * lost.
   */
  readonly heedsSignal?: true;
  /** Absent: a write has no effect outside Crux. Throws INVALID for data that is not a valid request. */
  plan?(data: Uint8Array): WritePlan | Promise<WritePlan>;
  /**
   * True as soon as a part of what the write in progress, or the next one, answers is worth a read before it is over;
   * false once it is over. Absent: its answers come whole. Rejects when the signal fires.
   */
  ahead?(signal: AbortSignal): Promise<boolean>;
  /** The cost of the last write; called once after each write. */
  charge?(): Charge | undefined;
  /** How the call of the last write ended, for attached clients. Absent: there is nothing to add. */
  ending?(): CallEnd;
  /** Absent: what is read here comes from no other process. */
  readonly carried?: Carried;
}

/**
 * The labels of data that goes from one process to another. The kernel adds those of a writer before its write, and gives a reader
 * those that stand here after its read.
 */
export interface Carried {
  labels: readonly Label[];
}

export interface Device {
  readonly name: string;
  /** `message`: traced reads show a size (`892B`); `byte`: a plain number. */
  readonly traffic: "message" | "byte";
  /** `subpath` is "" or begins with "/". */
  open(subpath: string, flags: OpenFlag, caller: Caller): Promise<OpenFile>;
  /** The effects of opening a file (a plain read or write of bytes). Absent: none. */
  openEffects?(
    subpath: string,
    flags: OpenFlag,
    caller: Caller,
  ): readonly Effect[] | Promise<readonly Effect[]>;
  /** The effects when a program under /bin opens a file to show it to a model; replaces openEffects then. */
  shownEffects?(subpath: string): readonly Effect[];
  stat?(subpath: string, caller: Caller): Promise<FileStat>;
  /** The effects of stat. Absent: none. */
  statEffects?(subpath: string, caller: Caller): readonly Effect[];
  close?(): Promise<void>;
}

/** What a device of the machine is. */
export const DEVICE_KINDS = ["serial", "camera", "audio", "gpu", "gpio", "sensor", "virtual"] as const;
