import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PARSERS, readParser } from "./output-parser.ts";

const parser = (...lines: readonly string[]) => readParser(["rules:", ...lines, ""].join("\n"), "p.yaml");

describe("readParser()", () => {
  it("makes events of lines: the first rule of the stream that matches, its groups by their types", () => {
    const made = parser(
      "  - { event: build.step, match: '^\\[(?<n>\\d+)/(?<of>\\d+)\\] (?<what>.*)$', fields: { n: number, of: number } }",
      "  - { event: build.took, stream: stderr, match: 'took (?<time>\\S+)(?: (?<more>x))?', fields: { time: duration } }",
    );
    expect(made.parse("stdout", "[3/12] link a.o")).toEqual({
      event: "build.step",
      data: { n: 3, of: 12, what: "link a.o" },
    });
    expect(made.parse("stdout", "took 1:02.5")).toBeUndefined();
    expect(made.parse("terminal", "took 1:02.5")).toEqual({ event: "build.took", data: { time: 62_500 } });
    expect(made.parse("stderr", "took long")).toEqual({ event: "build.took", data: {} });
    expect(made.parse("stderr", "else")).toBeUndefined();
  });

  it.each([
    ["p.yaml:2: event", "  - { match: a }"],
    ["p.yaml:3: match: Invalid regular expression", "  - event: a.b", "    match: '('"],
    ['p.yaml:4: unknown key "flags"', "  - event: a.b", "    match: a", "    flags: i"],
    ["p.yaml:2: stream", "  - { event: a.b, match: a, stream: stdin }"],
    ["p.yaml:2: fields: each is", "  - { event: a.b, match: '(?<n>a)', fields: { n: date } }"],
    ["p.yaml:2: fields: match has no group (?<n>…)", "  - { event: a.b, match: a, fields: { n: text } }"],
    ["p.yaml:2: a rule is a map", "  - text"],
  ])("says where a rule is wrong: %s", (said, ...lines) => {
    expect(() => parser(...lines)).toThrow(said);
  });

  it("says where a file is wrong", () => {
    expect(() => readParser("rules: [", "p.yaml")).toThrow(/^p\.yaml:\d+: /);
    expect(() => readParser("", "p.yaml")).toThrow("p.yaml:1: rules: a list is needed");
    expect(() => readParser("rule: []\n", "p.yaml")).toThrow('p.yaml:1: unknown key "rule"');
  });

  it("leaves a rule out whose pattern takes too long, and names its line", () => {
    const made = parser("  - { event: a.slow, match: '^(a+)+$' }", "  - { event: a.b, match: '!$' }");
    expect(made.parse("stdout", `${"a".repeat(60)}!`)).toEqual({ event: "a.b", data: {} });
    expect(made.slow).toEqual([2]);
    expect(made.parse("stdout", "aa")).toBeUndefined();
  });
});

describe("the parser of ffmpeg", () => {
  const ffmpeg = readParser(PARSERS.ffmpeg ?? "", "ffmpeg");

  it.each([
    [
      "frame=  120 fps= 59 q=28.0 size=     256kB time=00:00:04.00 bitrate= 524.3kbits/s speed=2.01x    ",
      { frame: 120, fps: 59, kib: 256, time: 4_000, speed: 2.01 },
    ],
    [
      "frame=   38 fps=0.0 q=-1.0 Lsize=      13KiB time=00:01:01.48 bitrate=  70.6kbits/s dup=0 drop=1 speed=  24x",
      { frame: 38, fps: 0, kib: 13, time: 61_480, speed: 24 },
    ],
    [
      "size=      16kB time=00:00:01.50 bitrate=  87.0kbits/s speed=1e+03x",
      { kib: 16, time: 1_500, speed: 1_000 },
    ],
  ])("reads %s", (line, data) => {
    expect(ffmpeg.parse("stderr", line)).toEqual({ event: "ffmpeg.progress", data });
  });

  it("stands in the docs", () => {
    const page = readFileSync(new URL("../../../../docs/kernel-ipc.md", import.meta.url), "utf8");
    expect(page).toContain(`\`\`\`yaml\n${PARSERS.ffmpeg}\`\`\``);
  });
});
