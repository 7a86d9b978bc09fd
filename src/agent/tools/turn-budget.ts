/** Limits the total size of the results of one turn: the largest are cut first, and stored whole under /var/out. */
import { O_WRONLY } from "../../abi/device.ts";
import type { Sys } from "../../abi/sys.ts";
import type { CallResult } from "../program/tool-call.ts";

export const MAX_TURN_CHARS = 200_000;
/** The longest last line that survives a cut: it often holds the exit code, or where the whole is stored. */
const LAST_LINE_CHARS = 500;
/** Room reserved for the note about the cut. */
const NOTE_CHARS = 200;

/** Never rejects: the results of an aborted run are kept, too. */
export async function fitTurn(sys: Sys, results: readonly CallResult[]): Promise<readonly CallResult[]> {
  const level = levelOf(
    results.map(({ content }) => content.length),
    MAX_TURN_CHARS,
  );
  const base = `/var/out/turn-${level === Infinity ? "" : sys.now().toString(36)}`;
  const fitted: CallResult[] = [];
  for (const [index, result] of results.entries()) {
    if (result.content.length <= level) {
      fitted.push(result);
      continue;
    }
    const path = await keep(sys, `${base}-${index + 1}.txt`, result.content);
    fitted.push({ ...result, content: cut(result.content, level, path) });
  }
  return fitted;
}

/** The length beyond which results are cut, so that their total is at most `max`; Infinity: no cut is needed. */
export function levelOf(lengths: readonly number[], max: number): number {
  let left = max;
  const rising = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Infinity;
}

/** The first lines of the result and its last one, with a note where to find the rest. */
export function cut(content: string, max: number, path: string): string {
  const last = content.slice(content.trimEnd().lastIndexOf("\n") + 1);
  const tail = last.length <= LAST_LINE_CHARS ? last : "";
  const room = Math.max(0, max - tail.length - NOTE_CHARS);
  const newline = content.lastIndexOf("\n", room - 1);
  const head = (newline > room / 2 ? content.slice(0, newline) : content.slice(0, room)).toWellFormed();
  const way = path === "" ? "The rest was not kept" : `All of it: view ${path}, or grep it`;
  const note = `[cut, the results of this turn are too long together: ${head.length} of ${content.length} characters. ${way}]`;
  return `${head}\n${note}${tail === "" ? "" : `\n${tail}`}`;
}

/** Returns the path of the stored file, or "" when it could not be stored; the text then says so. */
async function keep(sys: Sys, path: string, content: string): Promise<string> {
  try {
    const fd = await sys.open(path, O_WRONLY, sys.ending);
    await sys.write(fd, new TextEncoder().encode(content), sys.ending);
    await sys.close(fd);
    return path;
  } catch {
    return "";
  }
}
