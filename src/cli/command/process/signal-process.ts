/** `crux pause`, `crux cont`, and the subtree form of `crux kill`. */
import { Fault } from "../../../abi/errors.ts";
import { SIGNALS, type Signal, signalName } from "../../../abi/process.ts";
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { clientEnvironment } from "../../run/environment.ts";

export const TREE_FLAG = { tree: { type: "boolean" } } as const;

export function signalCommand(name: string, signal: Signal): Command {
  const run = async (call: Call): Promise<number> => {
    const pid = onePid(call.args, `crux ${name} <pid> [--tree]`);
    await signalProcess(call, pid, signal);
    return 0;
  };
  return { flags: TREE_FLAG, run };
}

/** Signals a process, with `--tree` its subtree too; prints a line for each process reached. CONFLICT: none was. */
export async function signalProcess(
  { args, console, host }: Call,
  pid: number,
  signal: Signal,
): Promise<void> {
  const tree = args.flags.has("tree");
  // a process restored after a restart of the daemon continues with the environment of this terminal
  const env = signal === SIGNALS.SIGRESUME ? { env: clientEnvironment(host.env) } : {};
  const client = await host.daemon.ensure();
  const { pids } = await client.request("process.signal", { pid, signal, ...(tree ? { tree } : {}), ...env });
  client.close();
  if (pids.length === 0) throw hasEnded(pid);
  const name = signalName(signal);
  if (console.mode === "json") await console.data({ pid, signal: name, pids });
  else if (console.mode !== "quiet")
    await console.line(pids.map((reached) => `[kernel] PID ${reached}: signal sent (${name})`).join("\n"));
}

function hasEnded(pid: number): Fault {
  return new Fault({
    code: "CONFLICT",
    message: `process ${pid} has ended`,
    hint: `crux logs ${pid} shows what it did`,
  });
}
