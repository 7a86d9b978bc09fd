import { Fault } from "../../../abi/errors.ts";
import type { WireTask } from "../../../abi/methods/job.ts";
import type { Task } from "../../../abi/task.ts";
import type { Handler } from "../handler.ts";

export const taskList: Handler<"task.list"> = async ({ list }, { deps }) => {
  if (deps.tasks === undefined)
    throw new Fault({ code: "UNAVAILABLE", message: "this daemon keeps no task lists" });
  if (list === undefined) return { payload: { lists: [...(await deps.tasks.lists())] } };
  return { payload: { tasks: (await deps.tasks.tasks(list)).map(taskWire) } };
};

function taskWire({ blocks, blocked_by: blockedBy, labels: _, ...task }: Task): WireTask {
  return { ...task, blocks: [...blocks], blocked_by: [...blockedBy] } as WireTask;
}
