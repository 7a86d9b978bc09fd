/** `crux -c "and now?"`: one run in an existing session, shown like any run. The session is idle again afterwards. */
import type { IdleEvent, LogEvent, PausedEvent, WireEvent } from "../../abi/wire-events.ts";
import type { Call } from "../command.ts";
import type { Console } from "../console.ts";
import { openDialog, questionTerminal } from "../dialog/questions.ts";
import { RunView } from "../run/run-view.ts";
import { isResultAlone } from "../run/stdio.ts";
import { pausedLine, queuedLine } from "../screen/chat-lines.ts";
import { logLine } from "../screen/run-lines.ts";
import type { ChatClient } from "./client.ts";
import { type ChatStream, openSession } from "./stream.ts";

/** Returns the exit code of the run. */
export async function once(
  call: Call,
  { pid, client }: { readonly pid: number; readonly client: ChatClient },
  text: string,
): Promise<number> {
  const { host, console } = call;
  const terminal = questionTerminal(call);
  const stream = await openSession(call, pid, terminal !== undefined);
  await using dialog = terminal === undefined ? undefined : openDialog(call, terminal);
  const left = new AbortController();
  const unlisten = host.interrupts.listen(() => interrupt());
  let interrupt = (): void => left.abort();
  left.signal.addEventListener("abort", () => stream.close());
  try {
    const { seq, ahead } = await client.say(pid, text);
    if (ahead > 0 && console.isScreen)
      await console.line(queuedLine({ pid, seq, from: 0, client: "", text, ahead }, true));
    if (stream.session?.state === "paused")
      await tellHeld(console, { event: "paused", pid, is_paused: true });
    const place: Place = { pid, seq, hasBegun: false };
    interrupt = (): void => {
      interrupt = () => left.abort();
      void giveUp(client, place).catch((error: unknown) => console.fail(error));
    };
    const code = await untilOver(call, stream, place, dialog);
    return left.signal.aborted ? 130 : code;
  } catch (error) {
    if (left.signal.aborted) return 130;
    throw error;
  } finally {
    unlisten();
    stream.close();
  }
}

interface Place {
  readonly pid: number;
  readonly seq: number;
  /** Its message was read. */
  hasBegun: boolean;
}

/** Interrupts a run that has begun; withdraws a message that is still waiting. */
async function giveUp(client: ChatClient, { pid, seq, hasBegun }: Place): Promise<void> {
  if (hasBegun) await client.interrupt(pid);
  else await client.withdraw(pid, seq);
}

async function untilOver(
  { args, console, host }: Call,
  { events }: ChatStream,
  place: Place,
  dialog: ReturnType<typeof openDialog> | undefined,
): Promise<number> {
  const isTerminal = host.stdout.isTTY === true;
  const view = new RunView(console, {
    isTerminal,
    isResultAlone: isResultAlone(host.stdoutKind, console.mode),
    isVerbose: args.flags.has("verbose"),
  });
  for await (const event of events) {
    const isOurs = "seq" in event && event.seq === place.seq;
    if (event.event === "input" && isOurs) place.hasBegun = true;
    if (event.event === "withdrawn" && isOurs) return 130;
    if (event.event === "ask") dialog?.ask(event);
    else if (event.event === "ask_closed") dialog?.close(event);
    else if (event.event === "idle" && isOurs) return finish(view, event);
    else if (place.hasBegun || isEnd(event)) await view.show(event);
    if (event.event === "paused" || isHindrance(event, place)) await tellHeld(console, event);
    if (event.event === "complete") return event.exit_code;
  }
  return view.cutOff(place.pid);
}

/** Whether the event says why the run does not begin. */
function isHindrance(event: WireEvent, { hasBegun }: Place): event is LogEvent {
  return event.event === "log" && event.level === "error" && !hasBegun;
}

async function tellHeld(console: Console, event: PausedEvent | LogEvent): Promise<void> {
  if (console.mode !== "json")
    await console.errorLine(event.event === "paused" ? pausedLine(event) : logLine(event));
}

/** These events are shown even before the run begins, because they end the wait for it. */
function isEnd({ event }: WireEvent): boolean {
  return event === "error" || event === "complete";
}

async function finish(view: RunView, event: IdleEvent): Promise<number> {
  await view.runOver(event);
  return event.exit_code;
}
