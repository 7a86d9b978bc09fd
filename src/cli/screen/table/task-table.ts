import type { WireTask } from "../../../abi/methods/job.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const SUBJECT_COLUMNS = 60;

interface ListRow {
  readonly list: string;
  readonly open: number;
  readonly completed: number;
}

/** The screen of `crux tasks`, without its final newline. */
export function taskListTable(lists: readonly ListRow[], room?: number): string {
  const columns: Column<ListRow>[] = [
    { head: "LIST", align: "left", cell: ({ list }) => safeLine(list) },
    { head: "OPEN", align: "right", cell: ({ open }) => String(open) },
    { head: "DONE", align: "right", cell: ({ completed }) => String(completed) },
  ];
  return table(columns, lists, room);
}

/** The screen of `crux tasks <list>`, without its final newline. */
export function taskTable(tasks: readonly WireTask[], room?: number): string {
  const columns: Column<WireTask>[] = [
    { head: "ID", align: "right", cell: ({ id }) => id },
    { head: "STATUS", align: "left", cell: ({ status }) => status },
    { head: "OWNER", align: "right", cell: ({ owner }) => safeLine(owner ?? "-") },
    {
      head: "WAITS FOR",
      align: "left",
      cell: ({ blocked_by: ids }) => (ids.length === 0 ? "-" : safeLine(ids.join(" "))),
    },
    { head: "SUBJECT", align: "left", maxColumns: SUBJECT_COLUMNS, cell: ({ subject }) => safeLine(subject) },
  ];
  return table(columns, tasks, room);
}
