import { expect, test } from "vitest";
import { widthOf } from "../../cli/screen/text/width.ts";
import { en } from "../../cli/screen/words/en.ts";
import { detailLines } from "../view/call-details.ts";
import { Highlighter } from "./highlight.ts";
import { markedUp } from "./languages.ts";
import { type Line, textOf } from "./line.ts";
import { markdownLines } from "./markdown.ts";
import { themeOf } from "./theme.ts";

const theme = themeOf("dark", 256);

/** With its languages loaded. */
async function highlighter(): Promise<Highlighter> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = new Highlighter(async () => markedUp, resolve);
  expect(made.lines("a", "ts", theme)).toBeUndefined();
  expect(made.isLoading).toBe(true);
  await promise;
  expect(made.isLoading).toBe(false);
  return made;
}

const styleOf = (lines: readonly Line[], text: string): string | undefined =>
  lines.flat().find((span) => span.text.includes(text))?.style;

test("lines() colours tokens by role, over line breaks, and gives the text back unchanged", async () => {
  const code = 'const a = "<b> & c"; // 日本\n/* one\ntwo */ return 42;';
  const lines = (await highlighter()).lines(code, "ts", theme) ?? [];
  expect(lines.map(textOf).join("\n")).toBe(code);
  expect([styleOf(lines, "const"), styleOf(lines, "<b>"), styleOf(lines, "42")]).toEqual([
    ...[theme.accent, theme.success, theme.warning],
  ]);
  for (const comment of ["日本", "one", "two"]) expect(styleOf(lines, comment)).toBe(theme.dim);
  expect(styleOf(lines, " a ")).toBe("");
});

test("lines() leaves plain what it does not know, and very long code", async () => {
  const made = await highlighter();
  for (const language of ["", "nonsense", "constructor"])
    expect(made.lines("a", language, theme)).toBeUndefined();
  expect(made.lines("a".repeat(100_001), "ts", theme)).toBeUndefined();
});

test("a highlighter without its languages shows code plain, and holds nothing back", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = new Highlighter(() => Promise.reject(new Error("gone")), resolve);
  made.lines("a", "ts", theme);
  await promise;
  expect([made.isLoading, made.lines("a", "ts", theme)]).toEqual([false, undefined]);
});

test.each([16, 40, 80])("code in Markdown is coloured and fits into %i columns", async (width) => {
  const made = await highlighter();
  const highlight = made.lines.bind(made);
  const lines = markdownLines("```py\nreturn '日本語のテキスト 日本語のテキスト 日本語'\n```", {
    theme,
    width,
    highlight,
  });
  expect(styleOf(lines, "return")).toBe(theme.accent);
  expect(styleOf(lines, "語")).toBe(theme.success);
  for (const line of lines) expect(widthOf(textOf(line))).toBeLessThanOrEqual(width);
});

test("a diff keeps its marks and their colours, and colours tokens in the language of the file", async () => {
  const made = await highlighter();
  const look = { theme, words: en, width: 80, highlight: made.lines.bind(made) };
  const edit = (path: string) =>
    detailLines(
      {
        ...({ kind: "call", id: "t", tool: "edit", isFinal: true } as const),
        input: { file_path: path, old_string: "let a = 1;\nkept()", new_string: "const a = 2;\nkept()" },
      },
      look,
    );
  const lines = edit("src/a.ts");
  expect(lines.map(textOf).slice(1)).toEqual(["  │ -let a = 1;", "  │ +const a = 2;", "  │  kept()"]);
  expect(lines[2]?.map(({ style }) => style)).toEqual([
    ...[theme.border, theme.diffAdd, theme.accent, theme.diffAdd, theme.warning, theme.diffAdd],
  ]);
  expect(styleOf(lines, "let")).toBe(theme.accent);
  // an unknown kind of file: the colours of the change alone
  expect(edit("notes")[2]?.map(({ style }) => style)).toEqual([theme.border, theme.diffAdd, theme.diffAdd]);
});
