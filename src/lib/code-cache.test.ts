import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CodeCache } from "./code-cache.ts";

let own = "";
let dist = "";
let dir = "";
afterEach(() => rmSync(own, { recursive: true, force: true }));
beforeEach(() => {
  own = mkdtempSync(join(tmpdir(), "crux-code-"));
  [dist, dir] = [join(own, "dist"), join(own, "cache")];
  mkdirSync(dist);
  write("one.cjs", 'exports.two = () => require("./two.cjs").said; exports.place = [__dirname, __filename];');
  write("two.cjs", 'globalThis.codeCacheRuns = (globalThis.codeCacheRuns ?? 0) + 1; exports.said = "two";');
});

function write(name: string, source: string): void {
  writeFileSync(join(dist, name), source);
}

interface One {
  two(): string;
  readonly place: readonly string[];
}

const open = () => new CodeCache(dist, dir);
/** How many files it has written. */
const keep = (cache: CodeCache) => [...cache.keep()].length;
const one = (cache: CodeCache) => cache.load("one.cjs") as One;

/** The files that are kept. */
function kept(): { names: string[]; path: (name: string) => string } {
  const [folder = ""] = readdirSync(dir);
  return { names: readdirSync(join(dir, folder)).sort(), path: (name) => join(dir, folder, name) };
}

describe("load()", () => {
  it("runs each file once, as Node does: it knows its place, other files, and modules of Node", () => {
    write(
      "three.cjs",
      'module.exports = [this === exports, require("node:path").sep, require("./two.cjs")];',
    );
    const cache = open();
    const before = Reflect.get(globalThis, "codeCacheRuns") ?? 0;
    expect(one(cache).place).toEqual([dist, join(dist, "one.cjs")]);
    expect([one(cache).two(), one(cache).two(), Reflect.get(globalThis, "codeCacheRuns") - before]).toEqual([
      "two",
      "two",
      1,
    ]);
    expect(cache.load("three.cjs")).toEqual([true, "/", { said: "two" }]);
    expect(one(cache)).toBe(one(cache));
  });

  it("runs a changed source, and one whose kept code is not whole", () => {
    const first = open();
    one(first).two();
    expect(keep(first)).toBe(2);
    write("two.cjs", 'exports.said = "new";');
    const changed = open();
    expect(one(changed).two()).toBe("new");
    expect(keep(changed)).toBe(1);
    truncateSync(kept().path("two.cjs"), 40);
    writeFileSync(kept().path("one.cjs"), "no code");
    const broken = open();
    expect(one(broken).two()).toBe("new");
    expect(keep(broken)).toBe(2);
  });

  it("takes kept code under flags that were set since it was made, also in a file that loads another", () => {
    // in processes of their own: V8 knows a source again, and other tests have set flags
    const lines = (act: string): string[] => [
      `import { CodeCache } from ${JSON.stringify(import.meta.resolve("./code-cache.ts"))};`,
      `import { setFlag, underUsualFlags } from ${JSON.stringify(import.meta.resolve("./v8-flags.ts"))};`,
      `const cache = new CodeCache(...${JSON.stringify([dist, dir])});`,
      act,
      'console.log(cache.load("one.cjs").two(), [...underUsualFlags(() => cache.keep())].length);',
    ];
    const ran = (act: string): string => {
      const args = ["--input-type=module", "--eval", lines(act).join("\n")];
      return spawnSync(process.execPath, args, { encoding: "utf8" }).stdout;
    };
    expect(ran("")).toBe("two 2\n");
    expect(ran('setFlag("--invocation-count-for-maglev=41", "--invocation-count-for-maglev=400");')).toBe(
      "two 0\n",
    );
  });

  it("tells an error of a file with its line", () => {
    write("bad.cjs", "\nthrow new Error('bad');");
    const stack = (() => {
      try {
        open().load("bad.cjs");
        return "";
      } catch (error) {
        return (error as Error).stack;
      }
    })();
    expect(stack).toContain(`${join(dist, "bad.cjs")}:2:`);
  });
});

describe("keep()", () => {
  it("keeps what the next one takes, which has nothing to keep", () => {
    const first = open();
    one(first).two();
    expect([keep(first), kept().names]).toEqual([2, ["one.cjs", "two.cjs"]]);
    expect(statSync(kept().path("one.cjs")).mode & 0o777).toBe(0o600);
    const second = open();
    expect([one(second).two(), keep(second)]).toEqual(["two", 0]);
  });

  it("has the functions that ran", () => {
    const body = Array.from({ length: 200 }, (_, n) => `if (x === ${n}) return "n${n}";`).join("\n");
    write("one.cjs", `exports.ran = function (x) { ${body} };`);
    const sizeAfter = (act: (ran: (x: number) => string) => void): number => {
      rmSync(dir, { recursive: true, force: true });
      const cache = open();
      act((cache.load("one.cjs") as { ran: (x: number) => string }).ran);
      keep(cache);
      return readFileSync(kept().path("one.cjs")).length;
    };
    // in this order: V8 knows a source again, with what it has compiled of it
    const without = sizeAfter(() => {});
    expect(sizeAfter((ran) => ran(7))).toBeGreaterThan(without + 1_000);
  });

  it("gives way to one that has loaded more, and not to one that has loaded less", () => {
    const little = open();
    one(little);
    expect(keep(little)).toBe(1);
    const much = open();
    one(much).two();
    expect(keep(much)).toBe(2);
    const again = open();
    one(again);
    expect(keep(again)).toBe(0);
    // a file that is new is kept, and what the others have from one with more stays
    write("three.cjs", 'require("./one.cjs");');
    rmSync(kept().path("one.cjs").replace("one", "two"));
    const other = open();
    other.load("three.cjs");
    expect(keep(other)).toBe(1);
  });

  it("removes the code of files that are no longer there", () => {
    const first = open();
    one(first).two();
    keep(first);
    write("one.cjs", "exports.place = [];");
    rmSync(join(dist, "two.cjs"));
    const second = open();
    one(second);
    expect([keep(second), kept().names]).toEqual([1, ["one.cjs"]]);
  });

  it("does nothing without a folder, or where none can be", () => {
    const nowhere = new CodeCache(dist, undefined);
    one(nowhere);
    writeFileSync(dir, "a file");
    const refused = open();
    one(refused);
    expect([keep(nowhere), keep(refused)]).toEqual([0, 0]);
  });
});
