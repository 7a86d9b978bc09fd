/** plan_exit: shows the plan on disk to the user, who approves it, changes it, or says what is missing. */
import * as z from "zod";
import type { PlanLeft } from "../../abi/permit/plan.ts";
import { askDevice } from "../device-json.ts";
import { defineTool, type Outcome } from "../tool.ts";
import text from "./plan_exit.md";

const Prompt = z.strictObject({ tool: z.literal("bash"), prompt: z.string().min(1).max(500) });
const Args = z.object({ allowed_prompts: z.array(Prompt).max(20).optional() });
const Meta = z.union([
  z.strictObject({ plan: z.string(), plan_file_path: z.string(), plan_was_edited: z.boolean() }),
  z.strictObject({ awaiting_leader_approval: z.literal(true), request_id: z.string() }),
]);

export const planExit = defineTool({
  name: "plan_exit",
  aliases: ["ExitPlanMode"],
  hint: "plan ready, approve plan, leave plan mode",
  text,
  args: Args,
  meta: Meta,
  readOnly: true,
  effectClass: "repeat",
  destructive: () => false,
  // the user who approves decides the new mode
  effects: () => [{ kind: "person", question: "approve the plan?" }],
  view: () => ({ operation: "show the plan", params: {} }),
  activity: () => "Showing the plan",
  async run({ allowed_prompts: prompts = [] }, context): Promise<Outcome> {
    const request = { op: "exit", prompts };
    return told(await askDevice<PlanLeft & { path: string }>(context, "/dev/plan", request));
  },
});

function told(left: PlanLeft & { readonly path: string }): Outcome {
  if (left.kind === "asked")
    return {
      text:
        `The lead of the team has the plan (${left.requestId}). End your turn: its answer comes as a message. Until then plan ` +
        "mode continues.",
      meta: { awaiting_leader_approval: true, request_id: left.requestId },
    };
  if (left.kind === "rejected") {
    const said = left.words === "" ? "" : ` The user said: ${left.words}`;
    const message = `the user did not approve the plan.${said}`;
    return {
      text: "",
      error: {
        code: "PERMISSION",
        message,
        hint: "Plan mode continues: change the plan and call plan_exit again.",
      },
    };
  }
  const { plan, path, mode, wasEdited } = left;
  const begin = `The user approved the plan. Mode plan has ended; the mode is ${mode}. Begin.`;
  const edited = `${begin} The user changed the plan; this is what counts:\n\n${plan}`;
  return {
    text: wasEdited ? edited : begin,
    meta: { plan, plan_file_path: path, plan_was_edited: wasEdited },
  };
}
