/** Answers to the questions of the permission gate. */
import * as z from "zod";
import { RULE_DESTINATIONS } from "../rules.ts";
import type { MethodSpec } from "./spec.ts";

export const ASK_METHODS = {
  "ask.answer": {
    summary: "answer a question of the permission gate; the first answer wins",
    kind: "request",
    right: "approve",
    params: z.strictObject({
      ask_id: z.string(),
      answer: z.enum(["yes", "no", "always"]),
      words: z
        .string()
        .max(4000)
        .optional()
        .describe(
          'With "no": a message for the model. With "yes" to a reached limit: by how much to raise it, like 2usd or 50000.',
        ),
      rule: z
        .string()
        .min(1)
        .max(1024)
        .optional()
        .describe(
          'With "always": one of the suggested rules or a narrower one; default: the first suggestion.',
        ),
      destination: z
        .enum(RULE_DESTINATIONS)
        .optional()
        .describe('With "always": where the rule is written; default `session`.'),
      answers: z
        .array(
          z.strictObject({
            chosen: z.array(z.string().max(100)).max(4),
            text: z.string().max(10_000),
          }),
        )
        .max(4)
        .optional()
        .describe('With "yes" to questions of an agent: one answer for each question.'),
      input: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          'With "yes": arguments that replace those of the call. They are checked again like a new call.',
        ),
    }),
    result: z
      .strictObject({ note: z.string() })
      .optional()
      .describe(
        "Present only if the rule could not be written to the file and holds for the session instead.",
      ),
  },
} as const satisfies Record<string, MethodSpec>;
