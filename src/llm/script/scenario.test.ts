import { describe, expect, it } from "vitest";
import { parsePattern, parseScenario } from "./scenario.ts";

const lines = (...text: string[]): string => text.join("\n");

describe("parseScenario()", () => {
  it("takes YAML and JSON", () => {
    const yaml = parseScenario("scenario: a\nturns:\n  - say: Hi\n", "a.yaml");
    const json = parseScenario('{"scenario":"a","turns":[{"say":"Hi"}]}', "a.json");
    expect(yaml).toEqual(json);
    expect(yaml.turns[0]).toMatchObject({ say: "Hi", times: 1, forever: false, call: [] });
  });

  it.each([
    [lines("scenario: a", "turns:", "  - sya: Hi"), 3, /turns\.0/],
    [lines("scenario: a", "turns:", "  - say: Hi", "  - when:", "      turn: 0"), 5, /turns\.1\.when\.turn/],
    [lines("scenario: a", "turns:", "  - fault: { kind: odd }"), 3, /fault\.kind/],
    [lines("scenario: a", "turns:", "  - when: { user: '/(/' }"), 3, /pattern/],
    [lines("scenario: a", "turns:", "  - say: [unclosed"), 3, /not valid YAML/],
    [lines("turns:", "  - say: x"), 1, /scenario/],
  ])("names the line of %j", (text, line, message) => {
    const parse = (): unknown => parseScenario(text, "s.yaml");
    expect(parse).toThrow(message);
    expect(parse).toThrow(expect.objectContaining({ code: "INVALID" }));
    expect(parse).toThrow(new RegExp(`^s\\.yaml, line ${line}: `));
  });

  it("shows nothing of a file that is no scenario", () => {
    expect(() => parseScenario("root:x:0:0:secret\nnext: [", "p")).toThrow(
      /^p, line \d+: [^s]*not valid YAML$/,
    );
  });
});

describe("parsePattern()", () => {
  it("takes text between slashes as a pattern, other text as a part", () => {
    expect(parsePattern("/^fail(ed)?$/i")("FAILED")).toBe(true);
    expect(parsePattern("a/b")("see a/b.ts")).toBe(true);
    expect(parsePattern("a.b")("axb")).toBe(false);
  });
});
