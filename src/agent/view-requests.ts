/**
 * What is asked of the context of a process: by the user, done between two steps of its loop; by the model, done once the
 * calls of its reply have ended. A refusal never ends the run.
 */
import type { ViewOutcome, ViewRequest, ViewWish } from "../abi/context.ts";
import { codeOf, Fault, messageOf } from "../abi/errors.ts";
import { requestTurn } from "./asking.ts";
import { type CallResult, failure } from "./program/tool-call.ts";
import type { Run } from "./run-state.ts";

/** Whether something has changed, so that the position has to be recorded. */
export async function doViewRequests(run: Run): Promise<boolean> {
  const { sys, start } = run;
  let isChanged = false;
  if (start.viewRequests !== true) return isChanged;
  while (sys.hasViewRequest()) {
    const asked = await sys.viewRequest();
    if (asked === null) continue;
    sys.setActivity("thinking");
    const outcome = await outcomeOf(run, asked.request);
    isChanged ||= outcome.ok;
    sys.viewAnswer(asked.id, outcome);
  }
  return isChanged;
}

async function outcomeOf(run: Run, request: ViewRequest): Promise<ViewOutcome> {
  try {
    const turn = await requestTurn(run);
    return { ok: true, ...(await change(run, request, turn)) };
  } catch (error) {
    run.sys.ending.throwIfAborted();
    const hint = error instanceof Fault ? error.hint : undefined;
    const more = hint === undefined ? {} : { hint };
    return { ok: false, code: codeOf(error), message: messageOf(error), ...more };
  }
}

function change(run: Run, request: ViewRequest, turn: Awaited<ReturnType<typeof requestTurn>>) {
  const { keeper, start } = run;
  switch (request.op) {
    case "memory": {
      const tokens = (): number => turn.make(turn.prompt, Infinity).estimate;
      const before = tokens();
      run.isMemoryOff = !request.on;
      keeper.prefixChanged();
      return { before, after: tokens() };
    }
    case "offer":
      return { before: 0, after: 0 };
    case "compact":
      return keeper.compact(turn, request.text, request.part);
    case "snip":
      return keeper.snip(turn, request.messages);
    case "undo":
      return keeper.undo(turn);
    case "clear":
      if (start.session === null || run.underWay !== null)
        throw new Fault({
          code: "CONFLICT",
          message: "only a session that waits for a message can be cleared",
        });
      return keeper.clear(turn);
    case "pin":
      return keeper.pin(turn, request.message);
    case "unpin":
      return keeper.unpin(turn, request.message);
  }
}

/** The results, with what came of those that ask something of the view. */
export async function doViewWishes(run: Run, results: readonly CallResult[]): Promise<readonly CallResult[]> {
  const done: CallResult[] = [];
  for (const { wish, ...result } of results)
    done.push(wish === undefined ? result : { ...result, ...(await granted(run, wish)) });
  return done;
}

async function granted(run: Run, wish: ViewWish): Promise<CallResult> {
  try {
    return { content: await did(run, wish), isError: false };
  } catch (error) {
    run.sys.ending.throwIfAborted();
    const hint = error instanceof Fault ? error.hint : undefined;
    return failure(codeOf(error), messageOf(error), hint);
  }
}

async function did(run: Run, wish: ViewWish): Promise<string> {
  const { keeper } = run;
  const turn = await requestTurn(run);
  switch (wish.op) {
    case "list":
      return keeper.list(turn);
    case "snip": {
      const { before, after } = await keeper.snipOwn(turn, wish.messages);
      return after < before
        ? `They have left your view: about ${before - after} tokens are free again.`
        : "They had left your view before: nothing was freed.";
    }
    case "pin": {
      const numbers = await keeper.pinOwn(turn, wish.messages, wish.text);
      return numbers.length === 0 ? "Pinned already." : `Pinned, as ${numbers.join(", ")}.`;
    }
    case "unpin":
      await keeper.unpinOwn(turn, wish.messages);
      return "No longer pinned.";
  }
}
