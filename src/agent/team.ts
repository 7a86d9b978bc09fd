/**
 * A member of a team that has nothing left to do stays: it tells its lead so, once, and waits for a message. That it has told is
 * recorded together with the message, so a restart tells nothing twice.
 */
import { codeOf } from "../abi/errors.ts";
import { callsOf, textOf } from "./model/blocks.ts";
import { checkpoint, placeOf } from "./run.ts";
import type { Run } from "./run-state.ts";

/** A sleep of the kernel lasts at most an hour. */
const SLEEP_MS = 3_600_000;
/** Of its last words: what is to reach the lead is sent by `send`. */
const SUMMARY_CHARS = 2_000;

/** Resolves when a message is there. False: it is in no team, or has agreed to leave. */
export async function untilWanted(run: Run): Promise<boolean> {
  const { sys, start, isLeaving } = run;
  const { team } = start;
  if (team === undefined || isLeaving) return false;
  if (!sys.hasMail()) {
    if (!run.isIdle) await tellLead(run, team);
    // only now: the run of its lead ends once nobody works and it has read all of its mail
    sys.setActivity("idle");
    while (!sys.hasMail()) await sys.sleep(SLEEP_MS, sys.ending);
  }
  run.isIdle = false;
  return true;
}

async function tellLead(run: Run, { name, lead }: NonNullable<Run["start"]["team"]>): Promise<void> {
  const { sys, start } = run;
  const { messages } = await sys.buildPrompt(start.ctxId);
  const last = messages.findLast(({ role }) => role === "assistant");
  const summary =
    last === undefined || callsOf(last.blocks ?? []).length > 0 ? "" : textOf(last.blocks ?? []);
  run.isIdle = true;
  const told = {
    type: "idle_notification",
    name,
    reason: "available",
    summary: cut(summary || (last?.content ?? "")),
  };
  try {
    const withCheckpoint = placeOf(run, null);
    await sys.send(lead, new TextEncoder().encode(JSON.stringify(told)), sys.ending, { withCheckpoint });
  } catch (error) {
    sys.ending.throwIfAborted();
    checkpoint(run, null);
    // the lead is ending, or has more mail than it reads: it is woken all the same
    sys.log("warn", `the lead was not told: ${codeOf(error)}`);
  }
}

function cut(text: string): string {
  return text.length <= SUMMARY_CHARS ? text : `${text.slice(0, SUMMARY_CHARS).toWellFormed()}…`;
}
