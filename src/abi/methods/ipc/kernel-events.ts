/** The events of the kernel itself (kernel IPC chapter, 6): what each means, what its data is, and where it is kept. */
import * as z from "zod";
import { pid } from "../spec.ts";
import { record as device, mode } from "./device.ts";
import { chunk, exit } from "./process.ts";
import { timeMs } from "./spec.ts";

const int = z.int();
const text = z.string();
/** Of a program of `process.spawn`; one that has published for another process may have no id. */
const program = { id: text, pid };
const activity = { state: text, activity: text.nullable() };
const claim = z.strictObject({ device: text, claim: text, pid, mode, fence: int, cause: text });
/** What an agent reports; more keys may come. */
const agent = { event: text, pid };

interface Told {
  readonly summary: string;
  /** Of chunks: the message, without `data` as it is here. */
  readonly data: z.ZodType;
  readonly retention: "journal" | "spool" | "none";
}

export const KERNEL_EVENTS: Readonly<Record<string, Told>> = {
  "process.started": logged(
    "a program that process.spawn started runs",
    z.strictObject({
      ...program,
      ppid: pid,
      osPid: int.nullable(),
      command: z.array(text),
      cwd: text,
      pty: z.boolean(),
    }),
  ),
  "process.ready": logged(
    "a program said that it is ready for work",
    z.strictObject({ id: text.optional(), pid, message: text.optional() }),
  ),
  "process.state": logged(
    "a program was paused or resumed",
    z.strictObject({ ...program, ...activity, previous: z.strictObject(activity) }),
  ),
  "process.exited": logged(
    "a program has ended, and its streams are complete",
    exit.extend({ streams: z.strictObject({ stdout: int, stderr: int }) }),
  ),
  "process.stdout.chunk": {
    summary: "what a program has written, to those who subscribed to the stream",
    data: chunk,
    retention: "spool",
  },
  "process.stderr.chunk": { summary: "the same of its stderr", data: chunk, retention: "spool" },
  "intent.started": logged(
    "an intent has begun",
    z.looseObject({ intentId: text, name: text, parentIntentId: text.optional() }),
  ),
  "intent.ended": logged(
    "an intent has ended, with its outcome",
    z.looseObject({
      intentId: text,
      outcome: z.enum(["completed", "failed", "cancelled"]),
      summary: text.optional(),
      durationMs: timeMs,
      reason: text.optional(),
    }),
  ),
  "intent.cancel_requested": logged(
    "an intent is to end by its deadline",
    z.strictObject({ intentId: text, reason: text, deadline: timeMs }),
  ),
  "event.compacted": logged(
    "a summary in the place of events that were removed",
    z.strictObject({
      from: int,
      to: int,
      counts: z.record(text, int),
      first: timeMs,
      last: timeMs,
      digest: text,
    }),
  ),
  "device.added": logged("a device is there", device),
  "device.gone": logged("a device has disappeared, and its claims have ended", device),
  "device.claimed": logged("a device was claimed", claim),
  "device.released": logged(
    "a claim has ended: released, expired, disconnected, gone, or lost with its daemon",
    claim,
  ),
  "device.chunk": {
    summary: "what a device gives, to the holder of its stream",
    data: chunk,
    retention: "none",
  },
  "agent.spawn": logged(
    "an agent has started; from the first subscription to such events on",
    z.looseObject({ ...agent, intent: text }),
  ),
  "agent.step": logged("the same: it begins a step", z.looseObject({ ...agent, step: int, total: int })),
  "agent.complete": logged(
    "the same: it has ended, with its result",
    z.looseObject({ ...agent, result: text, exit_code: int, tokens_used: int }),
  ),
  "agent.error": logged("the same: it has failed", z.looseObject({ ...agent, error_message: text })),
  "supervisor.crash": logged(
    "a child of a supervisor has ended, and what is decided",
    z.strictObject({
      supervisor: text,
      child: text,
      pid,
      exit: z.strictObject({ code: int, reason: text, kind: text }),
      cause: text,
      restarts: int,
      decision: z.enum(["none", "drop", "restart", "escalate"]),
      delayMs: z.number(),
    }),
  ),
  "supervisor.escalated": logged(
    "a supervisor has given up a child that ended too often",
    z.strictObject({ supervisor: text, child: text, reason: text, cause: text }),
  ),
};

function logged(summary: string, data: z.ZodType): Told {
  return { summary, data, retention: "journal" };
}
