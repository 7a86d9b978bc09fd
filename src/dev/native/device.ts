/**
 * /dev/native/<pid>: a program that the caller has started. It is watched, answers with its output from where the caller
 * has stopped reading, takes input, and has the size of its window changed. What is typed into a program is judged as the
 * command that started it.
 */
import * as z from "zod";
import { type Act, type Device, type FileStat, O_RDONLY, type WritePlan } from "../../abi/device.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import type {
  NativeAnswer,
  NativeRecord,
  NativeRequest,
  NativeState,
} from "../../abi/native/native-record.ts";
import type { Native } from "../../kernel/ports/natives.ts";
import { abortable } from "../../lib/abort.ts";
import { jsonBytes } from "../answer.ts";
import { driverError } from "../driver-error.ts";
import { type Exchange, openExchange } from "../exchange-file.ts";
import { snapshotFile } from "../snapshot.ts";
import { follow, type Looked } from "./follow.ts";
import { type NativeDeps, type OwnPrograms, Programs } from "./programs.ts";

const MOUNT = "/dev/native";
/** Input that a program has not taken yet. */
const MAX_QUEUED_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 600_000;

const { exactOptional: may } = z;
const wait = z.strictObject({
  until: may(z.string().min(1).max(1_000)),
  quiet_ms: may(z.int().min(0).max(MAX_WAIT_MS)),
  timeout_ms: z.int().min(0).max(MAX_WAIT_MS),
});
const size = z.int().min(1).max(1_000);
const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("watch"), tell: may(z.string().min(1).max(1_000)), wait }),
  z.strictObject({ op: z.literal("read"), offset: may(z.int()), wait }),
  z.strictObject({ op: z.literal("write"), data: z.string().max(262_144), eof: may(z.boolean()), wait }),
  z.strictObject({ op: z.literal("resize"), cols: size, rows: size }),
]);

export function nativeDevice(deps: NativeDeps): Device {
  const programs = new Programs(deps);
  const stat: FileStat = { name: "native", size: 0, isDevice: true, devicePath: MOUNT };
  return {
    name: "native",
    traffic: "message",
    async open(subpath, flags, caller) {
      const own = programs.of(caller);
      if (subpath === "" && flags === O_RDONLY) {
        const bytes = jsonBytes(own.list());
        return snapshotFile(bytes, { ...stat, size: bytes.byteLength });
      }
      const pid = pidOf(subpath);
      return openExchange(new ProgramFile(deps, own, pid), flags, caller);
    },
    stat: async () => stat,
  };
}

function pidOf(subpath: string): Pid {
  if (/^\/[1-9]\d{0,14}$/.test(subpath)) return asPid(Number(subpath.slice(1)));
  throw driverError("Open", "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
}

class ProgramFile implements Exchange {
  readonly stat: FileStat;
  readonly #deps: NativeDeps;
  readonly #own: OwnPrograms;
  readonly #pid: Pid;

  constructor(deps: NativeDeps, own: OwnPrograms, pid: Pid) {
    this.#deps = deps;
    this.#own = own;
    this.#pid = pid;
    this.stat = { name: String(pid), size: 0, isDevice: true, devicePath: MOUNT };
  }

  plan(data: Uint8Array): WritePlan {
    const { op } = parse(data);
    if (op !== "write")
      return { effects: [{ kind: "state", path: `${MOUNT}/${this.#pid}` }], effectClass: "repeat" };
    const { command, cwd } = this.#own.find(this.#pid);
    return { effects: [{ kind: "exec", argv: command, cwd, certain: true }], effectClass: "once" };
  }

  async answer(data: Uint8Array, _act: Act, signal: AbortSignal): Promise<Uint8Array> {
    const request = parse(data);
    return jsonBytes(await this.#own.answering(this.#pid, () => this.#answered(request, signal)));
  }

  async #answered(request: NativeRequest, signal: AbortSignal): Promise<NativeAnswer> {
    if (request.op === "watch") {
      const record = this.#own.watch(this.#pid, request.tell);
      await abortable(this.#own.nativeOf(record)?.begun ?? Promise.resolve(), signal);
      return this.#read({ record, from: 0, matchFrom: 0, request }, signal);
    }
    const record = this.#own.find(this.#pid);
    if (request.op === "resize") return this.#resized(record, request, signal);
    if (request.op === "write") return this.#written(record, request, signal);
    const { offset = record.read_to } = request;
    const from = offset < 0 ? Math.max(0, this.#total(record) + offset) : offset;
    return this.#read({ record, from, matchFrom: from, request }, signal);
  }

  /** CONFLICT: it has ended. */
  #live(record: NativeRecord): Native {
    const native = this.#own.nativeOf(record);
    if (native !== undefined && native.end === null) return native;
    const how = native === undefined ? "was lost when Crux stopped" : `has ended: ${native.end?.exit.reason}`;
    throw driverError("Write", "CONFLICT", `${record.id} (process ${record.pid}) ${how}`);
  }

  #resized(
    record: NativeRecord,
    { cols, rows }: Extract<NativeRequest, { op: "resize" }>,
    signal: AbortSignal,
  ): Promise<NativeAnswer> {
    const native = this.#live(record);
    if (!native.isPty) throw driverError("Write", "INVALID", `${record.id} does not run on a terminal`);
    native.resize({ cols, rows });
    const from = record.read_to;
    return this.#read({ record, from, matchFrom: from, request: { wait: { timeout_ms: 0 } } }, signal);
  }

  /** Resolves when the wait is over, whether or not the program has taken all of it. */
  async #written(
    record: NativeRecord,
    request: Extract<NativeRequest, { op: "write" }>,
    signal: AbortSignal,
  ): Promise<NativeAnswer> {
    const native = this.#live(record);
    const bytes = Buffer.from(request.data, "utf8");
    const { queuedBytes } = native.input;
    if (queuedBytes + bytes.byteLength > MAX_QUEUED_BYTES)
      throw driverError("Write", "UNAVAILABLE", `${record.id} has not taken ${queuedBytes} bytes yet`);
    const matchFrom = this.#total(record);
    let refusal: unknown;
    const written = bytes.byteLength === 0 ? Promise.resolve() : native.write(bytes);
    written.catch((error: unknown) => {
      refusal = error;
    });
    if (request.eof === true) native.endInput();
    const answer = await this.#read({ record, from: record.read_to, matchFrom, request }, signal);
    // that it ended meanwhile says more than that it did not read
    if (refusal !== undefined && answer.state === "running") throw refusal;
    return answer;
  }

  #total(record: NativeRecord): number {
    return this.#own.nativeOf(record)?.log?.bytes ?? record.read_to;
  }

  async #read({ record, from, matchFrom, request }: ReadWish, signal: AbortSignal): Promise<NativeAnswer> {
    const reader = this.#own.reader(record, from);
    const { clock } = this.#deps;
    const followed: Looked =
      reader === undefined
        ? { output: "", next: from, dropped: 0, wokenBy: "end" }
        : await follow(reader, { from, matchFrom, wait: request.wait }, { clock, signal });
    const native = this.#own.nativeOf(record);
    // its streams end just before it does
    if (followed.wokenBy === "end" && native !== undefined) await abortable(native.told, signal);
    const state = stateOf(native);
    this.#own.readTo(record, Math.max(record.read_to, followed.next), state !== "running");
    return {
      id: record.id,
      pid: record.pid,
      state,
      exit_code: native?.end?.exit.code ?? null,
      reason: native?.end?.exit.reason ?? "",
      output: followed.output,
      next_offset: followed.next,
      total_bytes: Math.max(followed.next, this.#total(record)),
      dropped_bytes: followed.dropped,
      woken_by: followed.wokenBy,
      unwritten_bytes: native?.input.queuedBytes ?? 0,
    };
  }
}

interface ReadWish {
  readonly record: NativeRecord;
  readonly from: number;
  readonly matchFrom: number;
  readonly request: Pick<Extract<NativeRequest, { op: "read" }>, "wait">;
}

function stateOf(native: Native | undefined): NativeState {
  if (native === undefined) return "lost";
  if (native.end === null) return "running";
  return native.end.exit.kind === "killed" ? "killed" : "exited";
}

function parse(bytes: Uint8Array): NativeRequest {
  try {
    return REQUEST.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    const message = cause instanceof z.ZodError ? (cause.issues[0]?.message ?? "") : "not JSON";
    throw driverError("Write", "INVALID", `native: ${message}`, cause);
  }
}
