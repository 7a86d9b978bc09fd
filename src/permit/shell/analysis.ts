/** Analyses bash text into parts: what each simple command finally runs, and what is unknown about it. */
import { posix } from "node:path";
import type { Node } from "web-tree-sitter";
import { withTree } from "./parser.ts";
import { scan } from "./scan.ts";
import { LAUNCHERS, SHELLS } from "./tables.ts";
import { hasControl } from "./text.ts";
import { type Part, unfold } from "./unfold.ts";
import { Unread } from "./unread.ts";
import { type ScannedText, Walker } from "./walk.ts";
import type { Cwds } from "./where.ts";
import { programOf, staticWord, textsOf } from "./word.ts";

/**
 * `unread`: why the text as a whole could not be analysed; null: it was, and each part says what is uncertain in it.
 */
export interface Analysis {
  readonly parts: readonly Part[];
  readonly unread: string | null;
}

/** The bound on parts; those of nested texts count too. */
const MAX_PARTS = 200;

export function analyseText(text: string, cwd: string, home: string): Analysis {
  const reader = new TextReader(home);
  const parts = reader.read(text, [cwd], 0);
  const whole = parts.length === 1 && parts[0]?.levels.length === 0 ? parts[0].unsure : null;
  if (whole !== null) return { parts: [], unread: whole };
  if (parts.length > MAX_PARTS) return { parts: [], unread: `more than ${MAX_PARTS} commands` };
  return { parts: marked(parts, reader.functions), unread: null };
}

/** Analyses an argument vector that runs without a shell. */
export function analyseArgv(argv: readonly string[], cwd: string, home: string): Analysis {
  const reader = new TextReader(home);
  const source = argv.join(" ");
  const words = argv.map(staticWord);
  const command = { argv: words, assignments: [], redirects: [], cwds: [cwd], evaluates: null, source };
  return { parts: marked(unfold(command, reader, 0), reader.functions), unread: null };
}

class TextReader {
  readonly home: string;
  /** The functions defined anywhere in the texts read so far. */
  readonly functions = new Set<string>();

  constructor(home: string) {
    this.home = home;
  }

  read(text: string, cwds: Cwds, depth: number): readonly Part[] {
    if (hasControl(text)) return [unread(text, "a control character")];
    if (text.trim() === "") return [];
    const scanned = scanJoined(text);
    if (typeof scanned === "string") return [unread(text, scanned)];
    const program = withTree(scanned.text, (root) => this.#walked(scanned, root, cwds));
    if (typeof program === "string") return [unread(text, program)];
    if (program instanceof Unread) return [unread(text, program.message)];
    for (const name of program.functions) this.functions.add(name);
    return program.commands.flatMap((command) => unfold(command, this, depth));
  }

  #walked(scanned: ScannedText, root: Node, cwds: Cwds) {
    try {
      return new Walker(scanned, this.home).program(root, cwds);
    } catch (error) {
      if (error instanceof Unread) return error;
      throw error;
    }
  }
}

/** Scans the text without its line continuations, which bash removes before it reads words. */
function scanJoined(text: string): ScannedText | string {
  const first = scan(text);
  if (typeof first === "string" || first.continuations.length === 0)
    return typeof first === "string" ? first : { text, scan: first };
  const at = new Set(first.continuations);
  const kept = text
    .split("")
    .filter((_, i) => !at.has(i) && !at.has(i - 1))
    .join("");
  const again = scan(kept);
  return typeof again === "string" ? again : { text: kept, scan: again };
}

function unread(source: string, why: string): Part {
  const nothing = { levels: [], isOpen: false, acts: false, cwds: null, assignments: [], redirects: [] };
  return { ...nothing, evaluates: null, isOpaque: true, unsure: why, source };
}

/**
 * Marks what only the text as a whole shows: calls of functions defined in it, and programs run from files that it
 * writes.
 */
function marked(parts: readonly Part[], functions: ReadonlySet<string>): readonly Part[] {
  const written = new Set(
    parts.flatMap(({ redirects }) =>
      redirects.flatMap(({ operator, target }) =>
        operator.includes(">") && target?.text != null ? [posix.normalize(target.text)] : [],
      ),
    ),
  );
  return parts.map((part) => {
    const called = part.levels
      .map((argv) => programOf(argv))
      .find((name) => name !== null && functions.has(name));
    const evaluates = called === undefined ? part.evaluates : `${called} is a function here`;
    return { ...part, evaluates, unsure: part.unsure ?? runsWritten(part, written) };
  });
}

function runsWritten({ levels }: Part, written: ReadonlySet<string>): string | null {
  const argv = levels.at(-1) ?? [];
  const name = posix.basename(programOf(argv) ?? "");
  const [program = "", ...args] = textsOf(argv) ?? [];
  const run =
    SHELLS.has(name) || LAUNCHERS.has(name) || name === "source" || name === "."
      ? [program, ...args]
      : [program];
  return run.some((path) =>
    path.includes("/") || run.length > 1 ? written.has(posix.normalize(path)) : false,
  )
    ? "it runs a file that is written here"
    : null;
}
