import type { ProcessEvent } from "../../abi/events.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { encodeLine } from "../codec/ndjson.ts";
import type { ServerDeps } from "./deps.ts";
import { follow } from "./follow.ts";
import type { Send } from "./handler.ts";
import { type Audience, toLine } from "./progress.ts";

/** The options of a request to follow a process. */
interface Wish {
  readonly interactive?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly calls?: boolean | undefined;
}

export function audienceOf(wish: Wish, { showsCalls }: Pick<ServerDeps, "showsCalls">): Audience {
  const { interactive = false, verbose = false, calls = false } = wish;
  return { interactive, verbose, calls: calls && showsCalls?.() !== false };
}

/**
 * Sends the events of a process up to its end. The kernel's queue holds what a slow client has not read yet (1,000
 * events; older steps are dropped first, the end never). When the stream ends or the client leaves, closing the
 * subscription lets the reaper collect a process that has ended; it never ends the process.
 */
export function followProcess(
  events: Subscription<ProcessEvent>,
  audience: Audience,
  until: AbortSignal,
): (send: Send) => Promise<void> {
  return async (send) => {
    await follow(events, until, async (event) => {
      const line = toLine(event, audience);
      return line === undefined || send(encodeLine(line));
    });
  };
}
