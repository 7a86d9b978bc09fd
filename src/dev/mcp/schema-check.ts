/**
 * Checks the basics of JSON Schema: types, required and allowed members. That is enough to avoid sending clearly
 * wrong arguments. The rest (patterns, references, alternatives) is left to the server: its schemas are foreign, and
 * a pattern in one could block the daemon.
 */

/** Bounds on the values that are checked; the rest counts as right. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 32;

type Schema = Readonly<Record<string, unknown>>;

/** The error in `value`, worded for its sender; undefined: no error found. */
export function findMismatch(schema: unknown, value: unknown): string | undefined {
  return new Check().at(schema, value, { path: "", depth: 0 });
}

/** A position in the value. */
interface Spot {
  readonly path: string;
  readonly depth: number;
}

class Check {
  #left = MAX_VALUES;

  at(schema: unknown, value: unknown, spot: Spot): string | undefined {
    if (!isRecord(schema) || spot.depth > MAX_DEPTH || this.#left-- <= 0) return undefined;
    const name = spot.path === "" ? "it" : spot.path;
    const types = typesOf(schema);
    if (types.length > 0 && !types.some((type) => hasType(value, type)))
      return `${name} must be ${types.join(" or ")}`;
    if (
      Array.isArray(schema.enum) &&
      schema.enum.length <= 100 &&
      !schema.enum.some((each) => same(each, value))
    )
      return `${name} must be one of ${JSON.stringify(schema.enum).slice(0, 200)}`;
    if (Array.isArray(value)) return this.#items(schema, value, spot);
    return isRecord(value) ? this.#members(schema, value, spot) : undefined;
  }

  #items(schema: Schema, items: readonly unknown[], { path, depth }: Spot): string | undefined {
    for (const [i, item] of items.entries()) {
      if (this.#left <= 0) return undefined;
      const wrong = this.at(schema.items, item, { path: `${path}[${i}]`, depth: depth + 1 });
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  #members(schema: Schema, value: Schema, { path, depth }: Spot): string | undefined {
    const properties = isRecord(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    const missing = required.find((key) => typeof key === "string" && !Object.hasOwn(value, key));
    if (missing !== undefined) return `${below(path, missing)} is missing`;
    for (const [key, member] of Object.entries(value)) {
      if (!Object.hasOwn(properties, key)) {
        if (isClosed(schema)) return `${below(path, key)} is not known; known are ${known(properties)}`;
        continue;
      }
      const wrong = this.at(properties[key], member, { path: below(path, key), depth: depth + 1 });
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }
}

/** True if unknown keys are errors; not if other keywords may allow them. */
function isClosed(schema: Schema): boolean {
  const others = ["patternProperties", "allOf", "anyOf", "oneOf", "$ref"];
  return schema.additionalProperties === false && others.every((keyword) => schema[keyword] === undefined);
}

function known(properties: Schema): string {
  return Object.keys(properties).slice(0, 20).join(", ") || "none";
}

function below(path: string, key: string): string {
  return path === "" ? key.slice(0, 100) : `${path}.${key.slice(0, 100)}`;
}

function typesOf({ type }: Schema): string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.filter((each) => typeof each === "string");
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "object":
      return isRecord(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return typeof value === "number" && Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && JSON.stringify(a) === JSON.stringify(b));
}

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
