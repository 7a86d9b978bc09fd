/** The part of JSON Schema that `parameters` of a function may have; every other keyword is an unknown field. */
import { isObject, type JsonObject, objectsOf, stringOf } from "../json.ts";

const keywords = new Set([
  ...["type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems"],
  ...["properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern"],
  ...["example", "anyOf", "propertyOrdering", "default", "minimum", "maximum"],
]);
const types = /^(string|number|integer|boolean|array|object|null)$/i;
const formats: Readonly<Record<string, readonly string[]>> = {
  string: ["enum", "date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

export function* unknownNames(
  value: JsonObject,
  known: ReadonlySet<string>,
  where: string,
): Generator<string> {
  const at = where === "" ? "" : ` at '${where}'`;
  for (const name of Object.keys(value))
    if (!known.has(name))
      yield `Invalid JSON payload received. Unknown name "${name}"${at}: Cannot find field.`;
}

export function* schemaProblems(schema: unknown, where: string): Generator<string> {
  if (!isObject(schema)) {
    yield `Invalid value at '${where}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)`;
    return;
  }
  yield* unknownNames(schema, keywords, where);
  const { type, enum: values, properties, items, required, format, anyOf } = schema;
  const path = `* GenerateContentRequest.${where}`;
  if (anyOf === undefined && !types.test(stringOf(type)))
    yield `Invalid value at '${where}.type' (TYPE_ENUM)`;
  const kind = stringOf(type).toLowerCase();
  if (values !== undefined && (kind !== "string" || !isListOfTexts(values)))
    yield `${path}.enum: only allowed for STRING type`;
  if (format !== undefined && formats[kind]?.includes(stringOf(format)) !== true)
    yield `${path}.format: only 'enum' and 'date-time' are supported for STRING type`;
  if (kind === "object" && properties !== undefined && Object.keys(properties as object).length === 0)
    yield `${path}.properties: should be non-empty for OBJECT type`;
  if (kind === "array" && items === undefined) yield `${path}.items: missing field.`;
  const named = isObject(properties) ? properties : {};
  if (Array.isArray(required))
    for (const [at, name] of required.entries())
      if (!Object.hasOwn(named, String(name))) yield `${path}.required[${at}]: property is not defined`;
  for (const [name, inner] of Object.entries(named))
    yield* schemaProblems(inner, `${where}.properties[${name}]`);
  if (items !== undefined) yield* schemaProblems(items, `${where}.items`);
  for (const [at, inner] of objectsOf(anyOf).entries())
    yield* schemaProblems(inner, `${where}.any_of[${at}]`);
}

function isListOfTexts(values: unknown): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === "string" && value !== "");
}
