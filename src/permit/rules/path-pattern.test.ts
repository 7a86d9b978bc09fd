import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeGlob, matchesGlob, parseGlob } from "./glob.ts";
import {
  isMentioned,
  matchesAsWritten,
  matchesPath,
  mayMatchBelow,
  parsePathPattern,
} from "./path-pattern.ts";

const bases = { home: "/home/u", project: ["/ws"] };
const matches = (text: string, path: string, generous = false) =>
  (generous ? matchesPath : matchesAsWritten)(parsePathPattern(text)!, path, bases);

describe("matchesPath() and matchesAsWritten()", () => {
  test.each([
    ["src/**", "/ws/src/a/b", true],
    ["src/**", "/ws/src", false],
    ["src/**", "/ws/x/src/a", false],
    ["src/*.ts", "/ws/src/a.ts", true],
    ["src/*.ts", "/ws/src/a/b.ts", false],
    ["**/gen/*.ts", "/ws/a/b/gen/c.ts", true],
    ["**", "/ws/a", true],
    ["/x", "/ws/x/y", true],
    ["/x", "/ws/a/x", false],
    ["~/x", "/home/u/x/y", true],
    ["~/x", "/ws/x", false],
    ["//etc/**", "/etc/hosts", true],
    ["*.pem", "/ws/a/b/k.pem", true],
    ["*.pem", "/other/k.pem", false],
    [".env", "/ws/.env.example", false],
    ["a[0-9]?.ts", "/ws/a1b.ts", true],
    ["a[!0-9].ts", "/ws/a1.ts", false],
    ["src/\\[id\\]", "/ws/src/[id]/page", true],
    ["src", "/ws/srcs", false],
    ["ä", "/ws/a\u0308", false],
  ])("%s covers %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test("a deny sees a bare name anywhere, and the directory of x/**", () => {
    expect(matches("*.pem", "/other/k.pem", true)).toBe(true);
    expect(matches("secrets/**", "/ws/secrets", true)).toBe(true);
  });

  test("many wildcards take no time worth the name", () => {
    expect(matches(`${"**/a*a*a*a*/".repeat(20)}z`, `/ws/${"aaaaaaaa/".repeat(40)}b`)).toBe(false);
  });
});

test("parsePathPattern() refuses what is no pattern", () => {
  for (const text of ["", "!x", "../x", "a/../b", "a[b", "a\\"])
    expect(parsePathPattern(text), text).toBeNull();
});

test("mayMatchBelow() is true wherever something below matches", () => {
  const segment = fc.constantFrom("a", "b", "secrets", "k.pem");
  const pattern = fc.constantFrom("secrets/**", "*.pem", "a/*/k.pem", "/a/b", "//ws/b", "**/secrets", "~/a");
  fc.assert(
    fc.property(
      pattern,
      fc.array(segment, { maxLength: 3 }),
      fc.array(segment, { maxLength: 3 }),
      (text, up, down) => {
        const dir = `/ws/${up.join("/")}`;
        const compiled = parsePathPattern(text)!;
        if (matchesPath(compiled, `${dir}/${down.join("/")}`, bases))
          expect(mayMatchBelow(compiled, dir, bases)).toBe(true);
      },
    ),
  );
  expect(mayMatchBelow(parsePathPattern("secrets/**")!, "/ws/src", bases)).toBe(false);
});

describe("a name in Unicode's composed and decomposed form", () => {
  const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
  const both = [composed, decomposed];

  test("is meant by deny and ask in either, by allow in the one that was written", () => {
    for (const text of both)
      for (const name of both)
        for (const [pattern, path] of [
          [`src/${text}/*.ts`, `/ws/src/${name}/a.ts`],
          [text, `/ws/x/${name}`],
          [`//srv/${text}`, `/srv/${name}`],
          [`${text.slice(0, 3)}*${text.slice(3)}`, `/ws/${name}`],
        ] as const) {
          expect(matches(pattern, path, true)).toBe(true);
          expect(matches(pattern, path, false)).toBe(text === name);
        }
  });

  test("is covered by a wildcard, and by a base in the same form alone", () => {
    for (const name of both) expect(matches("src/**", `/ws/src/${name}`)).toBe(true);
    const at = (project: string, path: string) =>
      matchesAsWritten(parsePathPattern("**")!, path, { home: "/h", project: [project] });
    for (const base of both)
      for (const name of both) expect(at(`/${base}`, `/${name}/a`)).toBe(base === name);
  });

  test("is found in text that is not understood, whichever it has", () => {
    for (const text of both)
      for (const name of both) expect(isMentioned(parsePathPattern(text)!, `cat ${name}`)).toBe(true);
  });
});

test("escapeGlob() gives a glob of just that text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      const glob = parseGlob(escapeGlob(text))!;
      expect(matchesGlob(glob, text)).toBe(true);
      expect(matchesGlob(glob, other)).toBe(text.normalize("NFC") === other.normalize("NFC"));
    }),
  );
});
