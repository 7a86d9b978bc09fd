/**
 * Keeps agents from writing to one another without end: so many messages of one to another within a minute, and so many of two
 * to each other in a row, while neither does anything else. Counted in memory: a later daemon begins anew. Bounded: the one written
 * to longest ago is forgotten.
 */
import { asPid, type Pid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";

interface Writer {
  readonly pid: Pid;
  /** Calls of tools that have a result. */
  readonly used: { readonly toolCalls: number };
}

const MINUTE_MS = 60_000;

/** Messages in a row of two agents, and how much both had done besides at the last one. */
interface Row {
  count: number;
  done: number;
}

class Desk {
  readonly times = new Map<Pid, readonly number[]>();
  readonly rows = new Map<Pid, Row>();
  /** What the user has said to it: its messages are about that, too. */
  told = 0;
  #calls = 0;
  #call = "";
  #done = 0;

  /** Several messages of one call are one call. */
  sends(call: string): void {
    if (call !== this.#call) this.#calls++;
    this.#call = call;
  }

  /** Calls of other tools, and what it was told. The result of a call counts only when its step is over, so the number may lag behind. */
  done({ used }: Writer): number {
    this.#done = Math.max(this.#done, used.toolCalls - this.#calls);
    return this.#done + this.told;
  }
}

const DESKS = new WeakMap<Writer, Desk>();

function deskOf(writer: Writer): Desk {
  const desk = DESKS.get(writer) ?? new Desk();
  DESKS.set(writer, desk);
  return desk;
}

function put<T>(map: Map<Pid, T>, pid: Pid, value: T): T {
  map.delete(pid);
  map.set(pid, value);
  const [oldest] = map.keys();
  if (map.size > LIMITS.mailPartners && oldest !== undefined) map.delete(oldest);
  return value;
}

/** False: `from` has sent as many to that process within a minute as one may. */
export function isInTime(from: Writer, to: Pid, mono: number): boolean {
  const { times } = deskOf(from);
  const before = (times.get(to) ?? []).filter((at) => at > mono - MINUTE_MS);
  if (before.length >= LIMITS.mailPerMinute) return false;
  put(times, to, [...before, mono]);
  return true;
}

/** Counts a message that `call` sends. False: the two have done nothing else for so long; the count begins anew. */
export function isUseful(from: Writer, to: Writer, call: string): boolean {
  const [own, other] = [deskOf(from), deskOf(to)];
  const done = own.done(from) + other.done(to);
  own.sends(call);
  const { rows } = from.pid < to.pid ? own : other;
  const key = asPid(Math.max(from.pid, to.pid));
  const row = put(rows, key, rows.get(key) ?? { count: 0, done });
  if (done > row.done) row.count = 0;
  row.done = done;
  row.count = row.count >= LIMITS.mailInRow ? 0 : row.count + 1;
  return row.count > 0;
}

/** The user has said something to it. */
export function wasTold(agent: Writer): void {
  deskOf(agent).told++;
}
