/**
 * The writer thread, with the only connection that writes. It answers tasks in order and does maintenance after each
 * answer. An unhandled error ends the thread, and thereby the journal (threaded-scribe.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import { toJournalFault } from "../fault.ts";
import { type PackedVerdicts, packVerdicts, unpackBatches } from "../journal/packed.ts";
import { openClerk } from "./open-database.ts";
import { toldFault, type WriterReply, type WriterRequest, type WriterSeed } from "./writer-message.ts";

const HEAD_SYNC_MS = 1_000;

const port = parentPort;
if (port === null) throw new Error("the journal's writer is a thread");
const say = (reply: WriterReply): void => port.postMessage(reply);

const { dir, identity, maxBytes } = workerData as WriterSeed;
const clerk = openClerk(dir, identity, {
  maxBytes,
  onNotice: (notice) => say({ is: "notice", notice }),
  mono: () => performance.now(),
});
let headTimer: NodeJS.Timeout | undefined;

async function act(request: WriterRequest): Promise<PackedVerdicts | undefined> {
  switch (request.do) {
    case "commit":
      return packVerdicts(await clerk.commit(unpackBatches(request.batches), request.mode));
    case "snapshot":
      clerk.saveSnapshot(request.proc, request.seq, request.state);
      return undefined;
    case "damaged":
      clerk.markDamaged(request.proc, request.seq);
      return undefined;
    case "close":
      clearTimeout(headTimer);
      clerk.close();
      return undefined;
  }
}

async function answer(request: WriterRequest): Promise<void> {
  const { id } = request;
  try {
    const verdicts = await act(request);
    say({ is: "done", id, ...(verdicts === undefined ? {} : { verdicts }) });
  } catch (error) {
    return say({ is: "failed", id, fault: toldFault(toJournalFault(error)) });
  }
  if (request.do === "close") return port?.close();
  maintain();
}

function maintain(): void {
  try {
    clerk.maintain();
  } catch (error) {
    say({ is: "lost", fault: toldFault(toJournalFault(error)) });
  }
  // syncs the head of the last commit even if no task follows
  headTimer ??= setTimeout(() => {
    headTimer = undefined;
    clerk.syncHead();
  }, HEAD_SYNC_MS);
}

let last: Promise<void> = Promise.resolve();
port.on("message", (request: WriterRequest) => {
  last = last.then(() => answer(request));
});
