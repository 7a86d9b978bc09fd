/** What a method is to the connection that calls it. */
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import type { KernelApi } from "../../kernel/ports/kernel-api.ts";
import type { ServerDeps } from "./deps.ts";
import type { LoopLag } from "./loop-lag.ts";
import type { Principal } from "./principal.ts";
import type { Repeats } from "./repeats.ts";

/** The request's surroundings. */
export interface RequestContext {
  readonly kernel: KernelApi;
  readonly deps: ServerDeps;
  readonly clock: Clock;
  /** Connections of the server, this one included. */
  readonly connections: number;
  readonly uptimeMs: number;
  readonly loopLag: Pick<LoopLag, "longestMs">;
  readonly principal: Principal;
  readonly repeats: Repeats;
  /** Takes a cookie for the whole connection; who it is then. undefined: it is none of ours. */
  prove(cookie: string): string | undefined;
  /** The name under which it has spoken in a session; "" none. */
  readonly client: string;
  /** Speaks under this name in a session. PERMISSION: it is another's. */
  claimName(name: string): void;
  /** Fires when the client will send no more: it went away, or closed its half and may still read. */
  readonly ended: AbortSignal;
  /** Fires when nothing can be sent any more. */
  readonly gone: AbortSignal;
}

/** Writes one encoded line and waits until the system took it; false: the client is gone. */
export type Send = (line: string) => Promise<boolean>;

export interface MethodAnswer<M extends MethodName> {
  readonly payload: Result<M>;
  /**
   * Takes the connection over once the response is written out (or the client is gone: it is called all the same, and
   * frees what the handler opened). The connection closes when it resolves.
   */
  readonly follow?: (send: Send) => Promise<void>;
}

/** A rejection is the error response and leaves the connection usable. */
export type Handler<M extends MethodName> = (
  params: Params<M>,
  call: RequestContext,
) => Promise<MethodAnswer<M>>;

export type Handlers = { readonly [M in MethodName]: Handler<M> };
