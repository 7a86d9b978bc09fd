/** team_create: makes the caller the lead of a team: a group with a list of tasks, which its members join when they start. */
import * as z from "zod";
import { TEAM, type Team } from "../../abi/child.ts";
import { O_RDONLY } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { TaskAnswer } from "../../abi/task.ts";
import { infoOf } from "../child-process.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import { readToEnd, withFile } from "../files.ts";
import { TASKS_PATH } from "../task-list.ts";
import { defineTool, type Outcome, type RunContext } from "../tool.ts";
import text from "./team_create.md";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** How many names are tried: `crew`, `crew-2`, `crew-3` … */
const MOST_NAMES = 20;
const MAX_CONFIG_BYTES = 1024 * 1024;

const Args = z.object({
  team_name: z.string().min(1).max(64),
  description: z.string().max(500).optional(),
});

const Meta = z.strictObject({ team_name: z.string(), config_path: z.string(), task_list_id: z.string() });

export const teamCreate = defineTool({
  name: "team_create",
  aliases: ["TeamCreate"],
  hint: "create team of agents with shared tasks",
  text,
  args: Args,
  meta: Meta,
  readOnly: true,
  destructive: () => false,
  enabled: ({ mayTeam }) => mayTeam || "teams.enabled is false in the settings",
  offered: ({ isChild }) => !isChild,
  effects: () => [{ kind: "state", path: "/var/teams" }],
  view: ({ team_name: name }) => ({ operation: `create team ${name}`, params: {} }),
  about: (args) => args.team_name,
  activity: ({ team_name: name }) => `Making team ${name}`,
  run,
});

async function run(args: z.output<typeof Args>, context: RunContext): Promise<Outcome> {
  const { sys, kept } = context;
  const { team_name: wanted } = args;
  if (!NAME.test(wanted))
    throw failure("INVALID", `not a name for a team: ${wanted} (letters, digits, _ and -, at most 64)`);
  const self = await infoOf(sys, sys.getPid());
  if (self === undefined || self.child !== undefined || self.ppid !== PID_KERNEL)
    throw failure("PERMISSION", "only the agent that the user started leads a team");
  const led = kept?.get(TEAM) as Team | undefined;
  if (led !== undefined)
    throw failure("CONFLICT", `this process leads team ${led.name} already`, "team_delete ends it");
  const { name, list } = await joined(args, context);
  const config = `/var/teams/${name}/config.json`;
  const shared = await withFile(context, config, O_RDONLY, async (fd) => {
    const { scratchpad } = JSON.parse((await readToEnd(context, fd, MAX_CONFIG_BYTES)).toString("utf8")) as {
      scratchpad?: string;
    };
    return scratchpad === undefined ? "" : `; all agents of this session share the folder ${scratchpad}`;
  });
  const taken = name === wanted ? "" : `${wanted} was taken. `;
  return {
    text:
      `${taken}Team ${name} is there, its tasks are list ${list}${shared}. agent with a name starts a member, with mode "plan" one whose ` +
      "plan you approve. Members are told nothing but their prompt: say which tasks to claim. send writes to a member by its " +
      'name, "*" to all; each tells you when it has nothing to do. team_delete ends the team once its members are gone.',
    meta: { team_name: name, config_path: config, task_list_id: list },
  };
}

/** The first name that no group of others has, and no earlier team has left tasks under: the caller leads it then. */
async function joined(
  { team_name: wanted, description = "" }: z.output<typeof Args>,
  context: RunContext,
): Promise<{ name: string; list: string }> {
  const { sys, kept, now } = context;
  for (let n = 1; n <= MOST_NAMES; n++) {
    const end = n === 1 ? "" : `-${n}`;
    const name = `${wanted.slice(0, 64 - end.length)}${end}`;
    if ((await isTaken(name, context)) || !(await join(name, context))) continue;
    kept?.set(TEAM, { name, description, createdAt: now() } satisfies Team);
    const { list, tasks } = await ownList(context);
    if (list !== name || tasks.length === 0) return { name, list };
    kept?.set(TEAM, null);
    await sys.leaveGroup(sys.getPid(), name);
  }
  throw failure("CONFLICT", `${wanted} and ${MOST_NAMES - 1} more names like it are taken`);
}

/** A group that has nobody but the caller is no team yet: a daemon that died may have left it there, half made. */
async function isTaken(name: string, { sys }: RunContext): Promise<boolean> {
  const own = sys.getPid();
  try {
    const members = await sys.getProcGroup(name);
    if (members.some((pid) => pid !== own)) return true;
    if (members.length > 0) await sys.leaveGroup(own, name);
    return false;
  } catch (error) {
    if (codeOf(error) !== "NOT_FOUND") throw error;
    return false;
  }
}

/** False: it is a group of others, which the caller does not see. */
async function join(name: string, { sys }: RunContext): Promise<boolean> {
  try {
    await sys.joinGroup(sys.getPid(), name);
    return true;
  } catch (error) {
    if (codeOf(error) !== "PERMISSION") throw error;
    return false;
  }
}

async function ownList(context: RunContext): Promise<Extract<TaskAnswer, { ok: true }>> {
  const answer = await askDevice<TaskAnswer>(context, TASKS_PATH, { op: "list" });
  if (!answer.ok) throw failure("CONFLICT", answer.message);
  return answer;
}
