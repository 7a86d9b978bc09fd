import { expect, it } from "vitest";
import type { EventLog, EventPlace, KernelEvent } from "../../../kernel/ports/events.ts";
import { systemClock } from "../../../lib/time/system-clock.ts";
import { EventSubscription } from "./event-subscription.ts";

it("goes on behind a page of which every event was compacted", async () => {
  const last: KernelEvent = { event: "tool.done", seq: 300, at: 0, data: {} };
  const pages = new Map<number, readonly KernelEvent[]>([
    [0, []],
    [256, [last]],
  ]);
  const log = {
    more: () => new Promise<void>(() => {}),
    read: async ({ seq }: EventPlace) => ({
      events: pages.get(seq) ?? [],
      next: { seq: seq === 0 ? 256 : 300 },
    }),
  } as unknown as EventLog;
  const sent = Promise.withResolvers<Buffer>();
  const output = { room: async () => {}, send: sent.resolve };
  const wish = { name: "e1", log, clock: systemClock, after: 0, window: 1, prefix: "" };
  const own = new EventSubscription({ ...wish, wants: () => true, before: async () => {} }, output);
  const running = own.run();
  expect((await sent.promise).toString("latin1")).toContain("tool.done");
  own.close();
  await running;
});
