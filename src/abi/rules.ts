/** Permission rules as they are written: `tool` or `tool(content)`, and where they come from. */

/** In the order of the settings that a later one overrides; rules of all sources unite. */
export const RULE_SOURCES = [
  "shipped",
  "userSettings",
  "projectSettings",
  "localSettings",
  "flagSettings",
  "policySettings",
  "cliArg",
  "command",
  "session",
] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

/** A rule as it was written. `drop` takes a shipped rule away; only user settings can. */
export interface RuleText {
  readonly source: RuleSource;
  readonly behavior: "allow" | "ask" | "deny" | "drop";
  readonly text: string;
}

/** Where an "always" is written. `session`: the journal. */
export const RULE_DESTINATIONS = ["session", "localSettings", "projectSettings", "userSettings"] as const;
export type RuleDestination = (typeof RULE_DESTINATIONS)[number];
