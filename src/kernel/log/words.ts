/**
 * What an agent has said, read from its history: what /var/out/<agent> shows. It is stored nowhere else, so it is there while
 * the agent works, after its end and after a restart, as long as its history is.
 */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { Block } from "../../abi/llm.ts";
import { type EndSearch, endOfRow } from "../facts/ended.ts";
import { recordsOf } from "../facts/records.ts";
import type { AgentWords } from "../ports/proc-view.ts";

const CALL_CHARS = 200;

interface Live {
  readonly labels: readonly Label[];
  readonly past: { recall(): Promise<unknown> };
}

interface Search extends EndSearch {
  readonly table: { get(pid: Pid): Live | undefined };
}

/** undefined: neither the viewer nor an agent below it has this lasting name, or its history was removed. */
export async function wordsOf(
  core: Search,
  { viewer, agent }: { readonly viewer: Pid; readonly agent: string },
): Promise<AgentWords | undefined> {
  const { journal } = core.ports;
  // the last words may not be synced yet; a disk that refuses writes does not prevent reading
  await journal.sync().catch(() => {});
  const [row] = await journal.rows({ tree: viewer, agent, limit: 1 });
  if (row === undefined) return undefined;
  const live = core.table.get(row.pid);
  await live?.past.recall();
  const labels = (live ?? (await endOfRow(core, row)))?.labels ?? [];
  return {
    labels: row.pid === viewer ? [] : labels,
    pieces: () => piecesOf(core, row.proc, row.lastSeq),
  };
}

async function* piecesOf({ ports: { journal } }: EndSearch, proc: ProcUuid, lastSeq: number) {
  try {
    for await (const { kind, body, seq } of recordsOf(journal, proc)) {
      if (seq > lastSeq) return;
      const piece = kind === "ctx.record" ? pieceOf(body as Said) : "";
      if (piece !== "") yield piece;
    }
  } catch (error) {
    if (codeOf(error) !== "INTERNAL") throw error;
    yield `[what follows cannot be read: ${messageOf(error)}]\n`;
  }
}

interface Said {
  readonly role?: string;
  readonly content?: string;
  readonly blocks?: readonly Block[];
  readonly cid?: number;
  readonly replaces?: number;
}

function pieceOf({ role, content = "", blocks = [], cid, replaces }: Said): string {
  if (role !== "assistant" || cid !== undefined || replaces !== undefined) return "";
  const calls = callLines(blocks).map((line) => `[${line}]`);
  return [content, ...calls].flatMap((line) => (line === "" ? [] : [`${line}\n`])).join("");
}

/** The calls of a message, one line each. */
export function callLines(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use") return [];
    const line = `${block.name} ${JSON.stringify(block.input)}`;
    return [line.length <= CALL_CHARS ? line : `${line.slice(0, CALL_CHARS).toWellFormed()}…`];
  });
}
