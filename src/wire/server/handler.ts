/** A method, as seen by the connection that calls it. */
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import type { KernelApi } from "../../kernel/ports/kernel-api.ts";
import type { ServerDeps } from "./deps.ts";
import type { LoopLag } from "./loop-lag.ts";
import type { Principal } from "./principal.ts";
import type { Repeats } from "./repeats.ts";
import type { Tokens } from "./tokens.ts";

/** The context of a request. */
export interface RequestContext {
  readonly kernel: KernelApi;
  readonly deps: ServerDeps;
  readonly clock: Clock;
  /** Open connections of the server, including this one. */
  readonly connections: number;
  readonly uptimeMs: number;
  readonly loopLag: Pick<LoopLag, "longestMs">;
  readonly principal: Principal;
  /** Absent: no program has a token. */
  readonly tokens?: Tokens | undefined;
  readonly repeats: Repeats;
  /**
   * Applies a cookie to the whole connection; returns the name of the new principal. undefined: the cookie is wrong.
   */
  prove(cookie: string): string | undefined;
  /** The client name it has used in a session; "" if none. */
  readonly client: string;
  /** Uses this client name in a session. PERMISSION: another connection owns it. */
  claimName(name: string): void;
  /** Fires when the client will send no more: it left, or closed its half and may still read. */
  readonly ended: AbortSignal;
  /** Fires when nothing can be sent any more. */
  readonly gone: AbortSignal;
}

/** Writes one encoded line and waits until the system has accepted it; false: the client has left. */
export type Send = (line: string) => Promise<boolean>;

export interface MethodAnswer<M extends MethodName> {
  readonly payload: Result<M>;
  /**
   * Occupies the connection once the response is written out. It is called even if the client has left, to free what
   * the handler opened. The connection closes when it resolves.
   */
  readonly follow?: (send: Send) => Promise<void>;
}

/** A rejection is the error response and leaves the connection usable. */
export type Handler<M extends MethodName> = (
  params: Params<M>,
  call: RequestContext,
) => Promise<MethodAnswer<M>>;

export type Handlers = { readonly [M in MethodName]: Handler<M> };
