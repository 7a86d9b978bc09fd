/** All processes, page by page: between two pages the daemon answers others, and no line of the wire grows with their number. */

import type { Params, Result } from "../../abi/methods/methods.ts";
import type { WireRow } from "../../abi/methods/process.ts";
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

/** The most ended processes that a list shows. */
const ENDED_SHOWN = 1_000;

/** What only the journal knows, by rising pid: the newest of all, or of the tree of one process. */
export async function endedProcesses(
  client: DaemonClient,
  tree?: number,
): Promise<{ rows: readonly WireRow[]; isCut: boolean }> {
  const found: WireRow[] = [];
  let before: number | undefined;
  do {
    const page: Params<"process.ended"> = {
      ...(tree === undefined ? {} : { tree }),
      ...(before === undefined ? {} : { before }),
    };
    const { processes, next } = await client.request("process.ended", page);
    found.push(...processes);
    before = next;
  } while (before !== undefined && found.length < ENDED_SHOWN);
  return { rows: found.slice(0, ENDED_SHOWN).reverse(), isCut: before !== undefined };
}

/** For the user, beside a list that was cut. */
export function cutLine(isCut: boolean): readonly string[] {
  return isCut ? [`[kernel] only the newest ${ENDED_SHOWN} of the ended processes are listed`] : [];
}
