import { describe, expect, it } from "vitest";
import { parse } from "./graph.mjs";
import { checkLayers, compareArrows, findArrows, measureRooms, readKnown } from "./layers.mjs";
import { houseOf, roomOf } from "./rooms.mjs";

function treeOf(files: Record<string, string>) {
  return new Map(Object.entries(files).map(([path, text]) => [path, parse(path, text).imports]));
}

function check(files: Record<string, string>): string[] {
  return checkLayers(treeOf(files)).map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

const found = (text: string) =>
  parse("room/x.ts", text).imports.map(({ specifier, line, kind }) => ({ specifier, line, kind }));

describe("parse()", () => {
  it("finds every form of import, with its line and kind", () => {
    const text = [
      `import "./effect.ts";`,
      `import a, { b as c } from "./value.ts";`,
      `import type { D } from './type.ts';`,
      `import { type E } from "./kept.ts";`,
      `import type from "./named-type.ts";`,
      `import {`,
      `  f,`,
      `} from "./lines.ts";`,
      `export * as g from "./all.ts";`,
      `export type { H } from "./export-type.ts";`,
      `const i = await import("./later.ts");`,
      `export { a };`,
      `const from = "./not.ts";`,
    ].join("\n");
    expect(found(text)).toEqual([
      { specifier: "./effect.ts", line: 1, kind: "value" },
      { specifier: "./value.ts", line: 2, kind: "value" },
      { specifier: "./type.ts", line: 3, kind: "type" },
      { specifier: "./kept.ts", line: 4, kind: "value" },
      { specifier: "./named-type.ts", line: 5, kind: "value" },
      { specifier: "./lines.ts", line: 6, kind: "value" },
      { specifier: "./all.ts", line: 9, kind: "value" },
      { specifier: "./export-type.ts", line: 10, kind: "type" },
      { specifier: "./later.ts", line: 11, kind: "dynamic" },
    ]);
  });

  it("is not fooled by comments, strings, templates and regular expressions", () => {
    const text = [
      `// import "./a.ts";`,
      `/* import "./b.ts";`,
      `*/ const s = 'import "./c.ts"';`,
      "const t = `import './d.ts' ${f({ a: `${'}'} import './e.ts'` })} import './f.ts'`;",
      `const r = /["'\`]\\/[/"]/g; const q = 4 / 2 / 1;`,
      `x.import("./g.ts"); const u = [import.meta.url]`,
      `export const from = "./h.ts"; export type T = "./i.ts";`,
      `import { z } from "./found.ts";`,
    ].join("\n");
    expect(found(text)).toEqual([{ specifier: "./found.ts", line: 8, kind: "value" }]);
  });
});

describe("checkLayers()", () => {
  it("accepts imports that go down", () => {
    expect(
      check({
        "lib/ring.ts": "",
        "abi/ids.ts": `import { Ring } from "../lib/ring.ts";`,
        "wire/codec/ndjson.ts": `import { x } from "../../abi/ids.ts";`,
        "kernel/process/table.ts": `import { x } from "../../abi/ids.ts";`,
        "dev/fs.ts": `import type { Port } from "../kernel/process/table.ts";`,
        "wire/server/socket.ts": `import { f } from "../../dev/fs.ts"; import { y } from "../codec/ndjson.ts";`,
        "daemon/start.ts": `import { s } from "../wire/server/socket.ts";`,
        "boot/boot.ts": `import { d } from "../daemon/start.ts"; import text from "../agent/prompt.md";`,
        "wire/client/call.ts": `import { y } from "../codec/ndjson.ts";`,
        "tui/chat.ts": `import { c } from "../wire/client/call.ts";`,
        "cli/command/process/ps.ts": `import { c } from "../wire/client/call.ts"; import { t } from "../tui/chat.ts";`,
        "main.ts": `import { Ring } from "./lib/ring.ts"; import type { P } from "./abi/ids.ts"; import("./cli/ps.ts"); import("./boot/boot.ts");`,
      }),
    ).toEqual([]);
  });

  it("reports an import that goes up, of types too", () => {
    expect(check({ "kernel/a.ts": `\nimport type { X } from "../dev/b.ts";`, "dev/b.ts": "" })).toEqual([
      "kernel/a.ts:2: kernel may not import dev: dev is above kernel",
    ]);
  });

  it("keeps the rooms in braces, and the two sides, apart", () => {
    expect(
      check({
        "dev/a.ts": `import { s } from "../store/b.ts";`,
        "store/b.ts": "",
        "cli/c.ts": `await import("../boot/boot.ts");`,
        "tui/d.ts": `import type { K } from "../kernel/e.ts";`,
        "kernel/e.ts": "",
        "boot/boot.ts": "",
      }),
    ).toEqual([
      "cli/c.ts:1: cli may not import boot: they meet in boot, or over the wire",
      "dev/a.ts:1: dev may not import store: they meet in boot, or over the wire",
      "tui/d.ts:1: cli may not import kernel: they meet in boot, or over the wire",
    ]);
  });

  it("keeps agent/ and tool/ behind the gate, except their tests", () => {
    expect(
      check({
        "agent/a.ts": `import { t } from "../kernel/t.ts"; import { readFile } from "node:fs/promises";`,
        "tool/b/b.ts": `import net from "net"; import { join } from "node:path";`,
        "tool/b/b.test.ts": `import { boot } from "../../kernel/testing/boot.ts"; import "node:fs";`,
        "kernel/t.ts": "",
        "kernel/testing/boot.ts": "",
      }),
    ).toEqual([
      "agent/a.ts:1: agent may not import kernel: it sees of the kernel only the Sys handle in abi",
      "agent/a.ts:1: agent may not import node:fs/promises: it reaches the world by system call only (no side door)",
      "tool/b/b.ts:1: tool may not import net: it reaches the world by system call only (no side door)",
    ]);
  });

  it("keeps test helpers out of what ships", () => {
    expect(
      check({ "dev/a.ts": `import { k } from "../kernel/testing/k.ts";`, "kernel/testing/k.ts": "" }),
    ).toEqual(["dev/a.ts:1: dev may not import kernel/testing/k.ts: it is for tests only"]);
  });

  it("lets main import commands and boot only when they are needed", () => {
    expect(
      check({
        "main.ts": `import { ps } from "./cli/ps.ts";\nimport { boot } from "./boot/boot.ts";\nimport { ids } from "./abi/ids.ts";\nimport type { C } from "./cli/ps.ts";`,
        "boot/boot.ts": "",
        "abi/ids.ts": "",
        "cli/command/process/ps.ts": "",
      }),
    ).toEqual([
      "main.ts:1: main may not import cli: only with await import(), so that a cold start stays fast",
      "main.ts:2: main may not import boot: only with await import(), so that a cold start stays fast",
      "main.ts:3: main may not import abi: only its types, or with await import(), so that a cold start stays fast",
    ]);
  });

  it("reports each cycle of values once, and none of types", () => {
    expect(
      check({
        "lib/a.ts": `\nimport { b } from "./b.ts";`,
        "lib/b.ts": `export { c } from "./c.ts";`,
        "lib/c.ts": `import "./a.ts";`,
        "lib/d.ts": `import type { E } from "./e.ts";`,
        "lib/e.ts": `import { d } from "./d.ts";`,
        "lib/self.ts": `import "./self.ts";`,
      }),
    ).toEqual([
      "lib/a.ts:2: import cycle: lib/a.ts → lib/b.ts → lib/c.ts → lib/a.ts",
      "lib/self.ts:1: import cycle: lib/self.ts → lib/self.ts",
    ]);
  });

  it("reports a file, and a target, that belongs to no room", () => {
    expect(
      check({ "utils/a.ts": "", "lib/b.ts": `import "../wire/c.ts"; import "../../test/d.ts";` }),
    ).toEqual([
      "lib/b.ts:1: lib may not import wire/c.ts: it belongs to no room",
      "lib/b.ts:1: lib may not import ../../test/d.ts: it lies outside src/",
      "utils/a.ts:1: belongs to no room: the first folder must be one that scripts/rooms.mjs lists",
    ]);
  });
});

describe("roomOf()", () => {
  it("names the room in which a file stands", () => {
    const rooms = {
      "consent/ask/asks.ts": "consent/ask",
      "supervise/compose/start.ts": "supervise/compose",
      "kernel/process/table.ts": "kernel/process",
      "kernel/limits.ts": "kernel/limits",
      "kernel/core.ts": "kernel",
      "permit/shell/program/git.ts": "permit/shell",
      "tool/bash/bash.ts": "tool/bash",
      "daemon/start.ts": "daemon",
      "boot/mounts.ts": "boot",
    };
    expect(Object.fromEntries(Object.keys(rooms).map((path) => [path, roomOf(path)]))).toEqual(rooms);
  });

  it("counts what leaves the kernel's folder to the kernel still", () => {
    expect(
      ["consent/ask/asks.ts", "history/fork/fork.ts", "session/rest.ts", "supervise/a.ts"].map(houseOf),
    ).toEqual(Array(4).fill("kernel"));
  });
});

describe("findArrows()", () => {
  const pairs = (files: Record<string, string>) => findArrows(treeOf(files)).map(({ pair }) => pair);

  it("finds imports to a ring above, of types and dynamic ones too, and between rooms that stand beside", () => {
    expect(
      pairs({
        "kernel/process/a.ts": `import type { G } from "../gate/g.ts"; import { x } from "../vfs/v.ts";`,
        "kernel/gate/g.ts": `await import("../../consent/ask/ask.ts"); import "../process/a.ts";`,
        "kernel/vfs/v.ts": `import { b } from "../ipc/b.ts"; import { l } from "../limits.ts";`,
        "kernel/ipc/b.ts": "",
        "kernel/limits.ts": "",
        "consent/ask/ask.ts": `import "../../kernel/core.ts"; import "../../kernel/calls/c.ts"; import "../labels/l.ts";
          import "../../history/fork/f.ts";`,
        "kernel/core.ts": `import "../history/fork/f.ts";`,
        "kernel/calls/c.ts": "",
        "consent/labels/l.ts": "",
        "history/fork/f.ts": "",
      }),
    ).toEqual([
      "kernel/process → kernel/gate",
      "kernel/gate → consent/ask",
      "kernel/vfs → kernel/ipc",
      "consent/ask → kernel",
      "consent/ask → history/fork",
    ]);
  });

  it("shows other houses the kernel's ports alone, except boot; tests may look anywhere", () => {
    expect(
      pairs({
        "dev/fs/fs.ts": `import "../../kernel/ports/p.ts"; import "../../kernel/vfs/v.ts";`,
        "boot/mounts.ts": `import "../kernel/vfs/v.ts";`,
        "dev/fs/fs.test.ts": `import "../../kernel/vfs/v.ts";`,
        "kernel/ports/p.ts": "",
        "kernel/vfs/v.ts": "",
      }),
    ).toEqual(["dev/fs → kernel/vfs"]);
  });

  it("counts one arrow for each file that a file imports", () => {
    const files = {
      "tool/edit/edit.ts": "",
      "tool/view/view.ts": `import type { E } from "../edit/edit.ts";\nimport { e } from "../edit/edit.ts";`,
    };
    expect(pairs(files)).toEqual(["tool/view → tool/edit"]);
  });
});

describe("compareArrows()", () => {
  const arrow = (target: string) => ({ path: "dev/a.ts", line: 3, target, pair: "dev → dev/fs" });

  it("reports a pair that has more than is known, with what it imports", () => {
    const { more, fewer } = compareArrows(
      [arrow("dev/fs/x.ts"), arrow("dev/fs/y.ts")],
      new Map([["dev → dev/fs", 1]]),
    );
    expect(more).toEqual([
      "dev → dev/fs: 2 imports against the plan, 1 known. One of these is new:",
      "  src/dev/a.ts:3 imports dev/fs/x.ts",
      "  src/dev/a.ts:3 imports dev/fs/y.ts",
    ]);
    expect(fewer).toBe(false);
  });

  it("lowers what has fallen, drops what is gone, and raises nothing", () => {
    const known = readKnown("# comment\n2 store → dev\n3 dev → dev/fs\n2 dev → dev/fs\n1 lib → abi\n");
    const { fewer, tightened } = compareArrows(
      [arrow("dev/fs/x.ts"), { ...arrow("b.ts"), pair: "lib → abi" }],
      known,
    );
    expect(fewer).toBe(true);
    expect(tightened).toEqual(["1 dev → dev/fs", "1 lib → abi"]);
    expect(compareArrows([arrow("x.ts"), arrow("y.ts")], new Map([["dev → dev/fs", 1]])).tightened).toEqual([
      "1 dev → dev/fs",
    ]);
  });
});

it("measureRooms() counts types and dynamic imports, and no tests", () => {
  const { circle, rooms } = measureRooms(
    treeOf({
      "lib/a.ts": `import type { B } from "./b.ts";`,
      "lib/b.ts": `await import("./a.ts");`,
      "abi/c.ts": `import { a } from "../lib/a.ts";`,
      "abi/d.ts": "",
      "abi/e.ts": "",
      "abi/c.test.ts": `import { c } from "./c.ts";`,
    }),
  );
  expect(circle).toEqual(["lib/a.ts", "lib/b.ts"]);
  expect(rooms).toEqual([
    { room: "abi", files: 3, radius: 5, median: 1 },
    { room: "lib", files: 2, radius: 2, median: 2 },
  ]);
});
