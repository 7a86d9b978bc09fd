/**
 * `crux stop <pid|agent>…`: sends TERM to a process and its subtree, KILL to the rest five seconds later; returns when all
 * have ended.
 */
import { codeOf, Fault } from "../../../abi/errors.ts";
import { SIGNALS } from "../../../abi/process.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { eachProcess } from "./addressed.ts";

export const stop: Command = { flags: { force: { type: "boolean" } }, run };

const USAGE = "crux stop <pid|agent>…; crux daemon stop ends all processes and the daemon";
const GRACE_MS = 5_000;
const KILL_MS = 10_000;

type How = "stopped" | "killed" | "had ended";

async function run(call: Call): Promise<number> {
  const { args, console } = call;
  const { done: stopped, failures } = await eachProcess(call, USAGE, async (client, pid) => {
    const how = await stopOne(client, pid, args.flags.has("force"));
    if (console.isScreen) await console.line(`[kernel] PID ${pid}: ${how}`);
    return { pid, how };
  });
  if (console.mode === "json" && failures === 0) await console.data({ stopped });
  return failures === 0 ? 0 : 1;
}

/** NOT_FOUND: no such process ever existed. TIMEOUT: it survived even KILL. */
async function stopOne(client: DaemonClient, pid: number, isForced: boolean): Promise<How> {
  const signal = isForced ? SIGNALS.SIGKILL : SIGNALS.SIGTERM;
  const { pids } = await client.request("process.signal", { pid, signal, tree: true });
  if (pids.length === 0) return "had ended";
  const deadline = performance.now() + GRACE_MS;
  const left: number[] = [];
  for (const each of pids)
    if (!(await hasEnded(client, each, Math.max(0, Math.round(deadline - performance.now())))))
      left.push(each);
  if (left.length === 0) return isForced ? "killed" : "stopped";
  for (const each of left) await client.request("process.signal", { pid: each, signal: SIGNALS.SIGKILL });
  for (const each of left) if (!(await hasEnded(client, each, KILL_MS))) throw outlives(each);
  return "killed";
}

async function hasEnded(client: DaemonClient, pid: number, timeoutMs: number): Promise<boolean> {
  try {
    await client.request("process.wait", { pid, timeout_ms: timeoutMs });
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "TIMEOUT") return false;
    // its parent or another client has collected its end first
    if (code === "NOT_FOUND") return true;
    throw error;
  }
}

function outlives(pid: number): Fault {
  const message = `process ${pid} has not ended ${KILL_MS / 1000} s after SIGKILL`;
  return new Fault({ code: "TIMEOUT", message, hint: "crux daemon restart --force ends everything" });
}
