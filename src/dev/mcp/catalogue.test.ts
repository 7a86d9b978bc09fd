import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callNames } from "../../lib/mcp-names.ts";
import { anyChar } from "../../lib/testing/any-char.ts";
import { catalogueOf, type McpTool } from "./catalogue.ts";

const inputSchema = { type: "object" };
const tool = (name: string): McpTool => ({ name, description: "", inputSchema });

describe("catalogueOf()", () => {
  test("keeps what is known of a tool, and nothing else", () => {
    const listed = {
      name: "read",
      title: "Read",
      description: "Reads.",
      inputSchema,
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      _meta: { more: "of it" },
    };
    const { _meta, ...kept } = listed;
    expect(catalogueOf([listed])).toEqual({ tools: [kept], dropped: [] });
  });

  test.each<[unknown, string]>([
    [null, "a tool without a name"],
    [{ description: "x" }, "a tool without a name"],
    [{ name: "", inputSchema }, 'tool "": not a name'],
    [{ name: "a\u202eb", inputSchema }, 'tool "a\u202eb": not a name'],
    [{ name: "x".repeat(129), inputSchema }, `tool "${"x".repeat(80)}": not a name`],
    [{ name: "x" }, 'tool "x": its schema is not an object'],
    [{ name: "x", inputSchema: { type: "string" } }, 'tool "x": its arguments are not an object'],
    [
      { name: "x", inputSchema: { type: "object", description: "y".repeat(70_000) } },
      'tool "x": its schema is larger than 65536 bytes',
    ],
  ])("drops %j, and says so", (item, why) => {
    expect(catalogueOf([item, tool("fine")])).toEqual({ tools: [tool("fine")], dropped: [why] });
  });

  test("takes 4,096 tools, each name once, and descriptions of 2,048 characters", () => {
    const many = Array.from({ length: 4_200 }, (_, i) => tool(`t${i}`));
    const { tools, dropped } = catalogueOf([tool("t0"), ...many]);
    expect(tools).toHaveLength(4_096);
    expect(dropped).toEqual([
      "tool t0 is listed twice",
      "tool t4096 and what follows: there are more tools than fit (4096)",
    ]);
    const [long] = catalogueOf([{ ...tool("x"), description: "y".repeat(3_000) }]).tools;
    expect(long?.description).toHaveLength(2_048);
  });

  test("takes 8 MiB of them", () => {
    const wide = (i: number) => ({
      ...tool(`t${i}`),
      inputSchema: { type: "object", x: "y".repeat(60_000) },
    });
    const { tools, dropped } = catalogueOf(Array.from({ length: 200 }, (_, i) => wide(i)));
    expect(tools.length).toBeLessThan(140);
    expect(dropped).toHaveLength(1);
  });
});

describe("callNames()", () => {
  test("are what rules name", () => {
    const names = callNames("memory", [tool("create_entities"), tool("a.b/c d")]);
    expect([...names.values()]).toEqual(["mcp__memory__create_entities", "mcp__memory__a_b_c_d"]);
  });

  test("of too long a name end in a hash", () => {
    const [name] = callNames("memory", [tool("x".repeat(100))]).values();
    expect(name).toMatch(/^mcp__memory__x{42}_[0-9a-f]{8}$/);
    expect(name).toHaveLength(64);
  });

  test("of names that come to the same are all told apart", () => {
    const names = [...callNames("s", [tool("a.b"), tool("a/b"), tool("c")]).values()];
    expect(names[0]).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe("mcp__s__c");
  });

  test("are distinct and fit every model, whatever the tools are called", () => {
    const tools = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 128, unit: anyChar }), {
      maxLength: 12,
    });
    const server = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(server, tools, (name, raw) => {
        const given = [...callNames(name, raw.map(tool)).values()];
        expect(given.every((each) => /^[A-Za-z0-9_-]{1,64}$/.test(each))).toBe(true);
        expect(new Set(given).size).toBe(raw.length);
      }),
      { numRuns: 10_000 },
    );
  });
});
