import type { Subscription } from "../../kernel/ports/subscription.ts";

/**
 * Passes each event to `take` and always closes the subscription. True: all events were taken. False: `until` fired, or
 * `take` returned false.
 */
export async function follow<T>(
  events: Subscription<T>,
  until: AbortSignal,
  take: (event: T) => Promise<boolean>,
): Promise<boolean> {
  const leave = () => events.close();
  until.addEventListener("abort", leave, { once: true });
  try {
    if (until.aborted) return false;
    for await (const event of events) if (until.aborted || !(await take(event))) return false;
    return !until.aborted;
  } finally {
    until.removeEventListener("abort", leave);
    events.close();
  }
}
