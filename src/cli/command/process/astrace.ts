import type { SyscallEventWire, WireStreamLine } from "../../../abi/wire.ts";
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { Console } from "../../console.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { DevicePaths } from "../../screen/device-paths.ts";
import { traceJson, traceLine } from "../../screen/trace-line.ts";

export const astrace: Command = { flags: {}, follows: () => true, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux astrace <pid>");
  const client = await host.daemon.ensure();
  const state = await findState(client, pid);
  const stream = await client.stream("attach_debug", { pid, all: console.mode === "verbose" });
  let isInterrupted = false;
  const unlisten = host.interrupts.listen(() => {
    isInterrupted = true;
    stream.close();
  });
  try {
    await frame(console, `[astrace] attached to PID ${pid} (state: ${state})`);
    const sawEnd = await showCalls(stream.lines, console, () => isInterrupted);
    if (!sawEnd && !isInterrupted) throw daemonVanished();
    await frame(console, `[astrace] detached from PID ${pid} (${sawEnd ? "process exited" : "interrupted"})`);
  } finally {
    unlisten();
    stream.close();
  }
  return 0;
}

/**
 * Read before attaching, because the stream does not contain the state. An unknown pid is refused by the attach itself.
 */
async function findState(client: DaemonClient, pid: number): Promise<string> {
  const { processes } = await client.request("list_procs", { cursor: Math.max(0, pid - 1), limit: 1 });
  return processes.find((proc) => proc.pid === pid)?.state ?? "dead";
}

/** The lines around the calls; scripts get only the calls. */
async function frame(console: Console, text: string): Promise<void> {
  if (console.mode === "default" || console.mode === "verbose") await console.line(text);
}

/**
 * Prints until the end of the stream; returns whether it ended properly. For a slow screen the daemon drops events and
 * counts them.
 */
async function showCalls(
  lines: AsyncIterable<WireStreamLine>,
  console: Console,
  isInterrupted: () => boolean,
): Promise<boolean> {
  const paths = new DevicePaths();
  for await (const { type, payload } of lines) {
    if (isInterrupted()) return false;
    if (type === "eof") {
      await showDropped(console, droppedIn(payload));
      return true;
    }
    if (type === "syscall_event")
      await console.line(render(paths.follow(payload as SyscallEventWire), console));
  }
  return false;
}

function render(event: SyscallEventWire, { mode, words, paint }: Console): string {
  return mode === "json" ? traceJson(event) : traceLine(event, words, paint, mode === "verbose");
}

function droppedIn(payload: unknown): number {
  return (payload as { dropped?: number } | undefined)?.dropped ?? 0;
}

async function showDropped(console: Console, dropped: number): Promise<void> {
  if (dropped === 0) return;
  const text = `[astrace] ${dropped} events dropped`;
  if (console.mode === "json" || console.mode === "quiet") await console.errorLine(text);
  else await console.line(text);
}
