/** Branded identifiers, so that no other number can pass for a pid. All rise by one and are never reused. */
declare const brand: unique symbol;
type Id<B extends string> = number & { readonly [brand]: B };

/** 1, 2, 3 … over the whole life of the state directory; 0 is the kernel itself and every client command. */
export type Pid = Id<"Pid">;
/** 3, 4, 5 … per process; 0, 1, 2 are reserved for stdin, stdout and stderr. */
export type Fd = Id<"Fd">;
/** 1, 2, 3 … per kernel. */
export type CtxId = Id<"CtxId">;
/** 1, 2, 3 … per kernel: a process group. */
export type Pgid = Id<"Pgid">;
/** 1, 2, 3 … per process: a thread. */
export type Tid = Id<"Tid">;
/** 1, 2, 3 … per process: a coroutine. */
export type CoId = Id<"CoId">;
/** The name of a process that survives restarts and machines: a UUID. */
export type ProcUuid = string & { readonly [brand]: "ProcUuid" };
/** One gated call: `c_` and hex digits. It names the call in the journal and its output under /var/out. */
export type CallId = string & { readonly [brand]: "CallId" };

export const asPid = (n: number): Pid => n as Pid;
export const asFd = (n: number): Fd => n as Fd;
export const asCtxId = (n: number): CtxId => n as CtxId;
export const asPgid = (n: number): Pgid => n as Pgid;
export const asTid = (n: number): Tid => n as Tid;
export const asCoId = (n: number): CoId => n as CoId;
export const asProcUuid = (s: string): ProcUuid => s as ProcUuid;
export const asCallId = (s: string): CallId => s as CallId;

/** The kernel's own pid, and the caller of every client command. */
export const PID_KERNEL = asPid(0);
