/**
 * A session: a process that the user talks to. Each message starts one run; then the process waits for the next. An
 * interrupt, a failure or a limit ends the run, not the session. The start of a run is recorded before its message
 * enters the context, and its end after its last reply: wherever the daemon dies, each message is answered exactly
 * once.
 */
import { messageOf } from "../abi/errors.ts";
import { INTERRUPTED_NOTE } from "../abi/events.ts";
import { PID_KERNEL } from "../abi/ids.ts";
import { ENDS, exitOf, type Terminal } from "../abi/loop.ts";
import type { Message } from "../abi/mail.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import type { ProgramStart, RunInput } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { findShellNote } from "../lib/text/shell-line.ts";
import { mayWriteNotes, memoryOf, prefixOf, tellChanges } from "./asking.ts";
import { finishedCalls, isAtItsEnd } from "./checkpoint.ts";
import { endOfFailure } from "./decide.ts";
import { pinFileTexts } from "./file-pins.ts";
import { inputOf, messageText } from "./inbox.ts";
import { callsOf } from "./model/blocks.ts";
import { salvagedBlocks } from "./model/salvage.ts";
import { NOT_STARTED } from "./program/tool-call.ts";
import { abortedIn, begin, checkpoint, endOf, keep, loadTyped, logBudget, untilTerminal } from "./run.ts";
import type { Run } from "./run-state.ts";
import { initialPromptOf, skillTyped, slashLines } from "./skills/typed.ts";
import { freshState } from "./state.ts";
import { tokenTargetOf } from "./token-target.ts";
import { doViewRequests } from "./view-requests.ts";

/** How a run begins: with a message it has read, with the intent, or, in a later daemon, in the middle. */
type Beginning =
  | {
      readonly kind: "message";
      readonly input: RunInput;
      readonly text: string;
      readonly media: Message["media"];
    }
  | { readonly kind: "intent"; readonly input: RunInput; readonly isNew: boolean }
  | { readonly kind: "middle"; readonly input: RunInput };

/** Runs until the process ends or is unloaded from memory. */
export async function runSession(run: Run): Promise<ExitStatus> {
  const { sys, start } = run;
  try {
    if (start.restored === null) await begin(run);
    await pinFileTexts(run);
    let next = await underWay(run);
    for (;;) {
      if (next === null && (await doViewRequests(run))) checkpoint(run, null);
      const beginning = next ?? (await nextMessage(sys, start));
      next = null;
      if (beginning !== null) await oneRun(run, beginning);
    }
  } catch (error) {
    return exitOf(endOfFailure(error, abortedIn(run, sys.ending)));
  }
}

/** How to resume, or start, the run that is due; null: no run is due, it waits for a message. */
async function underWay(run: Run): Promise<Beginning | null> {
  const { sys, start } = run;
  const { restored, intent, session } = start;
  const input = { seq: 0, from: PID_KERNEL, client: session?.client ?? "", text: intent };
  if (restored === null) return intent === "" ? null : { kind: "intent", input, isNew: true };
  const place = run.underWay;
  // its message has not entered the context: it is the next one to be read
  if (place !== null && sys.isQueued(place.seq)) return forget(run);
  const hasBegun = place !== null || (restored.state === null && intent !== "");
  if (!hasBegun) return closeKept(run);
  const { messages } = await sys.buildPrompt(start.ctxId);
  if (run.kept === null && isAtItsEnd(messages)) return forget(run);
  if (place === null) return { kind: "intent", input, isNew: false };
  return { kind: "middle", input: { ...place, text: "" } };
}

function forget(run: Run): null {
  run.underWay = null;
  run.kept = null;
  run.state = { ...run.state, recoveries: 0, pauses: 0 };
  checkpoint(run, null);
  return null;
}

/**
 * The last run ended in the middle of a step: the known results of its calls enter the context, and no call is made.
 */
async function closeKept(run: Run): Promise<null> {
  const { kept } = run;
  const { restored } = run.start;
  if (kept === null || restored === null) return null;
  const done = finishedCalls(restored, kept.batches, callsOf(kept.reply.blocks));
  const results = callsOf(kept.reply.blocks).map((_, index) => done.get(index) ?? NOT_STARTED);
  await keep(run, { reply: kept.reply, results, restored });
  return forget(run);
}

/** null: the message is blank or a shell line, which starts no run, or the user asks something of the context instead. */
async function nextMessage(sys: Sys, { viewRequests, ctxId }: ProgramStart): Promise<Beginning | null> {
  sys.setActivity("waiting");
  const message = await received(sys, viewRequests === true);
  if (message === null) return null;
  const text = messageText(message);
  if (message.from === PID_KERNEL && findShellNote(text) !== undefined) {
    await sys.unit(() => sys.appendMessage(ctxId, "user", text));
    sys.joinRun(inputOf(message));
    return null;
  }
  if (text.trim() === "") return null;
  return { kind: "message", input: inputOf(message), text, media: message.media };
}

async function received(sys: Sys, orViewRequest: boolean): Promise<Message | null> {
  try {
    return await sys.recv(orViewRequest ? { orViewRequest } : {}, sys.ending);
  } catch (error) {
    if (!orViewRequest || sys.ending.aborted || !sys.hasViewRequest()) throw error;
    return null;
  }
}

async function oneRun(run: Run, beginning: Beginning): Promise<void> {
  const { sys } = run;
  const { input } = beginning;
  const isNew = beginning.kind !== "middle";
  if (isNew) {
    const { text: _, ...underWay } = input;
    Object.assign(run, { underWay, kept: null, pieces: null });
    run.state = freshState(run.state.requests, tokenTargetOf(run.start, input));
    checkpoint(run, null);
  }
  run.sys = sys.beginRun(input, beginning.kind === "message" || (isNew && beginning.isNew));
  const end = await endOfRun(run, beginning);
  const { ending } = run.sys;
  run.sys = sys;
  sys.ending.throwIfAborted();
  if (ending.aborted) await noteInterrupt(run);
  if (end.reason === "budget_exhausted") logBudget(sys, end.words);
  forget(run);
  await sys.endRun(end.reason, exitOfRun(end));
  if (end.reason === "completed") await takeNotes(run);
}

/** Not while a message waits. A failure changes nothing else. */
async function takeNotes(run: Run): Promise<void> {
  const { sys, start, notes, tidier } = run;
  const memory = memoryOf(run);
  const mayWrite = run.tools !== null && mayWriteNotes(run, run.tools);
  if (memory === undefined || !mayWrite || sys.hasMail()) return;
  const source = { sys, memory, prefix: () => prefixOf(run) };
  try {
    if (memory.isTaken === true) await notes.take({ ...source, ctxId: start.ctxId });
    await tidier.look({ ...source, cwd: start.cwd });
  } catch (error) {
    sys.ending.throwIfAborted();
    sys.log("info", `memory: notes were left as they are: ${messageOf(error)}`);
  }
}

async function endOfRun(run: Run, beginning: Beginning): Promise<Terminal> {
  const { sys, start } = run;
  try {
    const initial = await initialOf(run);
    if (beginning.kind === "message")
      await sys.unit(async () => {
        // without deferred tools there are no changes to report
        if (run.tools?.deferred !== undefined) await tellChanges(run);
        const text = `${initial}${beginning.text}`;
        await sys.appendMessage(start.ctxId, "user", text, undefined, beginning.media);
      });
    await loadSkill(run, beginning, initial);
    return await untilTerminal(run);
  } catch (error) {
    return endOf(run, error);
  }
}

/** What stands before the first message that a session without an intent reads; "": nothing. */
async function initialOf({ sys, start, state }: Run): Promise<string> {
  const initial = initialPromptOf(start);
  if (initial === undefined || start.intent !== "" || state.requests > 0) return "";
  const { messages } = await sys.buildPrompt(start.ctxId);
  return messages.some(({ content }) => content.startsWith(initial)) ? "" : `${initial}\n\n`;
}

/** The skills that the user, or the initial prompt, calls with the message. */
async function loadSkill(run: Run, beginning: Beginning, initial: string): Promise<void> {
  const { sys, start } = run;
  if (beginning.kind === "intent") return loadTyped(run);
  if (beginning.kind !== "message" || beginning.input.from !== PID_KERNEL) return;
  for (const line of slashLines(start, `${initial}${beginning.text}`)) {
    const note = await skillTyped(sys, line);
    if (note !== "") await sys.unit(() => sys.appendMessage(start.ctxId, "user", note));
  }
}

/** Keeps the complete blocks of the interrupted reply, and adds a note that the run was interrupted. */
async function noteInterrupt({ sys, start, keeper, model }: Run): Promise<void> {
  const { ctxId } = start;
  const blocks = keeper.isAside ? [] : await salvagedBlocks(sys, model.fd);
  await sys.unit(async () => {
    const { messages } = await sys.buildPrompt(ctxId);
    if (messages.at(-1)?.content === INTERRUPTED_NOTE) return;
    const text = blocks.map((block) => block.text).join("\n");
    if (text.trim() !== "") await sys.appendMessage(ctxId, "assistant", text, blocks);
    await sys.appendMessage(ctxId, "user", INTERRUPTED_NOTE);
  });
  const text = blocks.map((block) => block.text).join("\n");
  if (text.trim() === "") return;
  sys.setResult(text);
  sys.reply(text);
}

function exitOfRun(end: Terminal): ExitStatus {
  if (ENDS[end.reason].outcome !== "interrupted") return exitOf(end);
  return { ...EXIT.sigint, reason: "interrupted by the user" };
}
