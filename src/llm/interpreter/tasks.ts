/** Each task as a generator: it yields calls and receives their results. */
import type { Edit, FileScope, Intent, Unit } from "./intent.ts";

type Given = Readonly<{ text: string; isError: boolean }>;
type Call = Readonly<{ name: string; input: Record<string, unknown> }>;
type Doing<T> = Generator<Readonly<{ say: string; calls: readonly Call[] }>, T, readonly Given[]>;

/** The task ended without the requested result. */
export class Failed extends Error {}

const [PAGE_ROWS, AT_ONCE] = [400, 10];
/** Most characters of the results of one step; above 200,000 the longest results are cut. */
const STEP_CHARS = 150_000;
const NOTHING: Given = { text: "no result", isError: true };

/** A file and its count; undefined: the file is empty or not text. */
type Row = readonly [name: string, count: number | undefined];

/** The text to show; the text to write, if it differs; a summary in a few words. */
type Found = readonly [shown: string, kept?: string, sum?: string];

export function* perform({ task, into }: Intent, data: string, pid: number): Doing<string> {
  const [shown, kept, sum] = yield* find(task, data, into);
  return into === undefined ? shown : yield* write(into, kept ?? `${shown.trimEnd()}\n`, sum, pid);
}

function* find(task: Intent["task"], data: string, into: string | undefined): Doing<Found> {
  switch (task.kind) {
    case "note":
      return [task.text];
    case "data":
      return [edited(data, task.edit)];
    case "show":
      return [needed((yield* read([task.path], `Reading ${task.path}.`)).get(task.path))];
    case "search": {
      const { text: pattern, path } = task;
      const input = { pattern, path, literal: true, case_insensitive: true, context: 0 };
      return [needed(yield* call(`Looking for ${JSON.stringify(pattern)}.`, "grep", input))];
    }
    case "list": {
      const { names } = yield* files(task);
      return [names.join("\n") || "no files here"];
    }
    case "count":
      return yield* count(task.unit, task, into);
  }
}

function* count(unit: Unit, place: FileScope, into = ""): Doing<Found> {
  const { names: all, isFile } = yield* files(place);
  const names = all.filter((name) => name !== into && `./${name}` !== into);
  const many = plural(names.length, "file");
  if (unit === "files") return [many];
  const rows = yield* unit === "lines" && !isFile ? lineCounts(place, names) : counts(unit, names);
  const total = rows.reduce((sum, [, own = 0]) => sum + own, 0);
  const sum = `${many}, ${plural(total, unit.slice(0, -1))}`;
  const odd = rows.some(([, own]) => own === undefined) ? "\n–: empty, or not text" : "";
  const shown = (own = "–") => own.padStart(String(total).length);
  const plain = `${rows.map(([name, own]) => `${shown(own?.toString())}  ${name}\n`).join("")}${sum}${odd}`;
  if (!into.endsWith(".md")) return [plain, `${plain}\n`, sum];
  const cells = rows.map(([name, own]) => `| ${name.replace(/[|\\]/g, "\\$&")} | ${own ?? "–"} |\n`).join("");
  const end = `${sum}; files that git ignores are left out${odd && `\n${odd}`}`;
  return [plain, `| file | ${unit} |\n|---|---:|\n${cells}\n${end}\n`, sum];
}

type Files = Readonly<{ names: readonly string[]; isFile: boolean }>;

/** A path whose last part looks like a file name. */
const A_FILE = /^(.*\/)?([^/*?[\]{}]+\.\w+)$/;

/** The files of a folder, without those that git ignores; or the files that are named. */
function* files({ path, glob }: FileScope): Doing<Files> {
  const [, named] = (path === "" && /^\{(.+)\}$/.exec(glob)) || [];
  if (named !== undefined) return { names: named.split(","), isFile: true };
  const [, dir = "", base] = (glob === "" && A_FILE.exec(path)) || [];
  if (base !== undefined) {
    const one = yield* call(`Looking for ${path}.`, "glob", { pattern: `./${base}`, path: dir });
    if (!one.isError && rowsOf(one).includes(path)) return { names: [path], isFile: true };
  }
  const input = { pattern: glob || "**/*", path, limit: PAGE_ROWS };
  const found = yield* pages(`Looking for files ${path === "" ? "here" : `in ${path}`}.`, "glob", input);
  if (path !== "" && found.text.includes("not a directory")) return { names: [path], isFile: true };
  return { names: [...new Set(rowsOf(found))].sort(), isFile: false };
}

function* lineCounts({ path, glob }: FileScope, names: readonly string[]): Doing<Row[]> {
  if (names.length === 0) return [];
  const input = { pattern: "^", path, mode: "count", head_limit: PAGE_ROWS, ...(glob && { include: glob }) };
  const rows = rowsOf(yield* pages(`Counting the lines of ${names.length} files.`, "grep", input));
  const found = new Map(rows.map((row) => [row.replace(/:\d+$/, ""), Number(/\d+$/.exec(row)?.[0])]));
  return names.map((name) => [name, found.get(name)]);
}

const MORE = /^\[(?:… (\d+) more;.*|lines \d+-\d+ of (\d+);) continue with offset=([1-9]\d*)\]$/m;
const CUT = /^\[(?:truncated: |the search took too long)/m;

/**
 * The complete result of a search as one text: its first page, then the others, as many at once as one step may hold.
 */
function* pages(say: string, name: "glob" | "grep", input: Call["input"]): Doing<Given> {
  const first = yield* call(say, name, input);
  const [, more, lines, next] = MORE.exec(first.text) ?? [];
  const [size, texts, calls]: [number, string[], Call[]] = [Number(next), [first.text], []];
  const total = Number(lines ?? size + Number(more));
  for (let offset = size; offset < total; offset += size) calls.push({ name, input: { ...input, offset } });
  const atOnce = Math.min(AT_ONCE, Math.max(1, Math.floor(STEP_CHARS / first.text.length)));
  while (calls.length > 0) {
    const some = calls.splice(0, atOnce);
    const given = yield { say: "", calls: some };
    texts.push(...some.map((_, at) => needed(given[at])));
  }
  const text = texts.join("\n");
  if (CUT.test(text)) throw new Failed("there is too much here for one search; name one of the folders");
  return { text, isError: first.isError };
}

function* counts(unit: Exclude<Unit, "files">, names: readonly string[]): Doing<Row[]> {
  const texts = yield* read(names, `Reading ${plural(names.length, "file")}.`);
  return names.map((name) => {
    const { text, isError } = texts.get(name) ?? NOTHING;
    return [name, isError ? undefined : Number(edited(text, unit))];
  });
}

const PAGE_END = /\n?\[lines \d+-\d+ of \d+(?:; continue with offset=(\d+))?\]$|^\[file is empty\]$/;

/** A page that an earlier message of the conversation has had already: asked for once more, it comes. */
const SHOWN = /^\[unchanged since it was last viewed: .*\]$/;

/** Reads whole files, page by page, AT_ONCE pages at a time. */
function* read(names: readonly string[], say: string): Doing<ReadonlyMap<string, Given>> {
  const texts = new Map<string, Given>();
  const left = names.map((name) => ({ name, offset: 0, isAgain: false }));
  while (left.length > 0) {
    const some = left.splice(0, AT_ONCE);
    const calls = some.map(({ name, offset }) => ({ name: "view", input: { file_path: name, offset } }));
    const pages = yield { say: texts.size === 0 ? say : "", calls };
    for (const [at, { name, offset, isAgain }] of some.entries()) {
      const page = pages[at] ?? NOTHING;
      if (!isAgain && SHOWN.test(page.text)) {
        left.push({ name, offset, isAgain: true });
        continue;
      }
      const end = PAGE_END.exec(page.text);
      const body = page.text.slice(0, end?.index) + (end?.[1] === undefined ? "" : "\n");
      texts.set(name, { text: (texts.get(name)?.text ?? "") + body, isError: page.isError });
      if (end?.[1] !== undefined) left.push({ name, offset: Number(end[1]), isAgain: false });
    }
  }
  return texts;
}

/** Writes the file; returns what was written and the commands to use next. */
function* write(into: string, content: string, sum = "", pid: number): Doing<string> {
  const input = { file_path: into, content };
  let given = yield* call(`${sum && `${sum}. `}Writing ${into}.`, "write", input);
  if (given.isError && given.text.includes("View it first")) {
    yield* read([into], `${into} is there already: reading it first.`);
    given = yield* call(`Replacing ${into}.`, "write", input);
  }
  if (given.isError) throw new Failed(`${into} was not written: ${given.text}`);
  const gap = " ".repeat(String(pid).length);
  return `${into} is written${sum && `: ${sum}`}.

  crux undo ${pid}     puts the folder back as it was
  crux steps ${pid}    what was done, step by step
  crux replay ${pid}   runs it again from its records, and compares
  crux demo    ${gap}  a tour of one minute`;
}

const EDITORS: Readonly<Record<Edit, (text: string, lines: readonly string[]) => string>> = {
  lines: (text, { length }) => String(text === "" ? 0 : length),
  words: (text) => String(text.match(/\S+/g)?.length ?? 0),
  characters: (text) => String([...text].length),
  number: (_, lines) => lines.map((line, at) => `${at + 1}. ${line}`).join("\n"),
  sort: (_, lines) => lines.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })).join("\n"),
  sum: (text) => {
    const total = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).reduce((sum, one) => sum + Number(one), 0);
    return String(Number(total.toPrecision(15)));
  },
};

function edited(text: string, edit: Edit): string {
  return EDITORS[edit](text, text.replace(/\r?\n$/, "").split(/\r?\n/));
}

function* call(say: string, name: string, input: Record<string, unknown>): Doing<Given> {
  const [given = NOTHING] = yield { say, calls: [{ name, input }] };
  return given;
}

function needed({ text, isError }: Given = NOTHING): string {
  if (isError) throw new Failed(text);
  return text;
}

function rowsOf(given: Given): string[] {
  const rows = needed(given).split("\n");
  return rows.filter(
    (row) => row !== "" && !/^\[(?:… |lines |the search )/.test(row) && row !== "No matches found",
  );
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
