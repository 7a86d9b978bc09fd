import { describe, expect, test } from "vitest";
import { DriverError } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";
import { MemorySpools } from "../../kernel/testing/memory-spools.ts";
import { bytes, text } from "../../kernel/testing/test-kernel.ts";
import { Inlet, outputFile, writeToAll } from "./inlet.ts";

function bench() {
  const spools = new MemorySpools();
  const spool = spools.open("pipe-1", "refuse");
  return { spools, spool, inlet: new Inlet(spool) };
}

const never = new AbortController().signal;
const act = { signal: never } as Parameters<ReturnType<Inlet["reader"]>["write"]>[1];

describe("Inlet", () => {
  test("who waits gets what comes, and then the end; it is the end for good", async () => {
    const { inlet } = bench();
    const reader = inlet.reader();
    const first = reader.read(100, never);
    inlet.write(bytes("one"));
    expect(text(await first)).toBe("one");
    const last = reader.read(100, never);
    inlet.end();
    expect([(await last).byteLength, (await reader.read(1, never)).byteLength]).toEqual([0, 0]);
  });

  test("the end takes nothing of what came before it, for whoever reads", async () => {
    const { inlet } = bench();
    inlet.write(bytes("abc"));
    inlet.end();
    for (const reader of [inlet.reader(), inlet.reader()]) {
      const read = [await reader.read(2, never), await reader.read(2, never), await reader.read(2, never)];
      expect(read.map(text)).toEqual(["ab", "c", ""]);
      await reader.close();
    }
  });

  test("an end that is not read yet keeps its bytes: the spool has not ended", async () => {
    const { inlet, spool, spools } = bench();
    let isEnded = false;
    spool.end = () => {
      isEnded = true;
    };
    inlet.write(bytes("abc"));
    inlet.end();
    expect(isEnded).toBe(false);
    await inlet.remove();
    expect(spools.spools.size).toBe(0);
  });

  test("who gives up leaves at once; a disk that fails is told, after the end too", async () => {
    const { inlet, spool } = bench();
    const giveUp = new AbortController();
    const waiting = inlet.reader().read(1, giveUp.signal);
    giveUp.abort();
    await expect(waiting).rejects.toBe(giveUp.signal.reason);
    const broken = new DriverError({ op: "Read", code: "DRIVER", message: "EIO" });
    const read = () => Promise.reject(broken);
    spool.reader = () => ({ position: 0, available: 1, read, readInto: read, close: () => {} });
    const reader = inlet.reader();
    inlet.end();
    await expect(reader.read(1, never)).rejects.toBe(broken);
  });

  test("it is read only", async () => {
    const { inlet } = bench();
    await expect(inlet.reader().write(bytes("x"), act)).rejects.toMatchObject({ code: "PERMISSION" });
  });
});

test("writeToAll() writes to those that are open; without any of them the pipe is broken", async () => {
  const [one, other] = [bench().inlet, bench().inlet];
  writeToAll([], "/dev/stdout", { data: bytes("nobody") });
  one.break();
  writeToAll([one, other], "/dev/stdout", { data: bytes("x") });
  expect(text(await other.reader().read(10, never))).toBe("x");
  other.end();
  expect(() => writeToAll([one, other], "/dev/stdout", { data: bytes("y") })).toThrow(
    expect.objectContaining({ code: "DRIVER", message: "broken pipe", device: "/dev/stdout" }),
  );
});

test("outputFile() gives on what its program has read, and what it was written with", async () => {
  const { inlet } = bench();
  const label = (detail: string): Label => ({ kind: "untrusted", source: "web", detail });
  const file = outputFile("stdout", { inlets: () => [inlet], labels: () => [label("read")] });
  file.carried.labels = [label("written")];
  await file.write(bytes("x"), act);
  expect(inlet.reader()).toMatchObject({ carried: { labels: [label("written"), label("read")] } });
});
