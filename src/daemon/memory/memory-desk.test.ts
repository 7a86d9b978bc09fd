import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { MemoryDesk } from "./memory-desk.ts";
import { memoryFolders, movedTo } from "./memory-places.ts";

let base: string;
/** The workspaces whose settings say no. */
let off: string[];
let untaken: string[];
let labelled: string[];
let desk: MemoryDesk;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "crux-memory-")));
  off = [];
  untaken = [];
  labelled = [];
  desk = new MemoryDesk({
    folders: (root) => memoryFolders(base, root, (path) => path),
    isOff: (root) => off.includes(root),
    isTaken: (root) => !untaken.includes(root),
    isTidied: (root) => !untaken.includes(root),
    isLabelled: (path) => labelled.includes(path),
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const folders = () => memoryFolders(base, "/home/u/shop", (path) => path);
function put(dir: string, text: string): string {
  const path = join(dir, "MEMORY.md");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
const found = (env = {}, isTrusted = false) => desk.of({ root: "/home/u/shop", isTrusted }, env);

test("memoryFolders(): the key has the path and a digest, so that two projects never share one", () => {
  const { local, user } = folders();
  expect(local).toMatch(/\/memory\/projects\/-home-u-shop-[0-9a-f]{8}$/);
  expect(user).toBe(join(base, "memory/user"));
  expect(memoryFolders(base, "/home-u/shop", (path) => path).local).not.toBe(local);
  expect(memoryFolders(base, `/${"x".repeat(300)}`, (path) => path).local.length).toBeLessThan(
    base.length + 160,
  );
});

test("of() gives the folders, and the indexes that are there", async () => {
  const { local, user } = folders();
  expect(await found()).toEqual({ memory: { local, user, indexes: [] }, notices: [] });
  const path = put(local, "- [Tests](tests.md) — no mocks\n");
  expect((await found()).memory?.indexes).toEqual([
    { scope: "local", path, text: "- [Tests](tests.md) — no mocks" },
  ]);
});

test.each([
  ["201 short lines", Array.from({ length: 201 }, (_, at) => `- ${at}`).join("\n"), 200],
  ["10 lines of 30 KB together", Array.from({ length: 10 }, () => "ü".repeat(1_500)).join("\n"), 8],
  ["2 MiB", "- a line\n".repeat(250_000), 200],
])("of() cuts an index of %s, and says so", async (_what, text, lines) => {
  put(folders().local, text);
  const [index] = (await found()).memory?.indexes ?? [];
  const [last, ...rest] = (index?.text ?? "").split("\n").toReversed();
  expect(last).toMatch(/^\(cut: an index has at most 200 lines and 25000 bytes/);
  expect(rest).toHaveLength(lines);
  expect(Buffer.byteLength(index?.text ?? "")).toBeLessThan(25_100);
});

test("of() leaves out what leads elsewhere, and what was written from labelled data", async () => {
  const { local, user } = folders();
  labelled = [put(user, "from a page")];
  mkdirSync(local, { recursive: true });
  writeFileSync(join(base, "secret"), "secret");
  symlinkSync(join(base, "secret"), join(local, "MEMORY.md"));
  const { memory, notices } = await found();
  expect(memory?.indexes).toEqual([]);
  expect(notices.join("\n")).toMatch(/data of others[\s\S]*leads out of its folder/);
});

test("of() gives nothing where memory is off, by settings or environment", async () => {
  put(folders().user, "text");
  expect(await found({ CRUX_DISABLE_AUTO_MEMORY: "1" })).toEqual({ notices: [] });
  off.push("/home/u/shop");
  expect(await found()).toEqual({ notices: [] });
});

test("notes() tells type, description and what keeps a note from being found", async () => {
  const { local, user } = folders();
  put(local, "- [Tests](tests.md) — no mocks\n- [Odd](odd.md) — x\n");
  const note = (name: string, text: string, dir = local) => writeFileSync(join(dir, name), text);
  note("tests.md", "---\nname: tests\ndescription: no mocks\ntype: feedback\n---\nNo mocks.");
  note("odd.md", "---\nname: odd\ntype: gossip\n---\nx");
  note("lost.md", "---\ndescription: x\ntype: user\n---\nx");
  note("bare.md", "text");
  note("ignored.txt", "text");
  note(".tidy.md", "of Crux itself");
  const { notes, folders: found } = await desk.notes("/home/u/shop");
  expect(found).toEqual({ local, user });
  expect(notes.map(({ path, type, problem }) => [path.slice(local.length + 1), type, problem])).toEqual([
    ["MEMORY.md", "", ""],
    ["bare.md", "", "bare.md must start with ---"],
    ["lost.md", "user", "the index has no line for it, so no agent looks for it"],
    ["odd.md", "gossip", "type must be one of user, feedback, project, reference"],
    ["tests.md", "feedback", ""],
  ]);
});

test("of() names the notes for recall by what they are about; labelled ones, links and those without front matter are not", async () => {
  const { local } = folders();
  put(local, "- index\n");
  const note = (name: string, text: string): string => {
    const path = join(local, name);
    writeFileSync(path, text);
    return path;
  };
  const path = note("tests.md", "---\nname: tests\ndescription: no mocks\ntype: feedback\n---\nx");
  labelled.push(note("page.md", "---\nname: page\ndescription: of a page\ntype: project\n---\nx"));
  note("plain.md", "no front matter");
  symlinkSync(path, join(local, "link.md"));
  const { notes } = (await found()).memory ?? {};
  expect(notes).toEqual([
    { path, name: "tests", description: "no mocks", day: expect.stringMatching(/^\d{4}-/) },
  ]);
});

test("of() lets notes be taken and tidied for sessions in a trusted folder alone, unless the settings say no", async () => {
  const of = async (isTrusted: boolean) => {
    const { memory } = await found({}, isTrusted);
    return [memory?.isTaken, memory?.isTidied];
  };
  expect(await of(true)).toEqual([true, true]);
  expect(await of(false)).toEqual([undefined, undefined]);
  untaken.push("/home/u/shop");
  expect(await of(true)).toEqual([undefined, undefined]);
});

test("of() gives an agent its own folder with its index, cut as the others, and notes() lists its notes with their place", async () => {
  const { local, user } = folders();
  const own = { scope: "user", folder: "reviewer", tools: [] } as const;
  const of = () => desk.of({ root: "/home/u/shop", isTrusted: false }, {}, own);
  const dir = join(user, "agents/reviewer");
  expect((await of()).memory?.own).toEqual({ dir, index: "" });
  put(dir, Array.from({ length: 201 }, (_, at) => `- ${at}`).join("\n"));
  expect((await of()).memory?.own?.index).toMatch(/- 199\n\(cut: /);
  expect((await of()).memory?.indexes).toEqual([]);
  labelled = [put(dir, "from a page")];
  expect((await of()).memory?.own?.index).toBe("");
  expect((await of()).notices.join()).toContain("data of others");
  put(local, "- index\n");
  const { notes } = await desk.notes("/home/u/shop");
  expect(notes.map(({ path, scope }) => [path, scope])).toEqual([
    [join(local, "MEMORY.md"), "local"],
    [join(dir, "MEMORY.md"), "user"],
  ]);
});

test("movedTo() takes the folder that the environment names for itself, before the one of the settings", () => {
  const around = { home: "/home/u", realPath: (path: string) => path, closed: ["/home/u/.ssh"] };
  const usual = folders();
  expect(movedTo(usual, {}, around)).toBe(usual);
  const moved = movedTo(usual, { override: "/srv/notes/", directory: "/home/u/.ssh" }, around);
  expect(moved).toEqual({ ...usual, local: "/srv/notes" });
  const refused = () => movedTo(usual, { override: "/home/u/.ssh/x" }, around);
  expect(refused).toThrow("CRUX_MEMORY_PATH_OVERRIDE: /home/u/.ssh/x is closed to agents, so memory is off");
});

test("where memory cannot be kept nothing is told, and the user is told why", async () => {
  const why = new Fault({ code: "INVALID", message: "not there" });
  const no = () => false;
  const off = new MemoryDesk({ folders: () => why, isOff: no, isTaken: no, isTidied: no, isLabelled: no });
  expect(await off.of({ root: "/w", isTrusted: true }, {})).toEqual({ notices: ["memory: not there"] });
  await expect(off.notes("/w")).rejects.toBe(why);
});
