import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readRegular, readRegularSync } from "./regular-file.ts";

describe("readRegular(), readRegularSync()", () => {
  const readers = [
    ["readRegular()", readRegular],
    ["readRegularSync()", async (path: string, max: number) => readRegularSync(path, max)],
  ] as const;

  it.each(readers)("%s reads a file, and waits for nothing else", async (_, read) => {
    const dir = mkdtempSync(join(tmpdir(), "crux-regular-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const at = (name: string) => join(dir, name);
    writeFileSync(at("file"), "text");
    execFileSync("mkfifo", [at("pipe")]);
    symlinkSync("/dev/zero", at("endless"));
    expect(String(await read(at("file"), 4))).toBe("text");
    await expect(read(at("file"), 3)).rejects.toThrow("over 3 bytes");
    for (const name of ["pipe", "endless", "."])
      await expect(read(at(name), 1024)).rejects.toThrow("not a regular file");
    await expect(read(at("none"), 1024)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
