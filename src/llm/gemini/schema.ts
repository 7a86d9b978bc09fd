/**
 * A tool's JSON Schema in the part of it that the vendor takes (https://ai.google.dev/api/caching#Schema). What it has no
 * keyword for is left out: the tool itself checks its arguments.
 */
import { type Json, objectOf, objectsOf, stringOf } from "../json.ts";

/** Keywords that mean the same there. */
const KEPT = [
  ...["title", "description", "minItems", "maxItems", "minLength", "maxLength", "pattern"],
  ...["minimum", "maximum", "minProperties", "maxProperties"],
] as const;
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};
/** References that lead to themselves end so deep. */
const MOST_DEPTH = 24;

/** undefined: the function takes no arguments, which has no schema there. */
export function parametersOf(schema: Json): Json | undefined {
  const converted = new Converter(schema).convert(schema, 0);
  return converted.properties === undefined ? undefined : converted;
}

class Converter {
  readonly #root: Json;

  constructor(root: Json) {
    this.#root = root;
  }

  convert(raw: Json, depth: number): Json {
    if (depth > MOST_DEPTH) return { type: "string" };
    const schema = this.#whole(raw);
    const names = [schema.type].flat().filter((name) => typeof name === "string");
    const types = names.filter((name) => name !== "null");
    const choices = [...objectsOf(schema.anyOf), ...objectsOf(schema.oneOf)];
    const others = choices.filter(({ type }) => type !== "null");
    const nullable =
      names.length > types.length || others.length < choices.length || schema.nullable === true
        ? { nullable: true }
        : {};
    const kept = Object.fromEntries(KEPT.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])));
    const alternatives =
      others.length > 0 ? others : types.length > 1 ? types.map((type) => ({ ...schema, type })) : [];
    const [only, ...rest] = alternatives;
    if (only !== undefined && rest.length === 0)
      return { ...this.convert(only, depth + 1), ...kept, ...nullable };
    if (only !== undefined) {
      const anyOf = alternatives.map((each) => this.convert(each, depth + 1));
      const { description } = kept;
      return { anyOf, ...(description === undefined ? {} : { description }), ...nullable };
    }
    const type = types[0] ?? impliedType(schema);
    return { type, ...kept, ...nullable, ...this.#byType(type, schema, depth) };
  }

  #byType(type: string, schema: Json, depth: number): Json {
    if (type === "array") return { items: this.convert(itemsOf(schema), depth + 1) };
    if (type === "object") return this.#members(schema, depth);
    const format = stringOf(schema.format);
    const values = "const" in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [];
    const texts = values.filter((value) => typeof value === "string" && value !== "");
    return {
      ...(FORMATS[type]?.includes(format) === true ? { format } : {}),
      ...(type === "string" && texts.length > 0 ? { enum: texts } : {}),
    };
  }

  #members({ properties, required }: Json, depth: number): Json {
    const members = Object.entries(objectOf(properties));
    if (members.length === 0) return {};
    const names = Array.isArray(required)
      ? required.filter((name) => Object.hasOwn(objectOf(properties), name))
      : [];
    return {
      properties: Object.fromEntries(
        members.map(([name, member]) => [name, this.convert(objectOf(member), depth + 1)]),
      ),
      ...(names.length === 0 ? {} : { required: names }),
    };
  }

  /** The schema with what it refers to, and with all parts that must hold together. */
  #whole(schema: Json): Json {
    const { $ref, allOf, ...own } = schema;
    const parts = [...($ref === undefined ? [] : [this.#target(stringOf($ref))]), ...objectsOf(allOf)];
    return parts.reduce((whole: Json, part) => merged(part, whole), own);
  }

  /** What a reference within the schema names; of another document, anything. */
  #target(reference: string): Json {
    if (!reference.startsWith("#")) return {};
    const path = reference.slice(1).split("/").slice(1);
    return path.reduce(
      (at: Json, name) => objectOf(at[name.replaceAll("~1", "/").replaceAll("~0", "~")]),
      this.#root,
    );
  }
}

function merged(base: Json, over: Json): Json {
  const properties = { ...objectOf(base.properties), ...objectOf(over.properties) };
  const required = [base.required ?? [], over.required ?? []].flat();
  return { ...base, ...over, ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

function impliedType(schema: Json): string {
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return "object";
  return schema.items === undefined && schema.prefixItems === undefined ? "string" : "array";
}

/** A list of anything is a list of texts. */
function itemsOf({ items, prefixItems }: Json): Json {
  const [first] = objectsOf(prefixItems);
  return Array.isArray(items) ? objectOf(items[0]) : { ...first, ...objectOf(items) };
}
