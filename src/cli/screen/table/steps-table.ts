import type { Result } from "../../../abi/methods/methods.ts";
import { safeLine } from "../text/safe-text.ts";
import { shownPath } from "../text/shown-path.ts";
import { type Column, table } from "./table.ts";

type Step = Result<"process.steps">["steps"][number];

const FILES_NAMED = 3;

/** The whole screen of `crux steps`, without its final newline. */
export function stepsTable(steps: readonly Step[], cwd: string, room?: number): string {
  if (steps.length === 0) return "No step is complete.";
  return table(columns(cwd), steps, room);
}

function columns(cwd: string): ReadonlyArray<Column<Step>> {
  return [
    { head: "STEP", align: "right", cell: ({ step }) => String(step) },
    { head: "TIME", align: "left", cell: ({ at }) => localTime(new Date(at)) },
    { head: "COMMANDS", align: "right", cell: ({ commands }) => (commands === 0 ? "" : String(commands)) },
    { head: "FILES CHANGED", align: "left", maxColumns: 48, cell: (step) => filesCell(step, cwd) },
    { head: "WORDS", align: "left", maxColumns: 80, cell: wordsCell },
  ];
}

function wordsCell({ step, words }: Step): string {
  return step === 0 ? "(before the first reply)" : safeLine(words);
}

function filesCell({ files, file_count: count }: Step, cwd: string): string {
  const named = files.slice(0, FILES_NAMED).map((path) => shownPath(path, cwd));
  const more = count - named.length;
  return [...named, ...(more > 0 ? [`+${more}`] : [])].join(" ");
}

function localTime(at: Date): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
