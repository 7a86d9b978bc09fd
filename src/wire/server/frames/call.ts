/** A method of the kernel IPC chapter, as seen by its handler. */
import type { Feature, RequestMeta } from "../../../abi/ipc.ts";
import type { IpcMethodName, IpcParams, IpcResult } from "../../../abi/methods/ipc/methods.ts";
import type { RequestContext } from "../handler.ts";
import type { Scopes } from "./scopes.ts";

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
}

export interface IpcCall {
  /** As of a method of the text wire; made on first use. */
  readonly context: RequestContext;
  readonly session: Session;
  readonly meta: RequestMeta;
  readonly requestId: string;
  /** Fires when the request is cancelled, its time is over, or the client has left. */
  readonly signal: AbortSignal;
}

export type IpcHandler<M extends IpcMethodName> = (
  params: IpcParams<M>,
  call: IpcCall,
) => Promise<IpcResult<M>> | IpcResult<M>;

export type IpcHandlers = { readonly [M in IpcMethodName]: IpcHandler<M> };
