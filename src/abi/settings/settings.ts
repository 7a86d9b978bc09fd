/** The keys of settings.json that are used. Unknown keys are preserved and ignored. */
import * as z from "zod";
import { spanMs } from "../../lib/time/span.ts";
import { CREDENTIAL_DRIVERS } from "../credentials.ts";
import { EFFORTS } from "../llm.ts";
import { DeviceSetting } from "./devices.ts";
import { AutoModeSettings, PermissionSettings, SandboxSettings, strings } from "./rights.ts";
import { StatusLineSettings, UiSettings } from "./terminal.ts";

const command = z.string().min(1).max(4096);
/** The drivers that have a key. */
const KEYED = new RegExp(`^(?:${CREDENTIAL_DRIVERS.join("|")})$`);
const answer = z.enum(["ask", "deny", "off"]);
/** A list names the sources whose data may leave. */
const outward = z.union([answer, z.array(z.enum(["web", "mcp", "file", "exec", "peer"]))]);

/** Names of environment variables; `AWS_*` matches every name with that prefix. */
const variable = z
  .string()
  .max(256)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/, "not a name of a variable, or its beginning with a * behind it");

/** The default budget of each agent that the user starts without a budget. */
const limits = {
  tokens: z
    .int()
    .positive()
    .optional()
    .describe("Token limit of each agent you start, with its descendants."),
  usd: z.number().positive().max(1e9).optional().describe("Cost limit in US dollars."),
  steps: z.int().positive().optional().describe("Step limit, of the agent and its descendants together."),
  wallMs: z.int().positive().optional().describe("Time limit in milliseconds."),
  depth: z.int().min(0).optional().describe("How many levels of agents may be below it."),
  children: z.int().min(0).optional().describe("How many agents may be started below it."),
  concurrent: z.int().min(0).optional().describe("How many agents may run below it at once."),
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
  cacheWrite1h: rate.optional(),
});

const tokens = z.int().min(1_024).max(100_000_000);
/** A key that does not belong here is an error: a mistyped limit would be silently without effect. */
const perMinute = z.int().min(1).max(1e12).optional();

/** What an account may ask of its server. */
const modelLimits = z.strictObject({
  maxConcurrent: z.int().min(1).max(1_000).optional(),
  requestsPerMinute: perMinute,
  inputTokensPerMinute: perMinute,
  outputTokensPerMinute: perMinute,
  tokensPerMinute: perMinute,
});

const ownModel = z.strictObject({
  limits: modelLimits.optional(),
  price: price.optional(),
  maxInputTokens: tokens.optional(),
  maxOutputTokens: tokens.optional(),
  thinking: z.enum(["none", "budget", "adaptive"]).optional(),
  effort: z.array(z.enum(EFFORTS)).max(EFFORTS.length).optional(),
  images: z.boolean().optional(),
  tools: z.boolean().optional(),
  temperature: z.boolean().optional(),
});

export const Settings = z.looseObject({
  model: z.string().optional().describe("The model to use: a name, or driver/name like openai/model-large."),
  mode: z
    .enum(["coordinator"])
    .optional()
    .describe('"coordinator": runs and sessions that name no agent begin with the coordinator.'),
  fallbackModel: z
    .array(z.string().min(1).max(256))
    .max(8)
    .optional()
    .describe(
      "Models that answer for the rest of a run, in order, when its model is overloaded or does not exist; an agent file and --fallback-model take precedence.",
    ),
  modelType: z
    .string()
    .optional()
    .describe(
      "The driver of the model: anthropic, openai, gemini, xai, bedrock, vertex, claude, vllm, ollama, interpreter or script.",
    ),
  apiKeyHelper: z
    .union([command, z.record(z.string().regex(KEYED), command)])
    .optional()
    .describe(
      "A command of the shell that prints the API key of Anthropic, or one for each driver. It runs in your home folder when the environment has no key, again after five minutes, and once after a refusal.",
    ),
  ollama: z
    .looseObject({
      numCtx: z
        .int()
        .min(2048)
        .max(10_000_000)
        .optional()
        .describe(
          "The context of Ollama's models in tokens, input and output together; a model may have less.",
        ),
    })
    .optional(),
  requireModel: z
    .boolean()
    .optional()
    .describe("True: refuse to start an agent without a model, instead of using the built-in interpreter."),
  bash: z
    .looseObject({
      background: z.boolean().optional().describe("False: agents cannot run commands in the background."),
    })
    .optional(),
  autoMemoryDirectory: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The folder that holds the memory of each project, absolute or `~/…`; yours stays where it is (`memory.md`).",
    ),
  autoMemoryEnabled: z
    .boolean()
    .optional()
    .describe("False: agents have no memory that outlives their conversation."),
  memory: z
    .looseObject({
      extract: z
        .boolean()
        .optional()
        .describe("False: no notes are taken of a session by themselves; its agent still writes its own."),
      tidy: z.boolean().optional().describe("False: notes are not tidied by themselves (`memory.md`)."),
    })
    .optional(),
  compaction: z
    .looseObject({
      sessionNotes: z
        .boolean()
        .optional()
        .describe(
          "True: notes of the conversation are kept up while the model works, and take the place of a summary once the window is full.",
        ),
    })
    .optional(),
  context: z
    .looseObject({
      collapse: z
        .boolean()
        .optional()
        .describe(
          "True: old steps are folded, a few at a time, from 60 % of the window on, before a summary of all is needed.",
        ),
      snip: z
        .boolean()
        .optional()
        .describe("True: models may take messages out of their own view, with the tool `snip`."),
    })
    .optional(),
  micro: z
    .looseObject({
      idleMinutes: z
        .int()
        .min(0)
        .max(100_000)
        .optional()
        .describe(
          "Minutes without a reply after which old results of tools are cleared before the next request; 0: only when the window fills.",
        ),
    })
    .optional(),
  tokenTarget: z
    .boolean()
    .optional()
    .describe(
      "True: `+500k` or `+2m` at the start or end of a message says how many tokens its run should write.",
    ),
  skills: z
    .looseObject({
      disabled: strings.optional().describe("Names of skills that agents neither see nor use."),
    })
    .optional(),
  disableSkillShell: z
    .boolean()
    .optional()
    .describe("True: commands in the texts of skills are never run; they stay text."),
  tasks: z
    .literal("todo")
    .optional()
    .describe('"todo": agents get the simple todo tool instead of the task tools.'),
  permissions: PermissionSettings.optional(),
  autoMode: AutoModeSettings.optional(),
  useAutoModeDuringPlan: z
    .boolean()
    .optional()
    .describe(
      "False: in plan mode the classifier of auto mode does not judge, even where plan mode was entered from auto mode.",
    ),
  sandbox: SandboxSettings.optional(),
  labels: z
    .looseObject({
      outward: outward
        .optional()
        .describe(
          "What happens when labelled data would leave: ask, deny or off (user settings only); a list names sources whose data may leave.",
        ),
      exec: answer
        .optional()
        .describe(
          "What happens when a process that has read labelled data runs a command: ask, deny or off (user settings only).",
        ),
    })
    .optional(),
  secrets: z
    .looseObject({
      passEnv: z
        .record(z.string().regex(/^[^/\s]{1,256}$/), z.array(variable).max(200))
        .optional()
        .describe(
          "By program: variables that its commands get although their names look like secrets; `AWS_*` covers all that begin so.",
        ),
    })
    .optional(),
  web: z
    .looseObject({
      private: z
        .array(z.string().max(260))
        .max(200)
        .optional()
        .describe("Hosts with port of the local network that pages may be fetched from."),
    })
    .optional(),
  defaults: z
    .looseObject({
      maxSteps: z.int().min(1).optional().describe("Step limit of an agent whose file sets none."),
    })
    .optional(),
  sessions: z
    .looseObject({
      restAfterMs: z
        .int()
        .min(0)
        .optional()
        .describe(
          "A session with nobody attached and nothing to do leaves memory after this many milliseconds.",
        ),
    })
    .optional(),
  cleanupPeriodDays: z
    .int()
    .min(0)
    .max(36_500)
    .optional()
    .describe("Days after which the history of an ended process is removed; 0: never."),
  journal: z
    .looseObject({
      maxBytes: z
        .int()
        .min(64 * 1024 * 1024)
        .optional()
        .describe("Size of the journal in bytes from which on old histories are removed sooner."),
    })
    .optional(),
  devices: z
    .array(DeviceSetting)
    .max(64)
    .optional()
    .describe(
      "Devices at /dev/hal/<id>: a folder whose changes are read, a file of frames read like a camera, a loopback. Read from user settings only, when the daemon starts.",
    ),
  audit: z
    .looseObject({
      anchor: z
        .string()
        .startsWith("/")
        .max(4096)
        .nullable()
        .optional()
        .describe("A file that gets each root of the journal as a line; null: none."),
    })
    .optional(),
  budget: z
    .looseObject({
      ...limits,
      windows: z
        .array(window)
        .max(16)
        .optional()
        .describe("Limits in money or tokens over a time, for everything your processes spend together."),
      onLimit: z
        .enum(["ask", "fail"])
        .optional()
        .describe("What happens at a limit: ask to raise it, or fail."),
      onWindow: z
        .enum(["fail", "wait"])
        .optional()
        .describe(
          "What happens when a window is used up and nobody can be asked: fail, or wait until there is room.",
        ),
    })
    .optional(),
  agents: z
    .looseObject({
      autoBackgroundMs: z
        .int()
        .min(0)
        .optional()
        .describe(
          "How long an agent waits for one that it started, in ms, before that goes on in the background; 0: as long as it takes.",
        ),
      builtins: z
        .boolean()
        .optional()
        .describe(
          "False: the shipped agents cannot be chosen; yours beside this key, `<name>: {prompt, …}`, can.",
        ),
      disableBackground: z.boolean().optional().describe("Agents wait for all agents that they start."),
      fork: z
        .boolean()
        .optional()
        .describe(
          "True: where you are attached, an agent may fork itself, and what it starts works in the background.",
        ),
      limits: z
        .looseObject({
          depth: z
            .int()
            .min(0)
            .optional()
            .describe(
              "How many levels of agents may be below the one you start; another name of `budget.depth`.",
            ),
          children: z.int().min(0).optional().describe("How many agents one agent may have at once."),
          tree: z
            .int()
            .min(0)
            .optional()
            .describe("How many agents of one tree may run at once; another name of `budget.concurrent`."),
          queue: z.int().min(1).optional().describe("How many agents of one tree may wait to begin."),
          spawnsPerMinute: z
            .int()
            .min(1)
            .optional()
            .describe("How many agents of one tree may begin within a minute; others wait."),
          kernel: z.int().min(0).optional().describe("How many agents may run at once in all."),
          spawnsPerDay: z
            .int()
            .min(0)
            .optional()
            .describe("How many agents may be started in one tree within 24 hours."),
          sameTask: z
            .int()
            .min(1)
            .optional()
            .describe("How often an agent may give one task to the same agent within ten minutes."),
        })
        .optional(),
      scratchpad: z
        .boolean()
        .optional()
        .describe(
          "True: the agents of every session share a folder; those of a coordinator and of a team always do.",
        ),
    })
    .optional(),
  teams: z
    .looseObject({
      enabled: z.boolean().optional().describe("False: no agent makes a team; those that exist go on."),
    })
    .optional(),
  worktree: z
    .looseObject({
      sweepAfterDays: z
        .number()
        .min(0)
        .optional()
        .describe(
          "After how many days without use a worktree of an agent is removed in which nothing has changed; 0: never.",
        ),
    })
    .optional(),
  costReminderUsd: z
    .number()
    .min(0)
    .max(1e9)
    .optional()
    .describe(
      "A line says so, once, when what you have started has cost so much in US dollars; nothing stops. 0: never.",
    ),
  maxBudgetUsd: z.number().positive().max(1e9).optional().describe("Another name of `budget.usd`."),
  models: z
    .record(z.string(), ownModel)
    .optional()
    .describe(
      "Windows, abilities, prices and rate limits of models, by name or the beginning of it, and rate limits by driver: what is stated here replaces what Crux knows.",
    ),
  prices: z
    .record(z.string(), price)
    .optional()
    .describe("Prices in US dollars per million tokens, by model or the beginning of its name."),
  effort: z
    .enum(EFFORTS)
    .optional()
    .describe("How much the model is asked to think, where neither the run nor the agent file says so."),
  cacheTtl: z
    .enum(["5m", "1h"])
    .optional()
    .describe("How long the server keeps a prompt that it is told to cache."),
  promptCache: z
    .looseObject({
      longTtlSources: z
        .array(
          z
            .string()
            .regex(
              /^(?:\*|[a-z]+:.{0,200}|[a-z]+\*)$/,
              "not <purpose>:<agent>, like main:reviewer or main:*",
            ),
        )
        .max(64)
        .optional()
        .describe(
          "Whose prompts the server keeps for an hour: `<purpose>:<agent>`, the purpose `main`, `compact` or `helper`; a `*` at the end stands for any rest.",
        ),
    })
    .optional(),
  ipc: z
    .looseObject({
      legacySocket: z
        .boolean()
        .optional()
        .describe(
          "True: the daemon can also be found at `/tmp/kairo-kernel.sock`, by programs with that fixed path. Counts in your own file, from the next start of the daemon on.",
        ),
    })
    .optional(),
  ui: UiSettings,
  statusLine: StatusLineSettings,
  daemon: z
    .looseObject({
      idleTimeoutMs: z
        .int()
        .min(0)
        .optional()
        .describe("The daemon stops after this many milliseconds without processes and clients."),
    })
    .optional(),
});
export type Settings = z.infer<typeof Settings>;
