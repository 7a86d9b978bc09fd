/** plan_enter: asks the user to enter plan mode. */
import * as z from "zod";
import type { PlanEntered } from "../../abi/permit/plan.ts";
import { askDevice } from "../device-json.ts";
import { defineTool } from "../tool.ts";
import text from "./plan_enter.md";

const Args = z.object({ reason: z.string().max(2_000).optional() });
const Meta = z.strictObject({ plan_file_path: z.string() });

export const planEnter = defineTool({
  name: "plan_enter",
  aliases: ["EnterPlanMode"],
  hint: "plan before changes, plan mode",
  text,
  args: Args,
  meta: Meta,
  readOnly: true,
  effectClass: "repeat",
  destructive: () => false,
  effects: () => [
    { kind: "person", question: "plan first?" },
    { kind: "mode", to: "plan" },
  ],
  view: ({ reason = "" }) => ({ operation: "plan first", params: { reason } }),
  activity: () => "Asking to plan first",
  async run({ reason = "" }, context) {
    const { path } = await askDevice<PlanEntered>(context, "/dev/plan", { op: "enter", reason });
    const said = `Mode plan is on. Look, change nothing, and write the plan to ${path}; then call plan_exit.`;
    return { text: said, meta: { plan_file_path: path } };
  },
});
