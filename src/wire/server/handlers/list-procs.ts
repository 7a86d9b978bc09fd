import { asPid, type Pid } from "../../../abi/ids.ts";
import type { ProcInfo } from "../../../abi/process.ts";
import type { Handler, RequestContext } from "../handler.ts";
import { toWireProc, toWireRow } from "../proc-wire.ts";

export const listProcs: Handler<"list_procs"> = async (page, { kernel }) => ({
  payload: await pageOf(kernel, page, toWireProc),
});

export const processList: Handler<"process.list"> = async (page, { kernel }) => ({
  payload: await pageOf(kernel, page, toWireRow),
});

const ENDED_OF_PAGE = 100;

export const processEnded: Handler<"process.ended"> = async (page, { kernel }) => {
  const { tree, before = Number.MAX_SAFE_INTEGER, limit = ENDED_OF_PAGE } = page;
  const of = tree === undefined ? {} : { tree: asPid(tree) };
  const { processes, ...next } = await kernel.ended({ before, limit, ...of });
  return { payload: { processes: processes.map(toWireRow), ...next } };
};

interface Page {
  readonly cursor?: number | undefined;
  readonly limit?: number | undefined;
}

/** One process more than the page holds is looked up: it shows that another page follows. */
async function pageOf<Row>(
  { init }: RequestContext["kernel"],
  { cursor = 0, limit }: Page,
  toRow: (proc: ProcInfo) => Row,
): Promise<{ processes: Row[]; next?: number }> {
  const after = cursor as Pid;
  const procs = await init.listProcs(limit === undefined ? { after } : { after, limit: limit + 1 });
  const shown = limit === undefined ? procs : procs.slice(0, limit);
  const last = shown.at(-1);
  const isLast = last === undefined || shown.length === procs.length;
  return { processes: shown.map(toRow), ...(isLast ? {} : { next: last.pid }) };
}
