import type { Subscription } from "../../kernel/ports/subscription.ts";

/**
 * Hands each event to `take` and closes the subscription, however it ends. True: all events were taken. False: `until`
 * fired or `take` said no.
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
