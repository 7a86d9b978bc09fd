import { asPid } from "../../../abi/ids.ts";
import type {
  WireHistoryItem,
  WireMadeCall,
  WireRunFailure,
  WireSession,
} from "../../../abi/methods/session.ts";
import type { HistoryItem, MadeCall, RunFailure, SessionView } from "../../../kernel/ports/sessions.ts";
import { nextStep } from "../../codec/error.ts";
import type { Handler } from "../handler.ts";
import { invalid } from "../request.ts";

const DEFAULT_MESSAGES = 20;
/** The most ended sessions that the journal returns. */
const MOST_ENDED = 1_000;

export const sessionList: Handler<"session.list"> = async ({ cwd, all = false }, { kernel }) => {
  const sessions = await kernel.sessions.list({ ...(cwd === undefined ? {} : { cwd }), all });
  const isCut = sessions.filter(({ state }) => state === "ended").length >= MOST_ENDED;
  return { payload: { sessions: sessions.map(toWireSession), ...(isCut ? { more: true } : {}) } };
};

export const sessionHistory: Handler<"session.history"> = async (params, { kernel }) => {
  const { pid, before, limit = DEFAULT_MESSAGES, text, made = false } = params;
  const place = {
    ...(before === undefined ? {} : { before }),
    ...(text === undefined ? {} : { text }),
    made,
  };
  const { items, next } = await kernel.sessions.history(asPid(pid), { ...place, limit });
  return { payload: { messages: items.map(toWireItem), ...(next === undefined ? {} : { next }) } };
};

export const sessionDescribe: Handler<"session.describe"> = async ({ pid, title, kept }, { kernel }) => {
  if (title === undefined && kept === undefined) throw invalid("payload: neither title nor kept");
  const words = title === undefined ? {} : { title };
  await kernel.sessions.describe(asPid(pid), { ...words, ...(kept === undefined ? {} : { kept }) });
  return { payload: undefined };
};

export function toWireSession(session: SessionView): WireSession {
  return {
    pid: session.pid,
    uuid: session.uuid,
    title: session.title,
    name: session.name,
    cwd: session.cwd,
    state: session.state,
    created_at: new Date(session.createdAt).toISOString(),
    last_at: new Date(session.lastAt).toISOString(),
    tokens_used: session.tokensUsed,
    turns: session.turns,
    kept: session.isKept,
  };
}

function toWireItem({ role, text, calls, made, end, message, at, seq, proc }: HistoryItem): WireHistoryItem {
  return {
    ...{ role, text, calls: [...calls] },
    ...(made === undefined ? {} : { made: made.map(toWireCall) }),
    ...(end === undefined ? {} : { end: toWireFailure(end) }),
    ...(message === undefined ? {} : { message }),
    ...{ at: new Date(at).toISOString(), seq, uuid: proc },
  };
}

/** The next step is worded as for a run that is followed. */
function toWireFailure({ fact, hint = fact && nextStep(fact), ...failure }: RunFailure): WireRunFailure {
  return { ...failure, ...(hint === undefined ? {} : { hint }) };
}

function toWireCall({ isError, ...call }: MadeCall): WireMadeCall {
  return { ...call, ...(isError === true ? { is_error: true } : {}) };
}
