/**
 * Requests with an idempotency key take effect once, also when they come again over another connection, or while the
 * first is still running. What they answered is kept a day, for the last 10,000 of each caller.
 */
import { hash } from "node:crypto";
import { Fault } from "../../../abi/errors.ts";
import type { Clock } from "../../../abi/program.ts";

const KEPT = 10_000;
/** Callers whose requests are kept; the one that came first is forgotten. */
const CALLERS = 1_000;
const KEPT_MS = 24 * 60 * 60 * 1000;

interface Kept {
  readonly digest: string;
  readonly at: number;
  readonly answer: Promise<unknown>;
}

interface Asked {
  readonly caller: string;
  readonly method: string;
  readonly key: string;
  readonly params: unknown;
}

export class Idempotency {
  readonly #kept = new Map<string, Map<string, Kept>>();
  readonly #clock: Pick<Clock, "mono">;

  constructor(clock: Pick<Clock, "mono">) {
    this.#clock = clock;
  }

  /** CONFLICT: the key belongs to a request with other params. A request that failed may be made again. */
  async once<T>(
    { caller, method, key, params }: Asked,
    act: () => Promise<T> | T,
  ): Promise<{ readonly value: T; readonly replayed: boolean }> {
    const own = this.#of(caller);
    const name = `${method} ${key}`;
    const digest = digestOf(params);
    const found = own.get(name);
    if (found !== undefined && this.#clock.mono() - found.at < KEPT_MS) {
      if (found.digest !== digest)
        throw new Fault({ code: "CONFLICT", message: "idempotency key reused", details: { method } });
      return { value: (await found.answer) as T, replayed: true };
    }
    const answer = (async () => act())();
    const kept = { digest, at: this.#clock.mono(), answer };
    own.set(name, kept);
    const [oldest] = own.keys();
    if (own.size > KEPT && oldest !== undefined) own.delete(oldest);
    try {
      return { value: await answer, replayed: false };
    } catch (error) {
      if (own.get(name) === kept) own.delete(name);
      throw error;
    }
  }

  #of(caller: string): Map<string, Kept> {
    const own = this.#kept.get(caller) ?? new Map<string, Kept>();
    this.#kept.set(caller, own);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > CALLERS && oldest !== undefined) this.#kept.delete(oldest);
    return own;
  }
}

/** The same for params whose keys stand in another order. */
export function digestOf(params: unknown): string {
  return hash("sha256", JSON.stringify(params, ordered));
}

function ordered(_key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return hash("sha256", value as Uint8Array);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
