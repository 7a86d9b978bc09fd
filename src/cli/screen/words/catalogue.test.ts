import { expect, test } from "vitest";
import type { Fact } from "../../../abi/fact.ts";
import { PLAIN_SENTENCES, plain, type Sentence } from "../../../abi/sentence.ts";
import { widthOf } from "../text/width.ts";
import { catalogueOf } from "./catalogue.ts";
import { en } from "./en.ts";
import { zh } from "./zh.ts";

/** One of each kind: a new one does not compile until it stands here, and the table of Chinese words until it has its row. */
const FACTS: { readonly [K in Fact["kind"]]: Omit<Extract<Fact, { kind: K }>, "kind"> } = {
  ...{
    no_process: { pid: 1 },
    no_history: { pid: 1 },
    ended: { pid: 1 },
    running: { pid: 1 },
    paused: { pid: 1 },
  },
  ...{ resting: { pid: 1 }, stopped: { pid: 1 }, unread: { pid: 1 }, unsure: { pid: 1 }, no_job: { pid: 1 } },
  ...{
    no_limit: { pid: 1 },
    no_group: {},
    no_agent: {},
    no_project: {},
    project_down: {},
    project_ended: {},
  },
  ...{ no_grant: {}, not_mounted: {}, path_taken: {}, grants_full: {}, files_forgotten: {}, model_unfit: {} },
  ...{
    mode_at_start: {},
    journal_lost: {},
    stopping: {},
    no_tree_path: {},
    bad_recording: {},
    trust_full: {},
  },
  ...{ journal_in_use: {}, damaged: { pid: null }, disk: { reason: "journal_full", path: "/d" } },
  ...{ needs_approval: { remedy: { mode: "auto" } }, above_ceiling: { pid: 1, mode: "auto" } },
  ...{
    limit_reached: { pid: 1, unit: "usd", need: 2 },
    untrusted: { folder: "/f" },
    tree_file: { path: "/p" },
  },
  ...{ host_file: { path: "/h" }, no_setting: { near: null }, own_setting: { key: "k" } },
  ...{ no_model: { model: "m", ways: [] }, cut_off: { method: "spawn" }, daemon_silent: {}, daemon_late: {} },
  ...{ safe_mode: {}, other_version: {} },
};
/** Commands alone, or what the facts do not tell. */
const AS_IT_CAME = [
  "journal_lost",
  "tree_file",
  "host_file",
  "no_model",
  "cut_off",
  "daemon_silent",
  "other_version",
];

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

test("each fact of an error is said in Chinese, and so is what to type next", () => {
  const facts = Object.entries(FACTS).map(([kind, more]) => ({ kind, ...more }) as Fact);
  for (const fact of facts)
    expect(zh.faults.said({ code: "INVALID", message: "as it came", fact })).toMatch(/\p{Script=Han}/u);
  const english = facts.filter((fact) => !/\p{Script=Han}/u.test(zh.faults.next(fact) ?? ""));
  expect(english.map(({ kind }) => kind)).toEqual(AS_IT_CAME);
});

/** One of each kind, but `plain`: as with FACTS, a new one does not compile until it stands here and has its Chinese words. */
const SENTENCES: { readonly [K in Exclude<Sentence["kind"], "plain">]: Extract<Sentence, { kind: K }> } = {
  mode: { kind: "mode", mode: "default" },
  rule: { kind: "rule", rule: "bash(rm:*)", source: "shipped" },
  no_rule: { kind: "no_rule", what: "a", mode: "plan" },
  access: { kind: "access", access: "write", path: "/a", isOutside: true, mode: "auto" },
  command_by_rule: { kind: "command_by_rule", command: "a", rule: "bash(a:*)", source: "session" },
  path_by_rule: { kind: "path_by_rule", access: "read", path: "/a", rule: "view(/a)", source: "cliArg" },
  protected: { kind: "protected", access: "write", path: "/a", why: "git configuration" },
  removes: { kind: "removes", command: "rm a" },
  unread: { kind: "unread", text: "a", why: "an unknown construct" },
  has_read: { kind: "has_read", what: "a", origin: "web: b" },
  no_sandbox: { kind: "no_sandbox", why: "nothing confines" },
  replaces_some: { kind: "replaces_some", count: 2 },
  shown_in_part: { kind: "shown_in_part", name: "diff", characters: 9 },
  sandbox: { kind: "sandbox", write: ["/w", null, "/a", "/b", "/c"], network: [] },
};
const ALL_SENTENCES: readonly Sentence[] = [...Object.values(SENTENCES), ...PLAIN_SENTENCES.map(plain)];

test("each sentence of a question is said in both languages, and a text of nobody's stays as it is", () => {
  for (const sentence of ALL_SENTENCES) {
    expect(zh.ask.said(sentence)).toMatch(/\p{Script=Han}/u);
    expect(en.ask.said(sentence)).toMatch(/^[\x20-\x7e]+$/);
  }
  expect([en, zh].map(({ ask }) => ask.said("default mode"))).toEqual(["default mode", "default mode"]);
  expect(zh.ask.said(SENTENCES.no_rule)).toBe("a：没有规则允许（计划模式）");
  expect(zh.ask.said(SENTENCES.sandbox)).toBe("可写 /w、它的临时文件夹、/a、/b，及另外 1 项；网络：关闭");
});

/** Texts that stand in rows, so that a wider one would be cut. Others are folded. */
const IN_ROWS = /^\.(?:help\.keys|editor\.hint|modeLine|live)\b/;

test("what stands in one row of a screen of 80 columns fits there, in cells", () => {
  for (const catalogue of [en, zh]) {
    const rows = textsOf(catalogue).filter(([path, text]) => IN_ROWS.test(path) && typeof text === "string");
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter(([, text]) => widthOf(text as string) > 80)).toEqual([]);
  }
});

test("a half-width mark of punctuation never follows a Chinese character", () => {
  const facts = Object.entries(FACTS).map(([kind, more]) => ({ kind, ...more }) as Fact);
  const errors = facts.flatMap((fact) => [
    zh.faults.next(fact) ?? "",
    zh.faults.said({ code: "INVALID", message: "", fact }),
  ]);
  const own = textsOf(zh).flatMap(([, text]) => (typeof text === "string" ? [text] : [String(text)]));
  const questions = ALL_SENTENCES.map(zh.ask.said);
  const texts = [...own.filter((text) => text !== zh.faults.hint), ...errors, ...questions];
  expect(texts.filter((text) => /\p{Script=Han}[,;!?()]|[,;!?(]\p{Script=Han}/u.test(text))).toEqual([]);
});
