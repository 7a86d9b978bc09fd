/**
 * crux.compose.yaml as it is written, its variables filled in (kernel reference, compose): what each key may be. What
 * two keys together may be is in compose-check.ts. The schema that is published for editors comes from here.
 */
import * as z from "zod";
import { MAX_TIMER_MS } from "../../lib/time/max-timer.ts";
import { PERMISSION_MODES } from "../process.ts";
import { DEFAULT_BACKOFF, DEFAULT_INTENSITY } from "../supervise.ts";
import type { DependsCondition } from "./compose.ts";
import { PROJECT_NAME } from "./name.ts";

const MAX_TOKENS = 2 ** 40;
const DEFAULT_SHUTDOWN_MS = 5_000;
export const DEFAULT_READY_MS = 60_000;

const CONDITIONS = {
  started: "started",
  ready: "ready",
  completed: "completed",
  service_started: "started",
  service_healthy: "ready",
  service_completed_successfully: "completed",
} as const satisfies Record<string, DependsCondition>;

/** A variable in an unquoted value gives text: `replicas: ${N:-2}`. */
const fromText = (value: unknown): unknown =>
  typeof value === "string" && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
const numberOf = (schema: z.ZodNumber) => z.preprocess(fromText, schema);
const whole = (min: number, max: number) => numberOf(z.int().min(min).max(max));
const durationMs = whole(0, MAX_TIMER_MS);
/** A variable in an unquoted value gives text here, too. */
const truth = z.preprocess(
  (value) => (value === "true" || value === "false" ? value === "true" : value),
  z.boolean(),
);
/** An optional number; the schema for editors has its default. */
const withDefault = (schema: ReturnType<typeof numberOf>, value: number, description: string) =>
  schema.default(value).meta({ description, default: value });

const noNul = (value: string): boolean => !value.includes("\0");
const anyText = z.string().refine(noNul, "must not hold a NUL character");
const text = anyText.min(1);

const ServiceName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/, "must be letters, digits, `.`, `_` and `-`, at most 60");

const Budget = z.strictObject({
  tokens: whole(0, MAX_TOKENS).optional().meta({ description: "Tokens; 0 or absent: no limit of its own." }),
  usd: numberOf(z.number().positive())
    .optional()
    .meta({ description: "US dollars. Not enforced yet: needs `tokens` beside it, which are." }),
});

/** Converts both forms to a map from service to condition. */
const DependsOn = z
  .union([
    z.array(ServiceName),
    z.record(
      ServiceName,
      z.strictObject({
        condition: z
          .enum(Object.keys(CONDITIONS) as [keyof typeof CONDITIONS])
          .default("started")
          .meta({
            description: "`started` (default), `ready`, or `completed`: it exited 0.",
          }),
      }),
    ),
  ])
  .transform((given): Readonly<Record<string, DependsCondition>> => {
    if (Array.isArray(given)) return Object.fromEntries(given.map((name) => [name, "started" as const]));
    return Object.fromEntries(
      Object.entries(given).map(([name, { condition }]) => [name, CONDITIONS[condition]]),
    );
  });

const Ready = z.strictObject({
  stdout: text
    .refine(isPattern, "is not a regular expression")
    .optional()
    .meta({ description: "Regular expression; a command is ready when a line of its stdout matches." }),
  timeout_ms: withDefault(
    whole(1, MAX_TIMER_MS),
    DEFAULT_READY_MS,
    "When it is not ready by then, it has failed.",
  ),
});

const Service = z
  .strictObject({
    agent: text
      .optional()
      .meta({ description: "Agent by name; absent: `general-purpose`. `none`: plain reasoning." }),
    intent: text.optional().meta({ description: "What the agent is to do. Required without `command`." }),
    command: z
      .tuple([text], anyText)
      .optional()
      .meta({ description: "A program and its arguments, instead of an agent. No shell reads it." }),
    model: text.optional().meta({ description: "Model of the agent." }),
    system_prompt: text.optional().meta({ description: "Added after the agent's own instructions." }),
    max_steps: withDefault(whole(0, 1_000_000), 0, "Step limit; 0: the agent's own."),
    timeout_ms: withDefault(durationMs, 0, "Ends the process after this many milliseconds; 0: never."),
    permission_mode: z
      .enum(PERMISSION_MODES)
      .optional()
      .meta({ description: "What passes without a question." }),
    cwd: text.optional().meta({ description: "Working directory, from the file's; default the file's." }),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, "is not a name of a variable"), anyText)
      .default({})
      .meta({ description: "Added to the environment of the command." }),
    budget: Budget.default({}).meta({ description: "Of each replica, inside the project's." }),
    depends_on: DependsOn.default({}).meta({
      description: "Services that come first, and what must hold of them.",
    }),
    ready: Ready.optional().meta({
      description:
        "When the service is ready: a command by a line of its stdout, an agent with its first step.",
    }),
    group: text.max(64).optional().meta({ description: "Process group to join." }),
    restart: z
      .enum(["temporary", "transient", "permanent"])
      .default("temporary")
      .meta({ description: "Started again: never, after a failure, always." }),
    replicas: withDefault(whole(1, 64), 1, "How many; `CRUX_REPLICA` gives each its number, from 1."),
    shutdown_ms: withDefault(durationMs, DEFAULT_SHUTDOWN_MS, "Milliseconds from SIGTERM to SIGKILL."),
  })
  .meta({ anyOf: [{ required: ["intent"] }, { required: ["command"] }] });
export type ServiceEntry = z.output<typeof Service>;

const Pipe = z.strictObject({
  from: ServiceName.meta({ description: "Service that writes." }),
  to: ServiceName.meta({
    description: "Service that reads, one replica: a command on stdin, an agent before its first step.",
  }),
  stream: z
    .enum(["stdout", "stderr", "result"])
    .optional()
    .meta({ description: "Of a command `stdout` (default) or `stderr`; of an agent its `result`." }),
});

const Intensity = z.strictObject({
  max_restarts: withDefault(whole(0, 1_000_000), DEFAULT_INTENSITY.maxRestarts, "Restarts in the window."),
  window_ms: withDefault(whole(1, MAX_TIMER_MS), DEFAULT_INTENSITY.windowMs, "The window."),
});

const BackoffEntry = z.strictObject({
  initial_ms: withDefault(durationMs, DEFAULT_BACKOFF.initialMs, "Wait before the first restart."),
  factor: withDefault(
    numberOf(z.number().min(1).max(1_000)),
    DEFAULT_BACKOFF.factor,
    "Longer each time by this.",
  ),
  max_ms: withDefault(durationMs, DEFAULT_BACKOFF.maxMs, "Longest wait."),
  jitter: withDefault(
    numberOf(z.number().min(0).max(1)),
    DEFAULT_BACKOFF.jitter,
    "Share by which a wait may be shorter or longer.",
  ),
});

export const ComposeFile = z
  .strictObject({
    name: z
      .string()
      .regex(PROJECT_NAME, "must be small letters, digits, `_` and `-`, a letter first, at most 64")
      .optional()
      .meta({ description: "Name of the project; default that of the directory." }),
    budget: Budget.default({}).meta({ description: "Of the whole project." }),
    intensity: Intensity.prefault({}).meta({
      description: "More restarts than this, and the project fails.",
    }),
    backoff: BackoffEntry.prefault({}).meta({ description: "How long a restart waits." }),
    services: z
      .record(ServiceName, Service)
      .refine((services) => Object.keys(services).length > 0, "needs at least one service")
      .meta({ description: "What the project runs, by name." }),
    pipes: z.array(Pipe).default([]).meta({ description: "What one service writes, another reads." }),
    messages: truth
      .default(true)
      .meta({ description: "Services may send messages to one another without a question.", default: true }),
  })
  .meta({
    title: "Crux compose file",
    description: "Agents and programs that run together: crux compose up.",
  });
export type ComposeFile = z.output<typeof ComposeFile>;

/** The known keys of the mapping at a path. */
export function composeKeysAt(path: readonly PropertyKey[]): readonly string[] {
  const [section, , key] = path;
  if (path.length === 0) return Object.keys(ComposeFile.shape);
  if (section === "services" && path.length === 2) return Object.keys(Service.shape);
  if (section === "pipes") return Object.keys(Pipe.shape);
  if (section === "intensity") return Object.keys(Intensity.shape);
  if (section === "backoff") return Object.keys(BackoffEntry.shape);
  if (key === "ready") return Object.keys(Ready.shape);
  return section === "budget" || key === "budget" ? Object.keys(Budget.shape) : [];
}

/**
 * JSON Schema 2020-12 of the file before its variables are filled in: where a number may stand, one may stand in a
 * variable.
 */
export function composeJsonSchema(): object {
  return z.toJSONSchema(ComposeFile, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => {
      const { type, minimum, maximum, exclusiveMinimum } = jsonSchema;
      if (type !== "integer" && type !== "number") return;
      const limits = { minimum, maximum, exclusiveMinimum };
      for (const key of ["type", "minimum", "maximum", "exclusiveMinimum"] as const) delete jsonSchema[key];
      const set = Object.entries(limits).filter(([, limit]) => limit !== undefined);
      jsonSchema.anyOf = [
        { type, ...Object.fromEntries(set) },
        { type: "string", pattern: "\\$\\{" },
      ];
    },
  });
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}
