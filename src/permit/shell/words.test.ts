import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { analyseText } from "./analysis.ts";
import { loadParser } from "./parser.ts";
import { globSpellings, shownArgv, textsOf } from "./word.ts";

beforeAll(async () => {
  await loadParser();
});

const argvs = (text: string) => {
  const { parts, unread } = analyseText(text, "/ws", "/home/u");
  return unread ?? parts.map(({ levels }) => shownArgv(levels.at(-1) ?? []));
};

test.each<[string, readonly string[]]>([
  ["r''m \\x $'\\x61\\u00e9' a\"b\"'c'", ["rm x aé abc"]],
  ["echo {a,b}{1..3} {x} {,y} a{b", ["echo a1 a2 a3 b1 b2 b3 {x} y a{b"]],
  ["echo ~ ~/a ~root a~ '~'", ["echo /home/u /home/u/a …root a~ ~"]],
  ['x=a/b; echo $x ${x}c "$y" $y', ["", "echo a/b a/bc … …"]],
  ["x=a; x=b; echo $x", ["", "", "echo …"]],
  ["IFS=_; x=a; echo $x", ["", "", "echo …"]],
  ["a \\\n  b\\\nc", ["a bc"]],
  ["echo >&2 a 2>/dev/null b", ["echo a b"]],
])("%j is read as %j", (text, expected) => {
  expect(argvs(text)).toEqual(expected);
});

test.each([
  ...[
    "echo @(a|b)",
    "echo 'open",
    "cat <<E\nx",
    "! { rm x; }",
    "coproc N { rm x; }",
    "exec {v}>f",
    "[ a > f ]",
  ],
  ...[
    "echo ${x^^$(rm y)}",
    "echo ${x:=`rm y`}",
    "echo ${x%$(rm y)}",
    "cat <<E\n`rm x`\nE",
    "cat <<-E\n\t$(rm x)\n\tE",
  ],
  ...[
    'echo "`echo \\`rm x\\``"',
    "((echo a); ls)",
    "ls\u00a0x",
    "ls\u200b",
    "ls\rx",
    "echo $[1+1]",
    'echo $"a"',
  ],
  ...["echo {1..99}{1..99}", `${"(".repeat(300)}a${")".repeat(300)}`, "a;".repeat(60)],
])("%j is not read", (text) => {
  expect(argvs(text)).toBeTypeOf("string");
});

test("analyseText() of static words gives the words that bash gives", () => {
  const piece = fc.constantFrom(
    ...[
      "a",
      "B9",
      "-x",
      "--y=z",
      "'q q'",
      '"d d"',
      "''",
      "~",
      "#",
      "=",
      ":",
      "%",
      "^",
      "@",
      "+",
      ",",
      ".",
      "/",
      "\\ ",
      "\\*",
    ],
    ...[
      "{a,b}",
      "{1..3}",
      "{3..1}",
      "{a..e..2}",
      "{",
      "}",
      "{x",
      ",",
      "$'\\t'",
      "$'\\x41'",
      "$'\\101'",
      "$'\\'\\\\'",
      '"\\$\\x"',
      "\\\n",
      "]",
    ],
  );
  const word = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
  const lines = fc
    .sample(fc.array(word, { minLength: 1, maxLength: 4 }), { numRuns: 2000, seed: 7 })
    .map((words) => `printf '%s\\0' x ${words.join(" ")}`);
  const known = lines.flatMap((line) => {
    const { parts, unread } = analyseText(line, "/ws", "/home/u");
    const texts = textsOf(parts[0]?.levels[0] ?? []);
    return unread === null && parts.length === 1 && texts !== null ? [{ line, words: texts.slice(2) }] : [];
  });
  expect(known.length).toBeGreaterThan(800);
  const script = known.map(({ line }) => `${line}\nprintf '\\n\\0'`).join("\n");
  const env = { HOME: "/home/u", LC_ALL: "C.UTF-8" };
  const shown = execFileSync("bash", ["--noprofile", "--norc", "-c", script], { env });
  const seen = shown.toString().split("\n\0").slice(0, -1);
  expect(seen.map((each) => each.split("\0").slice(0, -1))).toEqual(known.map(({ words }) => words));
});

test("analyseText() follows cd where it is certain, and knows where it is not", () => {
  const cwds = (text: string) => analyseText(text, "/ws", "/home/u").parts.map((part) => part.cwds);
  expect(cwds("cd a && ls")).toEqual([["/ws"], ["/ws/a"]]);
  expect(cwds("cd a; ls")).toEqual([["/ws"], ["/ws", "/ws/a"]]);
  expect(cwds("cd a || ls")[1]).toEqual(["/ws", "/ws/a"]);
  expect(cwds("(cd a && x); ls")).toEqual([["/ws"], ["/ws/a"], ["/ws"]]);
  expect(cwds("cd a | x; ls")).toEqual([["/ws"], ["/ws"], ["/ws"]]);
  for (const text of [
    "cd $X && ls",
    "cd - && ls",
    "pushd a && ls",
    "$X && ls",
    "f() { cd a; }; ls",
    "eval 'cd a'; ls",
  ])
    expect(cwds(text).at(-1), text).toBeNull();
  expect(cwds("for i in a b; do ls; cd ..; done")[0]).toBeNull();
});

test("analyseText() feeds what stands in the text to the shell that reads it", () => {
  expect(argvs("bash <<'E'\nrm x\nE")).toEqual(["rm x"]);
  expect(argvs("bash <<< 'rm x'; sh -c 'a; b'")).toEqual(["rm x", "a", "b"]);
  expect(analyseText("cat > e.sh <<E\nx\nE\nbash e.sh", "/ws", "/h").parts.at(-1)?.unsure).toMatch(
    /written here/,
  );
});

test("globSpellings() names what a pattern may stand for", () => {
  expect(globSpellings(".env*")).toContain(".env");
  expect(globSpellings("*")).toEqual(["*", "x"]);
});
