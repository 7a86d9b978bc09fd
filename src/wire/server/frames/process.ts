/** Programs of the host over the binary wire: start, steer, wait, look. */
import { Fault } from "../../../abi/errors.ts";
import { asPid, PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import { IPC } from "../../../abi/ipc.ts";
import type { IpcParams, IpcResult } from "../../../abi/methods/ipc/methods.ts";
import type { IpcExit, IpcSpawnOptions, IpcStatus } from "../../../abi/methods/ipc/process.ts";
import type { NativeOptions } from "../../../abi/native.ts";
import { type ProcInfo, SIGNALS, type Signal } from "../../../abi/process.ts";
import type { Syscalls } from "../../../abi/sys.ts";
import type { Intent } from "../../../kernel/ports/intents.ts";
import type { Native, Natives } from "../../../kernel/ports/natives.ts";
import type { Requested } from "../../../kernel/ports/requests.ts";
import { abortable } from "../../../lib/abort.ts";
import { exitReport } from "../../../lib/exit-report.ts";
import { bytesIn, invalid } from "../request.ts";
import type { IpcCall, IpcHandler } from "./call.ts";
import { checkGoesOn, idsOf } from "./ids.ts";
import { checkHold } from "./stdin-hold.ts";

const WINDOW = { cols: 80, rows: 24 };
const TERM = "xterm-256color";

export interface Ref {
  readonly id?: string | undefined;
  readonly pid?: number | undefined;
}

/** NOT_FOUND: the caller sees no such process. INVALID: not exactly one name. */
export function pidOf(ref: Ref, call: IpcCall): Pid {
  const pid = findPid(ref, call);
  if (pid !== undefined) return pid;
  throw notFound(ref.id ?? ref.pid);
}

/** undefined: the caller sees no such process. INVALID: not exactly one name. */
function findPid({ id, pid }: Ref, { session }: IpcCall): Pid | undefined {
  if ((id === undefined) === (pid === undefined)) throw invalid("params: either id or pid is needed");
  const { scopes, kernel } = session;
  if (pid !== undefined) return pid !== PID_KERNEL && scopes.sees(pid) ? asPid(pid) : undefined;
  const named = kernel.natives.list().filter((native) => native.id === id && scopes.sees(native.pid));
  // its own come before those of others, the live before the ended, the new before the old
  const rank = (native: Native) =>
    (native.ppid === scopes.actor ? 2 : 0) + (native.end === null ? 1 : 0) + native.pid / 2 ** 53;
  const best = named.reduce<Native | undefined>(
    (found, each) => (found === undefined || rank(each) > rank(found) ? each : found),
    undefined,
  );
  return best?.pid;
}

/** A program of an earlier daemon, as its events tell; undefined: the reference names none. */
export async function pastOf(ref: Ref, call: IpcCall): Promise<IpcStatus | undefined> {
  const { kernel, scopes } = call.session;
  const pid = findPid(ref, call);
  if (pid !== undefined && kernel.natives.of(pid) !== undefined) return undefined;
  const sees = (each: number | undefined): boolean => scopes.seesEvent(each);
  const { state } = await kernel.intents.project({ projection: "processes", pid, sees });
  const known = Object.values(state as Record<string, IpcStatus & { readonly ready: boolean }>);
  const found = known.findLast((each) => each.pid === pid || each.id === ref.id);
  if (found === undefined || found.exit === null) return undefined;
  const { ready: _ready, ...status } = found;
  return status;
}

/** NOT_FOUND also for a pid that belongs to no process. */
export async function knownPid(ref: Ref, call: IpcCall): Promise<Pid> {
  const pid = pidOf(ref, call);
  const isKnown =
    call.session.kernel.natives.of(pid) !== undefined || (await infoOf(pid, call)) !== undefined;
  if (isKnown) return pid;
  throw notFound(pid);
}

/** INVALID: a process without streams. */
export async function nativeOf(ref: Ref, call: IpcCall): Promise<Native> {
  const pid = await knownPid(ref, call);
  const native = call.session.kernel.natives.of(pid);
  if (native === undefined)
    throw invalid(`process ${pid} has no streams: it was not started by process.spawn`);
  return native;
}

function notFound(what: string | number | undefined): Fault {
  return new Fault({ code: "NOT_FOUND", message: `process not found: ${what}` });
}

/** What acts in the caller's name, through the gate. PERMISSION: an agent acts only by its own calls. */
export function handsOf({ context, session }: IpcCall): Syscalls {
  const { principal } = context;
  const sys = principal.kind === "process" ? principal.client.sys : session.kernel.init;
  if (sys !== null) return sys;
  throw new Fault({ code: "PERMISSION", message: "only a program of a process of its own may do this" });
}

/** NOT_FOUND: another's process; only the user reaches all. */
export function controlled(pid: Pid, call: IpcCall): Pid {
  const { principal } = call.context;
  const isOwn = principal.kind !== "process" || principal.client.controls(pid);
  if (!isOwn && !call.session.scopes.hasSeenEnd(pid)) throw notFound(pid);
  return pid;
}

export const spawn: IpcHandler<"process.spawn"> = async ({ id, command, options = {} }, call) => {
  const { scopes, kernel } = call.session;
  for (const scope of options.scopes ?? []) scopes.require(scope, "options.scopes");
  checkLimits(options);
  const ids = idsOf(call);
  const intent = await intentOf(ids.intentId, call);
  if (intent !== undefined) checkGoesOn(intent);
  const opts = {
    command,
    options: { ...nativeOptions(id, options), ids },
    ...(options.group === undefined ? {} : { group: options.group }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(call.request === undefined ? {} : { request: call.request }),
  };
  const pid = await handsOf(call).spawn("", null, opts);
  const native = kernel.natives.of(pid);
  await native?.begun;
  if (native === undefined) throw new Fault({ code: "INTERNAL", message: `process ${pid} has no streams` });
  const now = await intentOf(ids.intentId, call);
  // it was cancelled meanwhile
  if (now !== undefined && (now.deadline !== null || now.outcome === "cancelled"))
    void kernel.init.kill(pid, SIGNALS.SIGTERM).catch(() => {});
  if (options.onDisconnect === "terminate") {
    const over = call.session.atEnd(() => void kernel.init.kill(pid, SIGNALS.SIGTERM).catch(() => {}));
    void native.told.then(over);
  }
  return spawned(native);
};

async function intentOf(id: string | undefined, { session }: IpcCall): Promise<Intent | undefined> {
  if (id === undefined) return undefined;
  await session.kernel.intents.ready();
  return session.kernel.intents.find(id);
}

/** UNAVAILABLE, by name: what this machine cannot enforce. Nothing has been started then. */
function checkLimits({ limits = {} }: IpcSpawnOptions): void {
  const [name] = Object.entries(limits).find(([, limit]) => limit !== undefined) ?? [];
  if (name === undefined || process.platform === "linux") return;
  const option = `limits.${name}`;
  const message = `${option}: this machine cannot enforce it`;
  throw new Fault({ code: "UNAVAILABLE", message, details: { option } });
}

function nativeOptions(id: string, options: IpcSpawnOptions): NativeOptions {
  const { env, pty, limits, timeoutMs, scopes, spoolBytes, onSpoolFull, confined, stdin = "pipe" } = options;
  const { cols = WINDOW.cols, rows = WINDOW.rows, term = TERM } = typeof pty === "object" ? pty : {};
  return {
    id,
    stdin,
    ...(env === undefined ? {} : { env }),
    ...(pty === undefined || pty === false ? {} : { pty: { cols, rows, term } }),
    ...(limits?.cpu === undefined ? {} : { cpuCores: limits.cpu }),
    ...(limits?.memory === undefined ? {} : { memoryBytes: limits.memory }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(spoolBytes === undefined ? {} : { spoolBytes }),
    ...(onSpoolFull === undefined ? {} : { onSpoolFull }),
    ...(confined === undefined ? {} : { confined }),
  };
}

export function streamsOf({ pid, output, input }: Native): IpcResult<"process.attach">["streams"] {
  return {
    stdin: input.isOpen ? `p${pid}.stdin` : null,
    stdout: output.stdout === undefined ? null : `p${pid}.stdout`,
    stderr: output.stderr === undefined ? null : `p${pid}.stderr`,
  };
}

/** Its daemon may have died before it could tell that the program has started. */
export function recall(
  { id, command, options = {} }: IpcParams<"process.spawn">,
  pid: Pid,
  call: IpcCall,
): Promise<void> {
  const { kernel, scopes } = call.session;
  const { pty } = nativeOptions(id, options);
  const known = { id, pid, ppid: scopes.actor, command, cwd: options.cwd ?? "", pty: pty !== undefined };
  return kernel.intents.recall({ ...known, ids: idsOf(call) });
}

/**
 * The answer to a request that has started its process before, as it was then. An OS process ends with its daemon, so
 * that of an earlier daemon has no pid any more.
 */
export function startedBefore(
  { id, options = {} }: IpcParams<"process.spawn">,
  { pid, at }: Requested,
  natives: Natives,
): IpcResult<"process.spawn"> {
  const native = natives.of(pid);
  if (native !== undefined) return spawned(native);
  const { pty, stdin } = nativeOptions(id, options);
  const isPty = pty !== undefined;
  const streams = {
    stdin: isPty || stdin === "pipe" ? `p${pid}.stdin` : null,
    stdout: `p${pid}.stdout`,
    stderr: isPty ? null : `p${pid}.stderr`,
  };
  return { id, pid, osPid: null, startedAt: at, pty: isPty, streams };
}

function spawned(native: Native): IpcResult<"process.spawn"> {
  const { id, pid, osPid = null, startedAt, isPty } = native;
  return { id, pid, osPid, startedAt, pty: isPty, streams: streamsOf(native) };
}

export const kill: IpcHandler<"process.kill"> = async (
  { signal = SIGNALS.SIGTERM, graceMs, ...ref },
  call,
) => {
  const state = await signalled(ref, signal as Signal, call);
  if (signal === SIGNALS.SIGTERM) killLater(pidOf(ref, call), graceMs, call);
  return state;
};

/** Of a server, by process: when KILL follows. One wait for each, however often TERM is sent. */
const kills = new WeakMap<object, Map<Pid, { readonly at: number; readonly stop: AbortController }>>();

/** The kernel's own grace follows each TERM of a native; a shorter one is this caller's. The earliest KILL counts. */
function killLater(pid: Pid, graceMs: number | undefined, { session, context: { clock } }: IpcCall): void {
  if (graceMs === undefined) return;
  const { kernel } = session;
  const all = kills.get(clock) ?? new Map();
  kills.set(clock, all);
  const at = clock.mono() + graceMs;
  const before = all.get(pid);
  if (before !== undefined && before.at <= at) return;
  before?.stop.abort();
  const stop = new AbortController();
  all.set(pid, { at, stop });
  clock
    .sleep(graceMs, stop.signal)
    .then(() => {
      all.delete(pid);
      return kernel.init.kill(pid, SIGNALS.SIGKILL);
    })
    .catch(() => {});
}

export async function signalled(ref: Ref, signal: Signal, call: IpcCall): Promise<IpcResult<"process.kill">> {
  const pid = controlled(pidOf(ref, call), call);
  const hands = handsOf(call);
  const found = await infoOf(pid, call);
  if (found !== undefined && found.state !== "zombie" && found.state !== "dead")
    await hands.kill(pid, signal);
  else if (found === undefined && call.session.kernel.natives.of(pid) === undefined) throw notFound(pid);
  const now = await infoOf(pid, call);
  return { state: now?.state ?? "dead", activity: now?.activity ?? null };
}

export async function infoOf(pid: Pid, { session }: IpcCall): Promise<ProcInfo | undefined> {
  const [found] = await session.kernel.init.listProcs({ after: asPid(pid - 1), limit: 1 });
  return found?.pid === pid ? found : undefined;
}

export const wait: IpcHandler<"process.wait"> = async ({ timeoutMs, ...ref }, call) => {
  const past = await pastOf(ref, call);
  if (past?.exit) return past.exit;
  const pid = pidOf(ref, call);
  const { kernel } = call.session;
  const native = kernel.natives.of(pid);
  const over = new AbortController();
  if (timeoutMs !== undefined)
    call.context.clock.sleep(timeoutMs, call.signal).then(
      () =>
        over.abort(
          new Fault({ code: "TIMEOUT", message: `process ${pid} still runs after ${timeoutMs} ms` }),
        ),
      () => {},
    );
  const stop = () => over.abort(call.signal.reason);
  call.signal.addEventListener("abort", stop, { once: true });
  try {
    const { exit } = await abortable(kernel.waitFor(pid, over.signal), over.signal);
    await call.session.delivered(pid);
    await call.session.caughtUp((await native?.told) ?? 0);
    const end = native?.end;
    return exitOf(native, pid, end ?? { exit, endedAt: Math.floor(call.context.clock.now()) });
  } finally {
    call.signal.removeEventListener("abort", stop);
  }
};

/** `native` undefined: the process was not started by process.spawn, and is named by its pid. */
export function exitOf(
  native: Native | undefined,
  pid: Pid,
  end: Pick<NonNullable<Native["end"]>, "exit" | "endedAt">,
): IpcExit {
  return exitReport(native ?? { id: `pid:${pid}`, pid, usage: null }, end);
}

export const write: IpcHandler<"process.stdin.write"> = async (params, call) => {
  const { data, encoding = "utf8", eof = false, ...ref } = params;
  const native = await nativeOf(ref, call);
  controlled(native.pid, call);
  checkHold(native, call.session);
  const bytes = bytesIn(data, encoding);
  // the answer waits only for what is beyond the bound
  const written = bytes.byteLength === 0 ? Promise.resolve() : native.write(bytes);
  if (eof) native.endInput();
  if (native.input.queuedBytes > IPC.queuedInputBytes || !native.input.isOpen) await written;
  else await Promise.race([written, new Promise((resolve) => setImmediate(resolve))]);
  written.catch(() => {});
  return { written: bytes.byteLength, queuedBytes: native.input.queuedBytes };
};
