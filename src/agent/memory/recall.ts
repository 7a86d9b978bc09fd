/**
 * Recall: the notes that a message of the user is about follow it, so that the model need not look for them. They are
 * chosen by their names and descriptions, without a model, and read through the gate. Each is told once for each view.
 */
import { isFramed } from "../../abi/child.ts";
import { RECALLED } from "../../abi/context.ts";
import type { Memory, NoteLine } from "../../abi/surroundings.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import { RankIndex } from "../deferred/rank.ts";
import { queryOf, termsOf } from "../deferred/terms.ts";
import { escaped, reminder } from "../instructions/frame.ts";
import { readTextFile } from "../program/read-file.ts";

const MOST_NOTES = 5;
/** Characters of one note, and of all that a view shows. */
const NOTE_CHARS = 8_000;
const VIEW_CHARS = 60_000;
/** By how much the words of a message and of a note have to agree. */
const WEIGHTS = { keyword: 0, tfIdf: 1, minScore: 0.15 };
export class Recall {
  #index: {
    readonly memory: Memory;
    readonly ranks: RankIndex;
    readonly lines: ReadonlyMap<string, NoteLine>;
  } | null = null;
  /** The message that was looked at last. */
  #last: ContextMessage | null = null;

  /** The note to add to the conversation; "": nothing. What cannot be read is left out. */
  async note(sys: Sys, memory: Memory | undefined, messages: readonly ContextMessage[]): Promise<string> {
    if (memory?.notes === undefined) return "";
    const said = messages.findLast(({ role, content }) => role === "user" && isSaid(content));
    if (said === undefined || said === this.#last) return "";
    this.#last = said;
    const shown = messages.filter(({ role, content }) => role === "user" && content.startsWith(RECALLED));
    let room = VIEW_CHARS - shown.reduce((sum, { content }) => sum + content.length, 0);
    const found: string[] = [];
    for (const { path, day } of this.#chosen(memory, said.content)) {
      if (room <= 0 || shown.some(({ content }) => content.includes(pathMark(path)))) continue;
      const text = await readTextFile(sys, `/dev/fs${path}`).catch(() => "");
      sys.ending.throwIfAborted();
      if (text.trim() === "") continue;
      const cut = text.slice(0, Math.min(NOTE_CHARS, room)).toWellFormed();
      room -= cut.length;
      found.push(
        `${pathMark(path)} written="${day}">\n${plain(cut)}${cut.length < text.length ? "\n[cut]" : ""}\n</memory>`,
      );
    }
    return found.length === 0 ? "" : reminder(`${HEAD}\n${found.join("\n")}`);
  }

  #chosen(memory: Memory, text: string): readonly NoteLine[] {
    const terms = queryOf(text);
    // a single word says too little
    if (terms.length < 2) return [];
    const { ranks, lines } = this.#indexOf(memory);
    const ranked = ranks.rank(terms, WEIGHTS).flatMap(({ entry }) => lines.get(entry.path) ?? []);
    return ranked.filter((line) => agrees(line, terms)).slice(0, MOST_NOTES);
  }

  #indexOf(memory: Memory) {
    if (this.#index?.memory === memory) return this.#index;
    const notes = memory.notes ?? [];
    const same = { inputSchema: {}, parallel: false, hint: "", server: "" };
    const ranks = new RankIndex(notes.map((line) => ({ ...line, ...same })));
    this.#index = { memory, ranks, lines: new Map(notes.map((line) => [line.path, line])) };
    return this.#index;
  }
}

const HEAD = RECALLED.slice(reminder("").indexOf("\n") + 1);

function isSaid(content: string): boolean {
  return !isFramed(content) && !content.trimStart().startsWith("/");
}

/** Two words in common, or one that the note is named by. */
function agrees({ name, description }: NoteLine, terms: readonly string[]): boolean {
  const named = new Set(termsOf(name));
  const told = new Set([...named, ...termsOf(description)]);
  return terms.some((term) => named.has(term)) || terms.filter((term) => told.has(term)).length >= 2;
}

function pathMark(path: string): string {
  return `<memory path="${path.replace(/[\p{Cc}"<>]/gu, "?")}"`;
}

function plain(text: string): string {
  return escaped(text).replace(/<(?=\s*\/?\s*memory\b)/gi, "&lt;");
}
