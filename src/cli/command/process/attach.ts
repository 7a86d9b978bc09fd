import type { WireRow } from "../../../abi/methods/process.ts";
import type { WireEvent } from "../../../abi/wire-events.ts";
import { onePid } from "../../args.ts";
import { ChatView } from "../../chat/view.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient, DaemonStream } from "../../daemon/client.ts";
import type { AskDialog } from "../../dialog/ask-dialog.ts";
import { openDialog, questionTerminal } from "../../dialog/questions.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { callsWish } from "../../run/run-options.ts";
import { stateCell } from "../../screen/table/process-cells.ts";
import { oneLine } from "../../screen/text/json.ts";
import { SharedTerminal } from "../../terminal/shared-terminal.ts";
import { LogPrinter } from "./log-printer.ts";

/** How many earlier lines of a program's output are shown. */
const NATIVE_TAIL = 50;

/** Follows a running process like the command that started it; leaving never ends the process. */
export const attach: Command = { flags: { "read-only": { type: "boolean" } }, follows: () => true, run };

/** Returns the exit code of the process, 0 if the user left before its end. */
async function run(call: Call): Promise<number> {
  const pid = onePid(call.args, "crux attach <pid> [--read-only]");
  const { host } = call;
  const leaving = new AbortController();
  const unlisten = host.interrupts.listen(() => leaving.abort());
  let isAttached = false;
  try {
    const client = await host.daemon.ensure(leaving.signal);
    const row = await findRow(client, pid);
    if (mayTalk(call) && (await isSession(client, pid, row))) {
      unlisten();
      client.close();
      return await (await import("../session/chat.ts")).converse(call, pid, "");
    }
    const stream = await client.stream("process.attach", {
      pid,
      interactive: findTerminal(call) !== undefined,
      verbose: true,
      ...callsWish(call.console),
    });
    isAttached = true;
    // whoever answers its questions is here again: what a crash held goes on
    if (row?.held === "crash" && findTerminal(call) !== undefined)
      await client.request("process.resume", { pid, env: clientEnvironment(host.env) });
    const code = await showToEnd(call, { pid, row, stream, leaving });
    if (code !== undefined) return code;
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    unlisten();
  }
  if (!isAttached) return 130;
  if (!givesEvents(call) && call.console.isScreen)
    await call.console.line(`[attach] detached from PID ${pid} (process continues)`);
  return 0;
}

interface Attached {
  readonly pid: number;
  /** undefined: the process ended just before. */
  readonly row: WireRow | undefined;
  readonly stream: DaemonStream<undefined>;
  readonly leaving: AbortController;
}

/** undefined: the user left. Rejects when the stream breaks off. */
async function showToEnd(call: Call, attached: Attached): Promise<number | undefined> {
  const { host } = call;
  const { stream, leaving, pid, row } = attached;
  const close = (): void => stream.close();
  leaving.signal.addEventListener("abort", close);
  if (leaving.signal.aborted) close();
  try {
    const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true && call.console.isScreen;
    await tellAttached(call, pid, row);
    using keys = isTerminal
      ? new SharedTerminal(host.stdin, host.lifecycle, () => leaving.abort())
      : undefined;
    const terminal = findTerminal(call);
    await using dialog =
      terminal === undefined
        ? undefined
        : openDialog(call, terminal, keys === undefined ? {} : { input: keys });
    await using output = row?.kind === "native" ? await followOutput(call, pid, leaving.signal) : undefined;
    return await showEvents(call, attached, { dialog, output });
  } finally {
    leaving.signal.removeEventListener("abort", close);
    close();
  }
}

async function showEvents(
  call: Call,
  { stream, leaving }: Attached,
  { dialog, output }: { readonly dialog: AskDialog | undefined; readonly output: Output | undefined },
): Promise<number | undefined> {
  const { console, host } = call;
  const isTerminal = host.stdout.isTTY === true;
  const isEvents = givesEvents(call);
  const view = new ChatView(console, { isTerminal, client: undefined, isEvents, isResultAlone: false });
  let hasFailed = false;
  for await (const { payload } of stream.lines) {
    const event = payload as WireEvent;
    if (event.event === "error") hasFailed = true;
    if (event.event === "ask") dialog?.ask(event);
    if (event.event === "ask_closed") dialog?.close(event);
    if (event.event === "complete") await output?.ended;
    await view.show(event);
    if (event.event === "complete") return event.exit_code;
  }
  if (leaving.signal.aborted) return undefined;
  return givesEvents(call) && hasFailed ? 1 : view.cutOff();
}

interface Output extends AsyncDisposable {
  /** Resolves when all output has been printed. Never rejects: the events report a broken connection too. */
  readonly ended: Promise<void>;
}

/** Prints the output of a program, beside the events of its process. */
async function followOutput(call: Call, pid: number, leaving: AbortSignal): Promise<Output> {
  const { console, host } = call;
  const client = await host.daemon.ensure(leaving);
  const stream = await client.stream("process.logs", { pid, tail: NATIVE_TAIL, follow: true }, leaving);
  const mode = givesEvents(call) ? "json" : console.mode;
  const printer = new LogPrinter(console, host.stdout.isTTY === true, mode);
  const ended = printer.printAll(stream.lines).catch(() => {});
  return {
    ended,
    async [Symbol.asyncDispose]() {
      stream.close();
      await ended;
    },
  };
}

/** From now on no event is missed: a program that reads events may wait for this line. */
async function tellAttached(call: Call, pid: number, row: WireRow | undefined): Promise<void> {
  const { console } = call;
  const state = row === undefined ? "dead" : stateCell(row);
  if (givesEvents(call)) await console.line(oneLine({ event: "attached", pid, state }));
  else if (console.isScreen) await console.line(`[attach] attached to PID ${pid} (state: ${state})`);
}

/** One JSON object per line: for a program, unless it requested a screen. */
function givesEvents({ console, host }: Call): boolean {
  return console.mode === "json" || (console.mode === "default" && host.stdout.isTTY !== true);
}

/** Where questions are shown; undefined: another client answers them. */
function findTerminal(call: Call) {
  return call.args.flags.has("read-only") ? undefined : questionTerminal(call);
}

/** At a terminal, a client that follows a session can also send messages. */
function mayTalk({ args, console, host }: Call): boolean {
  const isThere = host.stdin.isTTY === true && host.stdout.isTTY === true && console.isScreen;
  return isThere && !args.flags.has("read-only");
}

/** An idle session is not in the list of running processes. */
async function isSession(client: DaemonClient, pid: number, row: WireRow | undefined): Promise<boolean> {
  if (row !== undefined) return row.session === true;
  const { sessions } = await client.request("session.list", {});
  return sessions.some((session) => session.pid === pid);
}

async function findRow(client: DaemonClient, pid: number): Promise<WireRow | undefined> {
  const { processes } = await client.request("process.list", { cursor: Math.max(0, pid - 1), limit: 1 });
  return processes.find((row) => row.pid === pid);
}
