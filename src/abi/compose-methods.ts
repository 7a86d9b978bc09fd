/** The methods of compose projects. */
import * as z from "zod";
import { environment, idempotencyKey, type MethodSpec, name, pid } from "./method-spec.ts";

/** A compose file as it was read, its variables filled in: checked here, so that every client gets the same answer. */
const composeFile = {
  /** Parsed YAML. */
  file: z.unknown(),
  /** Default name of the project, and where relative paths begin: absolute. */
  dir: z.string(),
  /** `-p`: outranks the file's. */
  project: name.optional(),
};

export const COMPOSE_METHODS = {
  "compose.config": {
    summary: "check a compose file and give it with its defaults",
    kind: "request",
    right: "observe",
    params: z.strictObject(composeFile),
    /** `file`: in its own keys, with every default. `notices`: what this version does not do of it. */
    result: z.strictObject({ project: z.string(), file: z.unknown(), notices: z.array(z.string()) }),
  },
  "compose.up": {
    summary: "bring a project up and follow it",
    kind: "stream",
    right: "spawn",
    params: z.strictObject({
      ...composeFile,
      /** Where the file is: absolute. After a crash a later daemon reads it again; without, it starts none of the services. */
      path: z.string().max(4096).optional(),
      services: z.array(name).optional(),
      remove_orphans: z.boolean().optional(),
      /** The stream ends after `up`. */
      detach: z.boolean().optional(),
      env: environment.optional(),
      idempotency_key: idempotencyKey.optional(),
    }),
    /** `children`: all there may be, `<service>-<replica>`. `notices` as in compose.config. */
    result: z.strictObject({
      pid,
      project: z.string(),
      children: z.array(z.string()),
      notices: z.array(z.string()),
    }),
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
          /** Why it does not run, where its state does not say. */
          note: z.string().optional(),
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
    /** Whose logs they are: `<service>-<replica>`. */
    result: z.strictObject({ children: z.array(z.string()) }),
  },
} as const satisfies Record<string, MethodSpec>;
