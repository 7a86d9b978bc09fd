/** The journal as a whole: long checks report their progress, and end when their client leaves. */
import { Fault } from "../../../abi/errors.ts";
import type { JournalDesk } from "../../../kernel/ports/journal-tools.ts";
import { toWireError } from "../../codec/error.ts";
import { encodeLine } from "../../codec/ndjson.ts";
import type { Handler, MethodAnswer, RequestContext, Send } from "../handler.ts";
import { checkWire, collectWire, verifyWire } from "./journal-wire.ts";

/** The interval between two progress lines. */
const PROGRESS_MS = 200;

export function deskOf({ deps }: RequestContext): JournalDesk {
  if (deps.desk !== undefined) return deps.desk;
  throw new Fault({ code: "UNAVAILABLE", message: "this daemon keeps no journal" });
}

export const journalCheck: Handler<"journal.check"> = async ({ full = false, processes = [] }, call) => {
  const desk = deskOf(call);
  return working(call, async (signal, progress) =>
    checkWire(await desk.check({ full, only: processes, signal, progress })),
  );
};

export const journalVerify: Handler<"journal.verify"> = async ({ against = [] }, call) => {
  const desk = deskOf(call);
  return working(call, async (signal, progress) =>
    verifyWire(await desk.verify({ against, signal, progress })),
  );
};

export const journalCollect: Handler<"journal.collect"> = async ({ dry_run: dryRun = false }, call) => {
  const desk = deskOf(call);
  return working(call, async (signal) => collectWire(await desk.collect({ dryRun, signal })));
};

export const journalRoots: Handler<"journal.roots"> = async (_params, call) => {
  const desk = deskOf(call);
  return {
    payload: undefined,
    follow: async (send) => {
      const isDone = await ended(send, async () => {
        for await (const page of desk.anchors())
          for (const anchor of page)
            if (!(await send(encodeLine({ type: "record", payload: anchor })))) return false;
        return true;
      });
      if (isDone) await send(encodeLine({ type: "eof" }));
    },
  };
};

type Work = (signal: AbortSignal, progress: (records: number) => void) => Promise<unknown>;

function working<M extends "journal.check" | "journal.verify" | "journal.collect">(
  { gone, clock }: RequestContext,
  work: Work,
): MethodAnswer<M> {
  const follow = async (send: Send): Promise<void> => {
    let toldAt = clock.mono();
    const progress = (records: number): void => {
      const now = clock.mono();
      if (now - toldAt < PROGRESS_MS) return;
      toldAt = now;
      // a client that left is noticed by its signal
      send(encodeLine({ type: "progress", payload: { records } })).catch(() => {});
    };
    await ended(send, async () => {
      const payload = await work(gone, progress);
      return send(encodeLine({ type: "complete", payload }));
    });
  };
  return { payload: undefined, follow } as MethodAnswer<M>;
}

/** A failure after the response is sent as the last line of the stream. */
export async function ended(send: Send, work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    await send(encodeLine({ type: "error", payload: toWireError(error) }));
    return false;
  }
}
