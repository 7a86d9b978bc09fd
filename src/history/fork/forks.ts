/** Steps, forks and rewinds: the implementation of the port that the wires call. */
import type { Pid } from "../../abi/ids.ts";
import type {
  Forked,
  ForkRequest,
  Forks,
  RewindRequest,
  Rewound,
  StepView,
} from "../../kernel/ports/forks.ts";
import { goOn } from "../recover/requests.ts";
import type { Waking } from "../recover/wake.ts";
import { checkForkable, type Forking, forkAt, forkProcess, originOf } from "./fork.ts";
import { forkError } from "./fork-error.ts";
import { findPlace, stepsOf } from "./place.ts";
import { type FilesRewound, type Rewinding, rewindFiles } from "./rewind.ts";

/** What forks and rewinds need of the kernel. */
type Rewriting = Forking & Rewinding & Waking;

const NO_FILES: FilesRewound = { files: [], conflicts: [], commands: [], commandCount: 0 };

/** `core` is a function because the core is built later; it exists when the first request arrives. */
export function makeForks(core: () => Rewriting): Forks {
  return {
    steps: (pid, last) => listSteps(core(), pid, last),
    fork: (pid, request) => fork(core(), pid, request),
    again: (pid, request) => again(core(), pid, request),
    rewind: (pid, request) => rewind(core(), pid, request),
  };
}

async function listSteps(core: Rewriting, pid: Pid, last: number): Promise<readonly StepView[]> {
  const { uuid } = await originOf(core, pid);
  const { complete } = await stepsOf(core.ports.journal, uuid);
  return last === 0 ? [] : complete.slice(-last);
}

async function fork(core: Rewriting, pid: Pid, request: ForkRequest): Promise<Forked> {
  core.journalWatch.check("Fork");
  const made = await forkProcess(core, await originOf(core, pid), request);
  if (request.wake === true) await goOn(core, made.pid, request.env);
  return made;
}

async function again(core: Rewriting, pid: Pid, request: Pick<ForkRequest, "wake" | "env">): Promise<Forked> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  const place = row?.forkedFrom ?? null;
  if (row === undefined || place === null)
    throw forkError("NOT_FOUND", `process not found: ${pid}, or its history is gone`, {
      kind: "no_history",
      pid,
    });
  const { proc: from, at } = place;
  const { step } = await findPlace(journal, from, { at: { seq: at } });
  // the daemon may have died before the fork was woken
  if (request.wake === true && row.exit === null) await goOn(core, pid, request.env);
  return { pid, uuid: row.proc, step, from, at };
}

async function rewind(core: Rewriting, pid: Pid, request: RewindRequest): Promise<Rewound> {
  if (!request.dryRun) core.journalWatch.check("Rewind");
  const origin = await originOf(core, pid);
  const { dryRun, force, fork: isForked = true } = request;
  if (!dryRun && isForked) checkForkable(core, origin);
  const release = dryRun ? () => {} : hold(core, pid);
  try {
    const found = await findPlace(core.ports.journal, origin.uuid, {
      at: request.at,
      otherwise: "before the last message",
    });
    const done = request.files ? await rewindFiles(core, origin, { to: found, dryRun, force }) : NO_FILES;
    const isRefused = done.conflicts.length > 0 && !force;
    const made = dryRun || isRefused || !isForked ? null : await forkAt(core, origin, { place: found });
    return { step: found.step, seq: found.seq, ...done, fork: made };
  } finally {
    release();
  }
}

/** Pauses a process that waits for a message until its files are rewound. CONFLICT: it is running. */
function hold(core: Rewriting, pid: Pid): () => void {
  const proc = core.table.get(pid);
  if (proc?.isLive !== true) return () => {};
  if (proc.isPaused) {
    if (proc.halt.quiescence.isQuiescent) return () => {};
    throw forkError(
      "CONFLICT",
      `process ${pid} is paused, but what it had begun is not over yet`,
      "try again",
    );
  }
  if (proc.life.activity !== "waiting")
    throw forkError("CONFLICT", `process ${pid} is running`, { kind: "running", pid });
  const { clock } = core.ports;
  proc.pause(clock.mono());
  return () => proc.resume(clock.mono());
}
