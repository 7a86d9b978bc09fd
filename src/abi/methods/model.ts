/** Methods on the choice of a model and the available models. */
import * as z from "zod";
import { EFFORTS } from "../llm.ts";
import { environment, type MethodSpec, pid } from "./spec.ts";

const driver = z.strictObject({
  name: z.string(),
  is_ready: z.boolean(),
  remedy: z.string().describe("What to do to make the driver ready."),
});
export type WireDriver = z.infer<typeof driver>;

const model = z.strictObject({
  driver: z.string(),
  id: z.string(),
  short: z.string().describe('Short name of the model, like sonnet; "": none.'),
  context: z.int().describe("Size of the context window in tokens."),
  price: z
    .strictObject({ input: z.number(), output: z.number() })
    .nullable()
    .describe("US dollars per million tokens; null: not known."),
  max_output: z.int().describe("Most tokens of one reply."),
  thinking: z.enum(["none", "budget", "adaptive"]).describe("How the model thinks before it answers."),
  effort: z.array(z.enum(EFFORTS)).describe("Levels of effort that the model takes."),
  images: z.boolean().describe("Whether it is sent images."),
  cache: z
    .enum(["explicit", "automatic", "none"])
    .describe("How its server caches prompts: it is told what, it does so by itself, not at all."),
  seen: z.string().optional().describe("Year and month in which this was read; absent: not published."),
  is_ready: z.boolean(),
});
export type WireModel = z.infer<typeof model>;

export const MODEL_METHODS = {
  "model.resolve": {
    summary: "which model would answer a run here, and what says so",
    kind: "request",
    right: "control",
    params: z
      .strictObject({
        cwd: z.string().startsWith("/").max(4096),
        env: environment.optional(),
        model: z.string().max(256).optional(),
        agent: z.string().max(64).optional(),
      })
      .describe("The same choices as in spawn; refused where spawn would be refused."),
    result: z
      .strictObject({
        driver: z.string(),
        model: z.string(),
        why: z.string(),
        note: z.string().optional(),
      })
      .describe('`model` is "" when the server chooses its default. `note` is a line to show first.'),
  },
  "process.model": {
    summary: "another model for a process, from its next run or step on",
    kind: "request",
    right: "control",
    params: z.strictObject({
      pid,
      model: z.string().min(1).max(256).optional().describe("As in spawn; absent: it stays as it is."),
      fallback_models: z
        .array(z.string().min(1).max(256))
        .max(8)
        .optional()
        .describe("As in spawn; absent: they stay as they are."),
      effort: z.enum(EFFORTS).optional().describe("As in spawn; absent: it stays as it is."),
      env: environment.optional().describe("For a session that rests."),
    }),
    result: z
      .strictObject({
        pid,
        driver: z.string(),
        model: z.string(),
        effort: z.enum(EFFORTS).optional().describe("Absent: none, or the model does not take any."),
        from: z.enum(["run", "step"]),
        note: z.string().optional().describe("A line to show with it: no table has the model."),
      })
      .describe(
        "`from`: a session goes on with it from its next run on, any other process from its next step.",
      ),
  },
  "model.list": {
    summary: "model drivers, whether they are set up, and the models that are known",
    kind: "request",
    right: "control",
    params: z.strictObject({ env: environment.optional() }),
    result: z.strictObject({ drivers: z.array(driver), models: z.array(model) }),
  },
} as const satisfies Record<string, MethodSpec>;
