import { describe, expect, it } from "vitest";
import { parametersOf } from "../../src/llm/gemini/schema.ts";
import { schemaProblems } from "../model-server/gemini/validate-schema.ts";

const refusals = (schema: object | undefined): string[] => [...schemaProblems(schema, "parameters")];
const member = (schema: object): unknown => {
  const converted = parametersOf({ type: "object", properties: { a: schema } });
  expect(refusals(converted)).toEqual([]);
  return Object(converted?.properties).a;
};

describe("parametersOf()", () => {
  it.each([
    ["a text with a rule", { type: "string", minLength: 1, format: "uri" }, { type: "string", minLength: 1 }],
    ["a date", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["a choice", { enum: ["x", "", "y"] }, { type: "string", enum: ["x", "y"] }],
    ["one value", { const: "x" }, { type: "string", enum: ["x"] }],
    ["a choice of numbers", { type: "integer", enum: [1, 2] }, { type: "integer" }],
    ["something or null", { type: ["integer", "null"] }, { type: "integer", nullable: true }],
    [
      "one of two, or null",
      { description: "d", anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
      { description: "d", anyOf: [{ type: "string" }, { type: "number" }], nullable: true },
    ],
    ["two types", { type: ["string", "integer"] }, { anyOf: [{ type: "string" }, { type: "integer" }] }],
    ["a list of anything", { type: "array" }, { type: "array", items: { type: "string" } }],
    ["any object", { type: "object", additionalProperties: true }, { type: "object" }],
    ["anything", {}, { type: "string" }],
    [
      "required names that are not there",
      { type: "object", properties: { b: { type: "boolean" } }, required: ["b", "c"], $schema: "x" },
      { type: "object", properties: { b: { type: "boolean" } }, required: ["b"] },
    ],
    [
      "parts that hold together",
      { allOf: [{ type: "object", properties: { b: {} }, required: ["b"] }, { properties: { c: {} } }] },
      { type: "object", properties: { b: { type: "string" }, c: { type: "string" } }, required: ["b"] },
    ],
  ])("converts %s", (_name, schema, expected) => {
    expect(member(schema)).toEqual(expected);
  });

  it("has no schema for a function without arguments", () => {
    expect(parametersOf({ type: "object", properties: {} })).toBeUndefined();
    expect(parametersOf({ type: "object" })).toBeUndefined();
  });

  it("follows references, also one that leads to itself", () => {
    const schema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node" } },
      $defs: {
        node: { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } } },
      },
    };
    const converted = parametersOf(schema);
    expect(refusals(converted)).toEqual([]);
    expect(converted).toMatchObject({
      properties: { tree: { properties: { name: { type: "string" }, next: { properties: {} } } } },
    });
  });
});
