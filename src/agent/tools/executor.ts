/**
 * Runs the calls of one reply in their order, also while the rest of the reply still comes. A call begins if nothing
 * runs, or if it and all that run may overlap; so the calls that have begun are always the first ones. Calls that give the
 * same name to an agent do not overlap: who gets the name is decided by their order. Each gets exactly one result, whatever
 * happens.
 */
import type { ToolCall } from "../../abi/loop.ts";
import type { Sys } from "../../abi/sys.ts";
import { LateSet } from "../../lib/maps/late.ts";
import type { OfferedTools } from "../deferred/offered.ts";
import { type CallResult, NOT_STARTED } from "../program/tool-call.ts";
import { mayOverlap, namedAgent, runCall, untilResumed } from "./calls.ts";

/** The calls that may run at once, if the environment does not say. */
const MAX_CONCURRENCY = 10;

export interface Execution {
  readonly sys: Sys;
  readonly tools: OfferedTools;
  /** An earlier daemon may have begun some of the calls. */
  readonly isAgain?: boolean;
  /** The most calls at once. */
  readonly most?: number | undefined;
  /** Called directly before a call begins, with its index. */
  readonly begins?: (index: number) => void;
  /** Gets each result as soon as it is there; not those that are known when the call is submitted. */
  readonly tell?: (index: number, result: CallResult) => void;
}

interface Queued {
  readonly call: ToolCall;
  readonly index: number;
  readonly result: PromiseWithResolvers<CallResult>;
}

export class Executor {
  readonly #execution: Execution;
  readonly #queue: Queued[] = [];
  readonly #results: Promise<CallResult>[] = [];
  #running = 0;
  /** What runs now may not overlap with others. */
  #isExclusive = false;
  /** The names that running calls give to agents. */
  readonly #naming = new LateSet<string>();
  #isStarting = false;
  hasBegun = false;

  constructor(execution: Execution) {
    this.#execution = execution;
  }

  /** The calls that were submitted. */
  get count(): number {
    return this.#results.length;
  }

  /** `known`: its result, so that it is not run. */
  submit(call: ToolCall, known?: CallResult): void {
    if (known !== undefined) {
      this.#results.push(Promise.resolve(known));
      return;
    }
    const result = Promise.withResolvers<CallResult>();
    // a bug that ends a call is thrown by `results`, which may be called later
    result.promise.catch(() => {});
    this.#queue.push({ call, index: this.#results.length, result });
    this.#results.push(result.promise);
    void this.#startNext();
  }

  /** One for each submitted call, in their order. Never rejects on an abort. */
  results(): Promise<CallResult[]> {
    return Promise.all(this.#results);
  }

  /** Calls that have not begun get their result at once, and do not run. */
  dismiss(): void {
    for (const { result } of this.#queue.splice(0)) result.resolve(NOT_STARTED);
  }

  get #mayStart(): boolean {
    const [next] = this.#queue;
    if (next === undefined) return false;
    if (this.#running === 0) return true;
    const { tools, most = MAX_CONCURRENCY } = this.#execution;
    if (this.#naming.has(namedAgent(next.call) ?? "")) return false;
    return !this.#isExclusive && this.#running < most && mayOverlap(next.call, tools);
  }

  /** A paused process begins no call. Never rejects. */
  async #startNext(): Promise<void> {
    if (this.#isStarting || !this.#mayStart) return;
    this.#isStarting = true;
    await untilResumed(this.#execution.sys);
    this.#isStarting = false;
    while (this.#mayStart) void this.#run(this.#queue.shift() as Queued);
  }

  async #run({ call, index, result }: Queued): Promise<void> {
    const { sys, tools, begins, tell, isAgain = false } = this.#execution;
    this.hasBegun = true;
    this.#running++;
    this.#isExclusive = !mayOverlap(call, tools);
    const name = namedAgent(call);
    if (name !== undefined) this.#naming.add(name);
    begins?.(index);
    try {
      const got = await runCall(sys, tools, { ...call, isAgain });
      tell?.(index, got);
      result.resolve(got);
    } catch (error) {
      result.reject(error);
    } finally {
      this.#running--;
      if (name !== undefined) this.#naming.delete(name);
      void this.#startNext();
    }
  }
}
