/** JSON Schema as it is sent to a model: zod's, without keywords that would cost tokens in every request. */
import * as z from "zod";

type Json = Record<string, unknown>;

/** Bounds of strings and default values are in the description; a call that violates one gets an error. */
const NOISE = new Set(["$schema", "additionalProperties", "default", "minLength", "maxLength"]);

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
    if (NOISE.has(key) || isSafeIntegerBound(key, inner)) continue;
    // a property may itself be called "default"
    kept[key] = key === "properties" ? stripEach(inner as Json) : strip(inner);
  }
  return kept;
}

function stripEach(properties: Json): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, strip(schema)]));
}

function isSafeIntegerBound(key: string, value: unknown): boolean {
  return (key === "maximum" || key === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}
