/** Methods on settings: what holds, from where, and changing it. */
import * as z from "zod";
import type { MethodSpec } from "./method-spec.ts";

const cwd = z.string().startsWith("/").max(4096);
const key = z.string().min(1).max(256);

export const WireSetting = z.strictObject({
  key: z.string(),
  value: z.unknown(),
  source: z.enum(["default", "user", "project", "local", "policy"]),
  /** Absent: a default. */
  file: z.string().optional(),
  /** Why it does not count; absent: it does. */
  ignored: z.string().optional(),
});
export type WireSetting = z.infer<typeof WireSetting>;

export const SETTINGS_METHODS = {
  "settings.list": {
    summary: "what the settings say for a folder, and where each value stands",
    kind: "request",
    right: "admin",
    /** `key`: that one, or all below it. NOT_FOUND: no such key. */
    params: z.strictObject({ cwd, key: key.optional() }),
    /** By key, of each the later one wins; lists unite. */
    result: z.strictObject({ settings: z.array(WireSetting), problems: z.array(z.string()) }),
  },
  "settings.set": {
    summary: "write one value into a settings file, or take it out",
    kind: "request",
    right: "admin",
    /** `value` absent: it is taken out. */
    params: z.strictObject({
      cwd,
      destination: z.enum(["userSettings", "projectSettings", "localSettings"]),
      key,
      value: z.unknown().optional(),
    }),
    /** `changed` false: it stood there already. */
    result: z.strictObject({ file: z.string(), changed: z.boolean(), note: z.string().optional() }),
  },
} as const satisfies Record<string, MethodSpec>;
