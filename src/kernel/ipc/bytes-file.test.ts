import { expect, test } from "vitest";
import type { Act } from "../../abi/device.ts";
import { bytesFile } from "./bytes-file.ts";

const NEVER = new AbortController().signal;

test("bytesFile() is read once, from its beginning to its end; what is read is the reader's own", async () => {
  const file = bytesFile(Buffer.from("abcde"), "/dev/stdin");
  expect(await file.stat()).toEqual({ name: "stdin", size: 5, isDevice: false, devicePath: "/dev/stdin" });
  const first = await file.read(2, NEVER);
  first.fill(0);
  expect(Buffer.from(await file.read(2, NEVER)).toString()).toBe("cd");
  expect(Buffer.from(await file.read(2, NEVER)).toString()).toBe("e");
  expect((await file.read(2, NEVER)).byteLength).toBe(0);
});

test("bytesFile() takes no writes, and nothing is there after close()", async () => {
  const file = bytesFile(Buffer.from("abc"), "/dev/stdin");
  await expect(file.write(new Uint8Array(1), {} as Act)).rejects.toMatchObject({
    code: "PERMISSION",
    device: "/dev/stdin",
  });
  await file.close();
  expect((await file.read(1, NEVER)).byteLength).toBe(0);
});
