import type { ContextStat, ViewRequest } from "../../../abi/context.ts";
import { asPid } from "../../../abi/ids.ts";
import type { WireContext } from "../../../abi/methods/context.ts";
import type { Handler, RequestContext } from "../handler.ts";

export const contextStat: Handler<"context.stat"> = async ({ pid }, { kernel }) => ({
  payload: toWire(pid, await kernel.views.stat(asPid(pid))),
});

export const contextCompact: Handler<"context.compact"> = ({ pid, env, text = "" }, call) =>
  changed(call, { pid, env }, { op: "compact", text: text.trim() });

export const contextUndo: Handler<"context.undo"> = (place, call) => changed(call, place, { op: "undo" });

export const contextClear: Handler<"context.clear"> = (place, call) => changed(call, place, { op: "clear" });

interface Place {
  readonly pid: number;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

async function changed({ kernel, gone }: RequestContext, { pid, env }: Place, request: ViewRequest) {
  const options = { signal: gone, ...(env === undefined ? {} : { env }) };
  const { before, after } = await kernel.views.ask(asPid(pid), request, options);
  return { payload: { pid, before, after } };
}

function toWire(pid: number, stat: ContextStat): WireContext {
  const { device, undoable, moves, ...same } = stat;
  return {
    pid,
    driver: device.split("/")[3] ?? "",
    ...same,
    thresholds: { ...stat.thresholds },
    can_undo: undoable > 0,
    moves: moves.map(({ at, ...move }) => ({ at: new Date(at).toISOString(), ...move })),
    parts: { ...stat.parts },
  };
}
