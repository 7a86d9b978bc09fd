import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PERMISSION_MODES } from "../../../abi/process.ts";
import { ALL_RIGHTS, NO_RIGHTS, type Rights } from "../../../abi/rights.ts";
import { RULE_SOURCES, type RuleText } from "../../../abi/rules.ts";
import { coversTool } from "../../../abi/tool.ts";
import { isWithin } from "../../../lib/path.ts";
import { isSubset } from "../../testing/is-subset.ts";
import { coversHost, lowest, meet, narrow } from "./narrow.ts";

const path = fc
  .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 3 })
  .map((segments) => `/${segments.join("/")}`);
const paths = fc.option(fc.array(path, { maxLength: 4 }));
const tool = fc.constantFrom("bash", "view", "mcp__s", "mcp__s__*", "mcp__s__t", "mcp__s2__t", "mcp__*");
const host = fc.constantFrom("h.io", "*.h.io", "a.h.io", "*.a.h.io", "x.a.h.io", "evilh.io");
const rules = (behavior: RuleText["behavior"]) =>
  fc.array(
    fc.record({
      source: fc.constantFrom(...RULE_SOURCES),
      behavior: fc.constant(behavior),
      text: fc.constantFrom("bash", "bash(rm:*)", "edit(src/**)"),
    }),
    { maxLength: 3 },
  );
const walls = fc.array(
  fc.constantFrom("/a", "/b").map((dir) => ({ dir, open: `${dir}/x`, gitDir: `${dir}/.git` })),
  { minLength: 1, maxLength: 3 },
);
const required = fc.record({
  mode: fc.constantFrom(...PERMISSION_MODES),
  devices: paths,
  tools: fc.option(fc.array(tool, { maxLength: 4 })),
  hosts: fc.option(fc.array(host, { maxLength: 4 })),
  roots: paths,
  deny: rules("deny"),
  ask: rules("ask"),
  allow: fc.option(rules("allow")),
});
const rights: fc.Arbitrary<Rights> = fc
  .tuple(required, fc.option(walls), fc.constantFrom({}, { noMemory: true as const }))
  .map(([all, some, more]) => ({ ...all, ...(some === null ? {} : { walls: some }), ...more }));
const runs = { numRuns: 3_000 };

describe("narrow()", () => {
  test("is commutative and idempotent", () => {
    fc.assert(
      fc.property(rights, rights, (a, b) => {
        const both = narrow(a, b);
        expect(narrow(b, a)).toEqual(both);
        expect(narrow(both, b)).toEqual(both);
        expect(narrow(both, both)).toEqual(both);
      }),
      runs,
    );
  });

  test("is associative: it does not matter over how many parents", () => {
    fc.assert(
      fc.property(rights, rights, rights, (a, b, c) => {
        expect(narrow(narrow(a, b), c)).toEqual(narrow(a, narrow(b, c)));
      }),
      runs,
    );
  });

  test("is within both, and all that is within both is within it", () => {
    fc.assert(
      fc.property(rights, rights, rights, (a, b, c) => {
        const both = narrow(a, b);
        expect([isSubset(both, a), isSubset(both, b)]).toEqual([true, true]);
        if (isSubset(c, a) && isSubset(c, b)) expect(isSubset(c, both)).toBe(true);
      }),
      runs,
    );
  });

  test("with all is the same, with nothing is nothing but its denies and walls", () => {
    fc.assert(
      fc.property(rights, (a) => {
        expect(isSubset(a, narrow(a, ALL_RIGHTS)) && isSubset(narrow(a, ALL_RIGHTS), a)).toBe(true);
        const { deny, ask, walls: all, noMemory, ...none } = narrow(a, NO_RIGHTS);
        expect(noMemory).toBe(a.noMemory);
        const { deny: _d, ask: _a, ...nothing } = NO_RIGHTS;
        expect(none).toEqual(nothing);
        expect(all?.length ?? 0).toBe(new Set(a.walls?.map(({ dir }) => dir)).size);
        expect(isSubset({ ...ALL_RIGHTS, deny, ask }, { ...ALL_RIGHTS, deny: a.deny, ask: a.ask })).toBe(
          true,
        );
      }),
      runs,
    );
  });
});

describe("meet()", () => {
  const may = (list: readonly string[] | null, covers: typeof isWithin, entry: string): boolean =>
    list === null || list.some((wide) => covers(wide, entry));

  test.each([
    ["paths", path, isWithin],
    ["tools", tool, coversTool],
    ["hosts", host, coversHost],
  ] as const)("of %s allows exactly what both allow", (_name, entry, covers) => {
    const list = fc.option(fc.array(entry, { maxLength: 4 }));
    fc.assert(
      fc.property(list, list, entry, (a, b, one) => {
        expect(may(meet(a, b, covers), covers, one)).toBe(may(a, covers, one) && may(b, covers, one));
      }),
      { numRuns: 10_000 },
    );
  });

  test("nothing in common is nothing, not everything", () => {
    expect(meet(["/dev/fs"], ["/dev/shell"], isWithin)).toEqual([]);
    expect(meet([], null, isWithin)).toEqual([]);
  });
});

describe("isSubset()", () => {
  test("each part alone can be too wide", () => {
    const deny = { source: "session", behavior: "deny", text: "bash" } as const;
    const allow = { source: "cliArg", behavior: "allow", text: "bash" } as const;
    const wider: readonly Partial<Rights>[] = [
      { mode: "default" },
      { devices: ["/dev"] },
      { tools: null },
      { hosts: ["h.io"] },
      { roots: ["/"] },
      { allow: [allow] },
    ];
    for (const more of wider)
      expect(isSubset({ ...NO_RIGHTS, ...more }, NO_RIGHTS), JSON.stringify(more)).toBe(false);
    expect(isSubset(ALL_RIGHTS, { ...ALL_RIGHTS, deny: [deny] })).toBe(false);
    expect(isSubset(ALL_RIGHTS, { ...ALL_RIGHTS, ask: [{ ...deny, behavior: "ask" }] })).toBe(false);
  });
});

test("lowest() leaves out what is not known", () => {
  expect(lowest("auto", undefined, "default", "bypass")).toBe("default");
});

test.each([
  ["*.h.io", "a.h.io", true],
  ["*.h.io", "h.io", false],
  ["*.h.io", "evilh.io", false],
  ["h.io", "h.io", true],
])("coversHost(%s, %s) is %s", (wide, name, expected) => {
  expect(coversHost(wide, name)).toBe(expected);
});
