import type { ContextStat, ViewRequest } from "../../../abi/context.ts";
import { asPid } from "../../../abi/ids.ts";
import type { WireContext } from "../../../abi/methods/context.ts";
import type { Handler, RequestContext } from "../handler.ts";
import { invalid } from "../request.ts";

export const contextStat: Handler<"context.stat"> = async (
  { pid, messages = false, brief: isBrief = false },
  call,
) => {
  const { messages: shown, ...stat } = await call.kernel.views.stat(asPid(pid), { isBrief });
  return { payload: { ...toWire(pid, stat), ...(messages && !isBrief ? { messages: [...shown] } : {}) } };
};

export const contextCompact: Handler<"context.compact"> = async (params, call) => {
  const { pid, env, text = "", from, up_to: upTo } = params;
  const message = from ?? upTo;
  if (from !== undefined && upTo !== undefined) throw invalid("payload: either from or up_to");
  const side = from === undefined ? "up_to" : "from";
  const part = message === undefined ? {} : { part: { side, message } as const };
  return changed(call, { pid, env }, { op: "compact", text: text.trim(), ...part });
};

export const contextUndo: Handler<"context.undo"> = (place, call) => changed(call, place, { op: "undo" });

export const contextClear: Handler<"context.clear"> = (place, call) => changed(call, place, { op: "clear" });

export const contextPin: Handler<"context.pin"> = async ({ pid, env, message, text }, call) => {
  const what = message ?? text?.trim();
  if (what === undefined || what === "" || (message !== undefined && text !== undefined))
    throw invalid("payload: either message or text");
  return pinned(call, { pid, env }, { op: "pin", message: what });
};

export const contextUnpin: Handler<"context.unpin"> = ({ message, ...place }, call) =>
  pinned(call, place, { op: "unpin", message });

export const contextSnip: Handler<"context.snip"> = ({ messages, ...place }, call) =>
  changed(call, place, { op: "snip", messages });

export const contextMemory: Handler<"context.memory"> = ({ on, ...place }, call) =>
  changed(call, place, { op: "memory", on });

interface Place {
  readonly pid: number;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

async function changed(call: RequestContext, place: Place, request: ViewRequest) {
  const { before, after } = await asked(call, place, request);
  return { payload: { pid: place.pid, before, after } };
}

async function pinned(call: RequestContext, place: Place, request: ViewRequest) {
  const { message = 0 } = await asked(call, place, request);
  return { payload: { pid: place.pid, message } };
}

function asked({ kernel, gone }: RequestContext, { pid, env }: Place, request: ViewRequest) {
  const options = { signal: gone, ...(env === undefined ? {} : { env }) };
  return kernel.views.ask(asPid(pid), request, options);
}

function toWire(pid: number, stat: Omit<ContextStat, "messages">): WireContext {
  const { device, undoable, moves, parts, ...same } = stat;
  return {
    pid,
    driver: device.split("/")[3] ?? "",
    ...same,
    thresholds: { ...stat.thresholds },
    can_undo: undoable > 0,
    moves: moves.map(({ at, ...move }) => ({ at: new Date(at).toISOString(), ...move })),
    ...(parts === undefined ? {} : { parts: { ...parts } }),
  };
}
