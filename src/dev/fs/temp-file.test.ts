import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { sweepTemp } from "./temp-file.ts";

describe("sweepTemp", () => {
  it("removes what a crash left of writes to this path, and nothing else", async () => {
    const root = tempFolder();
    const kept = ["a.txt", ".a.txt.crux-notes", ".b.txt.crux-00ff00ff00ff00ff", ".a.txt"];
    for (const name of [...kept, ".a.txt.crux-0123456789abcdef", ".a.txt.crux-00ff"])
      writeFileSync(join(root, name), "");
    await sweepTemp(join(root, "a.txt"));
    expect(readdirSync(root).sort()).toEqual([...kept].sort());
    await sweepTemp(join(root, "no/such/folder/a"));
  });
});
