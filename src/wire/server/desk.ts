/**
 * Where the requests of one connection are carried out, whichever wire they came over: who asks, what the caller may
 * do, and the handler.
 */
import type { MethodName } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import type { ChildClient, KernelApi } from "../../kernel/ports/kernel-api.ts";
import { authorize } from "./authority.ts";
import type { ClientNames } from "./client-names.ts";
import type { Log } from "./deps.ts";
import type { Idempotency } from "./frames/idempotency.ts";
import type { MethodAnswer, RequestContext } from "./handler.ts";
import { HANDLERS } from "./handlers.ts";
import { isCookie, nameOf, type Principal } from "./principal.ts";
import { kernelFor } from "./process-kernel.ts";
import { parseParams } from "./request.ts";

export type ServerContext = Pick<
  RequestContext,
  "kernel" | "deps" | "clock" | "connections" | "uptimeMs" | "loopLag" | "repeats" | "tokens"
> & { readonly idempotency: Idempotency };

export interface DeskOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly look: () => ServerContext;
  readonly principal: Principal;
  /** The process whose program is connected, also if it acts for the user on the text wire. */
  readonly program?: ChildClient | undefined;
  /** undefined: users need no proof. */
  readonly cookie?: string | undefined;
  readonly names: ClientNames;
}

export class Desk {
  readonly #options: DeskOptions;
  readonly #ended: AbortSignal;
  readonly #gone: AbortSignal;
  #name = "";
  #principal: Principal;

  /** `ended`, `gone`: as in a RequestContext. */
  constructor(options: DeskOptions, ended: AbortSignal, gone: AbortSignal) {
    this.#options = options;
    this.#principal = options.principal;
    this.#ended = ended;
    this.#gone = gone;
  }

  get principal(): Principal {
    return this.#principal;
  }

  /** The kernel with all its parts, for methods that narrow by themselves. */
  get kernel(): KernelApi {
    return this.#options.look().kernel;
  }

  async call<M extends MethodName>(method: M, payload: unknown): Promise<MethodAnswer<M>> {
    const params = parseParams(method, payload);
    authorize(this.#principal, method, params, this.#options.cookie !== undefined);
    return HANDLERS[method](this.#withKeys(params), this.context());
  }

  /** The stored keys are the user's: what an agent has started uses those that it was given. */
  #withKeys<P>(params: P): P {
    const { credentials } = this.#options.look().deps;
    if (credentials === undefined || this.#principal.kind !== "user" || this.#options.program !== undefined)
      return params;
    const { env } = params as { env?: Record<string, string> };
    return env === undefined ? params : { ...params, env: credentials.complete(env) };
  }

  context(): RequestContext {
    const principal = this.#principal;
    const around = this.#options.look();
    const kernel = principal.kind === "process" ? kernelFor(around.kernel, principal.client) : around.kernel;
    return {
      ...around,
      kernel,
      principal,
      prove: (cookie) => this.#prove(cookie),
      client: this.#name,
      claimName: (name) => {
        this.#options.names.claim(name, this, this.#isProven);
        this.#name = name;
      },
      ended: this.#ended,
      gone: this.#gone,
    };
  }

  /** From now on the requests are those of a process, as its token shows. */
  become(principal: Extract<Principal, { kind: "process" }>): void {
    this.#principal = principal;
  }

  /** Input after which nothing more is read from this client. */
  logBad(why: string): void {
    const { log } = this.#options;
    const client = this.#name === "" ? "" : ` ${this.#name}`;
    log("warn", `client${client} (${nameOf(this.#principal)}): ${why}; closed`);
  }

  /** An error message may come from an external server that echoes what it was sent. */
  withoutSecrets(text: string): string {
    const { redacted } = this.#options.look().deps;
    return redacted === undefined ? text : Buffer.from(redacted(Buffer.from(text))).toString();
  }

  get #isProven(): boolean {
    return (
      this.#principal.kind === "user" && (this.#principal.isProven || this.#options.cookie === undefined)
    );
  }

  /** A child keeps its principal, even with the right cookie. */
  #prove(cookie: string): string | undefined {
    if (!isCookie(this.#options.cookie, cookie)) {
      this.#options.log("warn", `${nameOf(this.#principal)} showed a wrong cookie`);
      return undefined;
    }
    if (this.#principal.kind === "user") this.#principal = { ...this.#principal, isProven: true };
    return nameOf(this.#principal);
  }
}
