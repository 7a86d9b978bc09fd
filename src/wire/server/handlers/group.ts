import { asPgid, asPid, type Pgid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";
import { requireSignal } from "../signal.ts";

export const groupList: Handler<"group.list"> = async (_params, { kernel }) => ({
  payload: { groups: kernel.listGroups().map(({ id, name, pids }) => ({ id, name, pids: [...pids] })) },
});

export const groupSignal: Handler<"group.signal"> = async ({ group, signal }, { kernel }) => ({
  payload: { reached: await kernel.init.signalGroup(named(group), requireSignal(signal, "SignalGroup")) },
});

export const groupJoin: Handler<"group.join"> = async ({ pid, group }, { kernel }) => ({
  payload: { group: await kernel.init.joinGroup(asPid(pid), named(group)) },
});

export const groupLeave: Handler<"group.leave"> = async ({ pid, group }, { kernel }) => {
  await kernel.init.leaveGroup(asPid(pid), named(group));
  return { payload: undefined };
};

/** A number is a group id, a string is a name. */
function named(group: string | number): Pgid | string {
  return typeof group === "number" ? asPgid(group) : group;
}
