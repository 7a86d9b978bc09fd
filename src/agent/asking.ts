/** Asks the model for the next reply: tools, prompt and request, the window, and the fallback models. */
import { noteTools } from "../abi/agent.ts";
import { O_RDWR } from "../abi/device.ts";
import { FORK, type ForkOffer, type ForkPrefix } from "../abi/fork.ts";
import type { Block, LlmErrorKind, LlmRequest, Reply } from "../abi/llm.ts";
import type { ToolCall } from "../abi/loop.ts";
import type { RunInput } from "../abi/program.ts";
import type { Memory } from "../abi/surroundings.ts";
import type { ContextMessage, Prompt } from "../abi/sys.ts";
import type { KeptReply } from "./checkpoint.ts";
import { ComingReply, type Listener } from "./coming.ts";
import type { Turn } from "./context/turn.ts";
import { announcement, deltaNote } from "./deferred/announce.ts";
import type { OfferedTools } from "./deferred/offered.ts";
import { targetOf } from "./deferred/target.ts";
import { readInbox } from "./inbox.ts";
import { isReminder } from "./instructions/frame.ts";
import { ModeNotes } from "./mode-notes.ts";
import { askModel } from "./model/attempt.ts";
import { callsOf } from "./model/blocks.ts";
import { bare, hasFallback, markedBy, modelAt, nextFallback } from "./model/in-use.ts";
import type { ReplyReader } from "./model/reply.ts";
import { ESCALATED_OUTPUT_TOKENS, OUTPUT_TOKENS, type TurnRequest, turnRequest } from "./model/request.ts";
import { DEFAULT_MAX_RETRIES } from "./model/retry.ts";
import { type Briefing, briefed, briefingOf, forgetful, forgotten } from "./prompt/briefing.ts";
import type { Run } from "./run-state.ts";
import { continued } from "./state.ts";
import { tokenTargetOf, unmarked } from "./token-target.ts";
import { batchSizes } from "./tools/calls.ts";
import { offeredTools } from "./tools/tools.ts";

/** Records the position before a message that changes it enters the context. */
interface Placing {
  place(): void;
}

/** null: a fallback takes over. `listener`: what is done when calls begin before the end of the reply. */
export async function ask(run: Run, listener: Listener & Placing): Promise<KeptReply | null> {
  const { sys, start } = run;
  sys.setActivity("thinking");
  Object.assign(run, { phase: "streaming", coming: null, told: 0 });
  const tools = await toolsOf(run);
  run.model = await modelAt(sys, start, run.model, run.state.model);
  run.state = { ...run.state, model: run.model.index };
  try {
    const { turn, reply: answer } = await run.keeper.ask({
      ...(await turnOf(run, tools, () => promptOf(run, tools, listener))),
      send: (request) => send(run, request, comingBy(run, { tools, request, listener })),
    });
    const reply = { ...answer, blocks: markedBy(run.model.maker, answer.blocks) };
    run.state = { ...run.state, requests: run.state.requests + 1 };
    const { maxOutputTokens } = turn.request;
    const { hasBegun = false, broken } = run.coming ?? {};
    return {
      reply,
      maxOutputTokens,
      // a reply whose calls have begun stays, even if it is cut off
      escalatedOutputTokens: hasBegun ? maxOutputTokens : turn.escalatedOutputTokens,
      batches: batchSizes(callsOf(reply.blocks), tools),
      ...(broken === undefined ? {} : { broken }),
    };
  } catch (error) {
    if (!(error instanceof FallbackDue)) throw error;
    await switchModel(run, error);
    return null;
  }
}

async function turnOf(run: Run, tools: OfferedTools, promptNow: () => Promise<Prompt>): Promise<Turn> {
  const { sys, start } = run;
  run.briefing ??= await firstBriefing(run, tools);
  const { briefing } = run;
  const prompt = await promptNow();
  sys.offerAside(prefixNow(run, tools));
  return {
    sys,
    start,
    number: run.state.requests + 1,
    prompt,
    renew: (isCut) => {
      if (isCut) run.modeNotes = new ModeNotes();
      return promptNow();
    },
    make: (prompt, mostOutput) => requestOf(run, { tools, briefing, prompt, mostOutput }),
    send: (request) => send(run, request),
    aside: (request) => askAside(run, request),
    model: bare(run.model),
    index: run.model.index,
    target: run.state.target,
    sections: (run.isMemoryOff ? forgetful(briefing) : briefing).sections,
  };
}

/** A turn for a request of the user about the context: nothing is read from the mailbox, and no note is added. */
export async function requestTurn(run: Run): Promise<Turn> {
  return turnOf(run, await toolsOf(run), () => run.sys.buildPrompt(run.start.ctxId));
}

/** What the requests of this process begin with, for a fork of it, and the estimated tokens of the next one. */
export async function prefixOf(run: Run): Promise<{ readonly prefix: ForkPrefix; readonly tokens: number }> {
  const { make, prompt } = await requestTurn(run);
  return { prefix: prefixNow(run, await toolsOf(run)), tokens: make(prompt, Infinity).estimate };
}

function prefixNow({ briefing, isMemoryOff, announced }: Run, { specs: tools }: OfferedTools): ForkPrefix {
  const told = briefing !== null && isMemoryOff ? forgetful(briefing) : briefing;
  const { environment = "", reminder } = told ?? {};
  const prefix = { environment: environment + announced, reminder: reminder?.content ?? "", tools };
  return isMemoryOff ? { ...prefix, isMemoryOff } : prefix;
}

/** What forks that the calls of this reply start begin with; null: none of them does. */
export function offerOf(run: Run, tools: OfferedTools, reply: readonly Block[]): ForkOffer | null {
  const { briefing } = run;
  if (briefing === null || !callsOf(reply).some((call) => isFork(call, briefing))) return null;
  return { prefix: prefixNow(run, tools), reply };
}

/** A fork has the whole reply: so its call begins when that has ended. */
function isFork(call: ToolCall, briefing: Briefing | null): boolean {
  const { name, input } = targetOf(call);
  const { subagent_type: type } = (input ?? {}) as { readonly subagent_type?: unknown };
  if (name !== "agent") return false;
  return type === undefined ? briefing?.forks === true : String(type).toLowerCase() === FORK;
}

async function firstBriefing(run: Run, tools: OfferedTools): Promise<Briefing> {
  const { sys, start, here: place } = run;
  const briefing = await briefingOf(sys, start, {
    place,
    usesAgents: tools.parallel.has("agent"),
    usesSkills: usesSkills(tools),
    mayWrite: mayWriteNotes(run, tools),
    mayKeep: tools.parallel.has("write"),
  });
  run.skills.found(briefing.skills);
  return briefing;
}

/** undefined: it has none, or it is off. */
export function memoryOf({ isMemoryOff, briefing }: Run): Memory | undefined {
  return isMemoryOff ? undefined : briefing?.memory;
}

/** Not with a tool that it has for its own notes alone. */
export function mayWriteNotes({ start }: Run, { parallel }: OfferedTools): boolean {
  return (
    parallel.has("write") && (start.agent === null || !noteTools(start.agent.manifest).includes("write"))
  );
}

function usesSkills({ parallel }: OfferedTools): boolean {
  return parallel.has("skill");
}

/** The model in use has failed, and another may answer in its place. */
class FallbackDue extends Error {
  /** The failure, as the system call threw it. */
  readonly error: unknown;
  readonly kind: LlmErrorKind;

  constructor(error: unknown, kind: LlmErrorKind) {
    super("another model is to answer");
    this.error = error;
    this.kind = kind;
  }
}

/** undefined: calls of the reply begin after its end, as those of a summary never do. */
function comingBy(
  run: Run,
  { tools, request, listener }: { tools: OfferedTools; request: LlmRequest; listener: Listener },
): ((reader: ReplyReader) => ComingReply) | undefined {
  if (run.start.early !== true || request.purpose !== "main") return undefined;
  const { sys, model, options } = run;
  const { maxConcurrency: most } = options;
  const { maxOutputTokens } = request;
  const isLast = (call: ToolCall): boolean => isFork(call, run.briefing);
  const origin = { sys, tools, maxOutputTokens, maker: model.maker, most, isLast };
  return (reader) => {
    run.coming = new ComingReply({ ...origin, reader }, listener);
    return run.coming;
  };
}

/** A summary is asked for without fallbacks: if it fails, so does the request after it, and that one switches. */
async function send(run: Run, request: LlmRequest, coming?: ReturnType<typeof comingBy>): Promise<Reply> {
  const { sys, start, options, model, state } = run;
  const answer = await askModel(sys, model, {
    request,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    hasSucceeded: state.requests > 0,
    hasFallback: request.purpose === "main" && hasFallback(start, model),
    coming,
  });
  if (answer.kind === "fallback") throw new FallbackDue(answer.error, answer.cause);
  return answer.reply;
}

/** Through a file of its own: that of the conversation is busy. */
async function askAside({ sys, model }: Run, request: LlmRequest): Promise<Reply> {
  const fd = await sys.open(model.device, O_RDWR, sys.ending);
  try {
    const asked = { request, maxRetries: 1, hasSucceeded: true, hasFallback: false };
    const answer = await askModel(sys, { ...model, fd }, asked);
    if (answer.kind === "fallback") throw answer.error;
    return answer.reply;
  } finally {
    await sys.close(fd).catch(() => undefined);
  }
}

interface Asking {
  readonly prompt: Prompt;
  readonly tools: OfferedTools;
  readonly briefing: Briefing;
  readonly mostOutput: number;
}

function requestOf(run: Run, { prompt: seen, tools, briefing, mostOutput }: Asking): TurnRequest {
  const { sys, start, state } = run;
  const prompt = unmarked(start, seen);
  const most = start.window?.output ?? ESCALATED_OUTPUT_TOKENS;
  const wanted = state.hasEscalated ? most : (start.window?.output ?? OUTPUT_TOKENS);
  return turnRequest({
    requestId: `r${start.pid}-${state.requests + 1}`,
    model: run.model.model,
    maker: run.model.maker,
    thinking: start.thinking,
    effort: start.effort,
    prompt: run.isMemoryOff ? briefed(forgotten(prompt), forgetful(briefing)) : briefed(prompt, briefing),
    environment: briefing.environment + run.announced,
    tools: tools.specs,
    account: sys.account(),
    wantedOutputTokens: Math.min(wanted, mostOutput),
    mostOutputTokens: most,
  });
}

/** Rejects with the failure of the model in use if no fallback can be opened. */
async function switchModel(run: Run, { error, kind: cause }: FallbackDue): Promise<void> {
  const { sys, start, model: from } = run;
  const to = await nextFallback(sys, start, from);
  if (to === undefined) throw error;
  const change = { from: bare(from), to: bare(to), cause };
  run.model = to;
  run.state = continued(run.state, { reason: "fallback_retry", ...change, index: to.index });
  sys.switches(change);
  await sys.waitIfPaused();
}

/** The prompt of the next request, after pending messages and notes were added to the context. */
function promptOf(run: Run, tools: OfferedTools, { place }: Placing): Promise<Prompt> {
  const { sys, start } = run;
  const { deferred } = tools;
  return sys.unit(async () => {
    const took = (input: RunInput): void => {
      const target = tokenTargetOf(start, input);
      if (target === null) return;
      run.state = { ...run.state, target };
      place();
    };
    await readInbox(sys, start, { client: run.underWay?.client, took });
    const prompt = await toldOfMode(run, await sys.buildPrompt(start.ctxId));
    const found = deferred === undefined ? "" : run.discovery.note(deferred, lastWords(prompt));
    const { note, skills } = await run.nearby.look(sys, prompt.messages);
    if (usesSkills(tools)) run.skills.found(skills);
    const recalled = await run.recall.note(sys, memoryOf(run), prompt.messages);
    const notes = [found, note, run.skills.note(prompt.messages), recalled].filter((each) => each !== "");
    for (const each of notes) await sys.appendMessage(start.ctxId, "user", each);
    return notes.length === 0 ? prompt : sys.buildPrompt(start.ctxId);
  });
}

/** Adds a note to the context when auto or plan mode begins or ends. */
async function toldOfMode(run: Run, prompt: Prompt): Promise<Prompt> {
  const { sys, start } = run;
  if (start.modes === undefined) return prompt;
  if (run.modeNotes === null) {
    run.modeNotes = new ModeNotes();
    run.modeNotes.recall(prompt.messages);
  }
  const note = run.modeNotes.note(sys.standing());
  if (note === "") return prompt;
  await sys.appendMessage(start.ctxId, "user", note);
  return sys.buildPrompt(start.ctxId);
}

/** The newest message of the user or the model; tool results do not count. */
function lastWords({ messages }: Prompt): string {
  const isSaid = ({ role, content }: ContextMessage): boolean =>
    role === "assistant" || (role === "user" && !isReminder(content));
  return messages.findLast(isSaid)?.content ?? "";
}

/** The tools of the process, listed once; this also fixes the announcement of the deferred ones. */
export async function toolsOf(run: Run): Promise<OfferedTools> {
  if (run.tools !== null) return run.tools;
  const { sys, start, options } = run;
  const tools = await offeredTools(sys, start, options.deferred);
  if (tools.deferred !== undefined) {
    const text = announcement(tools.deferred.names());
    // what a fork is told of its surroundings has it already
    if (text !== "" && start.fork === undefined) run.announced = `\n\n${text}`;
    if (start.restored !== null || start.fork !== undefined)
      run.discovery.recall((await sys.buildPrompt(start.ctxId)).messages);
  }
  run.tools = start.fork === undefined ? tools : { ...tools, specs: start.fork.tools };
  return run.tools;
}

/** Called before a run of a session: adds a note if MCP servers were added or removed since the last run. */
export async function tellChanges(run: Run): Promise<void> {
  const { sys, start, tools } = run;
  if (tools?.deferred === undefined) return;
  const note = deltaNote(await tools.deferred.refresh(sys));
  if (note !== "") await sys.appendMessage(start.ctxId, "user", note);
}
