/** The methods of compose projects. */
import * as z from "zod";
import { environment, idempotencyKey, type MethodSpec, name, pid } from "./spec.ts";

/**
 * A parsed compose file, its variables filled in. It is checked by the daemon, so that every client gets the same
 * answer.
 */
const composeFile = {
  file: z.unknown().describe("The compose file, its YAML parsed and its variables filled in."),
  dir: z
    .string()
    .describe("Absolute folder: relative paths start here, and its name is the default project name."),
  project: name.optional().describe("Project name; overrides the name in the file."),
};

export const COMPOSE_METHODS = {
  "compose.config": {
    summary: "check a compose file and give it with its defaults",
    kind: "request",
    right: "observe",
    params: z.strictObject(composeFile),
    result: z
      .strictObject({ project: z.string(), file: z.unknown(), notices: z.array(z.string()) })
      .describe(
        "`file` is the file with every default filled in. `notices` lists what this version does not support.",
      ),
  },
  "compose.up": {
    summary: "bring a project up and follow it",
    kind: "stream",
    right: "spawn",
    params: z.strictObject({
      ...composeFile,
      path: z
        .string()
        .max(4096)
        .optional()
        .describe(
          "Absolute path of the file. After a crash the next daemon reads it again; without it the services are not restarted.",
        ),
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional()
        .describe(
          "SHA-256 of the file as it was read, hex; CONFLICT if the file at `path` is another by now.",
        ),
      services: z.array(name).optional(),
      remove_orphans: z.boolean().optional(),
      detach: z.boolean().optional().describe("End the stream after the event `up`."),
      env: environment.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    result: z
      .strictObject({
        pid,
        project: z.string(),
        children: z.array(z.string()),
        notices: z.array(z.string()),
      })
      .describe(
        "`children` names every replica of the project, as `<service>-<replica>`. `notices` as in compose.config.",
      ),
  },
  "compose.down": {
    summary: "stop a project, in reverse order",
    kind: "request",
    right: "control",
    params: z.strictObject({
      project: name,
      timeout_ms: z.int().min(0).optional(),
      kill: z.boolean().optional(),
    }),
    result: undefined,
  },
  "compose.ps": {
    summary: "the services of a project",
    kind: "request",
    right: "observe",
    params: z.strictObject({ project: name }),
    result: z.strictObject({
      project: z.string(),
      pid,
      services: z.array(
        z.strictObject({
          service: z.string(),
          replica: z.int(),
          pid: pid.nullable(),
          state: z.string(),
          exit_code: z.int().nullable(),
          restarts: z.int(),
          tokens_used: z.int(),
          elapsed_ms: z.int(),
          note: z.string().optional().describe("Why the service does not run, if its state does not say so."),
        }),
      ),
    }),
  },
  "compose.logs": {
    summary: "the merged logs of a project",
    kind: "stream",
    right: "observe",
    params: z.strictObject({
      project: name,
      services: z.array(name).optional(),
      tail: z.int().min(0).max(100_000).optional(),
      follow: z.boolean().optional(),
    }),
    result: z
      .strictObject({ children: z.array(z.string()) })
      .describe("`children` names the replicas whose logs follow, as `<service>-<replica>`."),
  },
} as const satisfies Record<string, MethodSpec>;
