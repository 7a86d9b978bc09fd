/** A question beside the conversation of a session, which goes on meanwhile: a fork answers, and is ended with `signal`. */
import type { WireEvent } from "../../abi/wire-events.ts";
import type { DaemonAccess } from "../daemon/client.ts";
import { clientEnvironment } from "../run/environment.ts";

interface Question {
  readonly pid: number;
  readonly text: string;
  readonly signal: AbortSignal;
  /** Gets the answer as far as it has come, each time more of it is there. */
  readonly onText?: (text: string) => void;
}

/** `problem`: why it is not whole; "": it is. */
interface AsideAnswer {
  readonly text: string;
  readonly problem: string;
}

export async function askAside(
  {
    daemon,
    env,
  }: { readonly daemon: DaemonAccess; readonly env: Readonly<Record<string, string | undefined>> },
  { pid, text: question, signal, onText = () => {} }: Question,
): Promise<AsideAnswer> {
  const client = await daemon.ensure(signal);
  const request = { pid, text: question, env: clientEnvironment(env), detail: "deltas" } as const;
  const stream = await client.stream("session.aside", request, signal);
  const leave = (): void => stream.close();
  signal.addEventListener("abort", leave, { once: true });
  const coming: string[] = [];
  let problem = "";
  try {
    for await (const { payload } of stream.lines) {
      const event = payload as WireEvent;
      if (event.event === "complete" && event.exit_code === 0) return { text: event.result, problem: "" };
      if (event.event === "complete") problem ||= event.exit_reason ?? `exit ${event.exit_code}`;
      if (event.event === "error") problem = event.error_message;
      if (hasGrown(coming, event)) onText(coming.join(""));
    }
  } finally {
    signal.removeEventListener("abort", leave);
    stream.close();
  }
  return { text: coming.join(""), problem };
}

function hasGrown(coming: string[], event: WireEvent): boolean {
  if (event.event === "tombstone") coming.length = 0;
  if (event.event !== "delta") return false;
  const { piece } = event;
  // another request begins, after one that broke off or called a tool
  if (piece.type === "message_start") coming.length = 0;
  if (piece.type !== "content_block_delta" || piece.delta.type !== "text_delta") return false;
  coming.push(piece.delta.text);
  return true;
}
