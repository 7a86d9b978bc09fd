/**
 * Subscriptions of a client, over however many connections: each knows where it stands, so that the next connection goes on
 * there.
 */
import type { IpcChunk, IpcEvent } from "../../abi/ipc.ts";
import type { IpcMethodName, IpcParams, IpcResult } from "../../abi/methods/ipc/methods.ts";
import { Inbox } from "./inbox.ts";

/** Bytes of a stream, or events, that are on their way, or wait for their reader here. */
export const WINDOW = 1024 * 1024;
const EVENTS = 256;

export type StreamName = "stdout" | "stderr";

/** A program by its name or pid, one of its streams, and where to begin: at the first byte that is kept, unless it says else. */
export type StreamWish = ({ readonly pid: number } | { readonly id: string }) & {
  readonly filter?: StreamName;
  readonly from?: "start" | "now" | number;
};

export type EventWish = Omit<IpcParams<"event.subscribe">, "window" | "prefix">;

export interface Followed {
  /** Its request, from where it stands. */
  wish(): readonly [method: IpcMethodName, params: object];
  /** Its name on the present connection. */
  nameIn(result: unknown): string | undefined;
  take(message: IpcChunk & IpcEvent): void;
  end(error: Error | null): void;
}

/** The connection, as far as a subscription needs it. */
export interface FollowHub {
  credit(followed: Followed, amount: { bytes?: number; events?: number }): void;
  leave(followed: Followed, method: IpcMethodName, key: "stream" | "subscription"): void;
}

export function followEvents(wish: EventWish, hub: FollowHub) {
  let after = wish.after;
  const inbox: Inbox<IpcEvent> = new Inbox<IpcEvent>({
    window: EVENTS,
    weigh: () => 1,
    allow: (events) => hub.credit(followed, { events }),
    leave: () => hub.leave(followed, "event.unsubscribe", "subscription"),
  });
  const followed: Followed = {
    wish: () => ["event.subscribe", { ...wish, ...(after === undefined ? {} : { after }), window: EVENTS }],
    nameIn: (result) => {
      const { subscription, head } = result as IpcResult<"event.subscribe">;
      // what happens while the connection is lost is not missed
      after ??= head;
      return subscription;
    },
    take: (event) => {
      after = event.seq;
      inbox.push(event);
    },
    end: (error) => inbox.end(error),
  };
  return { followed, inbox };
}

export function followStream(
  { filter = "stdout", from = "start", ...ref }: StreamWish,
  mode: "chunk" | "line",
  hub: FollowHub,
) {
  let at: "start" | "now" | number = from;
  const inbox: Inbox<IpcChunk> = new Inbox<IpcChunk>({
    window: WINDOW,
    weigh: ({ offset, next, gap }) => (gap === undefined ? next - offset : 0),
    allow: (bytes) => hub.credit(followed, { bytes }),
    leave: () => hub.leave(followed, "process.stream.unsubscribe", "stream"),
  });
  const followed: Followed = {
    wish: () => ["process.stream.subscribe", { ...ref, filter, mode, from: at, window: WINDOW }],
    nameIn: (result) => {
      const { subscriptions, offsets } = result as IpcResult<"process.stream.subscribe">;
      if (at === "now") at = offsets[filter] ?? at;
      return subscriptions[filter];
    },
    take: (chunk) => {
      at = chunk.next;
      if (chunk.end !== true) inbox.push(chunk);
    },
    end: (error) => inbox.end(error),
  };
  return { followed, inbox };
}
