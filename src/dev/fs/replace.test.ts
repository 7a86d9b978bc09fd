import {
  chmodSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { FsWritten } from "../../abi/ops/fs.ts";
import { askJson, callerIn, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();

const sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; // of "abc"
const left = (folder: string) => readdirSync(folder).filter((name) => name.includes(".crux-"));

describe("/dev/fs write", () => {
  const write = (root: string, path: string, fields: object) =>
    askJson<FsWritten>(device, `/./${path}`, { op: "write", ...fields }, callerIn(root));

  it("makes a file and tells its digest; base64 and append too", async () => {
    const root = tempFolder();
    expect(await write(root, "a", { content: "abc" })).toEqual({ ok: true, created: true, sha256: sha });
    expect(await write(root, "b", { content: "YWI=", encoding: "base64" })).toMatchObject({ created: true });
    expect(await write(root, "b", { content: "c", append: true })).toEqual({
      ok: true,
      created: false,
      sha256: sha,
    });
    expect(readFileSync(join(root, "b"), "utf8")).toBe("abc");
    await expect(write(root, "c", { content: "a*", encoding: "base64" })).rejects.toMatchObject({
      code: "INVALID",
    });
    expect(readdirSync(root).sort()).toEqual(["a", "b"]);
  });

  it("a new file has the user's usual mode, an old one keeps its own", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "usual"), "");
    await write(root, "new", { content: "" });
    expect(statSync(join(root, "new")).mode).toBe(statSync(join(root, "usual")).mode);
    chmodSync(join(root, "usual"), 0o751);
    await write(root, "usual", { content: "x" });
    expect(statSync(join(root, "usual")).mode & 0o7777).toBe(0o751);
  });

  it("expect: the digest it must have, or that it must not exist; else CONFLICT and no change", async () => {
    const root = tempFolder();
    await write(root, "a", { content: "abc", expect: null });
    await expect(write(root, "a", { content: "x", expect: null })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(write(root, "a", { content: "x", expect: "0".repeat(64) })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(write(root, "none", { content: "x", expect: sha })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("abc");
    await write(root, "a", { content: "y", expect: sha });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("y");
    expect(left(root)).toEqual([]);
  });

  it("of two writers that expect the same old file one wins, by whatever path they came", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "abc");
    symlinkSync("a", join(root, "link"));
    const results = await Promise.allSettled(
      ["a", "link", "a", "link"].map((path, i) => write(root, path, { content: `${i}`, expect: sha })),
    );
    const won = results.flatMap((result, i) => (result.status === "fulfilled" ? [i] : []));
    expect(won.length).toBe(1);
    expect(readFileSync(join(root, "a"), "utf8")).toBe(String(won[0]));
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "CONFLICT" });
  });

  it("appends of many at once are all kept", async () => {
    const root = tempFolder();
    const marks = Array.from({ length: 12 }, (_, i) => String.fromCharCode(97 + i));
    await Promise.all(marks.map((content) => write(root, "log", { content, append: true })));
    expect([...readFileSync(join(root, "log"), "utf8")].sort()).toEqual(marks);
  });

  it("a link stays, what it leads to is replaced, or made", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "old");
    symlinkSync("a", join(root, "link"));
    symlinkSync("later", join(root, "dangling"));
    await write(root, "link", { content: "new" });
    await write(root, "dangling", { content: "made" });
    expect(lstatSync(join(root, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(root, "a"), "utf8")).toBe("new");
    expect(readFileSync(join(root, "later"), "utf8")).toBe("made");
  });

  it("a file with several hard links is written in place: both names see it", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "a long old text");
    linkSync(join(root, "a"), join(root, "b"));
    await write(root, "a", { content: "new" });
    expect(readFileSync(join(root, "b"), "utf8")).toBe("new");
    expect(statSync(join(root, "b")).nlink).toBe(2);
    expect(left(root)).toEqual([]);
  });

  it("mkdirs makes what is missing; without it NOT_FOUND; a directory as target is INVALID", async () => {
    const root = tempFolder();
    await expect(write(root, "x/y/a", { content: "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await write(root, "x/y/a", { content: "A", mkdirs: true });
    expect(readFileSync(join(root, "x/y/a"), "utf8")).toBe("A");
    await expect(write(root, "x", { content: "" })).rejects.toMatchObject({ code: "INVALID" });
  });

  it("takes the longest of names", async () => {
    const root = tempFolder();
    const name = "n".repeat(255);
    await write(root, name, { content: "abc" });
    expect(readdirSync(root)).toEqual([name]);
  });

  it.skipIf(process.getuid?.() === 0)("a file that may not be written is PERMISSION", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "abc", { mode: 0o444 });
    await expect(write(root, "a", { content: "" })).rejects.toMatchObject({ code: "PERMISSION" });
  });

  it("a full disk is DRIVER; the old file is whole and nothing else is left", async () => {
    const root = tempFolder();
    writeFileSync(join(root, "a"), "abc");
    const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    const probe = await open(join(root, "a"));
    const handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const sync = vi.spyOn(handles, "sync").mockRejectedValueOnce(full);
    try {
      await expect(write(root, "a", { content: "x" })).rejects.toMatchObject({ code: "DRIVER" });
    } finally {
      sync.mockRestore();
    }
    expect(readFileSync(join(root, "a"), "utf8")).toBe("abc");
    expect(readdirSync(root)).toEqual(["a"]);
  });
});
