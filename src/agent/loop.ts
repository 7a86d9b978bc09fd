/**
 * The reasoning loop: what an agent process does. It asks the model, runs the calls, and stops for a stated reason. All it
 * does to the world is a system call. A reply and all its results enter the context together, so calls stay paired.
 */
import type { Reply } from "../abi/llm.ts";
import type { Program, ProgramContext } from "../abi/program.ts";
import { askModel } from "./attempt.ts";
import { runCalls } from "./calls.ts";
import { callsOf, decide, endOfFailure, exitOf, type Terminal, textOf } from "./decide.ts";
import { environmentText } from "./prompt.ts";
import { ESCALATED_OUTPUT_TOKENS, OUTPUT_TOKENS, turnRequest } from "./request.ts";
import { DEFAULT_MAX_RETRIES } from "./retry.ts";
import { type CallResult, NOT_STARTED } from "./tool-call.ts";
import { type OfferedTools, offeredTools } from "./tools.ts";

export interface AgentOptions {
  /** For the prompt: `linux`. */
  readonly platform: string;
  /** 0 … 1; for the jitter of retries. */
  random(): number;
  /** Retries of one model call; default 10. */
  readonly maxRetries?: number;
}

/** One run. Lives as long as the process. */
interface Run {
  readonly context: ProgramContext;
  readonly options: AgentOptions;
  readonly environment: string;
  tools: OfferedTools | null;
  turn: number;
  requests: number;
  hasEscalated: boolean;
  hasRetriedEmpty: boolean;
}

export function agentProgram(options: AgentOptions): Program {
  return async (context) => {
    const { cwd, clock } = context;
    const environment = environmentText({ cwd, nowMs: clock.now(), platform: options.platform });
    const fresh = { tools: null, turn: 0, requests: 0, hasEscalated: false, hasRetriedEmpty: false };
    const run: Run = { context, options, environment, ...fresh };
    let end: Terminal;
    try {
      end = await untilTerminal(run);
    } catch (error) {
      end = endOfFailure(error, context.signal.aborted);
    }
    if (end.reason === "budget_exhausted") logBudget(context);
    return exitOf(end);
  };
}

async function untilTerminal(run: Run): Promise<Terminal> {
  const { context } = run;
  for (;;) {
    await context.waitIfPaused();
    context.signal.throwIfAborted();
    run.turn++;
    context.onStep(run.turn);
    const end = await reasonStep(run);
    if (end !== undefined) return end;
  }
}

/** One step: a reply that is kept, its calls, and all of it in the context. Undefined: another step follows. */
async function reasonStep(run: Run): Promise<Terminal | undefined> {
  const { context } = run;
  for (;;) {
    const { reply, ...limits } = await ask(run);
    const { turn, hasEscalated, hasRetriedEmpty } = run;
    const { maxSteps: maxTurns, modelDevice: device } = context;
    const account = context.account();
    const decision = decide(
      { turn, maxTurns, ...limits, hasEscalated, hasRetriedEmpty, account, device },
      reply,
    );
    switch (decision.reason) {
      case "empty_reply_retry":
        run.hasRetriedEmpty = true;
        break;
      case "max_output_tokens_escalate":
        run.hasEscalated = true;
        break;
      case "next_turn":
        await keep(run, reply, true);
        return undefined;
      case "max_turns":
        await keep(run, reply, true);
        return context.signal.aborted ? { reason: "aborted" } : decision;
      default:
        await keep(run, reply, false);
        return decision;
    }
    await context.waitIfPaused();
    context.signal.throwIfAborted();
  }
}

async function ask(
  run: Run,
): Promise<{ reply: Reply; maxOutputTokens: number; escalatedOutputTokens: number }> {
  const { context, options } = run;
  context.setActivity("thinking");
  run.tools ??= await offeredTools(context);
  const { request, escalatedOutputTokens } = turnRequest({
    requestId: `r${context.pid}-${run.requests + 1}`,
    model: context.model,
    prompt: await context.sys.buildPrompt(context.ctxId),
    environment: run.environment,
    tools: run.tools.specs,
    account: context.account(),
    wantedOutputTokens: run.hasEscalated ? ESCALATED_OUTPUT_TOKENS : OUTPUT_TOKENS,
  });
  const reply = await askModel(context, request, {
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    hasSucceeded: run.requests > 0,
    random: options.random,
  });
  run.requests++;
  return { reply, maxOutputTokens: request.maxOutputTokens, escalatedOutputTokens };
}

/** The reply and one result per call, as one unit. A call that is not run is answered too. */
async function keep(run: Run, reply: Reply, runsCalls: boolean): Promise<void> {
  const { context, tools } = run;
  const { sys, ctxId } = context;
  if (reply.blocks.length === 0) return;
  const text = textOf(reply.blocks);
  if (text.trim() !== "") context.setResult(text);
  const calls = callsOf(reply.blocks);
  let results: CallResult[] = calls.map(() => NOT_STARTED);
  if (runsCalls && tools !== null) {
    context.setActivity("tool");
    results = await runCalls(context, tools, calls);
  }
  await sys.appendMessage(ctxId, "assistant", text, reply.blocks);
  for (const [i, call] of calls.entries()) {
    const { content, isError } = results[i] ?? NOT_STARTED;
    await sys.appendToolResult(ctxId, call.id, content, isError);
  }
}

function logBudget(context: ProgramContext): void {
  const { used, limit } = context.account();
  // without a limit of its own it was that of a process above
  context.log("warn", `Token budget exceeded: ${limit > 0 ? `${used}/${limit}` : "the parent's is spent"}`);
}
