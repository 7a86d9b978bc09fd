import { expect, test } from "vitest";
import { refuseForeign, spreadLists } from "./foreign-flags.ts";

const spread = (line: string): string => spreadLists(line.split(" ")).join(" ");

test.each([
  [
    "-p fix --allowedTools Read Bash(ls:*) mcp__x__y",
    "-p fix --allowedTools Read --allowedTools Bash(ls:*) --allowedTools mcp__x__y",
  ],
  ["--tools=Read,Edit Grep -p go", "--tools=Read,Edit --tools Grep -p go"],
  ["--allowedTools Read fix the Edit", "--allowedTools Read fix the Edit"],
  ["--allowedTools fix Read", "--allowedTools fix --allowedTools Read"],
  ["--add-dir ../a ../b /c/d /review", "--add-dir ../a --add-dir ../b --add-dir /c/d /review"],
  ["--mcp-config a.json b.json look", "--mcp-config a.json --mcp-config b.json look"],
  ["--debug api,mcp look", "--debug look"],
  ["--debug look into api,mcp", "--debug look into api,mcp"],
  ["--model Read Edit", "--model Read Edit"],
  ["--tools Read -- Edit", "--tools Read -- Edit"],
])("spreadLists(%s) keeps the prompt, and gives each value its flag", (line, expected) => {
  expect(spread(line)).toBe(expected);
});

test("refuseForeign() names what is not here, with what to write instead", () => {
  const hint = expect.stringContaining("--permission-mode bypass");
  expect(() => refuseForeign(["-p", "--yolo", "x"])).toThrow(
    expect.objectContaining({ code: "INVALID", message: "--yolo is not a flag of crux", hint }),
  );
  expect(() => refuseForeign(["--betas=a"])).toThrow("--betas is not a flag of crux");
  expect(() => refuseForeign(["-p", "--", "--yolo"])).not.toThrow();
});
