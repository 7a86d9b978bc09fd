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
  return async (sys, start) => {
    const run = newRun(sys, start, options);
    return start.session === null ? runOnce(run) : runSession(run);
  };
}

async function runOnce(run: Run): Promise<ExitStatus> {
  const { sys, start } = run;
  let end: Terminal;
  try {
    if (start.restored === null) await begin(run);
    end = (await hasEnded(run)) ? { reason: "completed" } : await untilTerminal(run);
  } catch (error) {
    end = endOfFailure(error, sys.ending.aborted);
  }
  if (run.hasJobs && end.reason !== "aborted") await tellLeftJobs(sys, start.ctxId).catch(() => undefined);
  if (end.reason === "budget_exhausted") logBudget(sys, end.words);
  // so that a person who talks to it later does not begin its run anew
  if (end.reason !== "completed" && end.reason !== "aborted") checkpoint(run, null);
  return exitOf(end);
}

/** Its last word was kept, and its daemon died before it was the exit. */
async function hasEnded({ sys, start, kept }: Run): Promise<boolean> {
  if (start.restored === null || kept !== null || sys.hasMail()) return false;
  return isAtItsEnd((await sys.buildPrompt(start.ctxId)).messages);
}
