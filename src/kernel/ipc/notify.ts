/**
 * A note of the kernel to a process about something of its own: a job that ended, a task it was given. It comes as a message
 * from the process itself, which no other process can send.
 */
import { messageOf } from "../../abi/errors.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { redactedBytes } from "../redact/model-bound.ts";
import { post } from "./post.ts";

/** False: it has ended, its box is full, or the note could not be kept; that is logged. */
export async function notify(core: Core, proc: Process, text: string): Promise<boolean> {
  if (!proc.life.isHere) return false;
  const { pid } = proc;
  const data = redactedBytes(core, proc, new TextEncoder().encode(text)).subarray(0, LIMITS.mailBytes);
  try {
    await post(core, proc, { from: pid, data });
    return true;
  } catch (error) {
    core.ports.log("warn", `pid ${pid}: not told: ${text.slice(0, 200)}: ${messageOf(error)}`);
    return false;
  }
}
