/** Tool definitions and tool choice. Tools with a vendor type (`bash_20250124` …) bring their own schema. */
import { isObject, type JsonObject } from "../json.ts";

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;
const propertyPattern = /^[a-zA-Z0-9_.-]{1,64}$/;

export function* toolProblems(body: JsonObject): Generator<string> {
  const { tools, tool_choice: choice } = body;
  if (tools === undefined) {
    if (choice !== undefined && !(isObject(choice) && choice.type === "none")) {
      yield "tool_choice: may only be specified while providing tools";
    }
    return;
  }
  if (!Array.isArray(tools)) {
    yield "tools: Input should be a valid list";
    return;
  }
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    if (!isObject(tool)) {
      yield `tools.${at}: Input should be a valid dictionary or object to extract fields from`;
      continue;
    }
    if (tool.type === undefined || tool.type === "custom") yield* customProblems(tool, `tools.${at}.custom`);
    if (typeof tool.name !== "string") continue;
    if (names.has(tool.name)) yield "tools: Tool names must be unique.";
    names.add(tool.name);
  }
  yield* choiceProblems(choice, names);
}

function* customProblems(tool: JsonObject, where: string): Generator<string> {
  const { name, description, input_schema: schema } = tool;
  if (name === undefined) yield `${where}.name: Field required`;
  else if (typeof name !== "string") yield `${where}.name: Input should be a valid string`;
  else if (!namePattern.test(name))
    yield `${where}.name: String should match pattern '${namePattern.source}'`;
  if (description !== undefined && typeof description !== "string") {
    yield `${where}.description: Input should be a valid string`;
  }
  if (schema === undefined) yield `${where}.input_schema: Field required`;
  else if (!isObject(schema)) yield `${where}.input_schema: Input should be a valid dictionary`;
  else yield* schemaProblems(schema, `${where}.input_schema`);
}

function* schemaProblems(schema: JsonObject, where: string): Generator<string> {
  if (schema.type === undefined) yield `${where}.type: Field required`;
  else if (schema.type !== "object") yield `${where}.type: Input should be 'object'`;
  if (["oneOf", "allOf", "anyOf"].some((key) => key in schema)) {
    yield `${where}: input_schema does not support oneOf, allOf, or anyOf at the top level`;
  }
  if (!isObject(schema.properties)) return;
  if (!Object.keys(schema.properties).every((key) => propertyPattern.test(key))) {
    yield `${where}.properties: Property keys should match pattern '${propertyPattern.source}'`;
  }
}

function* choiceProblems(choice: unknown, names: ReadonlySet<string>): Generator<string> {
  if (choice === undefined) return;
  const type = isObject(choice) ? choice.type : undefined;
  if (!["auto", "any", "tool", "none"].includes(String(type))) {
    yield "tool_choice: Input tag found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'";
  }
  if (isObject(choice) && type === "tool" && !names.has(String(choice.name))) {
    yield `Tool '${String(choice.name)}' not found in provided tools`;
  }
}
