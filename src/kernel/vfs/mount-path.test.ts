import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isServerName } from "../../abi/mcp.ts";
import { canonicalMount, parseMountPath } from "./mount-path.ts";

describe("parseMountPath()", () => {
  test.each([
    ["/mnt/mcp/memory", { path: "/mnt/mcp/memory", server: "memory" }],
    ["/mnt//mcp/./a-b_c/", { path: "/mnt/mcp/a-b_c", server: "a-b_c" }],
  ])("%s", (path, place) => {
    expect(parseMountPath(path)).toEqual(place);
  });

  test.each([
    ["/mnt/mcp", "not a place for a server: /mnt/mcp (mount it at /mnt/mcp/<name>)"],
    ["/mnt/mcp/a/b", "not a place for a server: /mnt/mcp/a/b (mount it at /mnt/mcp/<name>)"],
    ["/dev/memory", "not a place for a server: /dev/memory (mount it at /mnt/mcp/<name>)"],
    ["memory", "not a place for a server: memory (mount it at /mnt/mcp/<name>)"],
    [
      "/mnt/mcp/../../dev/fs",
      "not a place for a server: /mnt/mcp/../../dev/fs (mount it at /mnt/mcp/<name>)",
    ],
    ["/mnt/mcp/3-memory", "names that begin with a pid are kept for agent files: 3-memory"],
    ...["a b", "a__b", "a_", "a".repeat(65)].map((name) => [
      `/mnt/mcp/${name}`,
      `not a name for a server: "${name}" (letters, digits, _ and -, at most 64; no __, and no _ at the end)`,
    ]),
  ])("refuses %s", (path, why) => {
    expect(parseMountPath(path)).toBe(why);
  });

  test("gives a path directly below /mnt/mcp or none, whatever is asked", () => {
    const segment = fc.constantFrom("mnt", "mcp", "..", ".", "", "a", "a__b", "7-a", "é", "a".repeat(65));
    const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join("/")}`);
    fc.assert(
      fc.property(path, (text) => {
        const place = parseMountPath(text);
        if (typeof place === "string") return;
        expect(place.path).toMatch(/^\/mnt\/mcp\/[A-Za-z0-9_-]{1,64}$/);
        expect(canonicalMount(text)).toBe(place.path);
        expect(parseMountPath(place.path)).toEqual(place);
      }),
      { numRuns: 10_000 },
    );
  });
});

test("no two servers share the name of a tool, whatever their tools are called", () => {
  const word = fc.stringMatching(/^[ab_-]{1,6}$/);
  const server = word.filter(isServerName);
  fc.assert(
    fc.property(server, word, server, word, (serverA, toolA, serverB, toolB) => {
      const isSame = serverA === serverB && toolA === toolB;
      expect(`mcp__${serverA}__${toolA}` === `mcp__${serverB}__${toolB}`).toBe(isSame);
    }),
    { numRuns: 10_000 },
  );
});
