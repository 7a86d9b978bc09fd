/** worktree_exit: back from the worktree that worktree_enter has brought the process to; it is kept, or removed with its branch. */
import * as z from "zod";
import { leaveEffect, type Worktree } from "../../abi/worktree.ts";
import { askDevice } from "../device-json.ts";
import { defineTool } from "../tool.ts";
import text from "./worktree_exit.md";

const Args = z.object({
  strategy: z.enum(["keep", "remove"]),
  discard_changes: z.boolean().default(false),
});
const Meta = z.strictObject({ worktree_path: z.string(), removed: z.boolean() });

export const worktreeExit = defineTool({
  name: "worktree_exit",
  aliases: ["ExitWorktree"],
  hint: "leave git worktree, keep or remove it",
  text,
  args: Args,
  meta: Meta,
  destructive: ({ discard_changes: discards }) => discards,
  offered: ({ isChild }) => !isChild,
  effects: (args, { cwd }) => [leaveEffect(cwd, discards(args))],
  view: (args) => ({
    operation: discards(args)
      ? "remove the worktree with all that is not merged"
      : `leave the worktree, ${args.strategy} it`,
    params: {},
  }),
  about: ({ strategy }) => String(strategy),
  activity: () => "Leaving the worktree",
  async run(args, context) {
    const removes = args.strategy === "remove";
    const request = { op: "exit", removes, discards: discards(args) };
    const left = await askDevice<{ worktree: Worktree; cwd: string }>(context, "/dev/worktree", request);
    const { path, branch } = left.worktree;
    const rest = removes ? "is gone, with its branch" : `stays, branch ${branch}`;
    return {
      text: `You work in ${left.cwd} again. The worktree ${path} ${rest}. Read files again before you edit them.`,
      meta: { worktree_path: path, removed: removes },
    };
  },
});

function discards({ strategy, discard_changes: wanted }: z.output<typeof Args>): boolean {
  return strategy === "remove" && wanted;
}
