/** Methods on settings: the effective values, their sources, and changing them. */
import * as z from "zod";
import type { MethodSpec } from "./spec.ts";

const cwd = z.string().startsWith("/").max(4096);
const key = z.string().min(1).max(256);

export const WireSetting = z.strictObject({
  key: z.string(),
  value: z.unknown(),
  source: z.enum(["default", "user", "project", "local", "policy"]),
  file: z.string().optional().describe("File that sets the value; absent: the value is a default."),
  ignored: z.string().optional().describe("Why the value has no effect; absent: it has effect."),
});
export type WireSetting = z.infer<typeof WireSetting>;

export const SETTINGS_METHODS = {
  "settings.list": {
    summary: "what the settings say for a folder, and where each value stands",
    kind: "request",
    right: "admin",
    params: z
      .strictObject({ cwd, key: key.optional() })
      .describe("`key` selects one key or all keys below it."),
    result: z
      .strictObject({ settings: z.array(WireSetting), problems: z.array(z.string()) })
      .describe("Sorted by key. Of several entries for a key the last one wins; lists are combined."),
  },
  "settings.set": {
    summary: "write one value into a settings file, or take it out",
    kind: "request",
    right: "admin",
    params: z
      .strictObject({
        cwd,
        destination: z.enum(["userSettings", "projectSettings", "localSettings"]),
        key,
        value: z.unknown().optional(),
      })
      .describe("Without `value` the key is removed."),
    result: z
      .strictObject({ file: z.string(), changed: z.boolean(), note: z.string().optional() })
      .describe("`changed` is false when the file already had this value."),
  },
} as const satisfies Record<string, MethodSpec>;
