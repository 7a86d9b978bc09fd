import type { ProcUuid } from "../../../abi/ids.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import type { JournalDesk } from "../../../kernel/ports/journal-tools.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import type { Handler, Send } from "../handler.ts";
import { deskOf, ended } from "./journal.ts";

/** Characters per piece of a record's text: a record may be far longer than a line. */
const PIECE_CHARS = 1024 * 1024;
/** The interval between two reads for new records. */
const FOLLOW_MS = 300;

/** Sends the records as they are stored. When following, it ends with the process or when the client leaves. */
export const journalRead: Handler<"journal.read"> = async (params, call) => {
  const desk = deskOf(call);
  const proc = await desk.find(params.process);
  const from = await firstSeq(desk, proc, params);
  const until = params.follow === true ? call.ended : call.gone;
  return {
    payload: undefined,
    follow: async (send) => {
      const isDone = await ended(send, async () => {
        let seq = from;
        for (;;) {
          // checked first: a record written between the two reads is found by the second
          const isOver = params.follow !== true || (await desk.hasEnded(proc));
          const next = await sendFrom(seq, { desk, proc, wanted: params }, { send, until });
          if (next === undefined) return false;
          seq = next;
          if (isOver || seq > (params.to ?? Number.POSITIVE_INFINITY)) return true;
          await call.clock.sleep(FOLLOW_MS, until).catch(() => {});
          if (until.aborted) return false;
        }
      });
      if (isDone) await send(encodeLine({ type: "eof" }));
    },
  };
};

async function firstSeq(
  desk: JournalDesk,
  proc: ProcUuid,
  { from = 1, last, kind }: Params<"journal.read">,
): Promise<number> {
  return last === undefined ? from : Math.max(from, await desk.seqFromEnd(proc, last, kind));
}

interface Source {
  readonly desk: JournalDesk;
  readonly proc: ProcUuid;
  readonly wanted: Params<"journal.read">;
}

interface Reader {
  readonly send: Send;
  /** Fires when the client has left, or wants no more. */
  readonly until: AbortSignal;
}

/** Sends all present records and returns the seq to continue from. undefined: the client has left. */
async function sendFrom(
  from: number,
  { desk, proc, wanted: { to = Number.POSITIVE_INFINITY, kind } }: Source,
  { send, until }: Reader,
): Promise<number | undefined> {
  for (let seq = from; ; ) {
    const { lines, nextSeq } = await desk.lines(proc, seq, kind);
    const asked = to === Number.POSITIVE_INFINITY ? lines : lines.filter((line) => seqOf(line) <= to);
    for (const line of asked) if (until.aborted || !(await sendLine(line, send))) return undefined;
    if (nextSeq === seq || nextSeq > to) return nextSeq;
    seq = nextSeq;
  }
}

function seqOf(line: string): number {
  return (JSON.parse(line) as { seq: number }).seq;
}

async function sendLine(line: string, send: Send): Promise<boolean> {
  for (let at = 0; at < line.length; at += PIECE_CHARS) {
    const text = line.slice(at, at + PIECE_CHARS);
    const more = at + PIECE_CHARS < line.length ? { more: true } : {};
    if (!(await send(encodeLine({ type: "record", payload: { text, ...more } })))) return false;
  }
  return true;
}
