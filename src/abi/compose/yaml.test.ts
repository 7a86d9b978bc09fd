import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseComposeFile } from "./file.ts";
import { resolvedComposeFile } from "./resolved.ts";
import { interpolate } from "./variables.ts";
import { parseComposeYaml, printComposeYaml } from "./yaml.ts";

const refusal = (text: string): string => {
  try {
    parseComposeYaml("crux.compose.yaml", text);
    return "none";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("parseComposeYaml()", () => {
  test("counts anchors, aliases and merge keys", () => {
    expect(parseComposeYaml("f", "a: &x { k: 1 }\nb: *x\nc: { <<: *x, m: 2 }\n")).toEqual({
      a: { k: 1 },
      b: { k: 1 },
      c: { k: 1, m: 2 },
    });
  });

  test.each([
    ["services:\n  a: [1\n", "crux.compose.yaml: line 3, column 1: "],
    ["a: 1\na: 2\n", "crux.compose.yaml: line 2, column 1: Map keys must be unique"],
    ["a: !env HOME\n", "crux.compose.yaml: line 1, column 4: Unresolved tag: !env"],
    ["a: 1\n---\nb: 2\n", "crux.compose.yaml: line 2, column 1: "],
    ["a: *x\n", "crux.compose.yaml: "],
  ])("refuses %j with line and column", (text, begins) => {
    expect(refusal(text)).toMatch(new RegExp(`^${begins.replaceAll(/[.!]/g, "\\$&")}`));
    expect(refusal(text)).not.toContain("\n");
  });

  test("tells how a variable stands between brackets", () => {
    expect(() => parseComposeYaml("f", "a:\n  b: [x, ${A}]\n")).toThrow(
      expect.objectContaining({ hint: 'between brackets a variable stands in quotes: ["${NAME}"]' }),
    );
    expect(parseComposeYaml("f", "a: ${A:-2}\nb: ['${A}']\n")).toEqual({ a: "${A:-2}", b: ["${A}"] });
  });

  test("refuses what is nested too deep for it", () => {
    expect(refusal(`a: ${"[".repeat(20_000)}`)).toMatch(/^crux\.compose\.yaml: .{1,80}$/);
  });

  test("refuses aliases that multiply", () => {
    const lines = Array.from({ length: 12 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`);
    expect(refusal(["a0: &a0 [x]", ...lines].join("\n"))).toMatch(
      /^crux\.compose\.yaml: Excessive alias count/,
    );
  });
});

const word = fc.constantFrom("a", "notes-2");
const PITFALLS = [
  ..."$'\"\u0085\u00a0\u2028\ufeff\r\t\n",
  ..."${A}|$$|null|true|0644|1e3|- x|a: b|# c|line\nline| x |<<|\r\n a\t|分析 🙂".split("|"),
];
const text = fc.constantFrom(...PITFALLS);
/** Any that is not empty. */
const anyText = fc
  .oneof(text, fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }))
  .filter((value) => !value.includes("\0") && value.isWellFormed());
const maybe = <T>(inner: fc.Arbitrary<T>) => fc.option(inner, { nil: undefined });
const ms = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const budget = maybe(
  fc.record({
    tokens: fc.integer({ min: 1, max: 10 ** 9 }),
    usd: maybe(fc.constantFrom(0.01, 2, 99.5)),
  }),
);
const common = {
  timeout_ms: maybe(ms),
  shutdown_ms: maybe(ms),
  permission_mode: maybe(fc.constantFrom("default", "accept_edits", "bypass")),
  cwd: maybe(text),
  budget,
  group: maybe(text),
  restart: maybe(fc.constantFrom("temporary", "transient", "permanent")),
  replicas: maybe(fc.integer({ min: 1, max: 64 })),
};
const agent = fc.record({
  ...common,
  agent: maybe(word),
  intent: text,
  model: maybe(text),
  system_prompt: maybe(text),
  max_steps: maybe(fc.integer({ min: 0, max: 100 })),
  ready: maybe(fc.record({ timeout_ms: fc.integer({ min: 1, max: 10 ** 6 }) })),
});
const native = fc.record({
  ...common,
  command: fc.array(text, { minLength: 1, maxLength: 4 }),
  env: maybe(fc.dictionary(fc.constantFrom("A", "PORT", "x.y-z"), text, { maxKeys: 3 })),
  ready: maybe(fc.record({ stdout: word, timeout_ms: fc.integer({ min: 1, max: 10 ** 6 }) })),
});
const names = ["a", "b", "c.d", "true", "7"];

/** Files that are right: who waits stands behind whom it waits for. */
const file = fc
  .record({
    name: maybe(word),
    budget,
    intensity: maybe(
      fc.record({
        max_restarts: maybe(fc.integer({ min: 0, max: 99 })),
        window_ms: maybe(fc.integer({ min: 1, max: 10 ** 6 })),
      }),
    ),
    backoff: maybe(
      fc.record({
        initial_ms: maybe(ms),
        factor: maybe(fc.constantFrom(1, 1.5)),
        jitter: maybe(fc.constantFrom(0, 0.1, 1)),
      }),
    ),
    services: fc.array(fc.oneof(agent, native), { minLength: 1, maxLength: 3 }),
    edges: fc.array(
      fc.tuple(fc.nat(4), fc.nat(4), fc.constantFrom("started", "completed", "service_started")),
      { maxLength: 5 },
    ),
    isPiped: fc.boolean(),
  })
  .map(({ services, edges, isPiped, ...top }) => {
    const entries = services.map((service, at) => {
      const needed = edges.filter(([from, to]) => from === at && to < at);
      return [
        names[at]!,
        {
          ...service,
          depends_on: Object.fromEntries(needed.map(([, to, condition]) => [names[to]!, { condition }])),
        },
      ] as const;
    });
    const reader = services.findIndex(({ replicas = 1 }, at) => at > 0 && replicas === 1);
    const pipes = isPiped && reader > 0 ? [{ from: names[0]!, to: names[reader]! }] : [];
    return { ...top, services: Object.fromEntries(entries), pipes };
  });

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const parse = (raw: unknown) => parseComposeFile(overTheWire(raw), { dir: "/desk/notes" });
const reread = (printed: string) => interpolate(parseComposeYaml("printed", printed), {});

test("resolvedComposeFile() parses to the same project, wherever it lies", () => {
  fc.assert(
    fc.property(file, (raw) => {
      const project = parse(raw);
      const resolved = overTheWire(resolvedComposeFile(project));
      // several times faster than toEqual()
      assert.deepStrictEqual(parseComposeFile(resolved, { dir: "/elsewhere" }), project);
    }),
    { numRuns: 10_000 },
  );
});

test("printComposeYaml() keeps every text, variables that are none included", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      assert.deepStrictEqual(reread(printComposeYaml({ a: one, b: [other] })), { a: one, b: [other] });
    }),
    { numRuns: 10_000 },
  );
});

test("what `crux compose config` prints is, read again, the same project", () => {
  fc.assert(
    fc.property(file, (raw) => {
      const resolved = overTheWire(resolvedComposeFile(parse(raw)));
      expect(parseComposeFile(reread(printComposeYaml(resolved)), { dir: "/elsewhere" })).toEqual(parse(raw));
    }),
    { numRuns: 500 },
  );
});
