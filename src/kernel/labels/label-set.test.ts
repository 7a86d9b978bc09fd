import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Label, MAX_LABELS } from "../../abi/labels.ts";
import { isSame, readLabels, uniteLabels, withoutLabels } from "./label-set.ts";

const label = fc.record({
  kind: fc.constantFrom("untrusted", "secret"),
  source: fc.constantFrom("web", "mcp", "file", "peer", "exec"),
  detail: fc.string({ maxLength: 300 }),
}) as fc.Arbitrary<Label>;
const labels = fc.array(label, { maxLength: 40 });

const kindsOf = (all: readonly Label[]) => new Set(all.map(({ kind }) => kind));

describe("uniteLabels()", () => {
  it("loses no kind, has at most 32, and names no place twice", () => {
    fc.assert(
      fc.property(fc.array(labels, { maxLength: 6 }), (sets) => {
        const all = sets.reduce<readonly Label[]>((have, more) => uniteLabels(have, more), []);
        expect(all.length).toBeLessThanOrEqual(MAX_LABELS);
        expect(kindsOf(all)).toEqual(kindsOf(sets.flat()));
        for (const each of all) expect(all.filter((other) => isSame(each, other))).toHaveLength(1);
        for (const { detail } of all) expect(detail.length).toBeLessThanOrEqual(200);
      }),
    );
  });

  it("gives the same set where nothing is new", () => {
    fc.assert(
      fc.property(fc.array(label, { maxLength: 10 }), (some) => {
        const have = uniteLabels([], some);
        expect(uniteLabels(have, some)).toBe(have);
      }),
    );
  });

  it("folds the 33rd to one of each kind", () => {
    const many = Array.from(
      { length: 32 },
      (_, i): Label => ({ kind: "untrusted", source: "web", detail: `p${i}` }),
    );
    const secret: Label = { kind: "secret", source: "file", detail: "/ws/.env" };
    expect(uniteLabels(many, [secret])).toEqual([
      { kind: "untrusted", source: "web", detail: "several places" },
      { kind: "secret", source: "file", detail: "several places" },
    ]);
  });
});

describe("withoutLabels()", () => {
  const have: readonly Label[] = [
    { kind: "untrusted", source: "web", detail: "https://a.io/x" },
    { kind: "untrusted", source: "mcp", detail: "tracker" },
  ];

  it("takes away those of a source, of one place, or all", () => {
    expect(withoutLabels(have, "web")).toEqual([have[1]]);
    expect(withoutLabels(have, "tracker")).toEqual([have[0]]);
    expect(withoutLabels(have, "all")).toEqual([]);
    expect(withoutLabels(have, "https://a.io")).toEqual(have);
  });
});

describe("readLabels()", () => {
  it("takes what is not understood for a label", () => {
    expect(readLabels([{ kind: "blue" }, null])).toMatchObject([
      { kind: "untrusted" },
      { kind: "untrusted" },
    ]);
    expect(readLabels(undefined)).toEqual([]);
  });
});
