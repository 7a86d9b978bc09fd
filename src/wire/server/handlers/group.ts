import { asPgid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";
import { requireSignal } from "../signal.ts";

export const groupList: Handler<"group.list"> = async (_params, { kernel }) => ({
  payload: { groups: kernel.listGroups().map(({ id, name, pids }) => ({ id, name, pids: [...pids] })) },
});

export const groupSignal: Handler<"group.signal"> = async ({ group, signal }, { kernel }) => {
  const target = typeof group === "number" ? asPgid(group) : group;
  return {
    payload: { reached: await kernel.init.signalGroup(target, requireSignal(signal, "SignalGroup")) },
  };
};
