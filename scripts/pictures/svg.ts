/** The screen of a terminal as SVG: its cells, in rows of text with the colours they have. The same screen gives the same bytes. */
import type { IBuffer, IBufferCell, Terminal } from "@xterm/headless";

const [CELL, ROW, PAD, FONT] = [8.4, 18, 14, 14];
const [FOREGROUND, BACKGROUND] = ["#d6d8de", "#15171c"];
/** The first sixteen colours; programs choose among them, and a terminal says what they are. */
const BASE =
  "#15171c #e06c75 #98c379 #d9b06a #6cabf7 #c58af0 #5fbfc9 #d6d8de #7d828d #ff8a92 #b5e08f #f2cf8a #93c5ff #dcaeff #86dce4 #ffffff".split(
    " ",
  );
const LEVELS = [0, 95, 135, 175, 215, 255];

interface Run {
  readonly column: number;
  readonly cells: number;
  readonly text: string;
  readonly style: string;
  readonly fill: string | undefined;
}

interface Caption {
  /** For whoever cannot see it. */
  readonly title: string;
  /** What differs from run to run, as it is shown: text of the same length. */
  readonly steady: (text: string) => string;
}

export function svgOf({ buffer: { active }, cols, rows }: Terminal, { title, steady }: Caption): string {
  const runs = Array.from({ length: rows }, (_, at) => runsOf(active, active.baseY + at, steady));
  const isUsed = (row: readonly Run[]) => row.some(({ text, fill }) => text !== "" || fill !== undefined);
  const used = runs.slice(0, runs.findLastIndex(isUsed) + 1);
  const [width, height] = [cols * CELL + 2 * PAD, used.length * ROW + 2 * PAD];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${number(height)}" role="img" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${FONT}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g fill="${FOREGROUND}" xml:space="preserve">`,
    ...used.map(lineOf).filter((line) => line !== ""),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function lineOf(runs: readonly Run[], row: number): string {
  const y = PAD + row * ROW;
  return runs
    .flatMap(({ column, cells, text, style, fill }) => {
      const [x, width] = [number(PAD + column * CELL), number(cells * CELL)];
      const box =
        fill === undefined
          ? []
          : [`<rect x="${x}" y="${number(y)}" width="${width}" height="${ROW}" fill="${fill}"/>`];
      if (text.trim() === "") return box;
      // the width keeps columns in line, whatever the font is
      return [
        ...box,
        `<text x="${x}" y="${number(y + FONT)}" textLength="${width}"${style}>${escaped(text)}</text>`,
      ];
    })
    .join("\n");
}

/** Neighbours that look alike, without the blanks at both ends. */
function runsOf(buffer: IBuffer, at: number, steady: Caption["steady"]): Run[] {
  const line = buffer.getLine(at);
  const runs: Run[] = [];
  for (let column = 0; line !== undefined && column < line.length; column++) {
    const cell = line.getCell(column);
    const cells = cell?.getWidth() ?? 0;
    // the second half of a wide letter
    if (cell === undefined || cells === 0) continue;
    const look = lookOf(cell);
    const text = cell.getChars() === "" ? " " : cell.getChars();
    const last = runs.at(-1);
    if (last !== undefined && last.style === look.style && last.fill === look.fill && isNarrow(last, cells))
      runs[runs.length - 1] = { ...last, cells: last.cells + 1, text: last.text + text };
    else runs.push({ column, cells, text, ...look });
  }
  return runs.map((run) => trimmed({ ...run, text: steady(run.text) }));
}

/** A wide letter stands alone, for its font may not make it two cells wide. */
function isNarrow(last: Run, cells: number): boolean {
  return cells === 1 && last.cells === last.text.length;
}

function trimmed(run: Run): Run {
  if (run.fill !== undefined) return run;
  const text = run.text.trimEnd();
  const lead = text.length - text.trimStart().length;
  const cells = run.cells - (run.text.length - text.length) - lead;
  return { ...run, column: run.column + lead, cells, text: text.trimStart() };
}

function lookOf(cell: IBufferCell): Pick<Run, "style" | "fill"> {
  const isInverse = cell.isInverse() !== 0;
  const front = colour(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor());
  const back = colour(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor());
  const [text, fill] = isInverse ? [back ?? BACKGROUND, front ?? FOREGROUND] : [front, back];
  const style = [
    text === undefined ? "" : ` fill="${text}"`,
    cell.isBold() === 0 ? "" : ' font-weight="bold"',
    cell.isItalic() === 0 ? "" : ' font-style="italic"',
    cell.isDim() === 0 ? "" : ' opacity="0.6"',
    cell.isUnderline() === 0 ? "" : ' text-decoration="underline"',
    cell.isStrikethrough() === 0 ? "" : ' text-decoration="line-through"',
  ].join("");
  return { style, fill };
}

function colour(isDefault: boolean, isDirect: boolean, value: number): string | undefined {
  if (isDefault) return undefined;
  if (isDirect) return hex(value);
  if (value < 16) return BASE[value];
  if (value >= 232) return hex((8 + (value - 232) * 10) * 0x010101);
  const at = value - 16;
  const [red = 0, green = 0, blue = 0] = [at / 36, (at / 6) % 6, at % 6].map((n) => LEVELS[Math.floor(n)]);
  return hex((red << 16) | (green << 8) | blue);
}

function hex(value: number): string {
  return `#${value.toString(16).padStart(6, "0")}`;
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
