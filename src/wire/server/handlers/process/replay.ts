import { Fault } from "../../../../abi/errors.ts";
import { asPid } from "../../../../abi/ids.ts";
import type { JournalRecord } from "../../../../kernel/ports/journal.ts";
import { encodeLine } from "../../../codec/ndjson.ts";
import type { Handler } from "../../handler.ts";
import { inChain } from "../../record-chain.ts";
import { recordsIn } from "../../record-file.ts";

/** Ends when the client leaves: the replay serves only that client. */
export const processReplay: Handler<"process.replay"> = async ({ pid, path, to }, { kernel, ended }) => {
  const wish = { signal: ended, ...(to === undefined ? {} : { to }) };
  if (path !== undefined)
    return {
      payload: wireOf(await kernel.replays.replayRecords(() => inChain(recordsIn(path, ended)), wish)),
    };
  if (pid === undefined) throw new Fault({ code: "INVALID", message: "a pid or a path is missing" });
  return { payload: wireOf(await kernel.replays.replay(asPid(pid), wish)) };
};

/** The most characters shown of a text. */
const SHOWN_CHARS = 1024 * 1024;
const SHOWN = new Set<string>([
  "process.forked",
  "process.spawned",
  "process.recovered",
  "process.log",
  "process.exited",
  "ctx.record",
]);

/** The records that show what a client saw of the process, one per line. */
export const processRecords: Handler<"process.records"> = async ({ pid }, { kernel, gone }) => {
  const records = await kernel.replays.records(asPid(pid));
  return {
    payload: undefined,
    follow: async (send) => {
      for await (const record of records) {
        if (gone.aborted) return;
        if (!SHOWN.has(record.kind)) continue;
        if (!(await send(encodeLine({ type: "event", payload: shownOf(record) })))) return;
      }
      await send(encodeLine({ type: "eof" }));
    },
  };
};

function shownOf({ seq, pid, kind, at, body }: JournalRecord) {
  const words = (body ?? {}) as Record<string, unknown>;
  const { blocks: _, ...known } = words;
  const cut = Object.entries(known).map(([key, value]) => [
    key,
    typeof value === "string" ? value.slice(0, SHOWN_CHARS) : value,
  ]);
  return { seq, pid, kind, at, body: Object.fromEntries(cut) };
}

function wireOf<T extends { recorded: readonly string[] }>({ recorded, ...report }: T) {
  return { ...report, recorded: [...recorded] };
}
