import { Fault } from "../../../abi/errors.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { Console } from "../../console.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { lastLine } from "../../screen/run-lines.ts";
import { unpricedWords } from "../../screen/table/process-cells.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

/** Waits for the end of a process, and exits with its exit code. Ctrl-C ends only the waiting. */
export const wait: Command = { flags: {}, run };

type End = Result<"process.wait">;

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux wait <pid>");
  const client = await host.daemon.ensure();
  const interrupted = new AbortController();
  const unlisten = host.interrupts.listen(() => interrupted.abort());
  try {
    const end = await client.request("process.wait", { pid }, interrupted.signal);
    await show(console, end, args.flags.has("verbose"));
    return end.exit_code;
  } catch (error) {
    if (!interrupted.signal.aborted) throw await withHint(error, pid, client);
    if (console.isScreen) await console.errorLine(`[wait] PID ${pid} continues`);
    return 130;
  } finally {
    unlisten();
    client.close();
  }
}

async function show(
  console: Console,
  { pid, exit_code, reason, tokens_used, elapsed_ms, ...paid }: End,
  isVerbose: boolean,
): Promise<void> {
  const { kind: _, ...cost } = paid;
  switch (console.mode) {
    case "json":
      return console.data({
        ...{ pid, exit_code, reason },
        ...(isVerbose ? { tokens_used, elapsed_ms, ...cost } : {}),
      });
    case "quiet":
      return;
    case "verbose":
      await console.line(`[kernel] PID ${pid}: ${safeLine(reason)}${costWords(cost)}`);
      break;
    case "default":
  }
  await console.line(lastLine({ pid, exit_code, tokens_used, elapsed_ms }, console.paint));
}

/** Empty: its calls cost nothing, or were made before costs were recorded. */
function costWords({ cost_usd = 0, unpriced_calls = 0 }: Pick<End, "cost_usd" | "unpriced_calls">): string {
  const usd = cost_usd === 0 ? [] : [shownUsd(microUsd(cost_usd))];
  const words = [...usd, ...(unpriced_calls === 0 ? [] : [unpricedWords(unpriced_calls)])];
  return words.length === 0 ? "" : ` | cost: ${words.join(", and ")}`;
}

/** An idle session has no end to wait for, so the error gets a hint. */
async function withHint(error: unknown, pid: number, client: DaemonClient): Promise<unknown> {
  if (!(error instanceof WireFault) || error.fact?.kind !== "no_process") return error;
  if (!(await isResting(pid, client))) return error;
  return new Fault({
    code: "CONFLICT",
    message: `process ${pid} is a session that rests: nothing of it runs`,
    fact: { kind: "resting", pid },
  });
}

async function isResting(pid: number, client: DaemonClient): Promise<boolean> {
  try {
    const { sessions } = await client.request("session.list", {});
    return sessions.some((session) => session.pid === pid && session.state === "resting");
  } catch {
    // the original error, not found, is reported
    return false;
  }
}
