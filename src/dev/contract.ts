/** The test suite that every device must pass; the test of each device runs it with its own cases. */
import { describe, expect, it } from "vitest";
import {
  type Act,
  type Caller,
  type Device,
  O_RDONLY,
  O_RDWR,
  O_WRONLY,
  type OpenFile,
  type OpenFlag,
} from "../abi/device.ts";
import type { ErrorCode } from "../abi/errno.ts";
import { DriverError } from "../abi/errors.ts";
import { asCallId } from "../abi/ids.ts";
import type { Syscalls } from "../abi/sys.ts";

export interface DeviceCase {
  readonly device: Device;
  readonly caller: Caller;
  /** A file that opens O_RDONLY, and its whole content. */
  readonly readable?: { subpath: string; content: string };
  /** A file that opens O_WRONLY and accepts these bytes. */
  readonly writable?: { subpath: string; bytes: string };
  /** A file that opens O_RDWR, and a request that gets a non-empty answer. */
  readonly request?: { subpath: string; bytes: string };
  /** Calls of open() that must fail. */
  readonly refused: readonly { subpath: string; flags: OpenFlag; code: ErrorCode }[];
}

/** `make` is called for each test; the hooks of the test file remove what it creates. */
export function deviceContract(name: string, make: () => Promise<DeviceCase>): void {
  describe(`${name}, as a device`, () => {
    opens(make);
    reads(make);
    writes(make);
    answers(make);
  });
}

function opens(make: () => Promise<DeviceCase>): void {
  it("open() fails with the documented codes", async () => {
    const { device, caller, refused } = await make();
    expect(refused.length).toBeGreaterThan(0);
    for (const { subpath, flags, code } of refused)
      expect(await codeOf(device.open(subpath, flags, caller)), `${subpath} ${flags}`).toBe(code);
  });

  it("stat() names the device, and fails for what is missing", async () => {
    const { device, caller, ...of } = await make();
    const there = of.readable ?? of.request;
    if (there !== undefined)
      expect((await device.stat?.(there.subpath, caller))?.devicePath).toMatch(
        new RegExp(`/${device.name}$`),
      );
    for (const { subpath, code } of of.refused)
      if (code === "NOT_FOUND") expect(await codeOf(device.stat?.(subpath, caller))).toBe("NOT_FOUND");
  });
}

function reads(make: () => Promise<DeviceCase>): void {
  it("read() gives the bytes in order, then the end, again and again", async () => {
    await withOpen(make, "readable", O_RDONLY, async (file, { content }) => {
      const parts: Uint8Array[] = [];
      for (let part = await read(file, 3); part.byteLength > 0; part = await read(file, 3)) {
        expect(part.byteLength).toBeLessThanOrEqual(3);
        parts.push(part);
      }
      expect(Buffer.concat(parts).toString("utf8")).toBe(content);
      expect((await read(file, 3)).byteLength).toBe(0);
    });
  });

  it("write() of a file opened for reading is refused or swallowed, never an unknown error", async () => {
    await withOpen(make, "readable", O_RDONLY, async (file) => {
      expect([undefined, "PERMISSION", "INVALID"]).toContain(
        await codeOf(file.write(Buffer.from("x"), act())),
      );
    });
  });

  it("read() is CANCELLED by an abort", async () => {
    await withOpen(make, "readable", O_RDONLY, async (file) => {
      expect(await codeOf(file.read(1, AbortSignal.abort()))).toBe("CANCELLED");
    });
  });

  it("close() may be called twice", async () => {
    await withOpen(make, "readable", O_RDONLY, async (file) => {
      await file.close();
      expect(await codeOf(file.close())).toBeUndefined();
    });
  });
}

function writes(make: () => Promise<DeviceCase>): void {
  it("write() takes bytes, and is CANCELLED by an abort", async () => {
    await withOpen(make, "writable", O_WRONLY, async (file, { bytes }) => {
      expect(await codeOf(file.write(Buffer.from(bytes), act()))).toBeUndefined();
      expect(await codeOf(file.write(Buffer.from(bytes), act(AbortSignal.abort())))).toBe("CANCELLED");
      await file.close();
      expect(await codeOf(file.close())).toBeUndefined();
    });
  });
}

function answers(make: () => Promise<DeviceCase>): void {
  it("read() before a request is INVALID", async () => {
    await withOpen(make, "request", O_RDWR, async (file) => {
      expect(await codeOf(read(file, 10))).toBe("INVALID");
    });
  });

  it("a request is answered; the next is a CONFLICT until the answer has been read", async () => {
    await withOpen(make, "request", O_RDWR, async (file, { bytes }) => {
      const request = Buffer.from(bytes);
      await file.write(request, act());
      expect((await read(file, 1)).byteLength).toBe(1);
      expect(await codeOf(file.write(request, act()))).toBe("CONFLICT");
      while ((await read(file, 1_000)).byteLength > 0);
      expect(await codeOf(file.write(request, act()))).toBeUndefined();
    });
  });

  it("plan() changes nothing, and declares what a request does", async () => {
    await withOpen(make, "request", O_RDWR, async (file, { bytes }) => {
      const plan = await file.plan?.(Buffer.from(bytes));
      expect(plan?.effects.length).toBeGreaterThan(0);
      expect(JSON.parse(JSON.stringify(plan?.effects))).toEqual(plan?.effects);
      expect(await codeOf(read(file, 10))).toBe("INVALID");
    });
  });

  it("a request with an abort is CANCELLED, and close() after it may be called twice", async () => {
    await withOpen(make, "request", O_RDWR, async (file, { bytes }) => {
      expect(await codeOf(file.write(Buffer.from(bytes), act(AbortSignal.abort())))).toBe("CANCELLED");
      await file.close();
      expect(await codeOf(file.close())).toBeUndefined();
    });
  });
}

type Way = "readable" | "writable" | "request";

/** Does nothing if the device has no such file. */
async function withOpen<W extends Way>(
  make: () => Promise<DeviceCase>,
  way: W,
  flags: OpenFlag,
  use: (file: OpenFile, of: NonNullable<DeviceCase[W]>) => Promise<void>,
): Promise<void> {
  const made = await make();
  const of = made[way];
  if (of === undefined) return;
  const file = await made.device.open(of.subpath, flags, made.caller);
  try {
    await use(file, of);
  } finally {
    await file.close();
  }
}

function read(file: OpenFile, length: number): Promise<Uint8Array> {
  return file.read(length, new AbortController().signal);
}

function act(signal: AbortSignal = new AbortController().signal): Act {
  return { signal, callId: asCallId("c_1"), sys: {} as Syscalls };
}

/** The code of the DriverError that `work` fails with; undefined: it succeeds. Any other error fails the test. */
async function codeOf(work: Promise<unknown> | undefined): Promise<ErrorCode | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof DriverError) return error.code;
    throw error;
  }
}
