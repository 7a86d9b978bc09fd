import type { WireJob } from "../../../abi/methods/job.ts";
import { safeLine } from "../text/safe-text.ts";
import { age } from "./session-table.ts";
import { type Column, table } from "./table.ts";

const COMMAND_COLUMNS = 60;

/** The whole screen of `crux jobs`, without its final newline. */
export function jobTable(jobs: readonly WireJob[], now: number, room?: number): string {
  const columns: Column<WireJob>[] = [
    { head: "PID", align: "right", cell: ({ pid }) => String(pid) },
    { head: "JOB", align: "left", cell: ({ id }) => safeLine(id) },
    { head: "STATE", align: "left", cell: stateCell },
    { head: "AGE", align: "right", cell: ({ started_at: at }) => age(new Date(at).toISOString(), now) },
    { head: "BYTES", align: "right", cell: ({ total_bytes: bytes }) => String(bytes) },
    { head: "COMMAND", align: "left", maxColumns: COMMAND_COLUMNS, cell: ({ command }) => safeLine(command) },
  ];
  return table(columns, jobs, room);
}

function stateCell({ state, exit_code: code, signal }: WireJob): string {
  if (state !== "exited") return state;
  return code === null ? (signal ?? "exited") : `exit ${code}`;
}
