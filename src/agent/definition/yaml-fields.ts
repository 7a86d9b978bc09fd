/**
 * YAML settings of agent and skill files: parsed, keys normalized, values read by type. Nothing in them is ever
 * executed.
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { Fault, messageOf } from "../../abi/errors.ts";
import { nearNames } from "../../lib/text/near-names.ts";

const MAX_ALIASES = 100;

/** The position of a key or list item and of what it contains: keys normalized, items by their index. */
interface Place {
  readonly line: number;
  /** The key as written in the file. */
  readonly spelled: string;
  readonly inner: Places;
}
type Places = ReadonlyMap<string, Place>;
const NO_PLACES: Places = new Map();

/** A mapping with keys in snake_case. Each reader throws INVALID that names the file and key. */
export class YamlFields {
  readonly #file: string;
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #read = new Set<string>();
  readonly #places: Places;

  constructor(file: string, values: ReadonlyMap<string, unknown>, places: Places = NO_PLACES) {
    this.#file = file;
    this.#values = values;
    this.#places = places;
  }

  /** The position of a key, or of an item of its list: `agent.yaml:7`; without a line if it is not in the file. */
  at(key: string, item?: string): string {
    const place = this.#places.get(key);
    const values = this.#values.get(key);
    const n = item === undefined || !Array.isArray(values) ? -1 : values.indexOf(item);
    const line = (place?.inner.get(String(n)) ?? place)?.line;
    return line === undefined ? this.#file : `${this.#file}:${line}`;
  }

  #inner(key: string, name?: string): Places {
    const inner = this.#places.get(key)?.inner ?? NO_PLACES;
    return name === undefined ? inner : (inner.get(keyName(name))?.inner ?? NO_PLACES);
  }

  has(key: string): boolean {
    return this.#values.get(key) !== undefined;
  }

  /** "" if absent. Numbers and booleans are converted to text. */
  text(key: string): string {
    const value = this.#take(key);
    if (value === undefined) return "";
    if (typeof value === "object") throw this.wrong(key, "must be text");
    return String(value).trim();
  }

  int(key: string): number | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isSafeInteger(value))
      throw this.wrong(key, "must be a whole number");
    return value;
  }

  /** A sequence of texts, or one text split at commas. Undefined: absent. */
  list(key: string): string[] | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    const items: unknown[] = typeof value === "string" ? value.split(/,(?![^(]*\))/) : asArray(value);
    if (items.length === 0 && !Array.isArray(value)) throw this.wrong(key, "must be a list");
    if (items.some((item) => typeof item !== "string")) throw this.wrong(key, "must be a list of texts");
    return items.map((item) => String(item).trim()).filter((item) => item !== "");
  }

  /** Texts, whole as they are; a single one need not be in a list. */
  sequence(key: string): readonly string[] {
    if (Array.isArray(this.#values.get(key))) return this.list(key) ?? [];
    const text = this.text(key).trim();
    return text === "" ? [] : [text];
  }

  /** One text, or a sequence of texts joined by spaces; "" if absent. */
  words(key: string): string {
    return Array.isArray(this.#values.get(key)) ? (this.list(key) ?? []).join(" ") : this.text(key);
  }

  map(key: string): YamlFields {
    const value = this.#take(key);
    if (value === undefined) return new YamlFields(this.#file, new Map());
    if (!isMapping(value)) throw this.wrong(key, "must be a mapping");
    return new YamlFields(this.#file, byKey(this.#file, value), this.#inner(key));
  }

  /** A mapping of texts with its keys unchanged; values are converted to text. */
  texts(key: string): Record<string, string> {
    const value = this.#take(key);
    if (value === undefined) return {};
    if (!isMapping(value)) throw this.wrong(key, "must be a mapping");
    return Object.fromEntries(
      Object.entries(value).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
    );
  }

  /**
   * A sequence of mappings with a `name`, or a mapping from names to mappings. The keys inside are normalized, the
   * names are not. A plain text in the sequence is a name without fields.
   */
  named(key: string): { name: string; fields: YamlFields | null }[] {
    const value = this.#take(key);
    if (value === undefined) return [];
    if (isMapping(value)) return Object.entries(value).map(([name, entry]) => this.#entry(key, name, entry));
    if (!Array.isArray(value)) throw this.wrong(key, "must be a list of mappings");
    return value.map((item: unknown, n) => {
      if (typeof item === "string") return { name: item, fields: null };
      if (!isMapping(item)) throw this.wrong(key, "must be a list of mappings");
      const [only, ...more] = Object.entries(item);
      // `- memory: { command: … }`
      if (only !== undefined && more.length === 0 && isMapping(only[1]))
        return this.#entry(key, only[0], only[1]);
      const fields = new YamlFields(this.#file, byKey(this.#file, item), this.#inner(key, String(n)));
      return { name: fields.text("name"), fields };
    });
  }

  #entry(key: string, name: string, value: unknown) {
    if (!isMapping(value)) throw this.wrong(key, `${name} must be a mapping`);
    return { name, fields: new YamlFields(this.#file, byKey(this.#file, value), this.#inner(key, name)) };
  }

  flag(key: string): boolean | undefined {
    const value = this.#take(key);
    if (value === undefined) return undefined;
    if (typeof value !== "boolean") throw this.wrong(key, "must be true or false");
    return value;
  }

  /** A sequence of texts, not trimmed. */
  strings(key: string): string[] {
    const value = this.#take(key);
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.some((item) => typeof item === "object"))
      throw this.wrong(key, "must be a list of texts");
    return value.map(String);
  }

  wrong(key: string, what: string): Fault {
    return new Fault({ code: "INVALID", message: `${this.at(key)}: ${key} ${what}` });
  }

  /**
   * A message for each key that was not read, with the most similar one that was; `within` is the prefix of the key.
   */
  unknown(within = "", but: ReadonlySet<string> = new Set()): string[] {
    return this.unread().flatMap((key) => {
      if (but.has(key)) return [];
      const spelled = this.#places.get(key)?.spelled ?? key;
      const [near] = nearNames(key, [...this.#read], (known) => Math.ceil(known.length / 3));
      const hint = near === undefined ? "" : ` (did you mean ${near}?)`;
      return `${this.at(key)}: unknown key '${within}${spelled}'${hint}`;
    });
  }

  /** The keys that were not read. */
  unread(): string[] {
    return [...this.#values.keys()].filter((key) => !this.#read.has(key));
  }

  #take(key: string): unknown {
    this.#read.add(key);
    return this.#values.get(key);
  }
}

/** `firstLine` is the line of the file where `text` starts, from 1. */
export function parseYaml(file: string, text: string, firstLine = 1): YamlFields {
  const lines = new LineCounter();
  const document = parseDocument(text, { prettyErrors: true, lineCounter: lines });
  const error = document.errors[0];
  if (error !== undefined) {
    const { line = 1, col = 1 } = error.linePos?.[0] ?? {};
    const cause = (error.message.split("\n", 1)[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
    throw new Fault({ code: "INVALID", message: `${file}:${firstLine - 1 + line}:${col}: ${cause}` });
  }
  const value = toPlain(file, document);
  if (value === null || value === undefined) return new YamlFields(file, new Map());
  if (!isMapping(value))
    throw new Fault({ code: "INVALID", message: `${file}:${firstLine}: must be a mapping` });
  const lineAt = (offset: number) => firstLine - 1 + lines.linePos(offset).line;
  return new YamlFields(file, byKey(file, value), placesIn(document.contents, lineAt));
}

function placesIn(node: Node | null | undefined, lineAt: (offset: number) => number): Places {
  const places = new Map<string, Place>();
  if (isMap<Node, Node | null>(node)) {
    for (const { key, value } of node.items) {
      const spelled = isScalar(key) ? String(key.value) : "";
      places.set(keyName(spelled), {
        line: lineAt(key.range?.[0] ?? 0),
        spelled,
        inner: placesIn(value, lineAt),
      });
    }
  } else if (isSeq<Node>(node)) {
    for (const [n, item] of node.items.entries())
      places.set(String(n), {
        line: lineAt(item.range?.[0] ?? 0),
        spelled: "",
        inner: placesIn(item, lineAt),
      });
  }
  return places;
}

/** `maxTurns`, `max-turns` and `max_turns` are one key. */
export function keyName(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}

function toPlain(file: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new Fault({ code: "INVALID", message: `${file}: ${messageOf(error)}`, cause: error });
  }
}

/** `contextBudget`, `context-budget` and `context_budget` are the same key; INVALID if two spellings occur. */
function byKey(file: string, mapping: Record<string, unknown>): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const spelled = new Map<string, string>();
  for (const [key, value] of Object.entries(mapping)) {
    const name = keyName(key);
    const other = spelled.get(name);
    if (other !== undefined)
      throw new Fault({ code: "INVALID", message: `${file}: two spellings of one key: ${other}, ${key}` });
    spelled.set(name, key);
    values.set(name, value ?? undefined);
  }
  return values;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
