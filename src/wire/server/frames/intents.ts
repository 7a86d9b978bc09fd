/** Intents and projections over the binary wire. */
import { Fault } from "../../../abi/errors.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import type { Intent, ProjectionName } from "../../../kernel/ports/intents.ts";
import { PROJECTIONS } from "../../../kernel/ports/intents.ts";
import { invalid } from "../request.ts";
import type { IpcCall, IpcHandler } from "./call.ts";
import { idsOf, isOthers, isOwn } from "./ids.ts";

const GRACE_MS = 5_000;
const NAME = /^\d{1,15}$/;

export const begin: IpcHandler<"intent.begin"> = async ({ correlationId, onDisconnect, ...wish }, call) => {
  const { session } = call;
  const { actor } = session.scopes;
  const ids = idsOf(call);
  const story = correlationId ?? storyOf(call, ids.correlationId);
  const { intents } = session.kernel;
  await intents.ready();
  if (correlationId !== undefined && isOthers(correlationId, session))
    throw new Fault({ code: "NOT_FOUND", message: `story not found: ${correlationId}` });
  const outer = wish.parentIntentId === undefined ? undefined : intents.find(wish.parentIntentId);
  if (outer !== undefined && !isOwn(outer, session)) throw notFound(outer.id);
  const { correlationId: _begun, ...cause } = ids;
  const given = { ...cause, ...(story === undefined ? {} : { correlationId: story }) };
  const made = await intents.begin({ ...wish, owner: actor, ids: given, request: call.request });
  session.beginIntent(made.id);
  if (onDisconnect === "fail")
    session.bindIntent(made.id, () => {
      intents.end(made.id, { outcome: "failed", reason: "client disconnected" }).catch(() => {});
    });
  return { intentId: made.id, correlationId: made.correlationId ?? ids.correlationId };
};

/** The outer intent's story comes before one that would begin here. */
function storyOf({ meta, session }: IpcCall, made: string): string | undefined {
  const own = session.kernel.natives.of(session.scopes.actor)?.ids.correlationId;
  return meta.correlationId ?? (own === undefined ? undefined : made);
}

export const end: IpcHandler<"intent.end"> = async ({ intentId, ...how }, call) => {
  const { intents } = call.session.kernel;
  await intents.ready();
  const intent = intents.find(intentId);
  if (intent === undefined || !isMine(intent, call)) throw notFound(intentId);
  const { requestId, meta } = call;
  call.session.releaseIntent(intentId);
  const durationMs = await intents.end(intentId, how, { causationId: meta.causationId ?? requestId });
  return { intentId, durationMs };
};

/** The user may end all, a process its own. */
function isMine({ owner }: Intent, { session }: IpcCall): boolean {
  return session.scopes.actor === PID_KERNEL || owner === session.scopes.actor;
}

export const cancel: IpcHandler<"intent.cancel"> = async (params, call) => {
  const { intentId, correlationId, reason = "cancelled by the client", graceMs = GRACE_MS } = params;
  if ((intentId === undefined) === (correlationId === undefined))
    throw invalid("params: either intentId or correlationId is needed");
  const { intents } = call.session.kernel;
  await intents.ready();
  const meant =
    intentId === undefined ? intents.ofCorrelation(correlationId ?? "") : [intents.find(intentId)];
  const own = meant.filter((intent): intent is Intent => intent !== undefined && mayCancel(intent, call));
  if (own.length === 0) throw notFound(intentId ?? correlationId ?? "");
  const { requestId, meta } = call;
  const ids = { causationId: meta.causationId ?? requestId };
  return intents.cancel(
    own.map(({ id }) => id),
    { reason, graceMs, ids },
  );
};

/** Its own, or with the scope `control` those of processes below it. */
function mayCancel(intent: Intent, call: IpcCall): boolean {
  const { scopes } = call.session;
  if (isMine(intent, call)) return true;
  if (intent.owner === 0 || !scopes.sees(intent.owner)) return false;
  scopes.require("control", "intent.cancel of another process");
  return true;
}

function notFound(id: string): Fault {
  return new Fault({ code: "NOT_FOUND", message: `intent not found: ${id}` });
}

export const project: IpcHandler<"event.project"> = async ({ projection, cursor, ...wish }, call) => {
  if (!isProjection(projection)) {
    const message = `unknown projection: ${projection}; there are ${PROJECTIONS.join(", ")}`;
    throw new Fault({ code: "NOT_FOUND", message, details: { projections: [...PROJECTIONS] } });
  }
  if (cursor !== undefined && !NAME.test(cursor)) throw invalid("params.cursor: not one of this projection");
  const { scopes, kernel } = call.session;
  await kernel.intents.ready();
  const { intentId, correlationId } = wish;
  const intent = intentId === undefined ? undefined : kernel.intents.find(intentId);
  if (intent !== undefined && !isOwn(intent, call.session)) throw notFound(intent.id);
  if (correlationId !== undefined && isOthers(correlationId, call.session)) throw notFound(correlationId);
  const after = cursor === undefined ? undefined : Number(cursor);
  const told = new Set<number>();
  const sees = (pid: number | undefined): boolean => {
    const isSeen = scopes.seesEvent(pid);
    if (isSeen && pid !== undefined) told.add(pid);
    return isSeen;
  };
  const view = await kernel.intents.project({ ...wish, projection, after, sees });
  await scopes.hears(told);
  return view;
};

function isProjection(name: string): name is ProjectionName {
  return (PROJECTIONS as readonly string[]).includes(name);
}
