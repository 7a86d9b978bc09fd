import { expect, test } from "vitest";
import { english, plain, type Sentence } from "../../abi/sentence.ts";
import { askBlock, excerptLines } from "./ask-lines.ts";
import { zh } from "./words/zh.ts";

const reason: Sentence = { kind: "no_rule", what: "npm test (plan mode)", mode: "default" };
const confined: Sentence = { kind: "sandbox", write: ["/w", null], network: "off" };
const QUESTION = {
  pid: 1,
  text: "edit file: a",
  detail: `-a\n+b\n! ${english(plain("replaces_all"))}`,
  parts: [
    { text: "npm test", behavior: "ask", why: "default mode", fact: { kind: "mode", mode: "default" } },
  ],
  reason: english(reason),
  warnings: [english(plain("replaces_all")), english(plain("removes_files"))],
  sandbox: english(confined),
  facts: {
    reason: [reason],
    warnings: [plain("replaces_all"), plain("removes_files")],
    sandbox: confined,
  },
} as const;

const WHOLE = Number.POSITIVE_INFINITY;

test("askBlock() words the facts of a question in the language of the user, and leaves what it quotes as it is", () => {
  expect(askBlock(QUESTION, WHOLE, zh.ask).lines).toEqual([
    "  -a",
    "  +b",
    "  ! 替换每一处",
    "  1. npm test  (询问: 默认模式)",
    "  原因：npm test (plan mode)：没有规则允许（默认模式）",
    "  沙箱：可写 /w、它的临时文件夹；网络：关闭",
    "  ! rm 会删除文件，删除的内容不会保留",
  ]);
  expect(askBlock(QUESTION, WHOLE).lines[2]).toBe("  ! replaces every occurrence");
  expect(askBlock(QUESTION, WHOLE).lines[4]).toBe(`  why: ${QUESTION.reason}`);
});

test("askBlock() shows the text of a question as it came where its facts are not known", () => {
  const { facts: _, ...older } = QUESTION;
  expect(askBlock(older, WHOLE, zh.ask).lines).toContain(`  原因：${QUESTION.reason}`);
  const newer = { ...QUESTION, facts: { ...QUESTION.facts, reason: [{ kind: "to_come" } as never] } };
  expect(askBlock(newer, WHOLE, zh.ask).lines).toContain(`  原因：${QUESTION.reason}`);
});

test("askBlock() shows less of a long text on a low screen, its begin and its end, and says how much is left", () => {
  const detail = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`).join("\n");
  const { lines, isCut } = askBlock({ ...QUESTION, detail, parts: [] }, excerptLines(24));
  const at = lines.findIndex((line) => line.includes("lines more"));
  expect([at, lines[at - 1], lines[at], lines[at + 1], isCut]).toEqual([
    8,
    "  line 8",
    "  … 30 lines more …",
    "  line 39",
    true,
  ]);
  expect([excerptLines(), excerptLines(100), excerptLines(10)]).toEqual([32, 32, 8]);
});

test("askBlock() says how a text is seen whole of which the daemon sent a part", () => {
  const part: Sentence = { kind: "shown_in_part", name: "diff", characters: 9_009 };
  const cut = { ...QUESTION, warnings: [english(part)], facts: { ...QUESTION.facts, warnings: [part] } };
  expect(askBlock({ ...cut, arguments: "{}" }, WHOLE).lines.at(-1)).toBe(
    "  e shows all of it, to be edited or left",
  );
  expect(askBlock(cut, WHOLE).lines.at(-1)).toContain("shown in part");
});
