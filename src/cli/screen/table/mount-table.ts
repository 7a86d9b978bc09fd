import type { Result } from "../../../abi/methods/methods.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

type Mount = Result<"mcp.list">["mounts"][number];

const COLUMNS: ReadonlyArray<Column<Mount>> = [
  { head: "PATH", align: "left", cell: ({ path }) => safeLine(path) },
  { head: "OWNER", align: "right", cell: ({ pid }) => String(pid) },
  { head: "STATE", align: "left", cell: ({ state }) => state },
  { head: "TOOLS", align: "right", cell: ({ tools }) => String(tools) },
  {
    head: "PID",
    align: "right",
    cell: ({ service_pid }) => (service_pid === null ? "—" : String(service_pid)),
  },
  { head: "SERVER", align: "left", cell: ({ server }) => safeLine(server) },
  { head: "PROBLEM", align: "left", cell: ({ problem }) => safeLine(problem) },
];

/**
 * The whole screen of `crux mcp list`, without its final newline. The last column appears only if there is a problem.
 */
export function mountTable(mounts: readonly Mount[], room?: number): string {
  if (mounts.length === 0) return "No MCP servers are mounted.";
  const hasProblem = mounts.some(({ problem }) => problem !== "");
  return table(hasProblem ? COLUMNS : COLUMNS.slice(0, -1), mounts, room);
}
