/** Puts a reply on the wire, doing what its actions say at their points. */
import type { Dialect } from "./dialect.ts";
import type { ApiError } from "./error.ts";
import type { Mint } from "./identity.ts";
import { composeMessage, type Message } from "./message.ts";
import type { Outlet } from "./outlet.ts";
import type { Action, Deed, Point, Reply } from "./reply.ts";
import type { ModelRequest } from "./request.ts";

export interface Exchange {
  readonly request: ModelRequest;
  readonly requestId: string;
  readonly dialect: Dialect;
  readonly outlet: Outlet;
}

/** How far an action let the reply go on. */
type Progress = "go on" | "ended";

/** Resolves to what went against the script (an action never reached), or undefined. */
export async function deliver(reply: Reply, exchange: Exchange, mint: Mint): Promise<string | undefined> {
  const { plan } = reply;
  const { outlet, request } = exchange;
  for (const { at, deed } of plan.actions) {
    if (at.beforeHeaders !== true) continue;
    if ((await actBeforeHeaders(deed, exchange)) === "ended") return undefined;
  }
  if (outlet.signal.aborted) return undefined;
  if (plan.error !== undefined) {
    sendError(plan.error, exchange, plan.headers);
    return undefined;
  }
  const actions = plan.actions.filter(({ at }) => at.beforeHeaders !== true);
  const message = composeMessage(reply, request, mint);
  if (!request.stream) {
    await sendComplete(message, actions, exchange);
    return undefined;
  }
  const { streamType = "text/event-stream; charset=utf-8" } = exchange.dialect;
  const type = { "content-type": streamType, "cache-control": "no-cache" };
  outlet.isBinary = exchange.dialect.isBinary === true;
  outlet.open(200, { ...exchange.dialect.headers(exchange.requestId), ...type, ...plan.headers });
  return sendStream(message, actions, exchange);
}

export function sendError(error: ApiError, exchange: Omit<Exchange, "request">, headers = {}): void {
  const { dialect, requestId, outlet } = exchange;
  const all = {
    ...dialect.headers(requestId),
    "content-type": "application/json",
    ...headers,
    ...(dialect.errorHeaders?.(error) ?? error.headers),
  };
  outlet.open(dialect.statusOf(error), all);
  outlet.end(JSON.stringify(dialect.errorBody(error, requestId)));
}

async function actBeforeHeaders(deed: Deed, exchange: Exchange): Promise<Progress> {
  if (deed.do === "fail") {
    sendError(deed.error, exchange);
    return "ended";
  }
  return act(deed, exchange);
}

async function sendStream(
  message: Message,
  actions: readonly Action[],
  exchange: Exchange,
): Promise<string | undefined> {
  const { dialect, outlet, request } = exchange;
  const { splitBytes } = message.plan;
  const frames = dialect.stream(message, request);
  if (actions.length === 0 && splitBytes === undefined) return sendAtOnce(frames, outlet);
  outlet.flush();
  const pending = [...actions];
  const reached = { events: 0, blocks: 0 };
  let held: string[] = [];
  const flush = async () => {
    await outlet.write(held.join(""), splitBytes);
    held = [];
    outlet.eventsSent = reached.events;
  };
  const settle = async (): Promise<Progress> => {
    let due = takeDue(pending, reached);
    while (due !== undefined) {
      await flush();
      if ((await act(due.deed, exchange)) === "ended") return "ended";
      due = takeDue(pending, reached);
    }
    return "go on";
  };
  for (const frame of frames) {
    if ((await settle()) === "ended") return undefined;
    held.push(frame.text);
    if (frame.isCounted) reached.events += 1;
    if (frame.endsBlock) reached.blocks += 1;
  }
  if ((await settle()) === "ended") return undefined;
  await flush();
  outlet.end();
  return describeUnreached(pending, reached);
}

function sendAtOnce(frames: Iterable<{ text: string; isCounted: boolean }>, outlet: Outlet): undefined {
  const texts: string[] = [];
  for (const { text, isCounted } of frames) {
    texts.push(text);
    if (isCounted) outlet.eventsSent += 1;
  }
  outlet.end(texts.join(""));
}

/** The first pending action whose point is reached, removed from `pending`; actions of one point keep their order. */
function takeDue(pending: Action[], reached: { events: number; blocks: number }): Action | undefined {
  const index = pending.findIndex(({ at }) => isReached(at, reached));
  return index < 0 ? undefined : pending.splice(index, 1)[0];
}

function isReached(at: Point, reached: { events: number; blocks: number }): boolean {
  return reached.events >= (at.afterEvents ?? 0) && reached.blocks >= (at.afterBlocks ?? 0);
}

function describeUnreached(
  pending: readonly Action[],
  reached: { events: number; blocks: number },
): string | undefined {
  const [first] = pending;
  if (first === undefined) return undefined;
  const had = `${reached.events} events and ${reached.blocks} blocks`;
  return `"${first.deed.do}" at ${JSON.stringify(first.at)} was never reached: the reply had ${had}`;
}

async function act(deed: Deed, exchange: Exchange): Promise<Progress> {
  const { outlet, dialect, requestId } = exchange;
  switch (deed.do) {
    case "wait":
      await outlet.fallSilent(deed.for);
      break;
    case "inject":
      await outlet.write(deed.raw);
      break;
    case "cut":
      await outlet.cut(deed.isReset);
      return "ended";
    case "end":
      outlet.end();
      return "ended";
    case "fail":
      await outlet.write(dialect.errorFrame(deed.error, requestId));
      outlet.end();
      return "ended";
  }
  return outlet.signal.aborted ? "ended" : "go on";
}

/** Points do not apply to one JSON body: waits come before it, a cut or an early end in its middle. */
async function sendComplete(message: Message, actions: readonly Action[], exchange: Exchange): Promise<void> {
  const { dialect, outlet, request, requestId } = exchange;
  const body = JSON.stringify(dialect.complete(message, request));
  const half = body.slice(0, body.length / 2);
  const headers = {
    ...dialect.headers(requestId),
    "content-type": "application/json",
    ...message.plan.headers,
  };
  for (const { deed } of actions) {
    if (deed.do === "inject") continue;
    if (deed.do === "fail") return sendError(deed.error, exchange);
    if (deed.do === "cut" || deed.do === "end") {
      outlet.open(200, headers);
      await outlet.write(half);
    }
    if ((await act(deed, exchange)) === "ended") return;
  }
  outlet.open(200, { ...headers, "content-length": `${Buffer.byteLength(body)}` });
  await outlet.write(message.plan.splitBytes === undefined ? "" : body, message.plan.splitBytes);
  outlet.end(message.plan.splitBytes === undefined ? body : undefined);
}
