/** What a client is told of a process over the binary wire. */

import { Fault } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import type { IpcStatus } from "../../../abi/methods/ipc/process.ts";
import type { ProcInfo } from "../../../abi/process.ts";
import type { Native } from "../../../kernel/ports/natives.ts";
import type { IpcCall, IpcHandler } from "./call.ts";
import { exitOf, infoOf, pastOf, pidOf } from "./process.ts";

type Flow = IpcStatus["streams"]["stdin"];

const CLOSED: Flow = { bytes: 0, droppedBytes: 0, queuedBytes: 0, open: false };

export const status: IpcHandler<"process.status"> = async (ref, call) => {
  const { scopes } = call.session;
  const past = await pastOf(ref, call);
  if (past !== undefined) {
    await scopes.hears([past.pid]);
    return past;
  }
  const pid = pidOf(ref, call);
  await scopes.hears([pid]);
  const native = call.session.kernel.natives.of(pid);
  const info = await infoOf(pid, call);
  if (info === undefined && native === undefined)
    throw new Fault({ code: "NOT_FOUND", message: `process not found: ${pid}` });
  return statusOf(pid, info, native);
};

export const list: IpcHandler<"process.list"> = async ({ kind, state, intentId }, call: IpcCall) => {
  const { kernel, scopes } = call.session;
  const procs = await kernel.init.listProcs();
  const shown = procs.filter(
    (proc) =>
      scopes.sees(proc.pid) &&
      proc.kind === (kind ?? proc.kind) &&
      proc.state === (state ?? proc.state) &&
      (intentId === undefined || intentId === intentOf(kernel.natives.of(proc.pid), proc)),
  );
  await scopes.hears(shown.map(({ pid }) => pid));
  return shown.map((proc) => statusOf(proc.pid, proc, kernel.natives.of(proc.pid)));
};

function statusOf(pid: Pid, info: ProcInfo | undefined, native: Native | undefined): IpcStatus {
  const end = native?.end ?? null;
  const exit = end ?? (info?.exit ? { exit: info.exit, endedAt: endOf(info) } : null);
  return {
    id: native?.id ?? `pid:${pid}`,
    pid,
    ppid: info?.ppid ?? native?.ppid ?? 0,
    osPid: native?.osPid ?? null,
    kind: info?.kind ?? "native",
    state: info?.state ?? "dead",
    activity: info?.activity ?? null,
    command: native === undefined ? null : [...native.command],
    cwd: native?.cwd ?? "",
    startedAt: info?.createdAt.getTime() ?? native?.startedAt ?? 0,
    elapsedMs: Math.floor(info?.elapsedMs ?? end?.elapsedMs ?? 0),
    pty: native?.isPty ?? false,
    usage: native?.usage ?? null,
    exit: exit === null ? null : exitOf(native, pid, exit),
    intentId: intentOf(native, info),
    streams: {
      stdin: native === undefined ? CLOSED : inputOf(native),
      stdout: outputOf(native, "stdout"),
      stderr: outputOf(native, "stderr"),
    },
  };
}

/** What it was started for; an agent is an intent of its own. */
function intentOf(native: Native | undefined, info: ProcInfo | undefined): string | null {
  if (native !== undefined) return native.ids.intentId ?? null;
  return info?.kind === "agent" ? `i_${info.pid}` : null;
}

function endOf({ createdAt, elapsedMs }: ProcInfo): number {
  return createdAt.getTime() + Math.floor(elapsedMs);
}

function inputOf({ input: { bytes, queuedBytes, isOpen } }: Native): Flow {
  return { bytes, droppedBytes: 0, queuedBytes, open: isOpen };
}

function outputOf(native: Native | undefined, name: "stdout" | "stderr"): Flow {
  const spool = native?.output[name];
  if (native === undefined || spool === undefined) return CLOSED;
  const { bytes, droppedBytes } = spool;
  return { bytes, droppedBytes, queuedBytes: 0, open: native.end === null };
}
