/** Which model answers, and what there is to choose from. */
import * as z from "zod";
import { environment, type MethodSpec } from "./method-spec.ts";

const driver = z.strictObject({
  name: z.string(),
  is_ready: z.boolean(),
  /** What would make it ready. */
  remedy: z.string(),
});
export type WireDriver = z.infer<typeof driver>;

const model = z.strictObject({
  driver: z.string(),
  id: z.string(),
  /** The short name that stands for it: `sonnet`; "" where it has none. */
  short: z.string(),
  /** Tokens that it takes in. */
  context: z.int(),
  /** US dollars per million tokens; null: not known. */
  price: z.strictObject({ input: z.number(), output: z.number() }).nullable(),
  is_ready: z.boolean(),
});
export type WireModel = z.infer<typeof model>;

export const MODEL_METHODS = {
  "model.resolve": {
    summary: "which model would answer a run here, and what says so",
    kind: "request",
    right: "control",
    /** As of a spawn. Refused as that would be. */
    params: z.strictObject({
      cwd: z.string().startsWith("/").max(4096),
      env: environment.optional(),
      model: z.string().max(256).optional(),
      agent: z.string().max(64).optional(),
    }),
    /** `model` "": what the driver's server takes by default. `note`: a line to be read first. */
    result: z.strictObject({
      driver: z.string(),
      model: z.string(),
      why: z.string(),
      note: z.string().optional(),
    }),
  },
  "model.list": {
    summary: "model drivers, whether they are set up, and the models that are known",
    kind: "request",
    right: "control",
    params: z.strictObject({ env: environment.optional() }),
    result: z.strictObject({ drivers: z.array(driver), models: z.array(model) }),
  },
} as const satisfies Record<string, MethodSpec>;
