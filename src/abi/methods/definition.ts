/** Methods on agent and skill files: which exist, where they are, and their problems. */
import * as z from "zod";
import type { MethodSpec } from "./spec.ts";

const issue = z.strictObject({
  severity: z
    .enum(["note", "warning", "error"])
    .describe(
      "note: the key has no effect here; warning: the key is ignored; error: the file cannot be loaded.",
    ),
  message: z
    .string()
    .describe(
      "The problem with file and line, like agents/reviewer/agent.yaml:7: unknown key 'modle' (did you mean model?).",
    ),
});
export type DefinitionIssue = z.infer<typeof issue>;

const definition = z.strictObject({
  name: z.string(),
  path: z.string(),
  source: z
    .string()
    .describe(
      "Where it comes from: bundled, user, other (a folder of another program), project or policy; an agent also from settings or command.",
    ),
  shadowedBy: z.string().describe('The file of the one that has its name; "": it has the name itself.'),
  model: z.string().describe('The model the file names; "": none.'),
  description: z.string(),
  text: z.string().describe("Content of the file."),
  issues: z.array(issue),
});
export type Definition = z.infer<typeof definition>;

const MAX_AGENTS_CHARS = 64 * 1024;

/** Agents of the command line. */
export const GivenAgents = z
  .record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/), z.record(z.string(), z.unknown()))
  .refine((map) => JSON.stringify(map).length <= MAX_AGENTS_CHARS, "over 64 KiB of JSON");

const params = z.strictObject({
  cwd: z.string().startsWith("/"),
  name: z.string().max(200).optional().describe("Name of one definition; absent: all."),
  agents: GivenAgents.optional().describe("Agents of the command line, beside those of files and settings."),
  file: z
    .strictObject({ path: z.string().max(4096), text: z.string().max(256 * 1024) })
    .optional()
    .describe(
      "Check this text instead of a file on disk; `path` is used in messages only, and nothing is opened.",
    ),
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
