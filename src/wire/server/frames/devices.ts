/** Devices over the binary wire. A claim is an open file of the caller's process; what is done by it passes the gate. */
import { O_RDONLY, O_RDWR } from "../../../abi/device.ts";
import { DriverError, Fault, VfsError } from "../../../abi/errors.ts";
import { type Fd, PID_KERNEL } from "../../../abi/ids.ts";
import type { IpcParams, IpcResult } from "../../../abi/methods/ipc/methods.ts";
import type { Syscalls } from "../../../abi/sys.ts";
import type { HalClaim, HalReading } from "../../../kernel/ports/hal.ts";
import { ABORTED, linkSignals } from "../../../lib/abort.ts";
import { Serial } from "../../../lib/serial.ts";
import { bytesIn, invalid } from "../request.ts";
import type { IpcCall, IpcHandler, Session } from "./call.ts";
import { idsOf } from "./ids.ts";
import { handsOf } from "./process.ts";

const TTL_MS = 30_000;
const READ_MS = 5_000;

/** A claim made over this wire. */
export interface HeldClaim {
  readonly claim: HalClaim;
  readonly sys: Syscalls;
  readonly fd: Fd;
  readonly canWrite: boolean;
  /** What is asked of the claim belongs to one read, and one write, at a time. */
  readonly reads: Serial;
  readonly writes: Serial;
}

const held = new WeakMap<HalClaim, HeldClaim>();

export const list: IpcHandler<"device.list"> = ({ kind }, { session }) =>
  session.kernel.hal.list().filter((each) => each.kind === (kind ?? each.kind));

export const claim: IpcHandler<"device.claim"> = async (params, call) => {
  const { device, claim: id, ttlMs = TTL_MS } = params;
  if ((device === undefined) === (id === undefined))
    throw invalid("params: either device or claim is needed");
  if (id !== undefined) {
    const { claim: own } = heldBy(id, call);
    if (params.mode !== undefined && params.mode !== own.mode)
      throw invalid("params.mode: a claim keeps its mode");
    own.renew(ttlMs);
    return answered(own);
  }
  const made = await claimed({ ...params, device: device ?? "", ttlMs }, call);
  return answered(made.claim);
};

interface Wanted extends IpcParams<"device.claim"> {
  readonly device: string;
  readonly ttlMs: number;
}

async function claimed({ device, mode = "exclusive", ttlMs, waitMs = 0 }: Wanted, call: IpcCall) {
  const { session } = call;
  const { hal } = session.kernel;
  const { modes } = hal.driverOf(device).identity;
  session.scopes.require(`device:${device}`, "device.claim");
  const sys = handsOf(call);
  const owner = session.scopes.actor === PID_KERNEL ? session : session.scopes.actor;
  const wish = { mode, ttlMs, waitMs, owner, story: idsOf(call), signal: call.signal };
  const { path, made } = hal.wish(device, wish);
  const flags = mode === "shared" || !modes.includes("write") ? O_RDONLY : O_RDWR;
  try {
    const fd = await sys.open(path, flags, call.signal);
    const own = { claim: made() as HalClaim, sys, fd, canWrite: flags !== O_RDONLY };
    return keep({ ...own, reads: new Serial(), writes: new Serial() }, session);
  } catch (error) {
    made();
    throw ofDevice(error);
  }
}

/** It ends with its connection if it is the user's, else with its process; its file ends with it. */
function keep(own: HeldClaim, session: Session): HeldClaim {
  const { claim: made, sys, fd } = own;
  held.set(made, own);
  const close = (): void => void sys.close(fd).catch(() => {});
  if (made.ended === undefined) made.over.addEventListener("abort", close, { once: true });
  else close();
  if (made.owner === session) {
    const over = session.atEnd(() => void made.end("disconnected"));
    made.over.addEventListener("abort", over, { once: true });
  }
  return own;
}

function answered({ id, device, mode, fence, expiresAt }: HalClaim): IpcResult<"device.claim"> {
  return { claim: id, device, mode, fence, expiresAt: expiresAt ?? 0 };
}

/** CONFLICT: it has ended, or is not the caller's. */
export function heldBy(id: string, { session }: IpcCall): HeldClaim {
  const found = session.kernel.hal.claim(id);
  const own = found === undefined ? undefined : held.get(found);
  const owner = session.scopes.actor === PID_KERNEL ? session : session.scopes.actor;
  if (own === undefined || own.claim.owner !== owner)
    throw new Fault({ code: "CONFLICT", message: "claim expired" });
  session.scopes.require(`device:${own.claim.device}`, "the claim");
  return own;
}

export const release: IpcHandler<"device.release"> = async ({ claim: id }, call) => {
  if (call.session.kernel.hal.claim(id) === undefined) return { released: false };
  const { claim: own } = heldBy(id, call);
  await own.end("released");
  return { released: true };
};

export const read: IpcHandler<"device.read"> = async (params, call) => {
  const { claim: id, length, offset, timeoutMs = READ_MS } = params;
  const own = heldBy(id, call);
  const late = new AbortController();
  const { clock } = call.context;
  const done = new AbortController();
  clock.sleep(timeoutMs, done.signal).then(
    () => late.abort(new Fault({ code: "TIMEOUT", message: `nothing to read within ${timeoutMs} ms` })),
    () => {},
  );
  using linked = linkSignals(call.signal, late.signal);
  try {
    const data = await readBy(own, { length, offset, signal: linked.signal });
    return { data: new Uint8Array(data), eof: own.claim.last?.isEnd === true };
  } catch (error) {
    throw late.signal.aborted && own.claim.ended === undefined ? late.signal.reason : ofDevice(error);
  } finally {
    done.abort(ABORTED);
  }
};

interface Wish extends HalReading {
  readonly length: number;
  readonly signal: AbortSignal;
}

export function readBy(own: HeldClaim, { length, signal, ...reading }: Wish): Promise<Uint8Array> {
  const { claim: made, sys, fd, reads } = own;
  return reads.run(async () => {
    checkLives(made);
    made.reading = reading;
    return sys.read(fd, length, signal);
  }, signal);
}

function checkLives({ ended }: HalClaim): void {
  if (ended !== undefined) throw new Fault({ code: "CONFLICT", message: "claim expired" });
}

export const write: IpcHandler<"device.write"> = async (params, call) => {
  const { claim: id, data, encoding = "utf8", offset } = params;
  const own = heldBy(id, call);
  const bytes = bytesIn(data, encoding);
  checkWrites(own);
  try {
    await writeBy(own, bytes, { offset, signal: call.signal });
  } catch (error) {
    throw ofDevice(error);
  }
  return { written: bytes.byteLength };
};

/** PERMISSION: the claim only reads, as the device may. */
export function checkWrites({ claim: { mode, device }, canWrite }: HeldClaim): void {
  if (mode === "shared") throw new Fault({ code: "PERMISSION", message: "a shared claim only reads" });
  if (!canWrite) throw new Fault({ code: "PERMISSION", message: `${device} is read-only` });
}

export function writeBy(
  { claim: made, sys, fd, writes }: HeldClaim,
  data: Uint8Array,
  { offset, signal }: { readonly offset?: number | undefined; readonly signal: AbortSignal },
): Promise<void> {
  return writes.run(async () => {
    checkLives(made);
    made.writeAt = offset;
    await sys.write(fd, data, signal);
  }, signal);
}

/** The device's own words and details, without the file call that carried them. */
function ofDevice(error: unknown): unknown {
  if (!(error instanceof VfsError) || !(error.cause instanceof DriverError)) return error;
  const { code, message, cause, device } = error;
  return new Fault({ code, message, details: cause.details, device: device?.replace(/\/@.*$/, "") });
}
