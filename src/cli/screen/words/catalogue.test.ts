import { expect, test } from "vitest";
import { catalogueOf } from "./catalogue.ts";
import { en } from "./en.ts";
import { zh } from "./zh.ts";

/** Each text of a catalogue by its path; a function stands for itself. */
function textsOf(value: unknown, path = ""): readonly (readonly [path: string, text: unknown])[] {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, part]) => textsOf(part, `${path}.${key}`));
}

test("both languages say the same things, and each is loaded by its name", async () => {
  const [english, chinese] = [textsOf(en), textsOf(zh)];
  expect(chinese.map(([path]) => path)).toEqual(english.map(([path]) => path));
  expect(chinese.map(([, text]) => typeof text)).toEqual(english.map(([, text]) => typeof text));
  expect([await catalogueOf("en"), await catalogueOf("zh")]).toEqual([en, zh]);
});

test("Chinese is Chinese: but for keys and names, no text is that of English, and none is empty", () => {
  const texts = new Map(textsOf(en));
  const same = textsOf(zh).filter(([path, text]) => typeof text === "string" && text === texts.get(path));
  // what is typed, the keys of /help
  const isKey = (path: string) => /^\.help\.keys\.\d+\.0$/.test(path);
  expect(same.map(([path]) => path).filter((path) => !isKey(path))).toEqual([]);
  expect(textsOf(zh).filter(([, text]) => text === "")).toEqual([]);
});

test("a half-width mark of punctuation never follows a Chinese character", () => {
  const texts = textsOf(zh).flatMap(([, text]) => (typeof text === "string" ? [text] : [String(text)]));
  expect(texts.filter((text) => /\p{Script=Han}[,;!?()]|[,;!?(]\p{Script=Han}/u.test(text))).toEqual([]);
});
