import type { Result } from "../../abi/methods/methods.ts";
import { safeLine } from "./text/safe-text.ts";
import { shownPath } from "./text/shown-path.ts";
import { padToWidth, widthOf } from "./text/width.ts";
import { en, type Phrases } from "./words/en.ts";

type RewindWords = Phrases["rewind"];

type Done = Result<"process.rewind">;
type File = Done["files"][number];

const COMMANDS_NAMED = 3;

/** The output of `crux rewind`: a line for each file, what it cannot restore, and where the process continues. */
export function rewindLines(done: Done, cwd: string, words: RewindWords = en.rewind): string[] {
  const { files, command_count: count, commands, fork, pid } = done;
  return [
    ...files.map((file) => fileLine(file, cwd, words.deeds)),
    ...(count === 0 ? [] : [commandsLine(count, commands, words)]),
    ...(fork === null ? [] : [`[rewind] ${words.continues(pid, placeOf(done, words), fork.pid)}`]),
  ];
}

function fileLine(
  { path, deed, reason, insertions, deletions }: File,
  cwd: string,
  deeds: RewindWords["deeds"],
): string {
  const columns = Math.max(...Object.values(deeds).map(widthOf));
  const lines = [insertions > 0 ? ` +${insertions}` : "", deletions > 0 ? ` -${deletions}` : ""].join("");
  const why = reason === "" ? "" : ` (${safeLine(reason)})`;
  return `${padToWidth(deeds[deed], columns)}  ${shownPath(path, cwd)}${lines}${why}`;
}

function commandsLine(count: number, commands: readonly string[], words: RewindWords): string {
  const named = commands.slice(-COMMANDS_NAMED).map(safeLine);
  const more = count > named.length ? [words.andMore(count - named.length)] : [];
  return `[rewind] ${words.ran(count, [...named.reverse(), ...more].join("; "))}`;
}

function placeOf({ step, seq }: Done, words: RewindWords): string {
  return step === null ? words.record(seq) : words.step(step);
}
