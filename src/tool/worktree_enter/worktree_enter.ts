/** worktree_enter: from here on the process works in a git worktree; its checkout is closed to it until worktree_exit. */
import * as z from "zod";
import { enterEffect, type Worktree } from "../../abi/worktree.ts";
import { askDevice } from "../device-json.ts";
import { defineTool } from "../tool.ts";
import text from "./worktree_enter.md";

const Args = z.object({ name: z.string().min(1).max(64).optional() });
const Meta = z.strictObject({ worktree_path: z.string(), worktree_branch: z.string() });

export const worktreeEnter = defineTool({
  name: "worktree_enter",
  aliases: ["EnterWorktree"],
  hint: "work in git worktree, own branch",
  text,
  args: Args,
  meta: Meta,
  destructive: () => false,
  offered: ({ isChild }) => !isChild,
  effects: (_args, { cwd }) => [enterEffect(cwd)],
  view: ({ name = "" }) => ({ operation: `work in a worktree${name === "" ? "" : `: ${name}`}`, params: {} }),
  about: ({ name = "" }) => name,
  activity: () => "Moving to a worktree",
  async run({ name = "" }, context) {
    const { cwd } = context;
    const { path, branch } = await askDevice<Worktree>(context, "/dev/worktree", { op: "enter", name });
    return {
      text:
        `You work in ${path} now, branch ${branch}; what was not committed is not there, and ${cwd} is closed to you. Paths below ` +
        `${cwd} mean those of the worktree: read files again before you edit them. worktree_exit goes back.`,
      meta: { worktree_path: path, worktree_branch: branch },
    };
  },
});
