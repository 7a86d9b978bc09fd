/** Where a request stands in its story (kernel IPC chapter, 7.1): what it says, else what its process has received. */
import { Fault } from "../../../abi/errors.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import type { RequestMeta } from "../../../abi/ipc.ts";
import type { EventIds } from "../../../abi/native.ts";
import { type Intent, isOfAgent } from "../../../kernel/ports/intents.ts";
import { ulid } from "../../../lib/ulid.ts";
import type { IpcCall, Session } from "./call.ts";

/** They act on an intent that is to end, or has ended. */
const OF_ITS_END = new Set(["intent.end", "intent.cancel"]);

/** The ids of what a request brings about. A story that has none begins here. */
export function idsOf({
  meta,
  requestId,
  session,
  context,
}: IpcCall): EventIds & { readonly correlationId: string } {
  const own = receivedBy(session);
  const { intentId = own.intentId, causationId = requestId } = meta;
  const intent = meta.intentId === undefined ? undefined : session.kernel.intents.find(meta.intentId);
  const story = meta.correlationId ?? intent?.correlationId ?? own.correlationId;
  return {
    correlationId: story ?? `c_${ulid(Math.floor(context.clock.now()), Math.random)}`,
    causationId,
    ...(intentId === undefined ? {} : { intentId }),
  };
}

/** What the process of a connection was started with; an agent is an intent of its own. */
function receivedBy({ scopes: { actor }, kernel }: Session): EventIds {
  if (actor === PID_KERNEL) return {};
  return kernel.natives.of(actor)?.ids ?? { intentId: `i_${actor}` };
}

/** NOT_FOUND: the ids are another's. CANCELLED: the intent is to end. */
export async function checkIds(method: string, meta: RequestMeta, session: Session): Promise<void> {
  const { intents } = session.kernel;
  await intents.ready();
  const { intentId, correlationId } = meta;
  const intent = intentId === undefined ? undefined : intents.find(intentId);
  if (intent !== undefined && !isOwn(intent, session)) throw notFound("intent", intent.id);
  if (intent === undefined && intentId !== undefined && isLaterAgents(intentId, session))
    throw notFound("intent", intentId);
  if (correlationId !== undefined && isOthers(correlationId, session)) throw notFound("story", correlationId);
  if (intent !== undefined && !OF_ITS_END.has(method)) checkGoesOn(intent);
}

/** A new id is a process's to choose, but not that which an agent will have. */
function isLaterAgents(intentId: string, session: Session): boolean {
  return (
    isOfAgent(intentId) && session.scopes.actor !== PID_KERNEL && receivedBy(session).intentId !== intentId
  );
}

/** CANCELLED: nothing new begins in an intent that is to end. */
export function checkGoesOn({ id, deadline, outcome }: Intent): void {
  if (deadline === null && outcome !== "cancelled") return;
  throw new Fault({ code: "CANCELLED", message: `intent ${id} was cancelled`, details: { intentId: id } });
}

/** Begun by the caller or a process below it, or received. */
export function isOwn({ id, owner }: Intent, session: Session): boolean {
  const { scopes } = session;
  return (
    scopes.actor === PID_KERNEL || receivedBy(session).intentId === id || (owner !== 0 && scopes.sees(owner))
  );
}

/** A story in which the caller has no part. */
export function isOthers(correlationId: string, session: Session): boolean {
  const { scopes, kernel } = session;
  if (scopes.actor === PID_KERNEL || receivedBy(session).correlationId === correlationId) return false;
  const natives = kernel.natives.list().filter(({ ids }) => ids.correlationId === correlationId);
  const intents = kernel.intents.ofCorrelation(correlationId);
  if (natives.length === 0 && intents.length === 0) return false;
  return !natives.some(({ pid }) => scopes.sees(pid)) && !intents.some((intent) => isOwn(intent, session));
}

function notFound(what: string, id: string): Fault {
  return new Fault({ code: "NOT_FOUND", message: `${what} not found: ${id}` });
}
