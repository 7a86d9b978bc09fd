/**
 * The user's own keys: `keys.json` gives a command another key, or takes a key away. A key of the user is put in place by the one
 * that does this by default, so whoever acts on keys knows the defaults alone.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import { configDir, type Environment } from "../../lib/paths.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import type { Press } from "./keys.ts";

/** By context: each command with the key that it has by default. */
const COMMANDS = {
  global: {
    ...{ interrupt: "ctrl+c", leave: "ctrl+d", suspend: "ctrl+z", redraw: "ctrl+l", transcript: "ctrl+o" },
    ...{ tasks: "ctrl+t", processes: "shift+down", mode: "shift+tab", background: "ctrl+b", model: "alt+m" },
  },
  editor: {
    ...{ send: "enter", send_now: "ctrl+enter", line_break: "alt+enter", up: "up", down: "down" },
    ...{ search_history: "ctrl+r", external_editor: "ctrl+g", complete: "tab", cancel: "escape" },
    paste_picture: "ctrl+v",
    ...{ left: "left", right: "right", word_left: "alt+left", word_right: "alt+right" },
    ...{ line_start: "ctrl+a", line_end: "ctrl+e", cut_to_end: "ctrl+k", cut_to_start: "ctrl+u" },
    ...{ cut_word: "ctrl+w", cut_word_right: "alt+d", paste_cut: "ctrl+y", undo: "ctrl+_" },
    ...{ delete_left: "backspace", delete_right: "delete" },
  },
  dialog: {
    ...{ up: "up", down: "down", next: "tab", page_up: "pageup", page_down: "pagedown", accept: "enter" },
    ...{ cancel: "escape", stop: "x", search: "/" },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
type KeyContext = keyof typeof COMMANDS;

/** Keys that always do what they do. */
const FIXED: ReadonlySet<string> = new Set(["ctrl+c", "escape"]);
const NAMES: ReadonlySet<string> = new Set([
  ...[
    "enter",
    "escape",
    "tab",
    "space",
    "backspace",
    "delete",
    "insert",
    "home",
    "end",
    "pageup",
    "pagedown",
  ],
  ...["up", "down", "left", "right", ...Array.from({ length: 12 }, (_, n) => `f${n + 1}`)],
]);
const SPELLINGS: Readonly<Record<string, string>> = {
  ...{ esc: "escape", return: "enter", del: "delete", ins: "insert", pgup: "pageup", pgdn: "pagedown" },
  ...{ control: "ctrl", option: "alt", meta: "alt" },
};
const MODIFIERS = ["ctrl", "alt", "shift"] as const;
/** The next key of a chord comes within this time, in ms. */
const CHORD_MS = 1_000;
const MAX_FILE_BYTES = 262_144;

/** By the context and its keys, separated by blanks: the default key; null: it does nothing. */
type Bindings = ReadonlyMap<string, string | null>;

export class KeyMap {
  #bindings: Bindings = new Map();
  #rows: readonly string[] = [];
  #begun = "";
  #begunMono = 0;

  /** Takes what the user's file says; returns what is wrong with it, a line each. No file: the defaults. */
  read(env: Environment): readonly string[] {
    const path = join(configDir(env, env.HOME ?? ""), "keys.json");
    let problems: readonly string[];
    try {
      const bytes = readFileSync(path);
      if (bytes.length > MAX_FILE_BYTES) throw new Error(`larger than ${MAX_FILE_BYTES} bytes`);
      ({
        bindings: this.#bindings,
        problems,
        rows: this.#rows,
      } = parseKeys(JSON.parse(bytes.toString("utf8"))));
    } catch (error) {
      [this.#bindings, this.#rows] = [new Map(), []];
      problems = Reflect.get(Object(error), "code") === "ENOENT" ? [] : [messageOf(error)];
    }
    return problems.map((problem) => `INVALID ${path}: ${problem}`);
  }

  /** undefined: the key does nothing, or begins a chord. */
  pressed(press: Press, context: Exclude<KeyContext, "global">, nowMono: number): Press | undefined {
    if (this.#bindings.size === 0 || press.kind === "paste") return press;
    const key = press.kind === "key" ? press.name : press.text;
    const isLate = nowMono - this.#begunMono > CHORD_MS;
    const keys = this.#begun === "" || isLate ? key : `${this.#begun} ${key}`;
    const wasBegun = keys !== key;
    this.#begun = "";
    for (const place of [context, "global"]) {
      const found = this.#bindings.get(`${place}: ${keys}`);
      if (found !== undefined) return found === null ? undefined : pressFor(found);
      if ([...this.#bindings.keys()].some((other) => other.startsWith(`${place}: ${keys} `))) {
        [this.#begun, this.#begunMono] = [keys, nowMono];
        return undefined;
      }
    }
    // what follows the begin of a chord and does not end it is lost with it, but for the way out
    return wasBegun && !FIXED.has(key) ? undefined : press;
  }

  /** All commands and their keys, for reading; `ownTitle`: above the user's own ones. */
  text(ownTitle: string): string {
    const rows = Object.entries(COMMANDS).flatMap(([context, commands]) =>
      Object.entries(commands).map(([name, key]) => `  ${context.padEnd(8)}${name.padEnd(18)}${key}`),
    );
    const own = this.#rows.length === 0 ? [] : ["", `  ${ownTitle}`, ...this.#rows.map((row) => `  ${row}`)];
    return [...rows, ...own].join("\n");
  }
}

function pressFor(key: string): Press {
  return [...key].length === 1 ? { kind: "text", text: key } : { kind: "key", name: key };
}

interface Parsed {
  readonly bindings: Bindings;
  readonly rows: readonly string[];
  readonly problems: readonly string[];
}

/** What is wrong is named by its entry, counted from 1, and the rest counts. */
export function parseKeys(given: unknown): Parsed {
  const bindings = new Map<string, string | null>();
  const rows: string[] = [];
  if (!Array.isArray(given)) return { bindings, rows, problems: ["not a list of {context, keys, command}"] };
  const problems = given.flatMap((entry, at) => {
    const found = bindingOf(entry, bindings);
    if (typeof found === "string") return [`entry ${at + 1}: ${found}`];
    const [place, key] = found;
    bindings.set(place, key);
    rows.push(`${place} → ${Reflect.get(Object(entry), "command") ?? "nothing"}`);
    return [];
  });
  return { bindings, rows, problems };
}

/** A text says what is wrong with it. */
function bindingOf(entry: unknown, known: Bindings): string | readonly [place: string, key: string | null] {
  const { context, keys, command, ...others } = Object(entry) as Record<string, unknown>;
  const [stray] = Object.keys(others);
  if (stray !== undefined) return `no key ${stray}; an entry has context, keys and command`;
  if (typeof context !== "string" || !Object.hasOwn(COMMANDS, context))
    return `no context ${JSON.stringify(context)}; contexts: ${Object.keys(COMMANDS).join(", ")}`;
  if (typeof keys !== "string") return "keys is not a text";
  const parts = keys.trim().split(/\s+/).map(normalKey);
  const wrong = parts.indexOf(undefined);
  if (wrong >= 0) return `no such key: ${keys.trim().split(/\s+/)[wrong] || '""'}`;
  const sequence = parts.join(" ");
  const fixed = parts.find((part) => FIXED.has(part ?? ""));
  if (fixed !== undefined) return `${fixed} keeps its meaning`;
  if ([...(parts[0] ?? "")].length === 1) return `${sequence} is text; a key of its own has ctrl or alt`;
  const place = `${context}: ${sequence}`;
  const other = [...known.keys()].find(
    (each) => each === place || isBegun(each, place) || isBegun(place, each),
  );
  if (other !== undefined) return `${sequence} is bound twice in ${context} (${other.split(": ")[1]})`;
  if (command === null) return [place, null];
  const commands: Readonly<Record<string, string>> = COMMANDS[context as KeyContext];
  if (typeof command === "string" && Object.hasOwn(commands, command))
    return [place, commands[command] ?? null];
  const near = nearNames(String(command), Object.keys(commands), (name) => Math.ceil(name.length / 2));
  const hint =
    near.length === 0 ? `commands: ${Object.keys(commands).join(", ")}` : `near: ${near.join(", ")}`;
  return `no command ${JSON.stringify(command)} in ${context}; ${hint}`;
}

function isBegun(begin: string, whole: string): boolean {
  return whole.startsWith(`${begin} `);
}

/** As keys are named here: modifiers in their order, names in lower case. undefined: no such key. */
function normalKey(text: string): string | undefined {
  const parts = text.length > 1 ? text.split("+") : [text];
  // ctrl++ is the key +
  if (text.endsWith("++")) parts.splice(-2, 2, "+");
  const name = parts.pop() ?? "";
  const held = parts.map((part) => SPELLINGS[part.toLowerCase()] ?? part.toLowerCase());
  if (name === "" || held.some((part) => !MODIFIERS.some((each) => each === part))) return undefined;
  const key = SPELLINGS[name.toLowerCase()] ?? ([...name].length === 1 ? name : name.toLowerCase());
  if ([...key].length > 1 && !NAMES.has(key)) return undefined;
  const isLetter = [...key].length === 1;
  return [
    ...MODIFIERS.filter((each) => held.includes(each)),
    isLetter && held.length > 0 ? key.toLowerCase() : key,
  ].join("+");
}
