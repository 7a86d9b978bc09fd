import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { taskListTable, taskTable } from "../../screen/table/task-table.ts";
import { safeLine } from "../../screen/text/safe-text.ts";

/** The task lists that agents share, or the tasks of one list. */
export const tasks: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const [list, ...more] = args.words;
  if (more.length > 0) throw invalid(`one list at a time: ${args.words.join(" ")}`, "crux tasks [list]");
  const client = await host.daemon.ensure();
  const found = await client.request("task.list", list === undefined ? {} : { list });
  client.close();
  const { lists = [], tasks: all = [] } = found;
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet")
    for (const line of [...lists.map((each) => each.list), ...all.map(({ id }) => id)])
      await console.line(line);
  else if (list === undefined)
    await console.line(lists.length === 0 ? "No task lists." : taskListTable(lists, console.room));
  else await console.line(all.length === 0 ? `No tasks: ${safeLine(list)}` : taskTable(all, console.room));
  return 0;
}
