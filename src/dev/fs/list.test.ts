import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FsListing } from "../../abi/ops/fs.ts";
import { ask, askJson, callerIn, tempFolder } from "../testing.ts";
import { fsForTests } from "./testing.ts";

const { device } = fsForTests();

describe("/dev/fs list", () => {
  const list = (root: string, fields: object = {}) =>
    askJson<FsListing>(device, "/.", { op: "list", ...fields }, callerIn(root));
  const paths = async (root: string, fields?: object) =>
    (await list(root, fields)).entries.map((e) => e.path);

  function tree(): string {
    const root = tempFolder();
    for (const folder of [".git", "src/deep", "node_modules/x", ".hidden"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const file of [
      "b.txt",
      "a.log",
      "src/m.ts",
      "src/keep.log",
      "src/deep/d.ts",
      "node_modules/x/i.js",
      ".env",
    ])
      writeFileSync(join(root, file), "12345");
    writeFileSync(join(root, ".gitignore"), "node_modules/\n*.log\n");
    writeFileSync(join(root, "src/.gitignore"), "!keep.log\n");
    symlinkSync("b.txt", join(root, "z-link"));
    return root;
  }

  it("shows directories first, then names, without hidden, ignored and .git; links as links", async () => {
    const { entries, more } = await list(tree());
    expect(entries.map(({ path, kind, depth }) => `${depth} ${kind} ${path}`)).toEqual([
      "1 directory src",
      "2 directory src/deep",
      "3 file src/deep/d.ts",
      "2 file src/keep.log",
      "2 file src/m.ts",
      "1 file b.txt",
      "1 symlink z-link",
    ]);
    expect(entries.find((e) => e.path === "b.txt")?.size).toBe(5);
    expect(more).toBe(0);
  });

  it("depth, limit, extra patterns, hidden and ignored", async () => {
    const root = tree();
    expect(await paths(root, { depth: 1 })).toEqual(["src", "b.txt", "z-link"]);
    expect(await list(root, { limit: 2 })).toMatchObject({ entries: [{}, {}], more: 5 });
    expect(await paths(root, { ignore: ["deep", "*.txt"] })).toEqual([
      "src",
      "src/keep.log",
      "src/m.ts",
      "z-link",
    ]);
    expect(await paths(root, { depth: 1, hidden: true, ignored: true })).toEqual([
      ".hidden",
      "node_modules",
      "src",
      ".env",
      ".gitignore",
      "a.log",
      "b.txt",
      "z-link",
    ]);
  });

  it("rules above the listed directory hold, but not for one that is ignored itself", async () => {
    const root = tree();
    writeFileSync(join(root, "src/deep/x.log"), "");
    expect(await paths(join(root, "src/deep"))).toEqual(["d.ts"]);
    expect(await paths(join(root, "node_modules"))).toEqual(["x", "x/i.js"]);
  });

  it("a file is INVALID, a missing directory NOT_FOUND", async () => {
    const root = tree();
    await expect(ask(device, "/./b.txt", { op: "list" }, callerIn(root))).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(ask(device, "/./none", { op: "list" }, callerIn(root))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });
});
