/**
 * Arguments as models write them: integers and booleans may come as strings, null is absent. An unknown key is refused,
 * not dropped: it may carry meaning.
 */
import type * as z from "zod";
import { failure } from "./failure.ts";
import { fullSchema } from "./schema.ts";

const MAX_BYTES = 6 * 1024 * 1024;

/** One write on a tool file to one JSON value. */
export function decodeArguments(tool: string, data: Uint8Array): unknown {
  if (data.byteLength > MAX_BYTES) throw failure("INVALID", `${tool}: arguments are over 6 MiB`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch (cause) {
    throw failure("INVALID", `${tool}: arguments are not valid JSON`, undefined, cause);
  }
}

export function parseArguments<S extends z.ZodObject>(tool: string, args: S, raw: unknown): z.output<S> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw))
    throw failure("INVALID", `${tool}: arguments must be a JSON object`);
  const given = relax(raw, typesOf(args));
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(args.shape, key)) continue;
    const known = Object.keys(args.shape).join(", ");
    throw failure("INVALID", `${tool}: unknown key "${key.slice(0, 100)}". Known: ${known}`);
  }
  // half of a character would match within a whole one, and no file can hold it
  const broken = Object.entries(given).find(
    ([, value]) => typeof value === "string" && !value.isWellFormed(),
  );
  if (broken !== undefined) throw failure("INVALID", `${tool}: ${broken[0]}: half of a surrogate pair`);
  const parsed = args.safeParse(given);
  if (parsed.success) return parsed.data as z.output<S>;
  throw failure("INVALID", `${tool}: ${describe(parsed.error.issues[0], given)}`);
}

/** Without null values, with `"5"` and `"true"` as what the schema asks for. */
function relax(raw: object, types: ReadonlyMap<string, unknown>): Record<string, unknown> {
  // no prototype: a key `__proto__` stays a key
  const given: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(raw)) {
    if (value !== null) given[key] = relaxValue(value, types.get(key));
  }
  return given;
}

function relaxValue(value: unknown, type: unknown): unknown {
  if (typeof value !== "string") return value;
  if (type === "integer" && /^\s*-?\d{1,15}\s*$/.test(value)) return Number(value);
  if (type === "boolean" && /^\s*(true|false)\s*$/i.test(value)) return value.trim().toLowerCase() === "true";
  return value;
}

const typesBySchema = new WeakMap<z.ZodObject, ReadonlyMap<string, unknown>>();

function typesOf(args: z.ZodObject): ReadonlyMap<string, unknown> {
  const cached = typesBySchema.get(args);
  if (cached !== undefined) return cached;
  const properties = (fullSchema(args).properties ?? {}) as Record<string, { type?: unknown }>;
  const types = new Map(Object.entries(properties).map(([key, schema]) => [key, schema.type]));
  typesBySchema.set(args, types);
  return types;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function describe(issue: Issue | undefined, given: Record<string, unknown>): string {
  if (issue === undefined) return "arguments are not valid";
  const [first] = issue.path;
  if (issue.path.length === 1 && typeof first === "string" && !(first in given))
    return `${first} is required`;
  const what = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return issue.path.length === 0 ? what : `${issue.path.join(".")}: ${what}`;
}
