/** A method of the kernel IPC chapter, as seen by its handler. */

import type { Feature, RequestMeta } from "../../../abi/ipc.ts";
import type { IpcMethodName, IpcParams, IpcResult } from "../../../abi/methods/ipc/methods.ts";
import type { RequestMark } from "../../../abi/request-mark.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import type { RequestContext } from "../handler.ts";
import type { EventSubscription } from "./event-subscription.ts";
import type { Scopes } from "./scopes.ts";
import type { Followed, FrameOutput } from "./stream-subscription.ts";

/** What a request sees of its connection. */
export interface Session {
  readonly scopes: Scopes;
  readonly features: ReadonlySet<Feature>;
  /** Agrees on features. CONFLICT: it was done already, or other requests came first. */
  greet(features: readonly Feature[]): void;
  /** The requests are those of the process of this token from now on. PERMISSION: it is not the caller's. */
  become(token: string): void;
  /** False: no open request has this id. */
  cancel(id: string): boolean;
  /** The kernel with all its parts: methods narrow by `scopes` themselves. */
  readonly kernel: KernelApi;
  readonly output: FrameOutput;
  readonly subscriptions: ReadonlyMap<string, Followed>;
  /** UNAVAILABLE: no room for so many streams and subscriptions more. */
  checkRoom(count?: number): void;
  /** Names a subscription and starts it after the answer to the request. */
  subscribe(make: (name: string) => Followed): string;
  /** False: there is none of this name. */
  unsubscribe(name: string): boolean;
  /** Resolves when its subscriptions to the output of this process have sent all that they may. */
  delivered(pid: number): Promise<void>;
  readonly eventSubscriptions: ReadonlyMap<string, EventSubscription>;
  follow(make: (name: string) => EventSubscription): string;
  unfollow(name: string): boolean;
  /** It has begun this intent, and may end it by itself when that is to be cancelled. */
  beginIntent(id: string): void;
  /** `end` is called when the connection has ended before the intent. */
  bindIntent(id: string, end: () => void): void;
  releaseIntent(id: string): void;
  /** Resolves when its subscriptions have sent all events up to this one, or may send no more. */
  caughtUp(seq: number): Promise<void>;
  /** Names an attachment; `release` is called at its end, at the latest with the connection. */
  attach(release: () => void): string;
  detach(attachment: string): boolean;
  /** Called when the connection has ended, at once if it has ended already. What it returns calls it off. */
  atEnd(act: () => void): () => void;
}

export interface IpcCall {
  /** As of a method of the text wire; made on first use. */
  readonly context: RequestContext;
  readonly session: Session;
  readonly meta: RequestMeta;
  readonly requestId: string;
  /** The mark of a request with an idempotency key, for the record of what it makes. */
  readonly request?: RequestMark | undefined;
  /** Fires when the request is cancelled, its time is over, or the client has left. */
  readonly signal: AbortSignal;
}

export type IpcHandler<M extends IpcMethodName> = (
  params: IpcParams<M>,
  call: IpcCall,
) => Promise<IpcResult<M>> | IpcResult<M>;

export type IpcHandlers = { readonly [M in IpcMethodName]: IpcHandler<M> };
