import { expect, test } from "vitest";
import { parseComposeArgs } from "./args.ts";

const parse = (line: string) => {
  const { flags, words } = parseComposeArgs(line.split(" ").filter(Boolean));
  return { words, ...Object.fromEntries(flags) };
};

test("parseComposeArgs() takes -f before the verb as the file, behind logs as --follow", () => {
  expect(parse("-f a.yaml -p notes logs writer -f --tail 3")).toEqual({
    words: ["logs", "writer"],
    file: "a.yaml",
    project: "notes",
    follow: true,
    tail: "3",
  });
  expect(parse("up --file a.yaml -p notes -d web --remove-orphans db")).toEqual({
    words: ["up", "web", "db"],
    file: "a.yaml",
    project: "notes",
    detach: true,
    "remove-orphans": true,
  });
  expect(parse("--json down --timeout 5 -q")).toEqual({
    words: ["down"],
    json: true,
    timeout: "5",
    quiet: true,
  });
  expect(parse("-f logs")).toEqual({ words: [], file: "logs" });
  expect(parse("-q")).toEqual({ words: [], quiet: true });
});

test.each([
  ["up -f a.yaml", "unknown flag: -f"],
  ["-d up", "unknown flag: -d"],
  ["ps --tail 3", "unknown flag: --tail"],
  ["-f", "-f needs a value"],
  ["start", "unknown argument: start"],
])("parseComposeArgs() refuses %s", (line, message) => {
  expect(() => parse(line)).toThrow(message);
});
