/** The plain bytes of a host file: read in sequence, or written and put in place at close. */
import type { FileHandle } from "node:fs/promises";
import type { Caller, FileStat, OpenFile } from "../../abi/device.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError, hostError, throwIfAborted } from "../driver-error.ts";
import { Announcer } from "./announce.ts";
import type { PathLocks } from "./locks.ts";
import { findWritable, openToRead } from "./regular.ts";
import { type CheckRoom, lessOf } from "./replace.ts";
import { TempFile } from "./temp-file.ts";

/** Bound on the buffer of one read, whatever length was requested. */
const chunkBytes = 1024 * 1024;

export interface Target {
  /** The path as requested; error messages show it. */
  readonly path: string;
  readonly real: string;
  stat(): Promise<FileStat>;
}

export async function openReader(target: Target): Promise<OpenFile> {
  const handle = await openToRead(target.real, "Open");
  let open: FileHandle | undefined = handle;
  return {
    async read(length, signal) {
      throwIfAborted(signal, "Read");
      if (open === undefined) throw driverError("Read", "CANCELLED", "the file is closed");
      const buffer = Buffer.allocUnsafe(Math.min(length, chunkBytes));
      try {
        const { bytesRead } = await open.read(buffer, 0, buffer.byteLength);
        return buffer.subarray(0, bytesRead);
      } catch (error) {
        throw hostError("Read", target.path, error);
      }
    },
    async write() {
      throw driverError("Write", "INVALID", "the file is open for reading only");
    },
    async close() {
      const mine = open;
      open = undefined;
      await mine?.close();
    },
    stat: () => target.stat(),
  };
}

/** The caller's signal fires when its process ends; the old file is then kept. */
export async function openWriter(
  target: Target,
  deps: { locks: PathLocks; realPath: RealPath; checkRoom?: CheckRoom | undefined },
  { signal: owner, changing }: Pick<Caller, "signal" | "changing">,
): Promise<OpenFile> {
  const temp = await TempFile.create(target.real, await findWritable(target.real, "Open"));
  let isSpoilt = false;
  let closing: Promise<void> | undefined;
  const spoil = (error: unknown): never => {
    isSpoilt = true;
    throw hostError("Write", target.path, error);
  };
  const finish = async () => {
    if (isSpoilt || owner.aborted) return temp.discard();
    try {
      await deps.locks.hold(target.real, owner, async () => {
        if (deps.realPath(target.path) !== target.real)
          throw driverError(
            "Close",
            "CONFLICT",
            `the path leads elsewhere than when it was opened: ${target.path}`,
          );
        await deps.checkRoom?.(target.real, lessOf(await findWritable(target.real, "Close")));
        await putInPlace(temp, target.real, changing);
      });
    } catch (error) {
      throw hostError("Close", target.path, error);
    } finally {
      await temp.discard();
    }
  };
  return {
    async read() {
      throw driverError("Read", "INVALID", "the file is open for writing only");
    },
    async write(bytes, act) {
      if (closing !== undefined) throw driverError("Write", "CANCELLED", "the file is closed");
      try {
        throwIfAborted(act.signal, "Write");
        await temp.write(bytes);
        throwIfAborted(act.signal, "Write");
      } catch (error) {
        spoil(error);
      }
    },
    close() {
      closing ??= finish();
      return closing;
    },
    stat: () => target.stat(),
  };
}

async function putInPlace(temp: TempFile, real: string, changing: Caller["changing"]): Promise<void> {
  if (changing === undefined) return void (await temp.commit());
  const before = await findWritable(real, "Close");
  const after = { kind: "file", digest: temp.sha256, mode: Number(before?.mode ?? 0n) & 0o7777 } as const;
  await temp.commit({ stats: before }, await new Announcer(changing).tell({ path: real, before, after }));
}
