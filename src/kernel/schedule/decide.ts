/**
 * Who may begin next, and when. Pure: lane and queue are read, never changed.
 *
 * Strictly by rank, but of every eight grants the last goes to the longest waiting ticket of the ranks that were
 * passed over, and the seventh to the longest waiting one of its own rank. So with Q tickets waiting, each is granted
 * within 8 × Q grants of an open lane, whatever weights and sizes they have: among any eight, at least one goes to it or
 * to an older one.
 */
import type { Lane } from "./lane.ts";
import { RANK_COUNT, rankOf, type Ticket } from "./ticket.ts";
import type { VirtualTime } from "./virtual-time.ts";

type LaneDecision =
  /** `isInTurn`: by virtual time, not by age. */
  | { readonly kind: "grant"; readonly ticket: Ticket; readonly isInTurn: boolean }
  /** `ticket`: the one that is waited for; absent: the lane is closed. */
  | { readonly kind: "wait"; readonly untilMs: number; readonly ticket?: Ticket }
  /** Nobody waits, or the next step begins with the end of an attempt. */
  | { readonly kind: "idle" };

/** Those who wait, in any order. */
type Queued = Pick<ReadonlySet<Ticket>, "size" | "keys">;

const IDLE: LaneDecision = { kind: "idle" };

export function decide(lane: Lane, queue: Queued, nowMs: number): LaneDecision {
  if (queue.size === 0 || lane.used >= lane.slots) return IDLE;
  const { closed } = lane;
  if (closed?.isProbed === true) return IDLE;
  if (closed !== undefined && closed.untilMs > nowMs) return { kind: "wait", untilMs: closed.untilMs };
  const next = nextOf(lane, queue, nowMs);
  const readyAtMs = lane.readyAtMs(next.ticket, nowMs);
  return readyAtMs <= nowMs
    ? { kind: "grant", ...next }
    : { kind: "wait", untilMs: readyAtMs, ticket: next.ticket };
}

interface Next {
  readonly ticket: Ticket;
  readonly isInTurn: boolean;
}

/** The queue is not empty. It need not be granted yet. */
export function nextOf({ window, time }: Pick<Lane, "window" | "time">, queue: Queued, nowMs: number): Next {
  let oldest: Ticket | undefined;
  let passedOver: Ticket | undefined;
  let first: Ticket | undefined;
  let firstTime = 0;
  let top: number = RANK_COUNT;
  for (const ticket of queue.keys()) {
    const rank = rankOf(ticket, nowMs);
    if (rank > window.best && isOlder(ticket, passedOver)) passedOver = ticket;
    if (rank > top) continue;
    if (rank < top) {
      top = rank;
      oldest = undefined;
      first = undefined;
    }
    if (isOlder(ticket, oldest)) oldest = ticket;
    const at = time(rank).timeOf(ticket);
    if (first !== undefined && (at > firstTime || (at === firstTime && !isBefore(ticket, first, time(rank)))))
      continue;
    first = ticket;
    firstTime = at;
  }
  if (window.isLast && passedOver !== undefined) return { ticket: passedOver, isInTurn: false };
  if (window.isLastOfRank) return { ticket: oldest as Ticket, isInTurn: oldest === first };
  return { ticket: first as Ticket, isInTurn: true };
}

/** Of two tickets whose sessions are level. */
function isBefore(a: Ticket, b: Ticket, time: Pick<VirtualTime, "within">): boolean {
  const apart = a.session === b.session ? time.within(a) - time.within(b) : 0;
  return apart === 0 ? isOlder(a, b) : apart < 0;
}

function isOlder(a: Ticket, b: Ticket | undefined): boolean {
  return b === undefined || a.sinceMs < b.sinceMs || (a.sinceMs === b.sinceMs && a.order < b.order);
}
