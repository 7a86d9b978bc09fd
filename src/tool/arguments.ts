/**
 * Arguments as models write them: integers and booleans may come as strings, null means absent. An unknown key is
 * refused, not dropped: it may carry meaning.
 */
import type * as z from "zod";
import { badArguments } from "./failure.ts";
import { fullSchema } from "./schema.ts";

const MAX_BYTES = 6 * 1024 * 1024;

/** Decodes one write to a tool file into one JSON value. */
export function decodeArguments(tool: string, data: Uint8Array): unknown {
  if (data.byteLength > MAX_BYTES) throw badArguments(`${tool}: arguments are over 6 MiB`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch (cause) {
    throw badArguments(`${tool}: arguments are not valid JSON`, cause);
  }
}

export function parseArguments<S extends z.ZodObject>(tool: string, args: S, raw: unknown): z.output<S> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw))
    throw badArguments(`${tool}: arguments must be a JSON object`);
  const given = relaxObject(raw, schemaOf(args));
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(args.shape, key)) continue;
    const known = Object.keys(args.shape).join(", ");
    throw badArguments(`${tool}: unknown key "${key.slice(0, 100)}". Known: ${known}`);
  }
  // half of a surrogate pair would match inside a whole character, and no file can contain it
  const broken = Object.entries(given).find(([, value]) => !isWellFormed(value));
  if (broken !== undefined) throw badArguments(`${tool}: ${broken[0]}: half of a surrogate pair`);
  const parsed = args.safeParse(given);
  if (parsed.success) return parsed.data as z.output<S>;
  throw badArguments(`${tool}: ${describe(parsed.error.issues[0], given)}`);
}

/** The part of a JSON Schema that decides how a value may be relaxed. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** Removes null values and converts `"5"` and `"true"` to the type in the schema, in nested lists and objects too. */
function relaxObject(raw: object, schema: Schema): Record<string, unknown> {
  // no prototype, so that a key `__proto__` is kept as a key
  const given: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(raw)) {
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    if (value !== null) given[key] = relaxValue(value, known ?? {});
  }
  return given;
}

function relaxValue(value: unknown, { type, properties, items = {} }: Schema): unknown {
  if (type === "array" && Array.isArray(value)) return value.map((item) => relaxValue(item, items));
  if (type === "object" && typeof value === "object" && value !== null && properties !== undefined)
    return { ...relaxObject(value, { properties }) };
  if (typeof value !== "string") return value;
  if (type === "integer" && /^\s*-?\d{1,15}\s*$/.test(value)) return Number(value);
  if (type === "boolean" && /^\s*(true|false)\s*$/i.test(value)) return value.trim().toLowerCase() === "true";
  return value;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  return typeof value !== "object" || value === null || Object.values(value).every(isWellFormed);
}

const schemas = new WeakMap<z.ZodObject, Schema>();

function schemaOf(args: z.ZodObject): Schema {
  const known = schemas.get(args);
  if (known !== undefined) return known;
  const schema = fullSchema(args) as Schema;
  schemas.set(args, schema);
  return schema;
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
