/** Repeated requests: finds in the journal what the first one created, and follows it as if it were just created. */

import { Fault } from "../../abi/errors.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import { type EndSearch, endOf } from "../../kernel/facts/ended.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { RejoinOptions, Requested, Requests } from "../../kernel/ports/requests.ts";
import type { Sessions } from "../../kernel/ports/sessions.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import type { Process } from "../../kernel/process/process.ts";
import { spawnEvent } from "../../kernel/process/spawn/spawn.ts";
import { Queue } from "../../kernel/queue.ts";
import { resume, type Waking, wake } from "./wake.ts";

/** What repeated requests need of the kernel. */
type Requesting = Waking &
  EndSearch & {
    readonly sessions: Pick<Sessions, "awake">;
    readonly asks: { attend(proc: Process): Subscription<ProcessEvent> };
  };

/** `core` is a function because the core is built later; it exists when the first request arrives. */
export function makeRequests(core: () => Requesting): Requests {
  return { find: (id) => find(core(), id), rejoin: (pid, options) => rejoin(core(), pid, options) };
}

async function find({ ports }: Requesting, id: string): Promise<Requested | undefined> {
  const record = await ports.journal.requested(id);
  if (record === undefined || isOld(ports, record)) return undefined;
  const { request, seq, createdAt: at = record.at } = record.body as Marked;
  const message = record.kind === "mail.put" && seq !== undefined ? { message: seq } : {};
  return { digest: request.digest, pid: record.pid, at, ...message };
}

/** Of what this daemon recorded itself, its own time decides first: the wall clock may have been set ahead since. */
function isOld({ clock, journal }: Requesting["ports"], { at, epoch }: JournalRecord): boolean {
  if (epoch === journal.epoch && clock.mono() <= LIMITS.requestKeptMs) return false;
  return clock.now() - at > LIMITS.requestKeptMs;
}

/** What a record says of the request that made it. */
interface Marked {
  readonly request: RequestMark;
  /** The number of a message. */
  readonly seq?: number;
  /** When a process was made. */
  readonly createdAt?: number;
}

async function rejoin(
  core: Requesting,
  pid: Pid,
  { interactive = false, env }: RejoinOptions,
): Promise<Subscription<ProcessEvent>> {
  await core.sessions.awake(pid, env === undefined ? {} : { env });
  const proc = core.table.get(pid);
  if (proc === undefined) return toldEnd(core, pid);
  if (proc.isLive) await letGo(core, proc, env);
  return preceded(
    spawnEvent(proc),
    interactive && proc.isLive ? core.asks.attend(proc) : proc.watchers.watch(),
  );
}

/** Wakes a process that was created for a client, and resumes it if a daemon crash had paused it. */
export async function goOn(core: Waking, pid: Pid, env?: RejoinOptions["env"]): Promise<void> {
  await letGo(core, await wake(core, pid, env === undefined ? {} : { env }), env);
}

/** Resumes a process paused by a daemon crash, as its client is here now; one that the user paused stays paused. */
async function letGo(core: Waking, proc: Process, env: RejoinOptions["env"]): Promise<void> {
  if (proc.halt.why === "crash") await resume(core, proc.pid, env);
}

function preceded<T>(first: T, events: Subscription<T>): Subscription<T> {
  return {
    get dropped() {
      return events.dropped;
    },
    close: () => events.close(),
    async *[Symbol.asyncIterator]() {
      yield first;
      yield* events;
    },
  };
}

async function toldEnd(core: Requesting, pid: Pid): Promise<Subscription<ProcessEvent>> {
  const ended = await endOf(core, pid);
  if (ended === undefined) {
    const message = `this request has started process ${pid}, which is not running now`;
    throw new Fault({ code: "CONFLICT", message, fact: { kind: "stopped", pid } });
  }
  const events = new Queue<ProcessEvent>({ capacity: 1, drop: "newest", losable: () => false });
  events.push({ event: "complete", pid, ...ended });
  events.end();
  return events;
}
