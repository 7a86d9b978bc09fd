/** The stream of a conversation with a new or an existing session. */
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import type { Call } from "../command.ts";
import type { DaemonStream } from "../daemon/client.ts";
import type { Host } from "../host/host.ts";
import { clientEnvironment } from "../run/environment.ts";
import { callsWish } from "../run/run-options.ts";

export interface ChatStream {
  readonly pid: number;
  /** undefined: the session is new. */
  readonly session: WireSession | undefined;
  /** Why its commands run without a sandbox; undefined: they have one, or the daemon did not report it. */
  readonly sandbox?: string | undefined;
  readonly events: AsyncIterable<WireEvent>;
  close(): void;
}

/** The first message counts as input of `client`. */
export async function beginSession(host: Host, request: SpawnRequest, client: string): Promise<ChatStream> {
  const daemon = await host.daemon.ensure();
  const stream = await daemon.stream("spawn", { ...request, session: true, client });
  const { pid, sandbox } = stream.response;
  return { ...chatStream(pid, undefined, stream), sandbox };
}

/** Restores an idle session; turns an ended agent into a session. */
export async function openSession(
  { host, console }: Pick<Call, "host" | "console">,
  pid: number,
  interactive: boolean,
): Promise<ChatStream> {
  const daemon = await host.daemon.ensure();
  const env = clientEnvironment(host.env);
  const request = { pid, env, interactive, verbose: true, ...callsWish(console) };
  const stream = await daemon.stream("session.open", request);
  return chatStream(pid, stream.response, stream);
}

function chatStream(
  pid: number,
  session: WireSession | undefined,
  stream: Pick<DaemonStream<unknown>, "lines" | "close">,
): ChatStream {
  return { pid, session, events: eventsOf(stream.lines), close: () => stream.close() };
}

async function* eventsOf(lines: DaemonStream<unknown>["lines"]): AsyncGenerator<WireEvent> {
  for await (const { payload } of lines) yield payload as WireEvent;
}
