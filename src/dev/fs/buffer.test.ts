/** /dev/fs below an editor: unsaved text is read, and writes go through it. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { EditorRequest } from "../../kernel/ports/editors.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { realPath } from "../host/real-path.ts";
import { ask, askJson, callerIn, tempFolder, until } from "../testing.ts";
import { fsDevice } from "./device.ts";
import { Editors } from "./editors.ts";
import { fsForTests } from "./testing.ts";

const { exec } = fsForTests();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** A folder with one file, its device, and an editor that answers with what it shows. */
function edited(saved: string, shown: Record<string, string>) {
  const root = tempFolder();
  const file = join(root, "a.txt");
  writeFileSync(file, saved);
  const clock = new VirtualClock();
  const editors = new Editors({ clock, sessionOf: (pid) => pid });
  const device = fsDevice({
    ...{ exec, realPath, env: process.env },
    isSecret: () => false,
    editorOf: (pid) => editors.find(pid),
  });
  const asked: EditorRequest[] = [];
  const caller = callerIn(root);
  const serve = (answers = true) =>
    editors.serve(caller.pid, { reads: true, writes: true }, async (request) => {
      asked.push(request);
      const name = request.path.slice(root.length + 1);
      if (!answers && (request.op === "write" || shown[name] === undefined)) return true;
      if (request.op === "write") shown[name] = request.text;
      const text = shown[name];
      editors.answer(request.id, text === undefined ? { error: "not open" } : { text });
      return true;
    });
  const read = (name = "a.txt") => ask(device, `${root}/${name}`, { op: "read" }, caller);
  const write = (body: object, name = "a.txt") =>
    askJson(device, `${root}/${name}`, { op: "write", ...body }, caller);
  return { root, file, clock, editors, device, caller, asked, shown, serve, read, write };
}

it("reads the text that the editor shows, and the file where it shows none or has left", async () => {
  const it = edited("saved\n", { "a.txt": "unsaved\n" });
  expect(String(await it.read())).toBe("saved\n");
  const link = it.serve();
  expect(String(await it.read())).toBe("unsaved\n");
  writeFileSync(join(it.root, "b.txt"), "another\n");
  expect(String(await it.read("b.txt"))).toBe("another\n");
  link.close();
  expect(String(await it.read())).toBe("saved\n");
});

it("takes other line ends and a missing mark for the file as it is", async () => {
  const it = edited("\uFEFFone\r\ntwo\r\n", { "a.txt": "one\ntwo\n" });
  it.serve();
  expect(String(await it.read())).toBe("\uFEFFone\r\ntwo\r\n");
  it.shown["a.txt"] = "one\n2\n";
  expect(String(await it.read())).toBe("\uFEFFone\r\n2\r\n");
});

it("writes through the editor, on the condition of what it shows", async () => {
  const it = edited("saved\n", { "a.txt": "un saved\n" });
  it.serve();
  const part = { at: 3, length: 5 };
  await expect(it.write({ content: "x", part, expect: sha256("saved\n") })).rejects.toMatchObject({
    code: "CONFLICT",
  });
  const written = await it.write({ content: "sent", part, expect: sha256("un saved\n") });
  expect(written).toEqual({ ok: true, created: false, sha256: sha256("un sent\n") });
  expect(it.shown["a.txt"]).toBe("un sent\n");
  expect(readFileSync(it.file, "utf8")).toBe("saved\n");
  await it.write({ content: "new", expect: null, mkdirs: true }, "c.txt");
  expect(it.shown["c.txt"]).toBe("new");
});

it("asks for no file outside of the folder, and for nothing that is not text", async () => {
  const it = edited("a\0\xff", {});
  it.serve();
  writeFileSync(it.file, Buffer.from([0xff, 0xfe, 0]));
  await it.read();
  const away = join(tempFolder(), "b.txt");
  writeFileSync(away, "away");
  expect(String(await ask(it.device, away, { op: "read" }, it.caller))).toBe("away");
  expect(it.asked).toEqual([]);
});

it("an editor that does not answer fails the call; one that leaves, only a write", async () => {
  const it = edited("saved\n", {});
  it.serve(false);
  const late = it.read();
  const over = expect(late).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await until(() => it.asked.length === 1, "the request");
  await it.clock.advance(10_000);
  await over;
  it.shown["a.txt"] = "saved\n";
  const link = it.serve(false);
  const left = it.write({ content: "x" });
  const failed = expect(left).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await until(() => it.asked.length === 3, "the request");
  link.close();
  await failed;
  expect(readFileSync(it.file, "utf8")).toBe("saved\n");
  expect(it.editors.find(it.caller.pid)).toBeUndefined();
});
