/**
 * One run: it asks the model, runs the calls, and stops for a stated reason. A reply and all its results enter the
 * context together, so that every call in the context has its result.
 */
import { unframed } from "../abi/child.ts";
import type { Block, Reply } from "../abi/llm.ts";
import { type Continue, isTerminal, type Terminal } from "../abi/loop.ts";
import type { Restored } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { counted } from "../lib/text/counted.ts";
import { ask, offerOf, toolsOf } from "./asking.ts";
import { answeredIn, type Broken, finishedCalls, type KeptReply, positionOf } from "./checkpoint.ts";
import { takeChosen } from "./chosen-model.ts";
import { decide, endOfFailure, type Phase, type TurnFacts, unfinishedCall } from "./decide.ts";
import type { OfferedTools } from "./deferred/offered.ts";
import { takeInput } from "./input.ts";
import { callsOf, textOf } from "./model/blocks.ts";
import { afterCalls, askedAgain, hopeless, isHopeless } from "./model/malformed.ts";
import { droppedNote, lastPieces, PAUSE_NOTE, RESUME_NOTE, resumed } from "./pieces.ts";
import { type CallResult, NOT_STARTED } from "./program/tool-call.ts";
import { afterReply, givenUp, isGivenUp } from "./refusals.ts";
import { dropMedia } from "./refused-media.ts";
import type { Run } from "./run-state.ts";
import { skillTyped, slashLines, typedFirst } from "./skills/typed.ts";
import { continued, piecesOf } from "./state.ts";
import { finishUp, nudge, progress } from "./token-target.ts";
import { batchSizes, cutOff, untilResumed } from "./tools/calls.ts";
import { type Execution, Executor } from "./tools/executor.ts";
import { fitTurn } from "./tools/turn-budget.ts";
import { doViewRequests, doViewWishes } from "./view-requests.ts";

export async function untilTerminal(run: Run): Promise<Terminal> {
  const { sys, start } = run;
  for (let isFirst = true; ; isFirst = false) {
    await sys.waitIfPaused();
    sys.ending.throwIfAborted();
    if (run.kept === null) {
      // a session goes on with another model from its next run on
      const mayTake = isFirst || start.session === null;
      const isOther = mayTake && (await takeChosen(run));
      if ((await doViewRequests(run)) || isOther) checkpoint(run, null);
      run.state = { ...run.state, turn: run.state.turn + 1 };
      sys.onStep(run.state.turn);
    }
    const end = await reasonStep(run);
    if (end !== undefined) return end;
  }
}

/** Runs before the first step. Reads the input even while the process is paused: it is stored nowhere else. */
export async function begin(run: Run): Promise<void> {
  const { sys, start } = run;
  if (start.input === null) return;
  const text = await takeInput(sys, start.input);
  if (text !== "") await sys.unit(() => sys.appendMessage(start.ctxId, "user", text));
  checkpoint(run, null);
}

/** Loads the skills that the first message calls, unless an earlier daemon has done so. */
export async function loadTyped({ sys, start }: Run): Promise<void> {
  for (const line of slashLines(start, start.intent)) {
    const { messages } = await sys.buildPrompt(start.ctxId);
    const note = await skillTyped(sys, typedFirst(messages, line));
    if (note !== "") await sys.unit(() => sys.appendMessage(start.ctxId, "user", note));
  }
}

export function checkpoint(run: Run, kept: KeptReply | null): void {
  run.sys.checkpoint(placeOf(run, kept));
}

/** For a checkpoint that is recorded together with something else. */
export function placeOf(run: Run, kept: KeptReply | null): unknown {
  run.hasToldReply = kept !== null;
  return positionOf(run.state, besideOf(run), kept);
}

function besideOf({ underWay, keeper, start, notes, tidier, ...flags }: Run) {
  const { hasAgents, isIdle, isLeaving, isMemoryOff } = flags;
  const { chosen } = start;
  const own = { hasAgents, isIdle, isLeaving, isMemoryOff };
  return {
    run: underWay,
    window: keeper.state,
    chosen,
    noted: notes.done,
    isCounted: tidier.isCounted,
    ...own,
  };
}

/**
 * One step: gets a usable reply, runs its calls, and adds all of it to the context. Undefined: another step follows.
 */
async function reasonStep(run: Run): Promise<Terminal | undefined> {
  const { sys, start } = run;
  for (;;) {
    const restored = run.kept === null ? null : start.restored;
    const kept = run.kept ?? (await nextReply(run));
    run.kept = null;
    // another model is to answer
    if (kept === null) continue;
    const { reply } = kept;
    const decision = decide(run.state, factsOf(run, kept), reply);
    if (isTerminal(decision)) return finished(run, decision, { kept, restored });
    switch (decision.reason) {
      case "empty_reply_retry":
      case "max_output_tokens_escalate":
        run.state = continued(run.state, decision, reply);
        break;
      case "pause_turn":
        await keepPiece(run, decision, { reply, results: [], restored, note: PAUSE_NOTE });
        break;
      case "max_output_tokens_recovery":
        sys.log("warn", resumed(decision.attempt, kept.maxOutputTokens));
        await keepPiece(run, decision, { reply: withWords(reply), results: [], restored, note: RESUME_NOTE });
        break;
      case "reply_salvaged":
      case "next_turn": {
        if (kept.broken !== undefined) sys.log("warn", salvaged(kept.broken, decision));
        await tellReply(run, reply, false);
        const results = await resultsOf(run, kept, restored);
        await keepCalls(run, decision, { reply, results, restored });
        return endAfterCalls(run);
      }
      case "mail":
        await tellReply(run, reply, false);
        run.state = continued(run.state, decision, reply);
        await keep(run, { reply, results: [], restored });
        checkpoint(run, null);
        return undefined;
      case "token_budget_continuation":
        await keepAndNudge(run, decision, { kept, restored });
        return undefined;
    }
    await sys.waitIfPaused();
    sys.ending.throwIfAborted();
  }
}

function factsOf(
  { sys, start, model, underWay }: Run,
  { maxOutputTokens, escalatedOutputTokens, broken }: KeptReply,
): TurnFacts {
  const maxTurns = underWay?.maxSteps ?? start.maxSteps;
  const { device } = model;
  const [account, hasMail] = [sys.account(), sys.hasMail()];
  return { maxTurns, maxOutputTokens, escalatedOutputTokens, hasMail, account, device, broken };
}

function salvaged({ words }: Broken, decision: Continue): string {
  const { blocks } = decision as Extract<Continue, { reason: "reply_salvaged" }>;
  return `model: the reply broke off (${words}); what had come stays, ${counted(blocks, "block")}`;
}

/** The last reply of a run: its calls are executed if the step limit alone ends it; those that have begun are ended. */
async function finished(
  run: Run,
  end: Terminal,
  { kept, restored }: { readonly kept: KeptReply; readonly restored: Restored | null },
): Promise<Terminal> {
  const { reply } = kept;
  const { target } = run.state;
  if (target !== null && end.reason === "completed") run.sys.log("warn", progress(target, reply));
  await tellReply(run, reply, true);
  const hasAll = end.reason === "max_turns";
  const results = hasAll ? await resultsOf(run, kept, restored) : await begunOf(run);
  await keep(run, { reply, results, restored });
  return (hasAll || results.length > 0) && run.sys.ending.aborted ? { reason: "aborted_tools" } : end;
}

/**
 * Adds a part of a reply to the context: the model goes on from there. That it is only a part is recorded before, so
 * that a later daemon does not take it for the last reply.
 */
async function keepPiece(run: Run, next: Continue, piece: Finished): Promise<void> {
  const { sys, start } = run;
  const pieces = await piecesBefore(run);
  run.state = continued(run.state, next, piece.reply);
  checkpoint(run, null);
  sys.replied(piece.reply);
  const text = textOf(piece.reply.blocks);
  if (start.session !== null && text.trim() !== "") sys.reply(text);
  await keep(run, piece);
  run.pieces = [...pieces, text];
}

/** Adds a reply and the results of its calls to the context. */
async function keepCalls(run: Run, next: Continue, step: Finished): Promise<void> {
  const { target } = run.state;
  run.state = continued(run.state, next, step.reply);
  const notes = [droppedNote(step.reply).note, finishUp(target, run.state.target)];
  const note = notes.filter((each) => each !== undefined).join("\n\n");
  await keep(run, note === "" ? step : { ...step, note });
}

/**
 * The run would end here, but the user wants more. The reply is recorded with the position before it enters the context, so that a
 * later daemon neither takes it for the last one nor counts it twice.
 */
async function keepAndNudge(
  run: Run,
  next: Continue,
  { kept, restored }: { readonly kept: KeptReply; readonly restored: Restored | null },
): Promise<void> {
  const { reply } = kept;
  checkpoint(run, kept);
  await tellReply(run, reply, false);
  run.state = continued(run.state, next, reply);
  const { target } = run.state;
  if (target === null) return;
  run.sys.log("warn", progress(target));
  await keep(run, { reply, results: [], restored, note: nudge(target) });
}

/** The reply without thoughts that lead to nothing: a provider would refuse them as a whole message. */
function withWords(reply: Reply): Reply {
  return textOf(reply.blocks).trim() === "" ? { ...reply, blocks: [] } : reply;
}

/** Ends the run after too many refused or malformed calls in a row. Undefined: the model is asked again. */
function endAfterCalls({ sys, model, state }: Run): Terminal | undefined {
  const { refusals, malformed } = state;
  if (isGivenUp(refusals)) return { reason: "denied", error: givenUp(refusals) };
  if (isHopeless(malformed)) return { reason: "model_error", error: hopeless(malformed, model.device) };
  if (malformed.replies > 0) sys.log("warn", askedAgain(malformed));
  return undefined;
}

/** The results of the calls that began before the end of their reply. */
async function begunOf({ coming }: Run): Promise<readonly CallResult[]> {
  if (coming?.hasBegun !== true) return [];
  coming.executor.dismiss();
  return coming.executor.results();
}

/**
 * Emits the text of a reply, as far as it was not shown yet. Outside a session the last one is the result of the process, so it is not emitted here.
 */
async function tellReply(run: Run, reply: Reply, isLast: boolean): Promise<void> {
  const { sys, start } = run;
  sys.replied(reply);
  const text = textOf(reply.blocks.slice(run.told));
  if (start.session !== null && text.trim() !== "") sys.reply(text);
  if (start.session !== null || isLast) return;
  const whole = [...(await piecesBefore(run)), text].join("");
  if (whole.trim() !== "") sys.said(whole);
}

/** Emits the text of the first blocks of a reply; they have a call, so it is not the last reply. */
function tellPart(run: Run, blocks: readonly Block[], upTo: number): void {
  const { sys, start } = run;
  const text = textOf(blocks.slice(run.told, upTo));
  run.told = Math.max(run.told, upTo);
  if (text.trim() === "") return;
  if (start.session === null) sys.said(text);
  else sys.reply(text);
}

/**
 * A reply is recorded before anything follows from it: before its calls run, and before the wait of a process that was
 * paused meanwhile. A reply that would end the run waits there, too.
 */
async function nextReply(run: Run): Promise<KeptReply | null> {
  const { sys } = run;
  const kept = await ask(run, {
    keep: (open) => {
      Object.assign(run, { phase: "tools", hasToldReply: true });
      sys.setActivity("tool");
      const state = { ...run.state, requests: run.state.requests + 1 };
      sys.checkpoint(positionOf(state, besideOf(run), open));
    },
    tell: (blocks, upTo) => tellPart(run, blocks, upTo),
    place: () => checkpoint(run, null),
  });
  if (kept === null) return null;
  // its blocks are recorded already
  if (run.coming?.hasBegun === true) {
    await untilResumed(sys);
    return kept;
  }
  if (callsOf(kept.reply.blocks).length > 0 || sys.isPaused()) checkpoint(run, kept);
  await untilResumed(sys);
  return kept;
}

/**
 * Runs the calls. Those with a result from an earlier daemon are not repeated; one with an unknown outcome stays
 * unknown.
 */
async function resultsOf(
  run: Run,
  kept: KeptReply,
  restored: Restored | null,
): Promise<readonly CallResult[]> {
  const { sys } = run;
  const { blocks } = kept.reply;
  const said = textOf(blocks);
  if (said.trim() !== "") sys.setResult(said);
  const tools = await toolsOf(run);
  const calls = callsOf(blocks);
  const tell = (call: number, { malformed: _, ...result }: CallResult): void =>
    sys.addToCheckpoint({ call, ...result });
  const done = new Map(restored === null ? [] : finishedCalls(restored, kept.batches, calls));
  // the tools may differ now, and so which calls run together
  if (restored !== null) checkpoint(run, { ...kept, batches: batchSizes(calls, tools) });
  const cut = unfinishedCall(kept.reply);
  if (cut !== undefined) done.set(cut, cutOff(sys, calls[cut]));
  for (const [call, result] of done) tell(call, result);
  sys.setActivity("tool");
  run.phase = "tools";
  const offer = offerOf(run, tools, blocks);
  if (offer !== null) sys.offerFork(offer);
  const executor = executorOf(run, tools, { tell, isAgain: restored !== null });
  for (const [index, call] of calls.entries())
    if (index >= executor.count) executor.submit(call, done.get(index));
  const results = await executor.results();
  if (offer !== null) sys.offerFork(null);
  if (results.some(({ hasJob }) => hasJob === true)) run.hasJobs = true;
  if (results.some(({ hasAgent }) => hasAgent === true)) run.hasAgents = true;
  if (results.some(({ leaves }) => leaves === true)) run.isLeaving = true;
  if (run.start.surroundings === true) {
    run.nearby.touched(calls);
    run.skills.touched(calls);
  }
  const { refusals, malformed } = run.state;
  run.state = {
    ...run.state,
    refusals: afterReply(refusals, results),
    malformed: afterCalls(malformed, results),
  };
  return fitTurn(sys, await doViewWishes(run, results));
}

/** The one that runs the first calls already, if the reply came in parts. */
function executorOf(run: Run, tools: OfferedTools, how: Pick<Execution, "tell" | "isAgain">): Executor {
  const { sys, options, coming } = run;
  if (coming?.hasBegun === true) return coming.executor;
  return new Executor({ sys, tools, most: options.maxConcurrency, ...how });
}

/** A reply and the results of its calls. `restored` is set if it may already be in the context. */
interface Finished {
  readonly reply: Reply;
  readonly results: readonly CallResult[];
  readonly restored: Restored | null;
  /** What the model is told after it. */
  readonly note?: string;
}

/** The phase in which the run is aborted; null: it is not. `ending`: of the process, or of a run in a session. */
export function abortedIn({ phase }: Run, { aborted }: AbortSignal): Phase | null {
  return aborted ? phase : null;
}

/** How the run ends after a failure. What the model has refused to look at is not sent to it again. */
export async function endOf(run: Run, error: unknown): Promise<Terminal> {
  const { sys, start } = run;
  const end = endOfFailure(error, abortedIn(run, sys.ending));
  if (end.reason === "image_error") await dropMedia(sys, start.ctxId, end.error);
  return end;
}

/** Adds the reply and one result per call to the context, as one unit. Calls that did not run get a result too. */
export async function keep(run: Run, { reply, results, restored, note }: Finished): Promise<void> {
  const { sys, start } = run;
  const { ctxId } = start;
  if (reply.blocks.length === 0 && note === undefined) return;
  const text = textOf(reply.blocks);
  const whole = [...(await piecesBefore(run)), text].join("");
  if (whole.trim() !== "") sys.setResult(whole);
  await sys.unit(async () => {
    const messages = restored === null ? [] : (await sys.buildPrompt(ctxId)).messages;
    const isTold = note !== undefined && messages.at(-1)?.content === note;
    const answered = restored === null ? null : answeredIn(isTold ? messages.slice(0, -1) : messages, reply);
    if (answered === null && reply.blocks.length > 0)
      await sys.appendMessage(ctxId, "assistant", text, reply.blocks);
    for (const [i, call] of callsOf(reply.blocks).entries()) {
      const { content, isError, media } = results[i] ?? NOT_STARTED;
      if (answered?.has(call.id) !== true)
        await sys.appendToolResult(ctxId, call.id, unframed(content), isError, media);
    }
    if (note !== undefined && !isTold) await sys.appendMessage(ctxId, "user", note);
    if (run.hasToldReply) checkpoint(run, null);
  });
}

/** The pieces of the reply in progress; after a restart, from the end of the conversation. */
async function piecesBefore(run: Run): Promise<readonly string[]> {
  const { sys, start, state } = run;
  if (piecesOf(state) === 0) return [];
  run.pieces ??= lastPieces((await sys.buildPrompt(start.ctxId)).messages);
  return run.pieces;
}

/** `words`: the message of the refused model call; "" where the limit was reached without one. */
export function logBudget(sys: Sys, words = ""): void {
  // messages about other limits are complete; for tokens, the line below is the one users search for
  if (/^(budget exceeded|the price of)/.test(words) && !words.endsWith("tokens")) {
    sys.log("warn", words);
    return;
  }
  const { used, limit } = sys.account();
  // without a limit of its own, the limit of an ancestor was reached
  sys.log("warn", `Token budget exceeded: ${limit > 0 ? `${used}/${limit}` : "the parent's is spent"}`);
}
