/**
 * What an agent process does: it reasons about its intent and ends, or, as a session, about one message after another. All it
 * does to the world is a system call.
 */
import type { ExitStatus } from "../abi/process.ts";
import type { Program } from "../abi/program.ts";
import { isAtItsEnd } from "./checkpoint.ts";
import { endOfFailure, exitOf, type Terminal } from "./decide.ts";
import { tellLeftJobs } from "./left-jobs.ts";
import { type AgentOptions, begin, checkpoint, logBudget, newRun, type Run, untilTerminal } from "./run.ts";
import { runSession } from "./session-runs.ts";

export type { AgentOptions } from "./run.ts";

export function agentProgram(options: AgentOptions): Program {
  return async (context) => {
    const { session } = context;
    return session === null ? runOnce(newRun(context, options)) : runSession(context, session, options);
  };
}

async function runOnce(run: Run): Promise<ExitStatus> {
  const { context } = run;
  let end: Terminal;
  try {
    if (context.restored === null) await begin(run);
    end = (await hasEnded(run)) ? { reason: "completed" } : await untilTerminal(run);
  } catch (error) {
    end = endOfFailure(error, context.signal.aborted);
  }
  if (run.hasJobs && end.reason !== "aborted") await tellLeftJobs(context).catch(() => undefined);
  if (end.reason === "budget_exhausted") logBudget(context, end.words);
  // so that a person who talks to it later does not begin its run anew
  if (end.reason !== "completed" && end.reason !== "aborted") checkpoint(run, null);
  return exitOf(end);
}

/** Its last word was kept, and its daemon died before it was the exit. */
async function hasEnded({ context, kept }: Run): Promise<boolean> {
  const { restored, sys, ctxId } = context;
  if (restored === null || kept !== null || context.sys.hasMail()) return false;
  return isAtItsEnd((await sys.buildPrompt(ctxId)).messages);
}
