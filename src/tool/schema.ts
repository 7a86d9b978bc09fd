/** JSON Schema as it is sent to a model: zod's, without keywords that would cost tokens in every request. */
import * as z from "zod";

type Json = Record<string, unknown>;

/** Marks an argument that programs may give and a model is not told of. */
export const HIDDEN = { hidden: true };

/** Bounds and default values that matter are in the description; a call that violates one gets an error that names it. */
const NOISE = new Set([
  ...["$schema", "additionalProperties", "default", "minLength", "maxLength"],
  ...["minimum", "maximum", "minItems", "maxItems", "pattern"],
]);

export function terseSchema(args: z.ZodObject): Json {
  return strip(fullSchema(args)) as Json;
}

export function fullSchema(args: z.ZodObject): Json {
  return z.toJSONSchema(args, { io: "input" }) as Json;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== "object" || value === null) return value;
  const kept: Json = {};
  for (const [key, inner] of Object.entries(value)) {
    if (NOISE.has(key)) continue;
    // a property may itself be called "default"
    kept[key] = key === "properties" ? stripEach(inner as Json) : strip(inner);
  }
  return kept;
}

function stripEach(properties: Json): Json {
  const shown = Object.entries(properties).filter(([, schema]) => (schema as Json).hidden !== true);
  return Object.fromEntries(shown.map(([name, schema]) => [name, strip(schema)]));
}
