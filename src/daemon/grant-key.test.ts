import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bypassRefusal, type Surroundings } from "../lib/bypass-refusal.ts";
import { grantKey } from "./grant-key.ts";

describe("grantKey()", () => {
  let dir = "";
  const warnings: string[] = [];
  const key = () => Buffer.from(grantKey(dir, (message) => warnings.push(message))).toString("hex");
  const file = () => join(dir, "grant.key");

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "crux-key-"));
    warnings.length = 0;
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test("makes one that is private, and gives the same from then on", () => {
    const first = key();
    expect(first).toHaveLength(64);
    expect([key(), statSync(file()).mode & 0o777, warnings]).toEqual([first, 0o600, []]);
    expect(readFileSync(file())).toHaveLength(32);
  });

  test("takes away what others may", () => {
    const first = key();
    chmodSync(file(), 0o644);
    expect([key(), statSync(file()).mode & 0o777]).toEqual([first, 0o600]);
  });

  test.each([
    ["a link", () => symlinkSync("/etc/hostname", file())],
    ["too short", () => writeFileSync(file(), "short")],
  ])("replaces one that is %s, and says so", (_name, make) => {
    make();
    const made = key();
    expect(warnings).toHaveLength(1);
    expect([statSync(file()).isFile(), key()]).toEqual([true, made]);
  });

  test("in a folder that is not there it serves this daemon alone", () => {
    rmSync(dir, { recursive: true });
    expect(key()).not.toBe(key());
    expect(warnings[0]).toContain("do not outlive");
  });
});

describe("bypassRefusal()", () => {
  const bare: Surroundings = { uid: 0, env: {}, exists: () => false, read: () => "0::/init.scope" };

  test("refuses root, and names what to do", () => {
    expect(bypassRefusal(bare)).toContain("as another user, or in a container");
  });

  test.each<[string, Partial<Surroundings>]>([
    ["another user", { uid: 1000 }],
    ["a system without users", { uid: undefined }],
    ["a container by its mark", { exists: (path) => path === "/.dockerenv" }],
    ["a container by its groups", { read: () => "0::/kubepods/besteffort" }],
    ["a container by its environment", { env: { container: "podman" } }],
    ["one that says so", { env: { IS_SANDBOX: "1" } }],
  ])("lets %s", (_name, more) => {
    expect(bypassRefusal({ ...bare, ...more })).toBe("");
  });
});
