import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { widthOf } from "../cli/screen/text/width.ts";
import { en } from "../cli/screen/words/en.ts";
import { zh } from "../cli/screen/words/zh.ts";
import { helpText } from "./slash.ts";

test("the table of keys and commands has its second column at the same place in both", () => {
  for (const words of [en, zh]) {
    const lines = helpText(words).split("\n");
    const keys = words.help.keys.map(([name, about]) => [name, about, 44] as const);
    const commands = Object.entries(words.help.commands).map(
      ([name, about]) => [`/${name}`, about, 18] as const,
    );
    for (const [name, about, columns] of [...keys, ...commands]) {
      const line = lines.find((each) => each.startsWith(`  ${name} `) && each.endsWith(about));
      expect([name, widthOf((line ?? "").slice(0, -about.length))]).toEqual([name, columns]);
    }
  }
});

test("no line of help is wider in Chinese than the widest is in English", () => {
  const widest = (text: string) => Math.max(...text.split("\n").map(widthOf));
  expect(widest(helpText(zh))).toBeLessThanOrEqual(widest(helpText(en)));
  expect(widest(zh.lines.help.join("\n"))).toBeLessThanOrEqual(widest(en.lines.help.join("\n")));
});

/** What files of the user are told, as errors are everywhere: in English. */
const ERRORS = new Set(["editor/key-map.ts", "text/theme.ts", "appearance.ts"]);
/** Stands for a paste in the text of a message; the name of a mode. */
const MARKERS = [/^`\[Pasted text #/, /^"visual line"$/];

test("what the terminal says stands in the catalogue: its own files hold no words", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => !ERRORS.has(file));
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap((file) =>
    wordsIn(readFileSync(join(import.meta.dirname, file), "utf8")).map((text) => [file, text]),
  );
  expect(found).toEqual([]);
});

/** The literals of a source with two words next to each other. */
function wordsIn(source: string): readonly string[] {
  const code = source
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/^(?:import|export)[^;]*? from "[^"]*";$/gm, "");
  const literals = code.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g) ?? [];
  return literals
    .filter((text) => !MARKERS.some((marker) => marker.test(text)))
    .filter((text) => /[a-z]{2,} [a-z]{2,}/i.test(text.replace(/\$\{[^}]*\}/g, " ")));
}
