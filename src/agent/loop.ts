/**
 * The program of an agent process: it works on its intent and ends, or, as a session, answers one message after
 * another. It acts on the world only through system calls.
 */
import { ENDS, exitOf, type Terminal } from "../abi/loop.ts";
import type { ExitStatus } from "../abi/process.ts";
import type { Program, ProgramStart } from "../abi/program.ts";
import type { Sys } from "../abi/sys.ts";
import { isAtItsEnd } from "./checkpoint.ts";
import { pinFileTexts } from "./file-pins.ts";
import { tellLeftJobs } from "./left-jobs.ts";
import { release } from "./model/in-use.ts";
import { begin, checkpoint, endOf, loadTyped, logBudget, untilTerminal } from "./run.ts";
import { type AgentOptions, newRun, type Run } from "./run-state.ts";
import { runSession } from "./session-runs.ts";
import { untilWanted } from "./team.ts";
import { runTidying } from "./tidying.ts";

export type { AgentOptions } from "./run-state.ts";

export function agentProgram(options: AgentOptions): Program {
  return async (sys, start) => {
    const run = newRun(sys, start, options);
    const tidies = start.fork?.tidies;
    if (tidies !== undefined) return runTidying(run, tidies);
    return start.session === null ? runOnce(run) : runSession(run);
  };
}

async function runOnce(run: Run): Promise<ExitStatus> {
  const { sys, start } = run;
  let end: Terminal;
  try {
    if (start.restored === null) await begin(run);
    await pinFileTexts(run);
    await loadTyped(run);
    const isOver = await hasEnded(run);
    if (!isOver) run.isIdle = false;
    end = isOver ? { reason: "completed" } : await untilTerminal(run);
    while (end.reason === "completed" && (await hasMore(run))) end = await untilTerminal(run);
  } catch (error) {
    end = await endOf(run, error);
  }
  const { outcome } = ENDS[end.reason];
  if (run.hasJobs && outcome !== "interrupted") await tellLeftJobs(sys, start.ctxId).catch(() => undefined);
  await release(sys, run.model);
  if (end.reason === "budget_exhausted") logBudget(sys, end.words);
  // so that a later message of the user does not restart this run
  if (outcome !== "completed" && outcome !== "interrupted") checkpoint(run, null);
  return exitOf(end);
}

/** What works beside it is part of its work: the end of each agent brings a message. */
async function hasMore(run: Run): Promise<boolean> {
  return (await untilToldOfChildren(run)) || (await untilWanted(run));
}

/** A sleep of the kernel lasts at most an hour. */
const SLEEP_MS = 3_600_000;

/** False: no agent works for it in the background; a member of its team that has nothing to do does not. */
async function untilToldOfChildren({ sys, start, hasAgents }: Run): Promise<boolean> {
  if (!hasAgents) return false;
  sys.setActivity("waiting");
  while (!sys.hasMail()) {
    if (!(await hasChildren(sys, start))) return sys.hasMail();
    await sys.sleep(SLEEP_MS, sys.ending);
  }
  return true;
}

async function hasChildren(sys: Sys, { ownAgents }: ProgramStart): Promise<boolean> {
  // the answer is recorded: one row, however many agents there are
  if (ownAgents === true) return (await sys.listProcs({ working: true, limit: 1 })).length > 0;
  const own = sys.getPid();
  const all = await sys.listProcs();
  return all.some(
    ({ ppid, exit, child, activity }) =>
      ppid === own && exit === null && child?.isBackground === true && activity !== "idle",
  );
}

/** Whether the final reply was recorded but the daemon died before the process exited. */
async function hasEnded({ sys, start, kept }: Run): Promise<boolean> {
  if (start.restored === null || kept !== null || sys.hasMail()) return false;
  return isAtItsEnd((await sys.buildPrompt(start.ctxId)).messages);
}
