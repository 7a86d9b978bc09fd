/**
 * Markdown as lines of a terminal. The text is foreign: what could steer the terminal is escaped before it is parsed. Links
 * are shown as text with their address, HTML as it is written, and so are addresses that stand elsewhere in the text: what is
 * shown of a block depends on nothing before or after it.
 */
import { Lexer, Marked, type Token, type Tokens } from "marked";
import { safeLines } from "../../cli/screen/text/safe-text.ts";
import { padToWidth, widthOf } from "../../cli/screen/text/width.ts";
import { type Line, lineWidth, plain, type Span, textOf, wrapped } from "./line.ts";
import type { Theme } from "./theme.ts";

export interface MarkdownLook {
  readonly theme: Theme;
  readonly width: number;
  /** Colours code; undefined where the language is not known, or nothing was loaded yet. */
  readonly highlight?:
    | ((code: string, language: string, theme: Theme) => readonly Line[] | undefined)
    | undefined;
}

const NARROWEST = 8;
/** Marks the end of a line inside of a paragraph. */
const BREAK: Span = { text: "\n", style: "" };

/** A link by reference is shown as it is written, and the line with its address, too. */
const READER = new Marked({ tokenizer: { def: () => undefined } });

/** Lines before the first block, which would be read as one of their own. */
const BLANKS = /^(?:[ \t]*\n)+/;

/** `item`: the text begins inside of a list, whose next item has this number. */
export function markdownLines(text: string, look: MarkdownLook, item?: number): Line[] {
  const tokens = renumbered(READER.lexer(safeLines(text).replace(BLANKS, "")), item);
  return blockLines(tokens, { ...look, width: Math.max(NARROWEST, look.width) });
}

function renumbered(tokens: readonly Token[], item: number | undefined): readonly Token[] {
  const [first, ...others] = tokens;
  if (item === undefined || first?.type !== "list" || !first.ordered) return tokens;
  return [{ ...first, start: item }, ...others];
}

/** A place between two blocks of a text, or between two items of a list: `item` is the number of the second. */
export interface BlockPlace {
  readonly chars: number;
  readonly item?: number;
}

/** An item that is one by itself, too. */
const ITEM = /^ {0,3}(?:[*+-]|\d{1,9}[.)])[ \t]+\S/;
/** Whatever comes after it on further lines, the paragraph before it is over. */
const ENDS_PARAGRAPH = new Set(["list", "heading", "blockquote", "code"]);
/** They are over with their last line, if another block follows. A rule may be a line of a title yet. */
const ENDS_BY_ITSELF = new Set(["heading", "code", "list"]);

/**
 * The last place in a text that grows, from `item` as in markdownLines(), before which nothing changes any more, and after which
 * the text reads alone as it does in its whole. The line that is not whole is not looked at. undefined: there is none yet.
 */
export function closedUntil(text: string, item?: number): BlockPlace | undefined {
  const safe = safeLines(text.slice(0, text.lastIndexOf("\n") + 1));
  const lead = BLANKS.exec(safe)?.[0].length ?? 0;
  const tokens = renumbered(new Lexer(READER.defaults).blockTokens(safe.slice(lead)), item);
  const at = tokens.findLastIndex(({ type }) => type !== "space");
  const open = tokens[at];
  if (open === undefined || isBlank(open)) return undefined;
  const before = tokens.slice(0, at);
  const begin = lead + sourceOf(before).length;
  if (open.type === "list" && open.items.length > 1) {
    const closed: readonly Tokens.ListItem[] = open.items.slice(0, -1);
    const until = begin + sourceOf(closed).length;
    if (ITEM.test(safe.slice(until)))
      return placeIn(text, safe.slice(0, until), Number(open.start) + closed.length);
  }
  return isClosed(before, open) ? placeIn(text, safe.slice(0, begin)) : undefined;
}

function isClosed(before: readonly Token[], open: Token): boolean {
  const last = before.findLast(({ type }) => type !== "space");
  if (last === undefined) return false;
  if (/\n[ \t]*\n$/.test(sourceOf(before))) return true;
  // a line of dashes may make the head of a table of the one before it
  if (open.type === "hr" || (open.type === "list" && !ITEM.test(open.raw))) return false;
  return last.type === "paragraph" ? ENDS_PARAGRAPH.has(open.type) : ENDS_BY_ITSELF.has(last.type);
}

/** To the eye: of no-break spaces marked makes a paragraph, or a part of the list before them. */
function isBlank({ raw }: Token): boolean {
  return raw.trim() === "";
}

function sourceOf(tokens: readonly { readonly raw: string }[]): string {
  return tokens.map(({ raw }) => raw).join("");
}

/** Escapes are longer than what they stand for, but lines are lines in both. */
function placeIn(text: string, safe: string, item?: number): BlockPlace | undefined {
  if (!safe.endsWith("\n")) return undefined;
  let chars = 0;
  for (let lines = safe.split("\n").length - 1; lines > 0; lines--) chars = text.indexOf("\n", chars) + 1;
  return item === undefined ? { chars } : { chars, item };
}

function blockLines(tokens: readonly Token[], look: MarkdownLook): Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    const block = isBlank(token) ? [] : oneBlock(token, look);
    if (lines.length > 0 && block.length > 0) lines.push([]);
    lines.push(...block);
  }
  return lines;
}

function oneBlock(token: Token, look: MarkdownLook): Line[] {
  const { theme, width } = look;
  switch (token.type) {
    case "heading":
      return folded(inline(token.tokens ?? [], look, joined("1", theme.accent)), width);
    case "code":
      return codeLines(token as Tokens.Code, look);
    case "list":
      return listLines(token as Tokens.List, look);
    case "table":
      return tableLines(token as Tokens.Table, look);
    case "hr":
      return [[{ text: "─".repeat(Math.min(width, 40)), style: theme.border }]];
    case "blockquote":
      return blockLines(token.tokens ?? [], { ...look, width: width - 2 }).map((line) => [
        { text: "│ ", style: theme.border },
        ...line,
      ]);
    default:
      return "tokens" in token && token.tokens !== undefined
        ? folded(inline(token.tokens, look, ""), width)
        : folded(withBreaks(token.raw.trimEnd(), ""), width);
  }
}

function codeLines({ text, lang = "" }: Tokens.Code, { theme, width, highlight }: MarkdownLook): Line[] {
  const code = text.replaceAll("\t", "    ");
  const language = lang.split(/\s/, 1)[0] ?? "";
  const coloured =
    highlight?.(code, language, theme) ?? code.split("\n").map((each) => [{ text: each, style: theme.info }]);
  return coloured.flatMap((line) =>
    wrapped(line, width - 2).map((part): Line => [{ text: "  ", style: "" }, ...part]),
  );
}

function listLines({ items, ordered, start }: Tokens.List, look: MarkdownLook): Line[] {
  return items.flatMap((item, at) => {
    const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : "";
    const mark = `${ordered ? `${Number(start) + at}.` : "•"} ${box}`;
    const indent = widthOf(mark);
    const inner = blockLinesOfItem(item.tokens, {
      ...look,
      width: Math.max(NARROWEST, look.width - indent),
    });
    const lines = inner.length === 0 ? [[]] : inner;
    return lines.map(
      (line, n): Line => [
        { text: n === 0 ? mark : " ".repeat(indent), style: n === 0 ? look.theme.accent : "" },
        ...line,
      ],
    );
  });
}

/** The parts of an item stand below one another without blank lines where they are written so; other items do not count. */
function blockLinesOfItem(tokens: readonly Token[], look: MarkdownLook): Line[] {
  const end = tokens.findLastIndex((token) => !isBlank(token)) + 1;
  const shown = tokens.slice(0, end).filter(({ type }) => type !== "checkbox");
  return shown.some(({ type }) => type === "space")
    ? blockLines(shown, look)
    : shown.flatMap((token) => oneBlock(token, look));
}

function tableLines({ header, rows, align }: Tokens.Table, look: MarkdownLook): Line[] {
  const cells = [header, ...rows].map((row) =>
    row.map(({ tokens }) => textOf(inline(tokens, look, "")).replaceAll("\n", " ")),
  );
  const widths = header.map((_, at) => Math.max(1, ...cells.map((row) => widthOf(row[at] ?? ""))));
  const whole = widths.reduce((sum, each) => sum + each + 3, -3);
  // too wide for columns: each row as a list of its cells
  if (whole > look.width) return narrowTable(cells, look);
  const placed = (cell: string, at: number): string => {
    const width = widths[at] ?? 0;
    if (align[at] === "right") return `${" ".repeat(Math.max(0, width - widthOf(cell)))}${cell}`;
    return at === header.length - 1 ? cell : padToWidth(cell, width);
  };
  const line = (row: readonly string[], style: string): Line =>
    row.flatMap((cell, at): Span[] => [
      ...(at === 0 ? [] : [{ text: " │ ", style: look.theme.border }]),
      { text: placed(cell, at), style },
    ]);
  const rule = plain(widths.map((each) => "─".repeat(each)).join("─┼─"));
  const [head = [], ...body] = cells;
  return [
    line(head, "1"),
    rule.map(({ text }) => ({ text, style: look.theme.border })),
    ...body.map((row) => line(row, "")),
  ];
}

function narrowTable(
  [head = [], ...body]: readonly (readonly string[])[],
  { theme, width }: MarkdownLook,
): Line[] {
  return body.flatMap((row) =>
    row.flatMap((cell, at) =>
      wrapped(
        [
          { text: at === 0 ? "• " : "  ", style: theme.accent },
          { text: `${head[at] ?? ""}: `, style: "1" },
          { text: cell, style: "" },
        ],
        width,
        "    ",
      ),
    ),
  );
}

function inline(tokens: readonly Token[], look: MarkdownLook, style: string): Span[] {
  const { theme } = look;
  return tokens.flatMap((token): Span[] => {
    switch (token.type) {
      case "strong":
        return inline(token.tokens ?? [], look, joined(style, "1"));
      case "em":
        return inline(token.tokens ?? [], look, joined(style, "3"));
      case "del":
        return inline(token.tokens ?? [], look, joined(style, "9"));
      case "codespan":
        return withBreaks(token.text, joined(style, theme.info));
      case "br":
        return [BREAK];
      case "checkbox":
        return [];
      case "link":
      case "image":
        return linkSpans(token as Tokens.Link, look, style);
      case "escape":
        return withBreaks(token.text, style);
      default:
        return "tokens" in token && token.tokens !== undefined
          ? inline(token.tokens, look, style)
          : withBreaks(token.raw, style);
    }
  });
}

/** Where a link leads is always seen. */
function linkSpans({ href, text, tokens = [] }: Tokens.Link, look: MarkdownLook, style: string): Span[] {
  const words = tokens.length === 0 ? withBreaks(text, style) : inline(tokens, look, joined(style, "4"));
  return text === href ? words : [...words, { text: ` (${href})`, style: look.theme.dim }];
}

function withBreaks(text: string, style: string): Span[] {
  return text
    .split("\n")
    .flatMap((part, at): Span[] => [...(at === 0 ? [] : [BREAK]), { text: part, style }]);
}

function folded(spans: readonly Span[], width: number): Line[] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    if (span === BREAK) lines.push([]);
    else lines.at(-1)?.push({ ...span, text: span.text.replaceAll("\t", "    ") });
  }
  while (lines.length > 1 && lines.at(-1)?.every(({ text }) => text.trim() === "") === true) lines.pop();
  return lines.flatMap((line) => (lineWidth(line) <= width ? [line] : wrapped(line, width)));
}

function joined(...styles: readonly string[]): string {
  return styles.filter((style) => style !== "").join(";");
}
