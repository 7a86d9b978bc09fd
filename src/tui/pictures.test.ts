import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { PICTURES } from "../abi/media/pictures.ts";
import { en } from "../cli/screen/words/en.ts";
import { type Editing, NEW } from "./editor/edit.ts";
import { Pictures } from "./pictures.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const dir = mkdtempSync(join(tmpdir(), "crux-pictures-"));
afterAll(() => rmSync(dir, { recursive: true }));

function aTerminal(env: Record<string, string> = {}) {
  const hints: string[] = [];
  const around = {
    ...{ call: { host: { env } }, words: en, editing: NEW as Editing },
    hint: (text: string) => void hints.push(text),
    say: (text: string) => void hints.push(text),
  };
  const pictures = new Pictures(around);
  const paste = (text: string) => pictures.pasted({ kind: "paste", text });
  return { around, pictures, hints, paste };
}

function aFile(name: string, bytes: Buffer | string = PNG): string {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  return path;
}

test("a pasted path of a picture is a mark, however a terminal writes it, and the message has the picture", () => {
  const { around, pictures, paste } = aTerminal();
  const path = aFile("a shot.png");
  for (const text of [path, `'${path}' `, path.replaceAll(" ", "\\ "), pathToFileURL(path).href])
    expect(paste(text)).toBe(true);
  expect(around.editing.buffer.text).toBe("[Image #1][Image #2][Image #3][Image #4]");
  const whole = { type: "image", media_type: "image/png", data: PNG.toString("base64") };
  expect(pictures.of("see [Image #2], again [Image #2], and [Image #9]")).toEqual([whole]);
  expect(pictures.of("none")).toEqual([]);
});

test("any other paste is text", () => {
  const { around, paste } = aTerminal();
  mkdirSync(join(dir, "folder.png"), { recursive: true });
  const others = [
    ...["shot.png", "/no/such.png", `${aFile("b.png")}\n${aFile("c.png")}`, "file://elsewhere/x.png"],
    ...[join(dir, "folder.png"), aFile("text.png", "not a picture"), aFile("a.txt")],
    aFile("large.png", Buffer.concat([PNG, Buffer.alloc(PICTURES.bytes)])),
  ];
  for (const text of others) expect([text, paste(text)]).toEqual([text, false]);
  expect(around.editing).toBe(NEW);
});

test("the newest pictures alone are kept", () => {
  const { pictures, paste } = aTerminal();
  const path = aFile("d.png");
  for (let n = 0; n < 100; n++) paste(path);
  const marks = Array.from({ length: 100 }, (_, n) => `[Image #${n + 1}]`).join("");
  expect(pictures.of(marks)).toHaveLength(4 * PICTURES.count);
});

test("the picture of the clipboard is read by the first program that has it", async () => {
  const path = aFile("e.png");
  writeFileSync(join(dir, "xclip"), `#!/bin/sh\ncat '${path}'\n`, { mode: 0o755 });
  const found = aTerminal({ PATH: `${dir}:/usr/bin:/bin` });
  await found.pictures.fromClipboard();
  expect(found.around.editing.buffer.text).toBe("[Image #1]");
  const bare = aTerminal({ PATH: "/nowhere" });
  await bare.pictures.fromClipboard();
  expect([bare.around.editing, bare.hints]).toEqual([NEW, [en.act.noClipboard("wl-paste, xclip, pngpaste")]]);
  writeFileSync(join(dir, "xclip"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const none = aTerminal({ PATH: dir });
  await none.pictures.fromClipboard();
  expect([none.around.editing, none.hints]).toEqual([NEW, [en.act.noPicture]]);
});
