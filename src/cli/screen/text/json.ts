/** JSON as the screens show it (manual, JSON wrapper): a blank after `:` and `,`; undefined values are left out. */

/** A number always written with one to three decimals: `1.0`, `5200.0`, `0.042`. */
export class Decimal {
  readonly #value: number;
  constructor(value: number) {
    this.#value = value;
  }
  toString(): string {
    return this.#value.toFixed(3).replace(/0{1,2}$/, "");
  }
}

export function oneLine(value: unknown): string {
  if (value instanceof Decimal) return value.toString();
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (!isObject(value)) return scalar(value);
  return `{${entriesOf(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${oneLine(inner)}`)
    .join(", ")}}`;
}

/** Indented by two; arrays of scalars and empty values are on one line. */
export function indented(value: unknown, depth = 0): string {
  if (Array.isArray(value)) {
    if (!value.some(isObject)) return oneLine(value);
    const items = value.map((item) => indented(item, depth + 1));
    return block("[]", items, depth);
  }
  if (!isObject(value)) return oneLine(value);
  const items = entriesOf(value).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${indented(inner, depth + 1)}`,
  );
  return items.length === 0 ? "{}" : block("{}", items, depth);
}

function block([open, close]: string, items: readonly string[], depth: number): string {
  const margin = "  ".repeat(depth + 1);
  return `${open}\n${items.map((item) => margin + item).join(",\n")}\n${"  ".repeat(depth)}${close}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(value instanceof Decimal);
}

function entriesOf(value: object): Array<[string, unknown]> {
  return Object.entries(value).filter(([, inner]) => inner !== undefined);
}

function scalar(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
