/** `crux pause`, `crux cont`, and the subtree form of `crux kill`. */
import { Fault } from "../../../abi/errors.ts";
import { SIGNALS, type Signal, signalName } from "../../../abi/process.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { eachProcess } from "./addressed.ts";

export const TREE_FLAG = { tree: { type: "boolean" } } as const;

export function signalCommand(name: string, signal: Signal): Command {
  const run = async (call: Call): Promise<number> => {
    const { done, failures } = await eachProcess(call, `crux ${name} <pid|agent>… [--tree]`, (client, pid) =>
      signalProcess(call, { client, pid, signal }),
    );
    const [only] = done;
    if (call.console.mode === "json" && failures === 0)
      await call.console.data(done.length === 1 ? only : { signals: done });
    return failures === 0 ? 0 : 1;
  };
  return { flags: TREE_FLAG, run };
}

/** Signals a process, with `--tree` its subtree too; prints a line for each process reached. CONFLICT: none was. */
export async function signalProcess(
  { args, console, host }: Call,
  { client, pid, signal }: { readonly client: DaemonClient; readonly pid: number; readonly signal: Signal },
): Promise<{ readonly pid: number; readonly signal: string; readonly pids: readonly number[] }> {
  const tree = args.flags.has("tree");
  // a process restored after a restart of the daemon continues with the environment of this terminal
  const env = signal === SIGNALS.SIGRESUME ? { env: clientEnvironment(host.env) } : {};
  const { pids } = await client.request("process.signal", { pid, signal, ...(tree ? { tree } : {}), ...env });
  if (pids.length === 0) throw hasEnded(pid);
  const name = signalName(signal);
  if (console.isScreen)
    await console.line(pids.map((reached) => `[kernel] PID ${reached}: signal sent (${name})`).join("\n"));
  return { pid, signal: name, pids };
}

function hasEnded(pid: number): Fault {
  return new Fault({
    code: "CONFLICT",
    message: `process ${pid} has ended`,
    hint: `crux logs ${pid} shows what it did`,
  });
}
