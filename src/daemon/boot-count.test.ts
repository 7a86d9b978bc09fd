import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BootCount } from "./boot-count.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-boots-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const boot = (env: Record<string, string> = {}): BootCount => new BootCount(dir, env);
const count = (): string => readFileSync(join(dir, "boot-count"), "utf8");

describe("BootCount", () => {
  it("three deaths are a boot loop, two are not", () => {
    expect([boot(), boot(), boot()].map(({ isSafeMode }) => isSafeMode)).toEqual([false, false, false]);
    expect(boot().isSafeMode).toBe(true);
  });

  it("a daemon that lives ends the row", () => {
    boot();
    boot();
    boot().clear();
    expect(existsSync(join(dir, "boot-count"))).toBe(false);
    expect([boot(), boot(), boot()].every(({ isSafeMode }) => !isSafeMode)).toBe(true);
  });

  it("safe mode lasts over stops and long lives, and is left by removing the file", () => {
    for (let n = 0; n < 3; n++) boot();
    boot().clear();
    boot().takeBack();
    expect([boot().isSafeMode, count()]).toEqual([true, "3\n"]);
    rmSync(join(dir, "boot-count"));
    expect(boot().isSafeMode).toBe(false);
  });

  it("one that gives up with words counts neither for nor against", () => {
    boot();
    boot();
    for (let n = 0; n < 5; n++) boot().takeBack();
    expect(count()).toBe("2\n");
    boot().clear();
    boot().takeBack();
    expect(existsSync(join(dir, "boot-count"))).toBe(false);
  });

  it("goes by CRUX_SAFE_MODE_AFTER: 0 is never, what is no number is the default", () => {
    boot();
    expect(boot({ CRUX_SAFE_MODE_AFTER: "1" }).isSafeMode).toBe(true);
    for (let n = 0; n < 5; n++) expect(boot({ CRUX_SAFE_MODE_AFTER: "0" }).isSafeMode).toBe(false);
    expect(boot({ CRUX_SAFE_MODE_AFTER: "many" }).isSafeMode).toBe(true);
    expect(boot({ CRUX_SAFE_MODE_AFTER: "" }).isSafeMode).toBe(true);
  });

  it("what is no count is none, and a place that cannot be written counts nothing", () => {
    writeFileSync(join(dir, "boot-count"), "-7e9 what");
    expect([boot().isSafeMode, count()]).toEqual([false, "1\n"]);
    const nowhere = new BootCount(join(dir, "none"), {});
    nowhere.takeBack();
    expect(nowhere.isSafeMode).toBe(false);
  });
});
