/** All processes, page by page: between two pages the daemon answers others, and no line of the wire grows with their number. */
import type { Params, Result } from "../../abi/methods/methods.ts";
import { PROTOCOL } from "../../abi/wire.ts";
import type { DaemonClient } from "./client.ts";

interface Rows {
  list_procs: Result<"list_procs">["processes"][number];
  "process.list": Result<"process.list">["processes"][number];
}

export async function allProcesses<M extends keyof Rows>(
  client: DaemonClient,
  method: M,
  signal?: AbortSignal,
): Promise<readonly Rows[M][]> {
  const all: Rows[M][] = [];
  let cursor: number | undefined = 0;
  while (cursor !== undefined) {
    const page: Params<keyof Rows> = { cursor, limit: PROTOCOL.processesOfPage };
    const found: Result<keyof Rows> = await client.request<keyof Rows>(method, page, signal);
    all.push(...(found.processes as Rows[M][]));
    cursor = found.next;
  }
  return all;
}
