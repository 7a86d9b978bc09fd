/** Attachments to programs, and subscriptions to their output, over the binary wire. */
import { Fault } from "../../../abi/errors.ts";
import { asPid, type Pid } from "../../../abi/ids.ts";
import type { IpcResult } from "../../../abi/methods/ipc/methods.ts";
import type { PastOutput, StreamName } from "../../../kernel/ports/natives.ts";
import { invalid } from "../request.ts";
import type { IpcCall, IpcHandler, Session } from "./call.ts";
import { controlled, nativeOf, pastOf, type Ref, streamsOf } from "./process.ts";
import { checkHold, releaseHold, takeHold } from "./stdin-hold.ts";
import { type FrameOutput, StreamSubscription } from "./stream-subscription.ts";

const WINDOW = 262_144;
const NAMES: readonly StreamName[] = ["stdout", "stderr"];

export const attach: IpcHandler<"process.attach"> = async ({ stdin = false, ...ref }, call) => {
  const { session } = call;
  const past = await pastOutputOf(ref, call);
  if (past !== undefined) return attachPast(past, stdin, session);
  const native = await nativeOf(ref, call);
  if (stdin) {
    session.scopes.require("control", "process.attach with stdin");
    controlled(native.pid, call);
    checkHold(native, session);
    if (!native.input.isOpen) throw invalid(`process ${native.pid} has no stdin`);
    takeHold(native, session);
  }
  const release = (): void => {
    if (stdin) releaseHold(native, session);
  };
  const attachment = session.attach(release);
  return { attachment, streams: streamsOf(native), offsets: offsetsOf(native), pty: native.isPty };
};

/** What is kept of it, if anything. */
function attachPast(past: Past, stdin: boolean, session: Session): IpcResult<"process.attach"> {
  const { pid, output, isPty } = past;
  wanted(past);
  if (stdin) throw invalid(`process ${pid} has no stdin`);
  const named = (name: StreamName) => (output[name] === undefined ? null : `p${pid}.${name}`);
  const streams = { stdin: null, stdout: named("stdout"), stderr: named("stderr") };
  return { attachment: session.attach(() => {}), streams, offsets: offsetsOf(past), pty: isPty };
}

function offsetsOf({ output }: Pick<Writing, "output">): Partial<Record<StreamName, number>> {
  const { stdout, stderr } = output;
  return {
    ...(stdout === undefined ? {} : { stdout: stdout.bytes }),
    ...(stderr === undefined ? {} : { stderr: stderr.bytes }),
  };
}

export const subscribe: IpcHandler<"process.stream.subscribe"> = async (params, call) => {
  const { stream, filter, mode = "chunk", from = "now", window = WINDOW, prefix = "", ...ref } = params;
  const { session } = call;
  const named = stream === undefined ? ref : { ...ref, pid: pidIn(stream, ref.pid) };
  const native = (await pastOutputOf(named, call)) ?? (await nativeOf(named, call));
  const names = wanted(native, stream === undefined ? filter : nameIn(stream));
  await session.scopes.hears([native.pid]);
  session.checkRoom(names.length);
  const subscriptions: Partial<Record<StreamName, string>> = {};
  const offsets: Partial<Record<StreamName, number>> = {};
  for (const name of names) {
    const spool = native.output[name];
    if (spool === undefined) continue;
    const position = from === "now" ? spool.bytes : from === "start" ? 0 : from;
    const limit = session.features.has("flow") ? window : Infinity;
    const wish = { native, stream: name, spool, from: position, mode, prefix, window: limit };
    subscriptions[name] = session.subscribe(
      (id) => new StreamSubscription({ ...wish, name: id }, heard(native.pid, session)),
    );
    offsets[name] = position;
  }
  return { subscriptions, offsets };
};

/** What its program has read meanwhile counts for each chunk: the labels that it holds do so at once. */
function heard(pid: Pid, { output, scopes }: Session): FrameOutput {
  return {
    room: () => output.room(),
    send: (frames, onSent) => {
      scopes.hears([pid]).catch(() => {});
      output.send(frames, onSent);
    },
  };
}

interface Writing {
  readonly id: string;
  readonly pid: Pid;
  readonly output: PastOutput;
}

/** Its program ended under an earlier daemon. */
interface Past extends Writing {
  readonly isPast: true;
  readonly isPty: boolean;
}

/** undefined: the program is known to this daemon, or to none. */
async function pastOutputOf(ref: Ref, call: IpcCall): Promise<Past | undefined> {
  const past = await pastOf(ref, call);
  if (past === undefined) return undefined;
  const pid = asPid(past.pid);
  const { stdout, stderr } = past.streams;
  const written = { stdout: stdout.bytes, stderr: stderr.bytes };
  const output = await call.session.kernel.natives.past(pid, written);
  return { id: past.id, pid, output, isPast: true, isPty: past.pty };
}

/** INVALID: the program has no such stream. NOT_FOUND: nothing of it is kept. */
function wanted(native: Writing | Past, filter: StreamName | "all" = "all"): readonly StreamName[] {
  const names = NAMES.filter(
    (name) => native.output[name] !== undefined && (filter === "all" || filter === name),
  );
  if (names.length > 0) return names;
  if (!("isPast" in native)) throw invalid(`no such stream: process ${native.pid} has no ${filter}`);
  const what = filter === "all" ? "output" : filter;
  throw new Fault({ code: "NOT_FOUND", message: `nothing is kept of the ${what} of process ${native.pid}` });
}

const STREAM = /^p(\d{1,15})\.(stdout|stderr)$/;

/** `named`: what stands beside it; a stream is a name by itself. */
function pidIn(stream: string, named: number | undefined): number {
  if (named !== undefined) throw invalid("params: either id, pid or stream is needed");
  const [, pid] = STREAM.exec(stream) ?? [];
  if (pid === undefined) throw invalid(`no such stream: ${stream}`);
  return Number(pid);
}

function nameIn(stream: string): StreamName {
  return stream.endsWith(".stderr") ? "stderr" : "stdout";
}
