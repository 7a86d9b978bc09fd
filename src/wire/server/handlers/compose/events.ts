/** The events of a project as the lines of a stream. */
import type { ProjectEvent } from "../../../../abi/compose/compose.ts";
import type { ProjectEventWire, StreamEnd } from "../../../../abi/compose/wire.ts";
import type { Pid } from "../../../../abi/ids.ts";
import type { Subscription } from "../../../../kernel/ports/subscription.ts";
import { encodeLine } from "../../../codec/ndjson.ts";
import { follow } from "../../follow.ts";
import type { Send } from "../../handler.ts";

interface Options {
  readonly noticeOf: (pid: Pid) => string;
  /** Fires when the client no longer reads. */
  readonly until: AbortSignal;
  readonly isShown: (event: ProjectEvent) => boolean;
  /** The stream ends after this event. */
  readonly isLast: (event: ProjectEvent) => boolean;
}

/**
 * Sends events up to the last one, then `eof` with the number a slow client has missed. Closing the subscription only
 * ends the following. True: all were sent.
 */
export async function sendEvents(
  events: Subscription<ProjectEvent>,
  send: Send,
  { noticeOf, until, isShown, isLast }: Options,
): Promise<boolean> {
  let isOver = false;
  const isComplete = await follow(events, until, async (event) => {
    if (isShown(event) && !(await send(encodeLine(lineOf(event, noticeOf))))) return false;
    isOver = isLast(event);
    return !isOver;
  });
  if (!isComplete && !isOver) return false;
  const payload: StreamEnd = { dropped: events.dropped };
  return send(encodeLine(events.dropped === 0 ? { type: "eof" } : { type: "eof", payload }));
}

function lineOf(event: ProjectEvent, noticeOf: Options["noticeOf"]) {
  return { type: event.event === "log" ? "log" : "event", payload: toWire(event, noticeOf) } as const;
}

function toWire(event: ProjectEvent, noticeOf: Options["noticeOf"]): ProjectEventWire {
  switch (event.event) {
    case "started": {
      const notice = noticeOf(event.pid);
      return notice === "" ? event : { ...event, notice };
    }
    case "restarting": {
      const { child, delayMs, restarts, max } = event;
      return { event: "restarting", child, delay_ms: Math.floor(delayMs), restarts, max };
    }
    case "done": {
      const { project, tokens, elapsedMs, code } = event;
      return { event: "done", project, tokens, elapsed_ms: Math.floor(elapsedMs), code };
    }
    default:
      return event;
  }
}
