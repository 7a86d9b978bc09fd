/** settings.json, the keys that are read today. Unknown keys are kept and ignored. */
import * as z from "zod";
import { spanMs } from "../lib/span.ts";

const strings = z.array(z.string().max(1024)).max(2000);
const answer = z.enum(["ask", "deny", "off"]);
/** A list: what was read from there may leave. */
const outward = z.union([answer, z.array(z.enum(["web", "mcp", "file", "exec", "peer"]))]);

/** Of the environment; `AWS_*`: all that begin so. */
const variable = z
  .string()
  .max(256)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, "not a name of a variable, or its beginning with a * behind it");

/** What user, flag and policy settings may say; projects bring `allow`, `ask`, `deny` and `additionalDirectories` alone. */
const permissions = z.looseObject({
  allow: strings.optional(),
  ask: strings.optional(),
  deny: strings.optional(),
  /** Shipped rules that do not count. User settings only. */
  drop_defaults: strings.optional(),
  defaultMode: z.string().optional(),
  additionalDirectories: strings.optional(),
  /** Paths that are written only when a person says so; `!path` takes a shipped one away, in user settings. */
  protect: strings.optional(),
  disableBypass: z.boolean().optional(),
  disableAutoMode: z.boolean().optional(),
  /** 0: a question waits for as long as it takes. */
  askTimeoutSeconds: z.number().min(0).max(2_000_000).optional(),
  /** How long a question outlives its last client. */
  detachedTimeoutSeconds: z.number().min(0).max(2_000_000).optional(),
});

/** What the classifier of mode auto is told beside its defaults. */
const autoMode = z.looseObject({
  allow: strings.optional(),
  soft_deny: strings.optional(),
  environment: strings.optional(),
  stage: z.enum(["both", "fast", "thinking"]).optional(),
});

export const SandboxSettings = z.looseObject({
  /** `on`: what cannot be confined asks; `required`: it does not run. */
  mode: z.enum(["on", "off", "required"]).optional(),
  autoAllow: z.boolean().optional(),
  allowOptOut: z.boolean().optional(),
  /** Commands that run outside, as rules. */
  excluded: strings.optional(),
  denyRead: strings.optional(),
  allowWrite: strings.optional(),
  denyWrite: strings.optional(),
  network: z.looseObject({ allow: strings.optional(), deny: strings.optional() }).optional(),
});
export type SandboxSettings = z.infer<typeof SandboxSettings>;

/** Of each agent that a person starts, where the person says nothing. */
const limits = {
  tokens: z.int().positive().optional(),
  usd: z.number().positive().max(1e9).optional(),
  steps: z.int().positive().optional(),
  wallMs: z.int().positive().optional(),
  depth: z.int().min(0).optional(),
  children: z.int().min(0).optional(),
  concurrent: z.int().min(0).optional(),
};

/** `1m` to `31d`. */
const per = z.string().refine((text) => spanMs(text) !== undefined, "not a time from 1m to 31d, like 12h");
const window = z.union([
  z.strictObject({ usd: z.number().positive().max(1e9), per }),
  z.strictObject({ tokens: z.int().positive(), per }),
]);

const rate = z.number().min(0).max(1e6);
/** US dollars per million tokens. */
const price = z.strictObject({
  input: rate,
  output: rate,
  cacheRead: rate.optional(),
  cacheWrite: rate.optional(),
});

export const Settings = z.looseObject({
  model: z.string().optional(),
  modelType: z.string().optional(),
  requireModel: z.boolean().optional(),
  /** `background` false: no command of an agent runs in the background. */
  bash: z.looseObject({ background: z.boolean().optional() }).optional(),
  /** todo in place of the task tools, in sessions too. */
  tasks: z.literal("todo").optional(),
  permissions: permissions.optional(),
  autoMode: autoMode.optional(),
  useAutoModeDuringPlan: z.boolean().optional(),
  sandbox: SandboxSettings.optional(),
  /** What labelled data meets on its way out and before a command. `off`: user settings only. */
  labels: z.looseObject({ outward: outward.optional(), exec: answer.optional() }).optional(),
  /** By program: names of the environment that its commands get although they look like secrets. */
  secrets: z
    .looseObject({
      passEnv: z.record(z.string().regex(/^[^/\s]{1,256}$/), z.array(variable).max(200)).optional(),
    })
    .optional(),
  /** `private`: hosts with port of this network that pages may be fetched from, `localhost:3000`. User settings only. */
  web: z.looseObject({ private: z.array(z.string().max(260)).max(200).optional() }).optional(),
  defaults: z.looseObject({ maxSteps: z.int().min(1).optional() }).optional(),
  sessions: z.looseObject({ restAfterMs: z.int().min(0).optional() }).optional(),
  /** Days after which the history of an ended process goes; 0: never. */
  cleanupPeriodDays: z.int().min(0).max(36_500).optional(),
  journal: z
    .looseObject({
      maxBytes: z
        .int()
        .min(64 * 1024 * 1024)
        .optional(),
    })
    .optional(),
  /** A file that gets each root over the journal as a line. */
  audit: z.looseObject({ anchor: z.string().startsWith("/").max(4096).nullable().optional() }).optional(),
  budget: z
    .looseObject({
      ...limits,
      /** Of all that the user's processes spend together. */
      windows: z.array(window).max(16).optional(),
      onLimit: z.enum(["ask", "fail"]).optional(),
      onWindow: z.enum(["fail", "wait"]).optional(),
    })
    .optional(),
  /** Agents that start agents: levels, children of one at once, agents of a tree at once, all at once, started in a tree. */
  agents: z
    .looseObject({
      limits: z
        .looseObject({
          depth: z.int().min(0).optional(),
          children: z.int().min(0).optional(),
          tree: z.int().min(0).optional(),
          kernel: z.int().min(0).optional(),
          spawnsPerDay: z.int().min(0).optional(),
        })
        .optional(),
    })
    .optional(),
  /** Another name of `budget.usd`. */
  maxBudgetUsd: z.number().positive().max(1e9).optional(),
  /** By model, or by the beginning of its name. */
  models: z.record(z.string(), z.looseObject({ price: price.optional() })).optional(),
  /** `calls` false: a terminal shows no lines of calls, and not what the model says beside them. */
  ui: z.looseObject({ calls: z.boolean().optional() }).optional(),
  daemon: z.looseObject({ idleTimeoutMs: z.int().min(0).optional() }).optional(),
});
export type Settings = z.infer<typeof Settings>;
