/**
 * Zod with schemas that are made when they are first used. To make one costs some 25 µs, and there are two thousand, of
 * which a start uses a few dozen. The build puts this in the place of zod (scripts/build.mjs).
 */
import * as zod from "zod";

// biome-ignore lint/performance/noBarrelFile: it stands in the place of the whole package
export * from "zod";

type Make = () => object;

/** What makes the schema that stands behind a deferred one. */
const MAKERS = new WeakMap<object, Make>();

/** Methods that only make a further schema, and so can wait as well. All others need the schema. */
const FURTHER: ReadonlySet<unknown> = new Set(
  (
    "and array brand catch check default describe exactOptional extend gt gte int length lt lte max meta min " +
    "multipleOf nonempty nonnegative nullable nullish omit optional or partial pick pipe positive readonly refine " +
    "regex required safeExtend startsWith endsWith strict superRefine transform trim"
  ).split(" "),
);

/** The same value with real schemas in the place of deferred ones. */
function settled(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const make = MAKERS.get(value);
  if (make !== undefined) return make();
  if (Array.isArray(value)) return value.map(settled);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, settled(each)]));
}

type Method = (...args: readonly unknown[]) => object;

function deferred(make: Make): object {
  let real: object | undefined;
  const get: Make = () => {
    real ??= make();
    return real;
  };
  const further =
    (name: string): Method =>
    (...args) =>
      deferred(() => {
        const schema = get() as Record<string, Method>;
        return (schema[name] as Method)(...args.map(settled));
      });
  const schema = new Proxy(
    {},
    {
      get: (_, key) =>
        real === undefined && FURTHER.has(key) ? further(String(key)) : Reflect.get(get(), key),
      set: (_, key, value) => Reflect.set(get(), key, value),
      has: (_, key) => Reflect.has(get(), key),
      getPrototypeOf: () => Reflect.getPrototypeOf(get()),
    },
  );
  MAKERS.set(schema, get);
  return schema;
}

/** The same function, whose schema waits. */
function later<Making>(making: Making): Making {
  const make = making as unknown as Method;
  const wait: Method = (...args) => deferred(() => make(...args.map(settled)));
  return wait as unknown as Making;
}

export const array = later(zod.array);
export const boolean = later(zod.boolean);
export const discriminatedUnion = later(zod.discriminatedUnion);
export const exactOptional = later(zod.exactOptional);
export const int = later(zod.int);
export const json = later(zod.json);
export const literal = later(zod.literal);
export const looseObject = later(zod.looseObject);
export const number = later(zod.number);
export const object = later(zod.object);
export const record = later(zod.record);
export const strictObject = later(zod.strictObject);
export const string = later(zod.string);
export const union = later(zod.union);
export const unknown = later(zod.unknown);
const anyOf = later(zod.enum);

export { anyOf as enum };

/** The registry of descriptions knows schemas by their identity. */
export const toJSONSchema = ((schema: object, options?: object) =>
  (zod.toJSONSchema as (schema: unknown, options?: object) => unknown)(
    settled(schema),
    options,
  )) as typeof zod.toJSONSchema;
