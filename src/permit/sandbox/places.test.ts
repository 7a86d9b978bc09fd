import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { PlaceFinder } from "./places.ts";

let root = "";
beforeEach(() => {
  root = realpathSync(mkdtempSync("/var/tmp/crux-places-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

const put = (path: string) => {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), "");
};

function found(): readonly string[] {
  const isSecret = (path: string) => /^\.env$|\.key$/.test(basename(path));
  return new PlaceFinder((path) => (isSecret(path) ? "secret" : null)).find(root).map(({ path }) => path);
}

describe("PlaceFinder", () => {
  it.each([
    ["directories beside it", 1_010, (n: number) => mkdirSync(join(root, `0-${n}`))],
    ["directories in an older one", 1_010, (n: number) => mkdirSync(join(root, `a/0-${n}`))],
    ["directories with files called so", 210, (n: number) => put(`0-${n}/a.key`)],
    ["files called so beside it", 210, (n: number) => put(`0-${n}.key`)],
  ])("finds what was there before a program made any number of %s", (_, count, make) => {
    for (const name of ["a/b/c/d/.env", "z/.env", ".env"]) put(name);
    for (let n = 0; n < count; n++) make(n);
    expect(found()).toEqual(
      expect.arrayContaining(["a/b/c/d/.env", "z/.env", ".env"].map((name) => join(root, name))),
    );
  });

  it("searches upper directories first, whatever their age", () => {
    mkdirSync(join(root, "a"));
    for (let n = 0; n < 1_010; n++) mkdirSync(join(root, `a/deep-${n}`));
    put("z/.env");
    expect(found()).toEqual([join(root, "z/.env")]);
  });

  it("finds what a link leads to, but neither itself nor what all programs need", () => {
    put("conf/real");
    put("conf/folder/file");
    for (const [name, to] of Object.entries({
      ".env": "conf/real",
      "a.key": "conf/folder",
      "b.key": ".",
      "c.key": "/etc/passwd",
      "d.key": "nowhere",
    }))
      symlinkSync(to, join(root, name));
    expect([...found()].sort()).toEqual([join(root, "conf/folder"), join(root, "conf/real")]);
  });
});
