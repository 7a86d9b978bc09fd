import { describe, expect, it } from "vitest";
import * as zod from "zod";
import * as deferred from "./deferred-zod.ts";

/** As those of Crux are made: nested, described, with defaults, rules and schemas that others are made of. */
function shapes(z: typeof zod) {
  const name = z.string().min(1).max(8).regex(/^\w+$/).describe("A name.");
  const point = z.strictObject({ x: z.int().min(0), y: z.number().optional() });
  const wide = point.extend({ z: z.literal(3).nullable() }).describe("A place.");
  return {
    name,
    wide,
    loose: z.looseObject({ of: z.array(point).max(2), by: z.record(z.string(), z.boolean()) }),
    either: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), name }),
      z.object({ kind: z.enum(["b", "c"]), more: z.unknown().optional() }),
    ]),
    late: z.union([z.string().transform((text) => text.length), z.json()]).default("four"),
    checked: point.refine(({ x }) => x > 1, "too near"),
    part: wide.partial().omit({ y: true }),
    keys: z.enum(["one", "two"]).array().nonempty(),
  };
}

const [real, lazy] = [shapes(zod), shapes(deferred as typeof zod)];
const VALUES: readonly unknown[] = [
  ...["one", "", "much too long", 3, null, undefined, {}, [], ["one"], ["one", 1]],
  ...[{ x: 1 }, { x: 2, y: 0.5 }, { x: -1 }, { x: 2, z: 3 }, { x: 2, z: null, w: 1 }],
  ...[
    { kind: "a", name: "n" },
    { kind: "b", more: 1 },
    { kind: "d" },
    { of: [{ x: 1 }], by: { a: true }, c: 1 },
  ],
];

describe("a deferred schema", () => {
  it.each(Object.keys(real) as (keyof typeof real)[])(
    "%s parses, refuses and is described as that of zod",
    (key) => {
      for (const value of VALUES) {
        const [wanted, got] = [real[key].safeParse(value), lazy[key].safeParse(value)];
        expect(got).toEqual(wanted);
        expect(String(got.error)).toBe(String(wanted.error));
      }
      const options = { io: "input", unrepresentable: "any" } as const;
      expect(deferred.toJSONSchema(lazy[key], options)).toEqual(zod.toJSONSchema(real[key], options));
      expect(lazy[key].description).toBe(real[key].description);
    },
  );

  it("is one of zod's to whoever asks", () => {
    expect([lazy.wide instanceof zod.ZodObject, lazy.wide instanceof zod.ZodString]).toEqual([true, false]);
    expect(Object.keys(lazy.wide.shape)).toEqual(["x", "y", "z"]);
    expect("parse" in lazy.name).toBe(true);
  });

  it("is made with its first use, once, with what it is made of", () => {
    const made: string[] = [];
    const seen = (name: string) => ({
      get error() {
        made.push(name);
        return undefined;
      },
    });
    const z = deferred as typeof zod;
    const inner = z.string(seen("inner"));
    const outer = z.strictObject({ inner: inner.optional() }).describe("outer").optional();
    expect(made).toEqual([]);
    expect(outer.parse({ inner: "text" })).toEqual({ inner: "text" });
    const first = made.length;
    expect(first).toBeGreaterThan(0);
    expect(outer.parse({})).toEqual({});
    expect(inner.parse("more")).toBe("more");
    expect(made).toHaveLength(first);
  });
});
