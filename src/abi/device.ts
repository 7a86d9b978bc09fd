/** Files: everything an agent touches is opened, written, read and closed. A device is what lies behind a mounted path. */
import type { CallEnd } from "./call-note.ts";
import type { Charge, Effect, EffectClass, PermissionView } from "./effects.ts";
import type { CallId, Pid, ProcUuid } from "./ids.ts";
import type { PermissionMode } from "./process.ts";
import type { SandboxProfile } from "./sandbox.ts";
import type { Syscalls } from "./sys.ts";

export const O_RDONLY = 0;
export const O_WRONLY = 1;
export const O_RDWR = 2;
export type OpenFlag = 0 | 1 | 2;

export interface FileStat {
  name: string;
  /** Bytes; 0 where a device has no size. */
  size: number;
  isDevice: boolean;
  /** The path at which the device is mounted. */
  devicePath: string;
  /** What a program under /bin tells of itself. */
  tool?: ToolStat;
  /** What a file of the host is. */
  host?: HostStat;
}

/** The entry to which a path of the host leads, links resolved. */
export interface HostStat {
  kind: "file" | "directory" | "symlink" | "fifo" | "socket" | "device";
  /** Nanoseconds since the epoch, decimal. */
  mtimeNs: string;
  inode: string;
  /** Permission bits. */
  mode: number;
}

/** The public face of a tool: what `stat("/bin/<tool>")` returns and what a model is sent. */
export interface ToolStat {
  name: string;
  /** Text for the model; constant bytes. */
  description: string;
  /** JSON Schema 2020-12, terse. */
  inputSchema: Record<string, unknown>;
  /** May it run beside other calls of the same turn, whatever its arguments? Per call: WritePlan.parallel. */
  parallel: boolean;
  maxResultChars: number;
  /** Words to be found by. */
  readonly hint?: string;
  /** `deferred`: not sent with each request, found by search. */
  readonly listed?: "core" | "deferred";
  /** Changes nothing outside Crux's own lists, whatever its arguments. */
  readonly readOnly?: boolean;
  /** Its results may be left out of a context that grows too long. */
  readonly compactable?: boolean;
}

/** What lies at a path of the host. `digest`: SHA-256 in hex; null: too large to be looked at. `mode`: permission bits. */
export type HostEntry =
  | { readonly kind: "absent" | "directory" | "other" }
  | { readonly kind: "file"; readonly digest: string | null; readonly mode: number };

/** A change of one path of the host, about to happen; nobody else of this daemon touches the path until it is over. */
export interface FileChange {
  /** Absolute, symlinks resolved; of what is removed or renamed, the entry itself. */
  readonly path: string;
  readonly before: HostEntry;
  /** What will lie there; the mode is not known yet where a file is made. */
  readonly after: HostEntry;
  /** Directories that were made for it, the outermost first. */
  readonly made: readonly string[];
  readonly call?: CallId;
  /** Of a file before: its bytes. */
  content(): Promise<Uint8Array>;
}

/** What a process has seen of one file: marks, no content. Plain data. */
export interface SeenFile {
  /** Of the whole file, hex. */
  readonly sha256: string;
  /** `injected`: it was put before the model without being asked for. */
  readonly source: "view" | "edit" | "write" | "injected";
  /** Not all of it was shown, and nobody chose what: it must be viewed before it is changed. */
  readonly partial?: boolean;
  /** The page that the model was shown and the file's stat just before it was read. Only from view. */
  readonly page?: SeenPage;
  /** Of the context: a message of it was replaced since, so that the page may be gone from it. */
  readonly epoch?: number;
}

export interface SeenPage {
  readonly offset: number;
  readonly limit: number;
  readonly mtimeNs: string;
  readonly size: number;
  readonly inode: string;
}

/** One per process: 1,000 paths; the least recently used is forgotten first, and has to be viewed again. */
export interface SeenFiles {
  /** Rises when a message of the context is replaced. */
  readonly epoch: number;
  /** Counts as a use. */
  get(path: string): SeenFile | undefined;
  /** Looks without counting as a use: for what must change nothing. */
  has(path: string): boolean;
  set(path: string, seen: SeenFile): void;
}

/** What devices keep for a process: journalled, there again after a restart, and in a fork as at the place of the fork. */
export interface KeptValues {
  get(name: string): unknown;
  /** In the order in which the names came to be. */
  entries(): ReadonlyMap<string, unknown>;
  /** Plain data, at most 256 KiB; null: forgotten. INVALID: too large, or more than 512 names. */
  set(name: string, value: unknown): void;
}

/** Who calls, as a device may know it. Handed over at open; constant for the life of the file. */
export interface Caller {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** Working directory: absolute host path. */
  readonly cwd: string;
  /** The environment the process was started with: for model credentials and for commands. Never journalled or shown. */
  readonly env: Readonly<Record<string, string>>;
  /** The process ends: everything the file started must end. */
  readonly signal: AbortSignal;
  /** It was killed: what it started gets no time to end by itself. Fires with `signal` or after it. */
  readonly killed?: AbortSignal;
  /** Directories the process works in: cwd first, then added ones. */
  readonly roots: readonly string[];
  /** Its permission mode; absent: `default`. */
  readonly mode?: PermissionMode;
  /** A client that can answer questions is attached. */
  readonly interactive?: boolean;
  /** A person talks to it: it waits for the next message instead of ending. */
  readonly isSession?: boolean;
  /** Its model, as it is now; `supportsImages`: it is shown pictures and documents. */
  readonly model?: { readonly device?: string; readonly name: string; readonly supportsImages: boolean };
  /** What it has seen of files; kept through restarts. Absent: nothing is kept. */
  readonly seen?: SeenFiles;
  /** Named values of the process, kept through restarts. Absent: nothing is kept. */
  readonly kept?: KeptValues;
  /**
   * Is every call of this tool refused to it, by the name that rules have for it? Then there is none: it is neither listed, found
   * nor opened, and what is said of it is what is said of one that never was. Absent: none is.
   */
  readonly hides?: (tool: string) => boolean;
  /** Publishes a log entry of the process (`[agent/1] log: …`). */
  log(level: "info" | "warn" | "error", message: string): void;
  /** Keeps with its history what a sandbox refused one of its programs, in words. Absent: nothing is kept. */
  readonly violation?: (text: string) => void;
  /**
   * Called by the device of host files before each change: resolves once what is replaced is kept. Rejects: the change may not
   * happen. `mode`: the permission bits that a written file gets, instead of those it would have. Absent: nothing is kept.
   */
  readonly changing?: (change: FileChange) => Promise<{ readonly mode: number | null }>;
}

/** What a write would do. Made by `OpenFile.plan`, which changes nothing; the gate decides on it, then calls `write`. */
export interface WritePlan {
  readonly effects: readonly Effect[];
  /** What a crash in the middle means. `none` is not journalled before the act. */
  readonly effectClass: EffectClass;
  /** The dialog; absent: made from the effects. */
  readonly view?: PermissionView;
  /** The name rules match: `bash`, `edit`. Absent: the last segment of the device path. */
  readonly tool?: string;
  /** What a call of a tool is about, in one line, for who follows it: a path, a command. Absent: nothing to say. */
  readonly about?: string;
  /** Worst-case cost, reserved before the act. */
  readonly reserve?: Charge;
  /** The least that must be affordable for the act to make sense; default: all of `reserve`. Tokens. */
  readonly reserveLeast?: number;
  /** The same in dollars. */
  readonly reserveLeastUsd?: number | null;
  /**
   * Read-only look for what must fail anyway; run before a person is asked, never instead of checks in the act. Gives the dialog
   * where what was seen makes a better one.
   */
  prepare?(sys: Syscalls): Promise<PermissionView | undefined>;
  /** May it run beside other calls of its turn? */
  readonly parallel?: boolean;
  /** It changes nothing but the caller's own lists; for the policy, where it lifts no deny and no ask. */
  readonly readOnly?: boolean;
}

/** What the gate hands to a write that was permitted. */
export interface Act {
  /** Fires when the caller, its process or the fd ends. */
  readonly signal: AbortSignal;
  readonly callId: CallId;
  /** What was set aside for it: it may be less than it asked for, and it is to cost no more. Absent: it asked for nothing. */
  readonly granted?: Charge;
  /** Within which every OS process that the act starts must run; null: as the host is. */
  readonly sandbox?: SandboxProfile | null;
  /**
   * For what outlives the act: `end` is called when a person takes back what it was permitted by, and wants it ended. The result
   * takes that back, once it is over. Absent: nobody can.
   */
  readonly attend?: (end: () => void) => () => void;
  /** A person let the caller read a secret by this call: what it gives is not hidden. */
  readonly showsSecrets?: true;
  /** Set in the environment of every OS process that the act starts, over what it would have. */
  readonly env?: Readonly<Record<string, string>>;
  /** The caller's handle, narrowed to the permitted effects. Only programs under /bin act through it. */
  readonly sys: Syscalls;
}

/**
 * An open file. Calls of one direction run one after another; a read may wait beside a write that is under way.
 * Errors are DriverError with a documented code.
 */
export interface OpenFile {
  /** Up to `length` bytes; empty is the end. */
  read(length: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Resolves when the act is over. */
  write(data: Uint8Array, act: Act): Promise<void>;
  /** Ends a call that is under way and frees everything. Idempotent. */
  close(): Promise<void>;
  stat(): Promise<FileStat>;
  /** Its reads settle by themselves when the signal fires: they are not left alone, so that what they took is not lost. */
  readonly heedsSignal?: true;
  /** Absent: a write has no effect outside Crux. Throws INVALID for data that cannot be a request. */
  plan?(data: Uint8Array): WritePlan | Promise<WritePlan>;
  /** What the last write cost; asked once after each write. */
  charge?(): Charge | undefined;
  /** How the call of the last write ended, for who follows it. Absent: that it was written says it all. */
  ending?(): CallEnd;
}

export interface Device {
  readonly name: string;
  /** `message`: traced reads show a size (`892B`); `byte`: a plain number. */
  readonly traffic: "message" | "byte";
  /** `subpath` is "" or begins with "/". */
  open(subpath: string, flags: OpenFlag, caller: Caller): Promise<OpenFile>;
  /** What opening would do (a plain read or write of bytes). Absent: nothing. */
  openEffects?(
    subpath: string,
    flags: OpenFlag,
    caller: Caller,
  ): readonly Effect[] | Promise<readonly Effect[]>;
  /** What a program under /bin does that opens a file here to show a model what it holds; in place of openEffects. */
  shownEffects?(subpath: string): readonly Effect[];
  stat?(subpath: string, caller: Caller): Promise<FileStat>;
  /** What stat shows of the world. Absent: nothing. */
  statEffects?(subpath: string, caller: Caller): readonly Effect[];
  close?(): Promise<void>;
}
