import type { ContextStat } from "../../../abi/context.ts";
import { asPid } from "../../../abi/ids.ts";
import type { WireContext } from "../../../abi/methods/context.ts";
import type { Handler } from "../handler.ts";

export const contextStat: Handler<"context.stat"> = async ({ pid }, { kernel }) => ({
  payload: toWire(pid, await kernel.views.stat(asPid(pid))),
});

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
