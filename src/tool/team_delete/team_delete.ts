/** team_delete: ends the team that the caller leads, with its list of tasks. */
import * as z from "zod";
import { TEAM, type Team } from "../../abi/child.ts";
import { codeOf } from "../../abi/errors.ts";
import type { TaskAnswer } from "../../abi/task.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import { TASKS_PATH } from "../task-list.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./team_delete.md";

export const teamDelete = defineTool({
  name: "team_delete",
  aliases: ["TeamDelete"],
  hint: "end team, remove its tasks",
  text,
  args: z.object({}),
  meta: z.strictObject({ team_name: z.string() }),
  offered: ({ hasTeam }) => hasTeam,
  effects: () => [{ kind: "state", path: "/var/teams" }],
  view: () => ({ operation: "end the team", params: {} }),
  activity: () => "Ending the team",
  run: (_args, context) => run(context),
});

async function run(context: RunContext): Promise<Outcome> {
  const { sys, kept } = context;
  const own = sys.getPid();
  const team = kept?.get(TEAM) as Team | undefined;
  if (team === undefined) throw failure("NOT_FOUND", "this process leads no team");
  const { name } = team;
  const members = (await sys.listProcs()).filter(
    ({ ppid, exit, child }) => ppid === own && exit === null && child?.team === name,
  );
  if (members.length > 0) {
    const who = members.map(({ pid, child }) => `${child?.name ?? ""} (pid ${pid})`).join(", ");
    throw failure(
      "CONFLICT",
      `members of team ${name} are there still: ${who}`,
      "shutdown_request or stop ends one",
    );
  }
  const answer = await askDevice<TaskAnswer>(context, TASKS_PATH, { op: "list" });
  // another list may be chosen by the environment: that one is not the team's
  if (answer.list === name) await askDevice<TaskAnswer>(context, TASKS_PATH, { op: "clear" });
  await sys.leaveGroup(own, name).catch((error: unknown) => {
    // an earlier call has come so far
    if (codeOf(error) !== "NOT_FOUND") throw error;
  });
  kept?.set(TEAM, null);
  return { text: `Team ${name} has ended; its tasks are gone.`, meta: { team_name: name } };
}
