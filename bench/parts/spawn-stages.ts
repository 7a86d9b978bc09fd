/** Where the time of a start goes, from the client's write to the first request at the model server. */
import type { Marks } from "../doubles/marked-ports.ts";
import { median, type Row } from "../table.ts";

/** By the machine's monotonic clock, ms. */
export interface Start {
  readonly pid: number;
  readonly asked: number;
  readonly arrived: number;
}

const STAGES: readonly (readonly [string, (start: Start, marks: Marks) => number])[] = [
  ["client, wire, the agent is made", ({ asked }, { recording }) => recording - asked],
  ["journal: recorded, its turn to go on", (_, { recording, recorded }) => recorded - recording],
  ["its turn to begin", (_, { recorded, begun }) => begun - recorded],
  ["the loop: instructions, prompt, request", (_, { begun, requested }) => requested - begun],
  ["gate, body, HTTP", ({ arrived }, { requested }) => arrived - requested],
];

/** Medians of each stage, for each of the lists. */
export function spawnStages(
  lists: readonly (readonly Start[])[],
  marks: Readonly<Record<number, Marks>>,
): readonly Row[] {
  const columns = lists.map((starts) =>
    STAGES.map(([, take]) => median(starts.map((start) => take(start, marks[start.pid] as Marks)))),
  );
  const sums = columns.map((column) => column.reduce((sum, ms) => sum + ms, 0));
  return [
    ...STAGES.map(([words], at) => [words, ...columns.map((column) => (column[at] ?? 0).toFixed(2))]),
    ["all of them", ...sums.map((sum) => sum.toFixed(2))],
    ["median of the whole", ...lists.map((starts) => median(starts.map(wholeMs)).toFixed(2))],
  ];
}

export function wholeMs({ asked, arrived }: Start): number {
  return arrived - asked;
}
