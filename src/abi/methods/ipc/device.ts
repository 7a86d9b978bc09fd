/** Devices of the machine (kernel IPC chapter, 5.3). */
import * as z from "zod";
import { DEVICE_KINDS } from "../../device.ts";
import { IPC } from "../../ipc.ts";
import { pid } from "../spec.ts";
import { chunk } from "./process.ts";
import { type IpcMethodSpec, timeMs } from "./spec.ts";

const int = z.int();
const claim = z.string().min(1).max(128);
const stream = z.string().min(1).max(128);

const kind = z.enum(DEVICE_KINDS);
const id = z
  .string()
  .regex(
    /^(?=.{1,128}$)[A-Za-z0-9_][A-Za-z0-9._-]*(\/[A-Za-z0-9_][A-Za-z0-9._-]*)*$/,
    "must be words of A-Z a-z 0-9 . _ -, joined by /",
  );
export const mode = z.enum(["exclusive", "shared"]);
export type ClaimMode = z.infer<typeof mode>;

export const record = z.strictObject({
  id: z.string(),
  path: z.string(),
  kind,
  name: z.string(),
  driver: z.string(),
  state: z.enum(["free", "claimed", "gone"]),
  modes: z.array(z.enum(["read", "write", "stream"])),
  /** Of several shared claims the first. `expiresAt` null: a process has it open as a file. */
  claim: z.strictObject({ pid, mode, expiresAt: timeMs.nullable() }).nullable(),
  meta: z.record(z.string(), z.unknown()),
});
export type DeviceRecord = z.infer<typeof record>;

export const IPC_DEVICE_METHODS = {
  "device.list": {
    summary: "the devices of the machine that the kernel knows, by id, and who holds them",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ kind: kind.optional() }),
    result: z.array(record),
  },
  "device.claim": {
    summary: "take a device for a time, alone or to read it with others; with `claim` renew a claim",
    kind: "request",
    right: "device",
    idempotent: false,
    errors: ["CONFLICT", "NOT_FOUND", "UNAVAILABLE"],
    params: z.strictObject({
      device: id.optional(),
      claim: claim.optional(),
      mode: mode.optional(),
      ttlMs: int.min(1_000).max(3_600_000).optional(),
      waitMs: int.min(0).max(3_600_000).optional(),
    }),
    result: z.strictObject({ claim, device: z.string(), mode, fence: int, expiresAt: timeMs }),
  },
  "device.release": {
    summary: "end a claim, and its streams",
    kind: "request",
    right: "device",
    idempotent: true,
    params: z.strictObject({ claim }),
    result: z.strictObject({ released: z.boolean() }),
  },
  "device.read": {
    summary: "read from a claimed device; waits for the first bytes",
    kind: "request",
    right: "device",
    idempotent: false,
    errors: ["CONFLICT", "TIMEOUT", "DRIVER"],
    params: z.strictObject({
      claim,
      length: int.min(1).max(1_048_576),
      offset: int.min(0).optional(),
      timeoutMs: int.min(0).max(3_600_000).optional(),
    }),
    result: z.strictObject({ data: z.instanceof(Uint8Array), eof: z.boolean() }),
  },
  "device.write": {
    summary: "write to a device that the caller has claimed alone; answered when the device has taken it",
    kind: "request",
    right: "device",
    idempotent: false,
    errors: ["CONFLICT", "DRIVER"],
    params: z.strictObject({
      claim,
      data: z.union([z.string(), z.instanceof(Uint8Array)]),
      encoding: z.enum(["utf8", "base64"]).optional(),
      offset: int.min(0).optional(),
    }),
    result: z.strictObject({ written: int }),
  },
  "device.stream": {
    summary: "follow a claimed device, or feed it, chunk by chunk",
    kind: "stream",
    right: "device",
    idempotent: false,
    errors: ["CONFLICT", "UNAVAILABLE"],
    params: z.strictObject({
      claim,
      direction: z.enum(["read", "write", "both"]),
      window: int.min(1).max(IPC.maxCreditBytes).optional(),
    }),
    result: z.strictObject({ stream }),
    chunk,
  },
  "stream.close": {
    summary: "end a stream of this connection",
    kind: "request",
    right: "self",
    idempotent: true,
    params: z.strictObject({ stream }),
    result: z.strictObject({ closed: z.boolean() }),
  },
} as const satisfies Record<string, IpcMethodSpec>;
