import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_WEIGHTS, keywordScore, RankIndex, wordsOf } from "./rank.ts";
import { queryOf, termsOf } from "./terms.ts";
import { entry } from "./testing.ts";

test.each([
  ["notebook_edit", ["notebook", "edit"]],
  ["CronCreate jobs", ["cron", "creat", "job"]],
  ["查看天气预报", ["查看", "看天", "天气", "气预", "预报"]],
  ["猫 cat", ["猫", "cat"]],
  ["HTTPServer2", ["httpserver2"]],
  ["… — !", []],
])("termsOf(%j)", (text, terms) => {
  expect(termsOf(text)).toEqual(terms);
});

test("queryOf() leaves out what says nothing, and puts the latest first", () => {
  expect(queryOf("Could you please send the report to Slack?")).toEqual(["slack", "report", "send"]);
});

test.each([
  ["notebook_edit", "", "", "notebook", 10],
  ["mcp__db__query_rows", "", "", "query", 12],
  ["mcp__postgres__x", "", "", "postgr", 12],
  ["notebook_edit", "", "", "note", 5],
  ["mcp__db__queries_all", "", "", "quer", 6],
  ["x", "", "jupyter cell", "cell", 4],
  ["x", "edits cells", "", "cell", 2],
  ["cell", "a cell", "cell", "cell", 16],
  ["x", "y", "z", "none", 0],
])("keywordScore() of %s (%j, hint %j) for %s", (name, description, hint, term, points) => {
  expect(keywordScore(wordsOf(entry(name, description, hint)), termsOf(term))).toBe(points);
});

/**
 * By hand. Three tools; "slack send". df(slack)=1, df(send)=2 of 3. idf(slack)=ln(4/2)+1=1.693147, idf(send)=ln(4/3)+1=1.287682,
 * idf(mail)=ln(4/2)+1, idf(cron)=idf(job)=1.693147.
 * slack_send: slack 3, send 3: keyword 20. dot=1.693147²·3+1.287682²·3, |d|=3·√(1.693147²+1.287682²), |q|=√(…): cosine 1.
 * mail: name 3·1.693147, description send 1·1.287682: |d|=5.240… ; dot=1.287682²=1.658125; |q|=2.127203; keyword 2.
 */
test("rank() mixes keyword score × 0.4 and TF-IDF × 0.6", () => {
  const index = new RankIndex([entry("slack_send"), entry("mail", "send"), entry("cron_job")]);
  const ranked = index.rank(termsOf("slack send"), DEFAULT_WEIGHTS);
  expect(ranked.map(({ entry: { name } }) => name)).toEqual(["slack_send", "mail"]);
  expect(ranked[0]?.score).toBeCloseTo(1, 6);
  const cosine = 1.658125 / (2.127203 * Math.hypot(3 * 1.693147, 1.287682));
  expect(ranked[1]?.score).toBeCloseTo(0.4 * (2 / 20) + 0.6 * cosine, 4);
  const onlyWords = { keyword: 1, tfIdf: 0, minScore: 0.1 };
  expect(index.rank(termsOf("slack send"), onlyWords)[1]?.score).toBeCloseTo(0.1, 6);
  expect(index.rank(termsOf("slack send"), { ...onlyWords, minScore: 0.11 })).toHaveLength(1);
  expect(index.rank(termsOf("send"), DEFAULT_WEIGHTS, termsOf("mail")).map(({ entry: e }) => e.name)).toEqual(
    ["mail"],
  );
});

test("rank() finds CJK text by pairs of characters", () => {
  const index = new RankIndex([entry("mcp__w__forecast", "查询天气预报"), entry("mcp__n__news", "今日新闻")]);
  expect(index.rank(termsOf("天气"), DEFAULT_WEIGHTS)[0]?.entry.name).toBe("mcp__w__forecast");
});

test("rank() gives scores in 0 … 1, best first, whatever the tools and words", () => {
  const word = fc.stringMatching(/^[a-z]{1,6}$/);
  const words = fc.array(word, { maxLength: 6 }).map((list) => list.join(" "));
  const tool = fc.record({ name: fc.array(word, { minLength: 1, maxLength: 3 }), about: words, hint: words });
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 12 }), words, (tools, query) => {
      const entries = tools.map(({ name, about, hint }) => entry(name.join("_"), about, hint));
      const scores = new RankIndex(entries).rank(termsOf(query), DEFAULT_WEIGHTS).map(({ score }) => score);
      expect(scores.every((score) => score >= 0.1 && score <= 1 + 1e-9)).toBe(true);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
    }),
  );
});
