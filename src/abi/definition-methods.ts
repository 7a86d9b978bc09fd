/** Agent and skill files, as a person looks at them: what there is, where it comes from, and what is wrong with it. */
import * as z from "zod";
import type { MethodSpec } from "./method-spec.ts";

const issue = z.strictObject({
  /** note: it does nothing here. warning: it is ignored. error: it cannot be loaded. */
  severity: z.enum(["note", "warning", "error"]),
  /** With file and line: `agents/reviewer/agent.yaml:7: unknown key 'modle' (did you mean model?)`. */
  message: z.string(),
});
export type DefinitionIssue = z.infer<typeof issue>;

const definition = z.strictObject({
  name: z.string(),
  path: z.string(),
  /** "" where it names none. */
  model: z.string(),
  description: z.string(),
  /** The file with its settings. */
  text: z.string(),
  issues: z.array(issue),
});
export type Definition = z.infer<typeof definition>;

const params = z.strictObject({
  cwd: z.string().startsWith("/"),
  /** Absent: all. */
  name: z.string().max(64).optional(),
  /** A file instead, as its reader read it: nothing is opened by this path. */
  file: z.strictObject({ path: z.string().max(4096), text: z.string().max(256 * 1024) }).optional(),
});
const result = z.strictObject({ definitions: z.array(definition) });

export const DEFINITION_METHODS = {
  "agents.check": {
    summary: "agent files, and what is wrong with them",
    kind: "request",
    right: "control",
    params,
    result,
  },
  "skills.check": {
    summary: "skill files, and what is wrong with them",
    kind: "request",
    right: "control",
    params,
    result,
  },
} as const satisfies Record<string, MethodSpec>;
