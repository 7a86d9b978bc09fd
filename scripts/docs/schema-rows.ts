/** A schema as rows of a table: each field by its path, its type and its meaning. */
import * as z from "zod";

export interface Row {
  readonly path: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly meaning: string;
}

interface Json {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Json | boolean;
  readonly items?: Json;
  readonly anyOf?: readonly Json[];
  readonly oneOf?: readonly Json[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export function readSchema(schema: z.ZodType): { readonly meaning: string; readonly rows: readonly Row[] } {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  return { meaning: json.description ?? "", rows: [...fieldsOf(json, "")] };
}

function* fieldsOf(json: Json, path: string): Generator<Row> {
  for (const [key, field] of Object.entries(json.properties ?? {})) {
    const at = path === "" ? key : `${path}.${key}`;
    const isOptional = !(json.required ?? []).includes(key);
    yield { path: at, type: typeOf(field), isOptional, meaning: field.description ?? "" };
    yield* within(field, at);
  }
}

function* within(json: Json, path: string): Generator<Row> {
  yield* fieldsOf(json, path);
  if (json.items !== undefined) yield* within(json.items, `${path}[]`);
  if (typeof json.additionalProperties === "object") yield* within(json.additionalProperties, `${path}.*`);
  for (const each of json.anyOf ?? json.oneOf ?? []) yield* within(each, path);
}

/** In words: `integer ≥ 0`, `"a" or "b"`, `list of text`. */
function typeOf(json: Json): string {
  const choices = json.anyOf ?? json.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(" or ");
  if (json.enum !== undefined) return json.enum.map((each) => JSON.stringify(each)).join(" or ");
  if (json.const !== undefined) return JSON.stringify(json.const);
  switch (json.type) {
    case "array":
      return `list of ${typeOf(json.items ?? {})}${limit(json.maxItems, " entries")}`;
    case "object":
      return typeof json.additionalProperties === "object" &&
        Object.keys(json.additionalProperties).length > 0
        ? `object of ${typeOf(json.additionalProperties)}`
        : "object";
    case "string":
      return `${json.format === undefined || json.format === "regex" ? "text" : json.format}${limit(json.maxLength, " characters")}`;
    case "integer":
    case "number":
      return `${json.type}${range(json)}`;
    case "boolean":
    case "null":
      return json.type;
    default:
      return "any";
  }
}

function limit(most: number | undefined, unit: string): string {
  return most === undefined ? "" : `, at most ${most.toLocaleString("en")}${unit}`;
}

function range({ minimum, maximum, exclusiveMinimum }: Json): string {
  const isLimit = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  const parts = [
    ...(isLimit(exclusiveMinimum) ? [`> ${exclusiveMinimum}`] : []),
    ...(isLimit(minimum) ? [`≥ ${minimum}`] : []),
    ...(isLimit(maximum) ? [`≤ ${maximum.toLocaleString("en")}`] : []),
  ];
  return parts.length === 0 ? "" : ` ${parts.join(", ")}`;
}
