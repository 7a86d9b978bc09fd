/**
 * A request with a key takes effect only once, however often it is sent: a repeated request is answered with what the
 * first one made. The journal keeps the key in the record of what was made; only the requests in progress are kept
 * here.
 */
import { hash } from "node:crypto";
import { Fault } from "../../abi/errors.ts";
import type { KeyedMethod, Params } from "../../abi/methods/methods.ts";
import type { RequestMark } from "../../abi/request-mark.ts";
import type { Requested } from "../../kernel/ports/requests.ts";
import { abortable } from "../../lib/abort.ts";
import type { RequestContext } from "./handler.ts";
import { nameOf, type Principal } from "./principal.ts";

/** Hex digits of a digest. 64 of them would be the name of a blob. */
const DIGITS = 40;

/** Options for what the request makes: empty if the request has no key. */
export interface Marked {
  readonly request?: RequestMark;
}

type Asked = Pick<RequestContext, "kernel" | "principal" | "gone">;

export class Repeats {
  /** At most one request for each connection, or as many as it carries out together. */
  readonly #underWay = new Map<string, Promise<void>>();

  /**
   * Runs `act`, or `again` with what it made before. A repeated request waits while the first one is in progress.
   * Without a key it always runs `act`. CONFLICT: the key belongs to another request.
   */
  async once<M extends KeyedMethod, T>(
    method: M,
    params: Params<M>,
    asked: Asked,
    act: (marked: Marked) => Promise<T>,
    again: (made: Requested) => Promise<T>,
  ): Promise<T> {
    const request = markOf(method, params, asked.principal);
    if (request === undefined) return act({});
    for (;;) {
      const first = this.#underWay.get(request.id);
      if (first === undefined) break;
      await abortable(first, asked.gone);
    }
    const turn = Promise.withResolvers<void>();
    this.#underWay.set(request.id, turn.promise);
    try {
      const made = await asked.kernel.requests.find(request.id);
      if (made === undefined) return await act({ request });
      if (made.digest !== request.digest) throw reused(made);
      return await again(made);
    } finally {
      this.#underWay.delete(request.id);
      turn.resolve();
    }
  }
}

/**
 * Keys are separate for each caller: the same key of another caller is another request. undefined: the request has no
 * key.
 */
function markOf<M extends KeyedMethod>(
  method: M,
  { idempotency_key: key, ...params }: Params<M>,
  principal: Principal,
): RequestMark | undefined {
  if (key === undefined) return undefined;
  const whose = JSON.stringify([nameOf(principal), method, key]);
  const digest = (text: string): string => hash("sha256", text).slice(0, DIGITS);
  return { id: digest(whose), digest: digest(`${whose}${JSON.stringify(params)}`) };
}

function reused({ pid, message }: Requested): Fault {
  const what = message === undefined ? `process ${pid}` : `a message for process ${pid}`;
  return new Fault({
    code: "CONFLICT",
    message: `idempotency key reused: it belongs to another request, which made ${what}`,
    hint: "a new key for each new request",
  });
}
