/** settings.json, the keys that are read today. Unknown keys are kept and ignored. */
import * as z from "zod";

const strings = z.array(z.string().max(1024)).max(2000);

export const Settings = z.looseObject({
  model: z.string().optional(),
  modelType: z.string().optional(),
  requireModel: z.boolean().optional(),
  permissions: z
    .looseObject({
      allow: strings.optional(),
      ask: strings.optional(),
      deny: strings.optional(),
      drop_defaults: strings.optional(),
      defaultMode: z.string().optional(),
      additionalDirectories: strings.optional(),
    })
    .optional(),
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
  audit: z.looseObject({ anchor: z.string().startsWith("/").max(4096).optional() }).optional(),
  daemon: z.looseObject({ idleTimeoutMs: z.int().min(0).optional() }).optional(),
});
export type Settings = z.infer<typeof Settings>;
