import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { invalid } from "../../screen/errors.ts";
import { taskListTable, taskTable } from "../../screen/table/task-table.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

/** The task lists that agents share, or the tasks of one list. */
export const tasks: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [list, ...more] = args.words;
  if (more.length > 0) throw invalid(`one list at a time: ${args.words.join(" ")}`, "crux tasks [list]");
  const client = await host.daemon.ensure();
  const name = list === undefined ? undefined : await listNamed(client, list);
  const found = await client.request("task.list", name === undefined ? {} : { list: name });
  client.close();
  const { lists = [], tasks: all = [] } = found;
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet")
    for (const line of [...lists.map((each) => each.list), ...all.map(({ id }) => id)])
      await console.line(line);
  else if (list === undefined)
    await console.line(lists.length === 0 ? "No task lists." : taskListTable(lists, console.room));
  else if (all.length > 0) await console.line(taskTable(all, console.room));
  else await console.line(name === list ? `No tasks: ${safeLine(list)}` : `No tasks of PID ${list}.`);
  return 0;
}

/** The list of a session has its id for a name. */
async function listNamed(client: Pick<DaemonClient, "request">, list: string): Promise<string> {
  if (!/^\d+$/.test(list)) return list;
  const { sessions } = await client.request("session.list", {});
  return sessions.find(({ pid }) => String(pid) === list)?.uuid ?? list;
}
