/** Names for what a terminal sends: `ctrl+a`, `alt+enter`, `shift+tab`. Text and pastes come as they are. */
import type { Typed } from "../../cli/terminal/typed.ts";

export type Press =
  | { readonly kind: "key"; readonly name: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "paste"; readonly text: string };

/** By the last character of a sequence, and for `~` by its number. */
const FINAL: Readonly<Record<string, string>> = {
  ...{ A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", Z: "shift+tab", P: "f1", Q: "f2" },
  ...{ R: "f3", S: "f4", I: "focus-in", O: "focus-out" },
};
const NUMBERED: Readonly<Record<string, string>> = {
  ...{
    "1": "home",
    "2": "insert",
    "3": "delete",
    "4": "end",
    "5": "pageup",
    "6": "pagedown",
    "7": "home",
    "8": "end",
  },
  ...{ "15": "f5", "17": "f6", "18": "f7", "19": "f8", "20": "f9", "21": "f10", "23": "f11", "24": "f12" },
};
const CODES: Readonly<Record<string, string>> = {
  ...{ "9": "tab", "13": "enter", "27": "escape", "32": "space", "127": "backspace" },
};
const SINGLE: Readonly<Record<string, string>> = {
  ...{ "\r": "enter", "\n": "ctrl+j", "\t": "tab", "\x1b": "escape", "\x7f": "backspace", "\b": "backspace" },
  ...{ "\x1f": "ctrl+_", "\x00": "ctrl+space", "\x1c": "ctrl+\\", "\x1d": "ctrl+]" },
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with Esc
const SEQUENCE = /^\x1b(?:\[|O)([0-9;:]*)([A-Za-z~])$/;

/** undefined: it means nothing here. */
export function pressOf({ kind, text }: Typed): Press | undefined {
  if (kind === "pasted") return { kind: "paste", text };
  if (kind === "break") return { kind: "key", name: "alt+enter" };
  if (kind === "run") return { kind: "text", text };
  const name = nameOf(text);
  if (name !== undefined) return { kind: "key", name };
  return text.startsWith("\x1b") ? undefined : { kind: "text", text };
}

/** The keys of a view come one by one, however many a slow line has put together. */
export function pressesFor(press: Press, isView: boolean): readonly Press[] {
  if (!isView || press.kind !== "text") return [press];
  return [...press.text].map((text) => ({ kind: "text", text }));
}

function nameOf(text: string): string | undefined {
  if (Object.hasOwn(SINGLE, text)) return SINGLE[text];
  const code = text.charCodeAt(0);
  if (text.length === 1 && code < 0x20) return `ctrl+${String.fromCharCode(code + 0x60)}`;
  const sequence = SEQUENCE.exec(text);
  if (sequence !== null) return sequenceName(sequence[1] ?? "", sequence[2] ?? "");
  // Esc before a key is Alt
  if (text.length === 2 && text.startsWith("\x1b")) {
    const under = nameOf(text.slice(1));
    return `alt+${under ?? text.slice(1)}`;
  }
  return undefined;
}

function sequenceName(params: string, final: string): string | undefined {
  const [first = "", second = ""] = params.split(";");
  if (final === "u") return withModifiers(CODES[first] ?? letterOf(first), second);
  if (final === "~" && first === "27") return withModifiers(CODES[params.split(";")[2] ?? ""], second);
  return withModifiers(final === "~" ? NUMBERED[first] : FINAL[final], second);
}

function letterOf(code: string): string | undefined {
  const point = Number(code);
  return point > 0x20 && point < 0x7f ? String.fromCharCode(point) : undefined;
}

/** Modifiers are one more than the sum of 1 shift, 2 alt, 4 ctrl, 8 super. */
function withModifiers(name: string | undefined, text: string): string | undefined {
  const bits = Math.max(0, Number.parseInt(text || "1", 10) - 1);
  if (name === undefined) return undefined;
  const held = [
    ...((bits & 4) > 0 ? ["ctrl"] : []),
    ...((bits & 2) > 0 ? ["alt"] : []),
    ...((bits & 1) > 0 ? ["shift"] : []),
  ];
  return [...held, name].join("+");
}
