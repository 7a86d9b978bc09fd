/** Events over the binary wire: subscriptions, and what programs publish. */
import { Fault } from "../../../abi/errors.ts";
import { PACKET } from "../../../abi/ipc.ts";
import type { KernelEvent } from "../../../kernel/ports/events.ts";
import { packFrame } from "../../codec/msgpack.ts";
import { invalid } from "../request.ts";
import { tellAgents } from "./agent-events.ts";
import type { IpcCall, IpcHandler } from "./call.ts";
import { EventSubscription } from "./event-subscription.ts";
import { idsOf } from "./ids.ts";
import { knownPid, pidOf } from "./process.ts";

const WINDOW = 256;
const DATA_BYTES = 65_536;
const A_SECOND = 100;
const BURST = 200;
const RESERVED = new Set(
  "kernel process device intent event stream agent supervisor system llm context journal kairo".split(" "),
);
const PREFIX = "kairo.";
/** It stands in the place of events that may have been wanted. */
const COMPACTED = "event.compacted";

export const subscribe: IpcHandler<"event.subscribe"> = async (params, call) => {
  const { session } = call;
  const { events: log, intents } = session.kernel;
  // programs that were lost with an earlier daemon have ended before anything is followed
  await intents.ready();
  const head = await log.head();
  const { events, after = head, window = WINDOW, prefix = "", intentId, correlationId } = params;
  if (after > head) throw invalid(`params.after: ${after} is above the newest event, ${head}`);
  const pid = params.pid === undefined && params.id === undefined ? undefined : pidOf(refOf(params), call);
  const matches = events.map(matcher);
  tellAgents(session.kernel, (name) => matches.some((matches) => matches(name)));
  const floor = await log.floor();
  const wants = (event: KernelEvent): boolean =>
    event.event === COMPACTED ||
    (matches.some((matches) => matches(event.event)) &&
      (pid === undefined || event.pid === pid) &&
      (intentId === undefined || event.intentId === intentId) &&
      (correlationId === undefined || event.correlationId === correlationId) &&
      session.scopes.seesEvent(event.pid));
  const before = async ({ event, pid: about }: KernelEvent): Promise<void> => {
    if (about === undefined) return;
    if (event === "process.exited") await session.delivered(about);
    await session.scopes.hears([about]);
  };
  const limit = session.features.has("flow") ? window : Infinity;
  const { clock } = call.context;
  const wish = { log, clock, after, window: limit, prefix, wants, before };
  session.checkRoom();
  const subscription = session.follow((name) => new EventSubscription({ ...wish, name }, session.output));
  return { subscription, head, floor };
};

function refOf({ id, pid }: { id?: string | undefined; pid?: number | undefined }) {
  return pid === undefined ? { id } : { pid };
}

/** An exact name, `process.*` for all below, or `*`; with or without the prefix. INVALID: another place for the `*`. */
function matcher(pattern: string): (name: string) => boolean {
  const bare = pattern.startsWith(PREFIX) ? pattern.slice(PREFIX.length) : pattern;
  if (bare === "*") return () => true;
  if (bare.replace(/\.\*$/, "").includes("*"))
    throw invalid(`params.events: not a name, a name and .*, or *: ${pattern}`);
  if (!bare.endsWith(".*")) return (name) => name === bare;
  return (name) => name.startsWith(bare.slice(0, -1));
}

export const publish: IpcHandler<"event.publish"> = async ({ event, data, pid, retain }, call) => {
  const { session } = call;
  const [word = ""] = event.split(".");
  if (RESERVED.has(word))
    throw new Fault({ code: "PERMISSION", message: `events of ${word} come from the kernel alone` });
  if (packFrame(PACKET.event, data).length > DATA_BYTES + 8)
    throw invalid(`params.data: at most ${DATA_BYTES} bytes`);
  const about = pid === undefined ? session.scopes.actor : await knownPid({ pid }, call);
  paceOf(session).take(call.context.clock.mono());
  const isLatest = (retain ?? (event.endsWith(".progress") ? "latest" : "all")) === "latest";
  const kept = isLatest ? ({ retain: "latest" } as const) : {};
  const { request } = call;
  const marked = request === undefined ? {} : { request };
  const draft = { event, ...idsOf(call), ...aboutOf(about, call), ...kept, ...marked, data };
  return { seq: await session.kernel.events.publish(draft) };
};

/** What a program publishes is counted for its process, over all its connections. */
const paces = new WeakMap<object, Pace>();

function paceOf(session: IpcCall["session"]): Pace {
  const whose = session.kernel.natives.of(session.scopes.actor) ?? session;
  const pace = paces.get(whose) ?? new Pace();
  paces.set(whose, pace);
  return pace;
}

function aboutOf(pid: number, { session }: IpcCall): Pick<KernelEvent, "pid" | "id"> {
  if (pid === 0) return {};
  const id = session.kernel.natives.list().find((native) => native.pid === pid)?.id;
  return { pid, ...(id === undefined ? {} : { id }) };
}

export const ready: IpcHandler<"process.ready"> = async ({ message }, call) => {
  const { actor } = call.session.scopes;
  if (actor === 0)
    throw new Fault({ code: "PERMISSION", message: "process.ready: only a program of a process is ready" });
  const about = aboutOf(actor, call);
  const data = { ...about, ...(message === undefined ? {} : { message }) };
  await call.session.kernel.events.publish({ event: "process.ready", ...idsOf(call), ...about, data });
  return { ready: true };
};

/** A token bucket. */
class Pace {
  #left = BURST;
  #at = 0;

  /** UNAVAILABLE: too many in a short time. `now`: the monotonic clock. */
  take(now: number): void {
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) * A_SECOND) / 1_000);
    this.#at = now;
    if (this.#left < 1)
      throw new Fault({
        code: "UNAVAILABLE",
        message: `too many events: ${A_SECOND} a second, ${BURST} at once`,
        details: { retryAfterMs: Math.ceil(1_000 / A_SECOND) },
      });
    this.#left--;
  }
}
