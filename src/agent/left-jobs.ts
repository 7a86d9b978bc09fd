/** Adds a note to the result of a process about jobs that still run at its end: they are ended with it. */
import { O_RDONLY } from "../abi/device.ts";
import { codeOf } from "../abi/errors.ts";
import type { CtxId } from "../abi/ids.ts";
import type { JobView } from "../abi/ops/jobs.ts";
import type { Sys } from "../abi/sys.ts";

const READ_BYTES = 1_048_576;
const NAMED = 10;

/** Call it only for a process that has started jobs. */
export async function tellLeftJobs(sys: Sys, ctxId: CtxId): Promise<void> {
  const left = (await jobsOf(sys)).filter(({ state }) => state === "running");
  if (left.length === 0) return;
  const { messages } = await sys.buildPrompt(ctxId);
  const said = messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
  const names = left.slice(0, NAMED).map(({ id, command }) => `${id} (${firstLine(command)})`);
  const more = left.length > NAMED ? `, and ${left.length - NAMED} more` : "";
  const note = `[still running, and ended with this process: ${names.join(", ")}${more}]`;
  sys.setResult(said === undefined ? note : `${said.content}\n\n${note}`);
}

async function jobsOf(sys: Sys): Promise<readonly JobView[]> {
  try {
    const fd = await sys.open("/proc/self/jobs", O_RDONLY, sys.ending);
    const chunks: Uint8Array[] = [];
    for (;;) {
      const chunk = await sys.read(fd, READ_BYTES, sys.ending);
      if (chunk.byteLength === 0) break;
      chunks.push(chunk);
    }
    await sys.close(fd);
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as JobView[];
  } catch (error) {
    if (codeOf(error) === "CANCELLED") throw error;
    return [];
  }
}

function firstLine(command: string): string {
  return command.trim().split("\n", 1)[0]?.slice(0, 60).toWellFormed() ?? "";
}
