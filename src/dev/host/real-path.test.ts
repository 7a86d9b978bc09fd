import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { realPath } from "./real-path.ts";

describe("realPath", () => {
  it("resolves links and `..` of what exists", () => {
    const root = tempFolder();
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("a/b", join(root, "link"));
    expect(realPath(join(root, "link"))).toBe(join(root, "a/b"));
    expect(realPath(`${root}/link/../x`)).toBe(join(root, "a/x"));
  });

  it("appends what does not exist to the longest ancestor that does", () => {
    const root = tempFolder();
    mkdirSync(join(root, "real"));
    symlinkSync("real", join(root, "link"));
    expect(realPath(join(root, "link/new/deep.txt"))).toBe(join(root, "real/new/deep.txt"));
    expect(realPath(`${root}/no/../x`)).toBe(join(root, "x"));
  });

  it("tells a name that is missing from a link to nothing, at the end and in the middle", () => {
    const root = tempFolder();
    mkdirSync(join(root, "a dir"));
    symlinkSync("../gone", join(root, "a dir/link"));
    for (const [path, real] of [
      ["a dir/none", "a dir/none"],
      ["a dir/none/x/y", "a dir/none/x/y"],
      ["a dir/link", "gone"],
      ["a dir/link/x/y", "gone/x/y"],
      ["a dir/link/../x", "x"],
      ["a dir/none/./x", "a dir/none/x"],
      ["none//x", "none/x"],
    ] as const)
      expect(realPath(`${root}/${path}`)).toBe(join(root, real));
  });

  it("finds the one name of the same letters, however they are composed", () => {
    const root = tempFolder();
    const [composed, decomposed] = ["\u00e9\u00fc.txt", "e\u0301u\u0308.txt"];
    mkdirSync(join(root, "cafe\u0301"));
    writeFileSync(join(root, "cafe\u0301", decomposed), "");
    expect(realPath(join(root, "caf\u00e9", composed))).toBe(join(root, "cafe\u0301", decomposed));
    expect(realPath(join(root, "caf\u00e9/new \u00e9"))).toBe(join(root, "cafe\u0301/new \u00e9"));
    symlinkSync("/etc", join(root, "e\u0301tc"));
    expect(realPath(join(root, "\u00e9tc/none"))).toBe("/etc/none");
    // what is there is meant as it is written, and of two neither
    writeFileSync(join(root, "cafe\u0301", composed), "");
    for (const name of [composed, decomposed, "\u00e9u\u0308.txt"])
      expect(realPath(join(root, "caf\u00e9", name))).toBe(join(root, "cafe\u0301", name));
  });

  it("shows where a link to nothing leads: a write would go there", () => {
    const root = tempFolder();
    symlinkSync(join(root, "outside/secret"), join(root, "dangling"));
    symlinkSync("dangling", join(root, "second"));
    expect(realPath(join(root, "dangling"))).toBe(join(root, "outside/secret"));
    expect(realPath(join(root, "second/x"))).toBe(join(root, "outside/secret/x"));
  });

  it("goes on below a file without failing", () => {
    const root = tempFolder();
    writeFileSync(join(root, "file"), "");
    expect(realPath(join(root, "file/x"))).toBe(join(root, "file/x"));
  });

  it("refuses a circle, NUL and relative paths", () => {
    const root = tempFolder();
    symlinkSync("loop", join(root, "loop"));
    for (const path of [join(root, "loop"), "/a\0b", "relative"])
      expect(() => realPath(path)).toThrow(expect.objectContaining({ code: "INVALID" }));
  });
});

describe("realPath.atOnce()", () => {
  it("gives what realPath gives, in any order of the paths", () => {
    const root = tempFolder();
    mkdirSync(join(root, "a/b"), { recursive: true });
    writeFileSync(join(root, "a/f"), "");
    for (const [to, name] of [
      ["a", "l"],
      ["../gone", "a/d"],
      ["d", "a/e"],
      ["loop", "loop"],
      ["..", "a/b/up"],
    ] as const)
      symlinkSync(to, join(root, name));
    const name = fc.constantFrom("a", "b", "f", "l", "d", "e", "loop", "up", "x", "..", ".", "\u00e9");
    const path = fc.array(name, { maxLength: 5 }).map((names) => `${root}/${names.join("/")}`);
    const seen = (look: (path: string) => string, given: string): string => {
      try {
        return look(given);
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(fc.array(path, { maxLength: 8 }), (paths) => {
        const atOnce = realPath.atOnce?.() ?? realPath;
        for (const each of paths) expect(seen(atOnce, each)).toBe(seen(realPath, each));
      }),
      { numRuns: 400 },
    );
  });

  it("looks anew each time it is made", () => {
    const root = tempFolder();
    const path = join(root, "later/x");
    expect(realPath.atOnce?.()(path)).toBe(path);
    symlinkSync("elsewhere", join(root, "later"));
    expect(realPath.atOnce?.()(path)).toBe(join(root, "elsewhere/x"));
  });
});
