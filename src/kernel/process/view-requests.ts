/**
 * What the user asks of the context of a process: its program does it between two steps, and answers. At most one at a
 * time for each process; a second is CONFLICT. Held in memory: what it changes is recorded, and whoever asked is told.
 */
import type { ViewOutcome, ViewRequest } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import { abortable } from "../../lib/abort.ts";
import type { Process } from "./process.ts";

interface Pending {
  readonly id: number;
  readonly request: ViewRequest;
  readonly outcome: PromiseWithResolvers<ViewOutcome>;
}

const PENDING = new WeakMap<object, Pending>();
let last = 0;

/** The request that waits or is under way; null: none. */
export function viewRequestOf(proc: object): { readonly id: number; readonly request: ViewRequest } | null {
  const pending = PENDING.get(proc);
  return pending === undefined ? null : { id: pending.id, request: pending.request };
}

/**
 * Resolves once the program has answered, also with a refusal. CONFLICT: another request is under way. After an abort of
 * `signal` the program may still do it.
 */
export async function askForView(
  proc: Process,
  request: ViewRequest,
  signal: AbortSignal,
): Promise<ViewOutcome> {
  if (PENDING.has(proc)) {
    const message = `process ${proc.pid} is busy with another request about its context`;
    throw new Fault({ code: "CONFLICT", message });
  }
  const pending = { id: ++last, request, outcome: Promise.withResolvers<ViewOutcome>() };
  PENDING.set(proc, pending);
  const gone = proc.done.promise.then(
    () => ended(proc),
    () => ended(proc),
  );
  try {
    proc.mailbox?.disturb();
    return await abortable(Promise.race([pending.outcome.promise, gone]), signal);
  } finally {
    if (PENDING.get(proc) === pending) PENDING.delete(proc);
  }
}

export function answerView(proc: Process, id: number, outcome: ViewOutcome): void {
  const pending = PENDING.get(proc);
  if (pending?.id !== id) return;
  PENDING.delete(proc);
  pending.outcome.resolve(outcome);
}

function ended({ pid }: Process): ViewOutcome {
  return { ok: false, code: "CONFLICT", message: `process ${pid} ended before it could be done` };
}
