import { describe, expect, test } from "vitest";
import { parseYaml } from "./yaml-fields.ts";

describe("parseYaml()", () => {
  test("reads each type", () => {
    const fields = parseYaml(
      "f",
      'text: " a "\nversion: 1.5\nsteps: 7\nlist: [a, " b "]\ncommas: a, Bash(x, y) ,b\nmap: { k: 1, l: { m: 2 } }\nnone:\n',
    );
    expect(fields.text("text")).toBe("a");
    expect(fields.text("version")).toBe("1.5");
    expect(fields.text("none")).toBe("");
    expect(fields.int("steps")).toBe(7);
    expect(fields.list("list")).toEqual(["a", "b"]);
    expect(fields.list("commas")).toEqual(["a", "Bash(x, y)", "b"]);
    expect(fields.words("list")).toBe("a b");
    expect(fields.words("text")).toBe("a");
    expect(fields.map("map").int("k")).toBe(1);
    expect(fields.texts("map")).toEqual({ k: "1", l: '{"m":2}' });
    expect(fields.unread()).toEqual([]);
  });

  test("takes every spelling of a key, but only one", () => {
    for (const key of ["context_budget", "contextBudget", "context-budget"])
      expect(parseYaml("f", `${key}: 5`).int("context_budget")).toBe(5);
    expect(() => parseYaml("f.yaml", "max-steps: 1\nmaxSteps: 2")).toThrow(
      expect.objectContaining({
        code: "INVALID",
        message: "f.yaml: two spellings of one key: max-steps, maxSteps",
      }),
    );
  });

  test.each([
    ["a: 1\nb: [1,\nc: d: e\n", /^f:3:\d+: /],
    ["a: 1\na: 2\n", /^f:2:1: Map keys must be unique$/],
    ["- a\n", /^f:1: must be a mapping$/],
    ["a: *nothing\n", /^f: .*alias/i],
  ])("throws INVALID with the line for %j", (text, message) => {
    expect(() => parseYaml("f", text)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringMatching(message) }),
    );
  });

  test("stops a flood of aliases", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(9)}]`);
    expect(() => parseYaml("f", `l0: &l0 x\n${levels.join("\n")}\n`)).toThrow(
      expect.objectContaining({ code: "INVALID" }),
    );
  });

  test("names the key of a wrong type", () => {
    const fields = parseYaml("f", "a: { b: 1 }\nc: x\nd: [1]\ne: 5\n");
    expect(() => fields.text("a")).toThrow("f:1: a must be text");
    expect(() => fields.int("c")).toThrow("f:2: c must be a whole number");
    expect(() => fields.list("d")).toThrow("f:3: d must be a list of texts");
    expect(() => fields.list("e")).toThrow("f:4: e must be a list");
    expect(() => fields.map("c")).toThrow("f:2: c must be a mapping");
  });
});
