/** A conversation without a terminal: each line of stdin is a message, sent after the one before was answered. */

import type { Call } from "../command.ts";
import { isResultAlone } from "../run/stdio.ts";
import type { ChatClient } from "./client.ts";
import { linesOf } from "./lines.ts";
import type { ChatStream } from "./stream.ts";
import { ChatView } from "./view.ts";

/** The exit code of the last run; 0 if none ran. `isAsked`: the session began with a message. */
export async function chatThroughPipe(
  call: Call,
  stream: ChatStream,
  client: ChatClient,
  first: { readonly isAsked: boolean; readonly text: string },
): Promise<number> {
  const { console, host } = call;
  const isEvents = console.mode === "json";
  const isTerminal = host.stdout.isTTY === true;
  const isAlone = isResultAlone(host.stdoutKind, console.mode);
  const view = new ChatView(console, { isTerminal, client: client.name, isEvents, isResultAlone: isAlone });
  const events = stream.events[Symbol.asyncIterator]();
  const interrupts = new AbortController();
  const unlisten = host.interrupts.listen(() => {
    if (interrupts.signal.aborted) stream.close();
    interrupts.abort();
    void client.interrupt(stream.pid).catch(() => {});
  });
  let code = 0;
  const answer = async (seq: number): Promise<boolean> => {
    for (;;) {
      const next = await events.next();
      if (next.done === true) {
        code = interrupts.signal.aborted ? 130 : await view.cutOff(stream.pid);
        return false;
      }
      const event = next.value;
      await view.show(event);
      if (event.event === "complete") code = event.exit_code;
      if (event.event === "complete") return false;
      if (event.event !== "idle" || event.seq !== seq) continue;
      code = event.exit_code;
      return !interrupts.signal.aborted;
    }
  };
  const say = async (text: string): Promise<boolean> => answer((await client.say(stream.pid, text)).seq);
  try {
    if (first.isAsked && !(await answer(0))) return code;
    if (!first.isAsked && first.text !== "" && !(await say(first.text))) return code;
    if (host.stdin.isTTY === true) return code;
    for await (const line of linesOf(host.stdin)) if (line.trim() !== "" && !(await say(line))) return code;
    return code;
  } finally {
    unlisten();
    stream.close();
  }
}
