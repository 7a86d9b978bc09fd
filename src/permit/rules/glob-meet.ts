/**
 * Decides whether two patterns of one name have a text in common. In doubt the answer is yes: named and
 * locale-dependent character classes match any character.
 */
import type { Glob } from "./glob.ts";
import { foldName } from "./paths.ts";

type Token =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "any" }
  | { readonly kind: "run" }
  | { readonly kind: "set"; readonly chars: string };

/** The glob of a name as the shell would match it, without regard to case. */
export type LooseGlob = readonly Token[];

export function looseGlob(text: string): LooseGlob {
  const chars = [...foldName(text)];
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] as string;
    const end = char === "[" ? closeOf(chars, i) : -1;
    if (char === "*") tokens.push({ kind: "run" });
    else if (char === "?") tokens.push({ kind: "any" });
    else if (end > 0) {
      const body = chars.slice(i + 1, end).join("");
      tokens.push(/^[!^]|[[\]\\-]/.test(body) ? { kind: "any" } : { kind: "set", chars: body });
      i = end;
    } else if (char === "\\" && i + 1 < chars.length)
      tokens.push({ kind: "char", char: chars[++i] as string });
    else tokens.push({ kind: "char", char });
  }
  return tokens;
}

function closeOf(chars: readonly string[], open: number): number {
  const first = /[!^]/.test(chars[open + 1] ?? "") ? open + 2 : open + 1;
  for (let i = first; i < chars.length; i++) {
    if (chars[i] === "[" && /[:.=]/.test(chars[i + 1] ?? "")) {
      const end = chars.indexOf("]", i + 2);
      if (end < 0) return -1;
      i = end;
    } else if (chars[i] === "]" && i > first) return i;
  }
  return -1;
}

/** The tokens of a name; a plain name becomes characters only. */
export function tokensOf(name: string | Glob): LooseGlob {
  if (typeof name === "string") return [...name].map((char) => ({ kind: "char", char }));
  return name.map((token) => (token.kind === "class" ? { kind: "any" } : token));
}

/**
 * null: no text in common. Otherwise the number of characters of `name` that the glob matches by more than `*`: what
 * only a star matches is not named. A leading star does not match the dot of a hidden name.
 */
export function meet(glob: LooseGlob, name: LooseGlob): number | null {
  const [first] = glob;
  const hidden = name[0]?.kind === "char" && name[0].char === ".";
  if (hidden && !(first?.kind === "char" && first.char === ".")) return null;
  const width = name.length + 1;
  const best = new Array<number>((glob.length + 1) * width).fill(-1);
  best[0] = 0;
  const put = (i: number, j: number, value: number) => {
    if ((best[i * width + j] ?? -1) < value) best[i * width + j] = value;
  };
  for (let i = 0; i <= glob.length; i++)
    for (let j = 0; j <= name.length; j++) {
      const at = best[i * width + j] ?? -1;
      if (at < 0) continue;
      const [a, b] = [glob[i], name[j]];
      if (a?.kind === "run") put(i + 1, j, at);
      if (b?.kind === "run") put(i, j + 1, at);
      if (a?.kind === "run" && b !== undefined) put(i, j + 1, at);
      if (b?.kind === "run" && a !== undefined) put(i + 1, j, at);
      if (a !== undefined && b !== undefined && a.kind !== "run" && b.kind !== "run" && agree(a, b))
        put(i + 1, j + 1, at + (b.kind === "char" ? 1 : 0));
    }
  const whole = best.at(-1) ?? -1;
  return whole < 0 ? null : whole;
}

function agree(a: Token, b: Token): boolean {
  if (a.kind === "char" && b.kind === "char") return a.char === b.char;
  if (a.kind === "set" && b.kind === "char") return a.chars.includes(b.char);
  if (b.kind === "set" && a.kind === "char") return b.chars.includes(a.char);
  return true;
}
