/** The keys of settings.json on what agents may do: rules, auto mode, the sandbox. */
import * as z from "zod";

export const strings = z.array(z.string().max(1024)).max(2000);

/**
 * The keys for user, flag and policy settings; of projects only `allow`, `ask`, `deny` and `additionalDirectories` are
 * read.
 */
export const PermissionSettings = z.looseObject({
  allow: strings.optional().describe("Calls that run without a question, as rules."),
  ask: strings.optional().describe("Calls that always ask, as rules."),
  deny: strings.optional().describe("Calls that are refused, as rules. A deny overrides every allow."),
  drop_defaults: strings
    .optional()
    .describe("Shipped rules that shall not apply. Read from user settings only."),
  defaultMode: z
    .string()
    .optional()
    .describe("Permission mode in which agents start; `bypass` is not accepted here."),
  additionalDirectories: strings
    .optional()
    .describe("Folders besides the working folder where agents may work."),
  protect: strings
    .optional()
    .describe(
      "Paths that are written only with your approval; `!path` removes a shipped one, in user settings only.",
    ),
  disableBypass: z.boolean().optional().describe("True closes bypass mode."),
  disableAutoMode: z.boolean().optional().describe("True closes auto mode."),
  askTimeoutSeconds: z
    .number()
    .min(0)
    .max(2_000_000)
    .optional()
    .describe("How long a question waits for an answer, in seconds; 0: as long as it takes."),
  detachedTimeoutSeconds: z
    .number()
    .min(0)
    .max(2_000_000)
    .optional()
    .describe("How long a question stays open after the last client has left, in seconds."),
});

/** Instructions for the auto mode classifier, added to its defaults. */
export const AutoModeSettings = z.looseObject({
  allow: strings
    .optional()
    .describe(
      "Sentences on what the classifier of auto mode allows. They replace its own unless one of them is `$defaults`.",
    ),
  soft_deny: strings
    .optional()
    .describe("Sentences on what it refuses unless the user asked for it; like `allow`."),
  environment: strings.optional().describe("Sentences on the surroundings it knows about; like `allow`."),
  stage: z
    .enum(["both", "fast", "thinking"])
    .optional()
    .describe("Which stages judge a call: the fast one, the thinking one, or both."),
});

export const SandboxSettings = z.looseObject({
  mode: z
    .enum(["on", "off", "required"])
    .optional()
    .describe(
      "on: a command that cannot be confined asks; required: it is refused; off: commands run without a sandbox.",
    ),
  autoAllow: z
    .boolean()
    .optional()
    .describe("True: a confined command that only the mode would ask about runs without a question."),
  allowOptOut: z
    .boolean()
    .optional()
    .describe("True: an agent may ask to run a command outside the sandbox."),
  excluded: strings.optional().describe("Commands that run outside the sandbox, as rules."),
  denyRead: strings.optional().describe("Paths that confined commands cannot read."),
  allowWrite: strings.optional().describe("Further paths that confined commands may write."),
  denyWrite: strings.optional().describe("Paths that confined commands cannot write."),
  network: z
    .looseObject({
      allow: strings.optional().describe("Hosts that confined commands may reach."),
      deny: strings
        .optional()
        .describe("Hosts that they may not reach, although an entry of `allow` covers them."),
    })
    .optional(),
});
export type SandboxSettings = z.infer<typeof SandboxSettings>;
