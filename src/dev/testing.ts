/** Test helpers for devices: a caller, an act, a temporary folder, and complete requests. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Act, Caller, Device, OpenFile } from "../abi/device.ts";
import { asCallId, asPid, asProcUuid } from "../abi/ids.ts";
import type { Syscalls } from "../abi/sys.ts";

export const uuidA = asProcUuid("0b4f3c1e-0000-4000-8000-00000000000a");
export const uuidB = asProcUuid("0b4f3c1e-0000-4000-8000-00000000000b");

/** The real path of a new folder, removed at the end of the test. */
export function tempFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "crux-dev-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function callerIn(cwd: string, fields: Partial<Caller> = {}): Caller {
  return {
    pid: asPid(7),
    uuid: uuidA,
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: cwd },
    signal: new AbortController().signal,
    roots: [cwd],
    log: () => {},
    ...fields,
  };
}

/** Devices use only the signal and the id of the call. */
export function actOf(signal: AbortSignal = new AbortController().signal, callId = "c_81f2"): Act {
  return { signal, callId: asCallId(callId), sys: {} as Syscalls };
}

export async function readAll(file: OpenFile): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = await file.read(65_536, new AbortController().signal);
    if (part.byteLength === 0) return Buffer.concat(parts);
    parts.push(part);
  }
}

/** Opens a file, makes a request as the gate would (plan, then write), reads the answer, and closes it. */
export async function ask(
  device: Device,
  subpath: string,
  request: unknown,
  caller: Caller,
): Promise<Buffer> {
  const file = await device.open(subpath, 2, caller);
  try {
    const bytes = Buffer.from(typeof request === "string" ? request : JSON.stringify(request));
    await file.plan?.(bytes);
    await file.write(bytes, actOf());
    return await readAll(file);
  } finally {
    await file.close();
  }
}

export async function askJson<T>(
  device: Device,
  subpath: string,
  request: unknown,
  caller: Caller,
): Promise<T> {
  return JSON.parse((await ask(device, subpath, request, caller)).toString("utf8")) as T;
}

export async function openAndRead(device: Device, subpath: string, caller: Caller): Promise<string> {
  const file = await device.open(subpath, 0, caller);
  try {
    return (await readAll(file)).toString("utf8");
  } finally {
    await file.close();
  }
}

/** Waits for an effect of another OS process; fails if it does not happen within a minute. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
