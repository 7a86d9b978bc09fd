import { describe, expect, test } from "vitest";
import { asFd } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import type { Sys } from "../../../abi/sys.ts";
import { LIMITS } from "../../limits.ts";
import { ByteDevice } from "../../testing/fake-devices.ts";
import { bytes, NOTHING_LEFT, testKernel, text } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";
import { STDIN, STDOUT } from "./stdio.ts";

/** A process that holds a pipe to itself. */
async function holder() {
  const t = testKernel();
  const parent = await t.start();
  return { t, ...parent, ...(await parent.sys.pipe(parent.pid, parent.pid)) };
}

/** All of it, as an agent reads its input. */
async function readAll(sys: Sys): Promise<string> {
  let all = "";
  for (;;) {
    const chunk = await sys.read(STDIN, 1_000);
    if (chunk.byteLength === 0) return all;
    all += text(chunk);
  }
}

describe("stdin and stdout of a spawn", () => {
  test("an fd of the caller becomes the child's fd 0, and is the caller's no more", async () => {
    const { sys, readFd, writeFd, t } = await holder();
    const child = await t.start({ by: sys, stdin: readFd });
    await expect(sys.read(readFd, 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(child.start.input).toBe(STDIN);
    expect(child.proc.fds.list()).toEqual([
      { fd: 0, path: "pipe:[1]", flags: 0 },
      { fd: 3, path: "/dev/llm/fake", flags: 2 },
    ]);
    await sys.write(writeFd, bytes("to the child"));
    await sys.close(writeFd);
    expect(await readAll(child.sys)).toBe("to the child");
  });

  test("the child's own fds begin at 3 all the same", async () => {
    const { sys, readFd, writeFd, t } = await holder();
    t.kernel.mount("/dev/bytes", new ByteDevice());
    const child = await t.start({ by: sys, stdin: readFd, stdout: writeFd });
    expect(child.start.modelFd).toBe(3);
    expect(await child.sys.open("/dev/bytes/a", 0)).toBe(4);
  });

  test("an agent's result goes to its fd 1, which then ends", async () => {
    const { sys, readFd, writeFd, t } = await holder();
    t.programs.set("answer", async (sys) => {
      sys.setResult("forty-two");
      return EXIT.completed;
    });
    const pid = await sys.spawn("answer", null, { stdout: writeFd });
    expect(text(await sys.read(readFd, 100))).toBe("forty-two");
    expect((await sys.read(readFd, 100)).byteLength).toBe(0);
    expect(await sys.wait(pid)).toEqual(EXIT.completed);
  });

  test("a chain of agents: each reads what the one before it has to say", async () => {
    const t = testKernel();
    const parent = await t.start();
    for (const name of ["first", "second", "third"])
      t.programs.set(name, async (sys, start) => {
        const input = start.input === null ? "" : await readAll(sys);
        sys.setResult(`${input}${name} `);
        return EXIT.completed;
      });
    const { sys, pid } = parent;
    const [a, b, c] = [await sys.pipe(pid, pid), await sys.pipe(pid, pid), await sys.pipe(pid, pid)];
    await sys.spawn("third", null, { stdin: b.readFd, stdout: c.writeFd });
    await sys.spawn("second", null, { stdin: a.readFd, stdout: b.writeFd });
    await sys.spawn("first", null, { stdout: a.writeFd });
    expect(text(await sys.read(c.readFd, 100))).toBe("first second third ");
  });

  test("a reader that is gone is told in the log, and is no failure of the agent", async () => {
    const { sys, readFd, writeFd, t } = await holder();
    t.programs.set("answer", async (sys) => {
      sys.setResult("x");
      return EXIT.completed;
    });
    await sys.close(readFd);
    const pid = await sys.spawn("answer", null, { stdout: writeFd });
    expect(await sys.wait(pid)).toEqual(EXIT.completed);
    expect(t.journal.bodies("process.log")).toMatchObject([
      { level: "warn", message: "its result did not reach its reader: [DRIVER] broken pipe" },
    ]);
  });

  test("one that is held by a full pipe ends when it is told to", async () => {
    const { sys, writeFd, t } = await holder();
    t.programs.set("answer", async (sys) => {
      sys.setResult("x".repeat(LIMITS.pipeBytes + 1));
      return EXIT.completed;
    });
    const pid = await sys.spawn("answer", null, { stdout: writeFd });
    await settle();
    await sys.kill(pid, 1);
    expect((await sys.wait(pid)).code).toBe(143);
  });

  test("bytes are read as a file would be; the caller keeps no hand on them", async () => {
    const t = testKernel();
    const data = bytes("given");
    const starting = t.start({ stdin: data });
    data.fill(0);
    const child = await starting;
    expect(await readAll(child.sys)).toBe("given");
    await expect(child.sys.write(STDIN, bytes("x"))).rejects.toMatchObject({ code: "INVALID" });
  });

  test("without them there is neither", async () => {
    const child = await testKernel().start();
    expect(child.start.input).toBeNull();
    expect([child.proc.fds.has(STDIN), child.proc.fds.has(STDOUT)]).toEqual([false, false]);
  });

  test.each([
    ["a writing end as stdin", (w: number) => ({ stdin: asFd(w) }), "INVALID"],
    ["a reading end as stdout", (_w: number, r: number) => ({ stdout: asFd(r) }), "INVALID"],
    ["one wrong of two", (_w: number, r: number) => ({ stdin: asFd(r), stdout: asFd(r) }), "INVALID"],
    [
      "an fd that is not open",
      (_w: number, r: number) => ({ stdin: asFd(r), stdout: asFd(99) }),
      "NOT_FOUND",
    ],
    ["too many bytes", () => ({ stdin: new Uint8Array(LIMITS.writeBytes + 1) }), "INVALID"],
  ] as const)("%s is refused, and the caller keeps its fds", async (_name, opts, code) => {
    const { sys, proc, readFd, writeFd, t } = await holder();
    await expect(sys.spawn("x", null, opts(writeFd, readFd))).rejects.toMatchObject({ code });
    expect(proc.fds.list().map(({ fd }) => fd)).toEqual([3, writeFd, readFd]);
    expect([t.kernel.table.size, t.kernel.table.childrenOf(proc.pid).length]).toEqual([1, 0]);
  });

  test("an fd open both ways cannot be both", async () => {
    const { sys, t, proc } = await holder();
    t.kernel.mount("/dev/bytes", new ByteDevice());
    const fd = await sys.open("/dev/bytes/a", 2);
    await expect(sys.spawn("x", null, { stdin: fd, stdout: fd })).rejects.toMatchObject({ code: "INVALID" });
    expect(proc.fds.has(fd)).toBe(true);
  });

  test("a spawn that fails later closes what it was given: the other end hears", async () => {
    const { sys, proc, readFd, writeFd, t } = await holder();
    t.model.script.open = () => Promise.reject(new Error("no model"));
    await expect(sys.spawn("x", null, { stdout: writeFd })).rejects.toMatchObject({ syscall: "Spawn" });
    expect(proc.fds.list().map(({ fd }) => fd)).toEqual([3, readFd]);
    expect((await sys.read(readFd, 1)).byteLength).toBe(0);
  });

  test("a read that is under way on an fd that is handed over ends", async () => {
    const { sys, readFd, t } = await holder();
    const read = expect(sys.read(readFd, 1)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await t.start({ by: sys, stdin: readFd });
    await read;
  });

  test("nothing is left of either process", async () => {
    const { sys, pid, readFd, writeFd, t } = await holder();
    const child = await t.start({ by: sys, stdin: readFd });
    const read = expect(child.sys.read(STDIN, 1)).rejects.toMatchObject({ code: "CANCELLED" });
    await t.init.kill(child.pid, 1);
    await read;
    await sys.wait(child.pid);
    await expect(sys.write(writeFd, bytes("x"))).rejects.toMatchObject({ message: "broken pipe" });
    await t.init.kill(pid, 1);
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
