import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileStat } from "../../abi/device.ts";
import type { GrepAnswer } from "../../abi/ops/fs.ts";
import { deviceContract } from "../contract.ts";
import { driverError } from "../driver-error.ts";
import { actOf, ask, askJson, callerIn, openAndRead, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();

function makeFifo(path: string): string {
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  return path;
}

it("what its folder has no room for is not put in place, and leaves nothing", async () => {
  const root = tempFolder();
  writeFileSync(join(root, "a"), "old");
  const asked: unknown[] = [];
  const { device: bounded } = fsForTests(async (real, less) => {
    asked.push([real.slice(root.length), less]);
    throw driverError("Write", "BUDGET", "full");
  });
  for (const request of [
    { op: "write", content: "new" },
    { op: "rename", to: join(root, "b") },
  ])
    await expect(ask(bounded, join(root, "a"), request, callerIn(root))).rejects.toMatchObject({
      code: "BUDGET",
    });
  await expect(ask(bounded, join(root, "d"), { op: "mkdir" }, callerIn(root))).rejects.toMatchObject({
    code: "BUDGET",
  });
  const stream = await bounded.open(join(root, "c"), 1, callerIn(root));
  await stream.write(Buffer.from("c"), actOf());
  await expect(stream.close()).rejects.toMatchObject({ code: "BUDGET" });
  expect(readdirSync(root)).toEqual(["a"]);
  expect(readFileSync(join(root, "a"), "utf8")).toBe("old");
  expect(asked).toEqual([
    ["/a", { bytes: 3, entries: 1 }],
    ["/b", { bytes: 0, entries: -1 }],
    ["/d", { bytes: 0, entries: -1 }],
    ["/c", { bytes: 0, entries: 0 }],
  ]);
});

deviceContract("/dev/fs", async () => {
  const root = tempFolder();
  writeFileSync(join(root, "a.txt"), "some text, more than one read");
  return {
    device,
    caller: callerIn(root),
    readable: { subpath: join(root, "a.txt"), content: "some text, more than one read" },
    writable: { subpath: join(root, "new.txt"), bytes: "abc" },
    request: { subpath: "/./a.txt", bytes: '{"op":"read"}' },
    refused: [
      { subpath: join(root, "missing"), flags: 0, code: "NOT_FOUND" },
      { subpath: join(root, "a.txt/below"), flags: 0, code: "NOT_FOUND" },
      { subpath: join(root, "no/such/folder"), flags: 1, code: "NOT_FOUND" },
      { subpath: root, flags: 0, code: "INVALID" },
      { subpath: root, flags: 1, code: "INVALID" },
      { subpath: makeFifo(join(root, "fifo")), flags: 0, code: "INVALID" },
      { subpath: join(root, "fifo"), flags: 1, code: "INVALID" },
      { subpath: "/dev/zero", flags: 0, code: "INVALID" },
    ],
  };
});

describe("/dev/fs paths", () => {
  it("`/./x` is below the working directory, anything else the host's path", async () => {
    const root = tempFolder();
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src/a.txt"), "A");
    expect(await openAndRead(device, "/./src/a.txt", callerIn(root))).toBe("A");
    expect(await openAndRead(device, `${root}/src/a.txt`, callerIn("/"))).toBe("A");
  });

  it("a name that is composed otherwise is the file's own: to read, to search, and to replace", async () => {
    const root = tempFolder();
    const typed = "/./caf\u00e9.txt";
    writeFileSync(join(root, "cafe\u0301.txt"), "hit\n");
    expect(await openAndRead(device, typed, callerIn(root))).toBe("hit\n");
    expect(await device.stat?.(typed, callerIn(root))).toMatchObject({ size: 4, host: { kind: "file" } });
    const request = { op: "grep", pattern: "hit", output: "count" };
    const found = await askJson<GrepAnswer>(device, typed, request, callerIn(root));
    expect(found.stdout).toContain("cafe\u0301.txt\x001");
    const write = { op: "write", content: "new" };
    const file = await device.open(typed, 2, callerIn(root));
    const plan = await file.plan?.(Buffer.from(JSON.stringify(write)));
    expect(plan?.effects).toMatchObject([{ change: "modify" }]);
    // rules name the device, whatever the file is called
    expect(plan?.tool).toBe("fs");
    await askJson(device, typed, write, callerIn(root));
    expect(readdirSync(root)).toEqual(["cafe\u0301.txt"]);
  });

  it("openEffects() tells reading from creating and modifying; a request asks at its write", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "");
    const effects = (path: string, flags: 0 | 1 | 2) => device.openEffects?.(path, flags, callerIn(root));
    const a = join(root, "a");
    expect(await effects("/./a", 0)).toEqual([{ kind: "read", path: a }]);
    expect(await effects("/./a", 1)).toEqual([{ kind: "write", path: a, change: "modify" }]);
    expect(await effects("/./b", 1)).toEqual([{ kind: "write", path: join(root, "b"), change: "create" }]);
    expect(await effects("/./a", 2)).toEqual([]);
  });
});

describe("/dev/fs requests", () => {
  it("plan() declares each request's effects and class", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "");
    const path = join(root, "a");
    const planned = async (request: object) => {
      const file = await device.open(path, 2, callerIn(root));
      const { effects, effectClass } = (await file.plan?.(Buffer.from(JSON.stringify(request)))) ?? {};
      await file.close();
      return [effectClass, ...(effects ?? [])];
    };
    const read = { kind: "read", path };
    expect(await planned({ op: "read" })).toEqual(["none", read]);
    expect(await planned({ op: "stat" })).toEqual(["none", read]);
    const search = { op: "grep", pattern: "x", output: "files" };
    for (const request of [search, { op: "files" }, { op: "list" }])
      expect(await planned(request)).toEqual(["none", { ...read, subtree: true }]);
    const write = { kind: "write", path };
    expect(await planned({ op: "write", content: "" })).toEqual(["probe", { ...write, change: "modify" }]);
    expect(await planned({ op: "mkdir" })).toEqual(["probe", { ...write, change: "create" }]);
    expect(await planned({ op: "remove" })).toEqual(["probe", { ...write, change: "delete" }]);
    expect(await planned({ op: "rename", to: "b" })).toEqual([
      "probe",
      { ...write, change: "delete" },
      { kind: "write", path: join(root, "b"), change: "create" },
    ]);
  });

  it("plan() declares the entry that goes, where the path leads back from elsewhere", async () => {
    const root = tempFolder();
    const outside = tempFolder();
    writeFileSync(join(root, "f"), "");
    symlinkSync(join(root, "f"), join(outside, "l"));
    symlinkSync(outside, join(root, "d"));
    const file = await device.open(join(root, "d/l"), 2, callerIn(root));
    for (const request of [{ op: "remove" }, { op: "rename", to: "b" }]) {
      const { effects } = (await file.plan?.(Buffer.from(JSON.stringify(request)))) ?? {};
      expect(effects).toContainEqual({ kind: "write", path: join(outside, "l"), change: "delete" });
    }
    await file.close();
  });

  it("what is no request is INVALID and says what is known", async () => {
    const caller = callerIn(tempFolder());
    for (const request of [
      "",
      "[1",
      "7",
      "null",
      { op: "chmod" },
      { op: "write" },
      { op: "read", offset: -1 },
    ])
      await expect(ask(device, "/./a", request, caller), JSON.stringify(request)).rejects.toMatchObject({
        code: "INVALID",
      });
    await expect(ask(device, "/./a", { op: "chmod" }, caller)).rejects.toThrow("Known: read, write");
    const typed = { op: "grep", pattern: "x", output: "files", type: "--pre=x" };
    await expect(ask(device, "/.", typed, caller)).rejects.toMatchObject({ code: "INVALID" });
  });

  it("read gives the part asked for, and the bytes of files that claim no size", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "0123456789");
    const caller = callerIn(root);
    expect(String(await ask(device, "/./a", { op: "read", offset: 2, length: 3 }, caller))).toBe("234");
    expect(String(await ask(device, "/./a", { op: "read", offset: 8 }, caller))).toBe("89");
    expect(String(await ask(device, "/./a", { op: "read", offset: 99 }, caller))).toBe("");
    if (existsSync("/proc/self/status"))
      expect(String(await ask(device, "/proc/self/status", { op: "read" }, caller))).toContain("Pid:");
  });

  it("read opens neither FIFO nor device, also not through a link", async () => {
    const root = tempFolder();
    makeFifo(join(root, "fifo"));
    symlinkSync("/dev/zero", join(root, "zero"));
    for (const name of ["fifo", "zero"])
      await expect(ask(device, `/./${name}`, { op: "read" }, callerIn(root))).rejects.toMatchObject({
        code: "INVALID",
      });
  });

  it("stat follows links, and shows what a request for it shows", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "abc", { mode: 0o640 });
    symlinkSync("a", join(root, "link"));
    const stat = await askJson<FileStat>(device, "/./link", { op: "stat" }, callerIn(root));
    const host = statSync(join(root, "a"), { bigint: true });
    expect(await device.stat?.("/./link", callerIn(root))).toEqual({ ...stat, name: "link" });
    expect(device.statEffects?.("/./link", callerIn(root))).toEqual([
      { kind: "read", path: join(root, "link") },
    ]);
    expect(stat).toEqual({
      name: "a",
      size: 3,
      isDevice: false,
      devicePath: "/dev/fs",
      host: { kind: "file", mtimeNs: String(host.mtimeNs), inode: String(host.ino), mode: 0o640 },
    });
    await expect(ask(device, "/./none", { op: "stat" }, callerIn(root))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("mkdir, remove and rename, and what they refuse", async () => {
    const root = tempFolder();
    const caller = callerIn(root);
    const run = (path: string, request: object) => askJson(device, `/./${path}`, request, caller);
    const refused = (path: string, request: object) =>
      run(path, request).then(
        () => "done",
        (error) => error.code,
      );
    expect(await run("d", { op: "mkdir" })).toEqual({ ok: true });
    expect(await refused("d", { op: "mkdir" })).toBe("CONFLICT");
    expect(await refused("x/y", { op: "mkdir" })).toBe("NOT_FOUND");
    writeFileSync(join(root, "d/a"), "A");
    expect(await refused("d", { op: "remove" })).toBe("CONFLICT");
    expect(await run("d/a", { op: "rename", to: "b" })).toEqual({ ok: true });
    expect(readFileSync(join(root, "b"), "utf8")).toBe("A");
    writeFileSync(join(root, "c"), "C");
    expect(await refused("c", { op: "rename", to: join(root, "b") })).toBe("CONFLICT");
    expect(readFileSync(join(root, "b"), "utf8")).toBe("A");
    expect(await refused("none", { op: "rename", to: "e" })).toBe("NOT_FOUND");
    expect(await run("d", { op: "remove" })).toEqual({ ok: true });
    expect(await refused("d", { op: "remove" })).toBe("NOT_FOUND");
  });

  it("remove and rename of a link act on the link", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "A");
    symlinkSync("a", join(root, "one"));
    symlinkSync("a", join(root, "two"));
    await ask(device, "/./one", { op: "remove" }, callerIn(root));
    await ask(device, "/./two", { op: "rename", to: "three" }, callerIn(root));
    expect(readdirSync(root).sort()).toEqual(["a", "three"]);
    expect(readlinkSync(join(root, "three"))).toBe("a");
  });

  it("a path that leads elsewhere after it was planned is a CONFLICT", async () => {
    const root = tempFolder();
    mkdirSync(join(root, "in"));
    mkdirSync(join(root, "out"));
    const file = await device.open("/./in/a", 2, callerIn(root));
    const request = Buffer.from('{"op":"write","content":"x"}');
    await file.plan?.(request);
    renameSync(join(root, "in"), join(root, "was"));
    symlinkSync("out", join(root, "in"));
    await expect(file.write(request, actOf())).rejects.toMatchObject({ code: "CONFLICT" });
    await file.close();
    expect(readdirSync(join(root, "out"))).toEqual([]);
  });
});
