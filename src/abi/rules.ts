/** Permission rules as they are written: `tool` or `tool(content)`, and where they come from. */

/** In ascending precedence of settings; the rules of all sources are combined. */
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
export const RULE_SOURCE_WORDS: Readonly<Record<RuleSource, string>> = {
  userSettings: "user settings",
  projectSettings: "project settings",
  localSettings: "local settings",
  flagSettings: "the settings given with --settings",
  policySettings: "policy settings",
  cliArg: "the command line",
  command: "the running skill",
  session: "this session",
  shipped: "the shipped defaults",
};

/** A rule as written. `drop` removes a shipped rule; only user settings can do that. */
export interface RuleText {
  readonly source: RuleSource;
  readonly behavior: "allow" | "ask" | "deny" | "drop";
  readonly text: string;
}

/** Where the rule of an "always" answer is stored. `session`: in the journal. */
export const RULE_DESTINATIONS = ["session", "localSettings", "projectSettings", "userSettings"] as const;
export type RuleDestination = (typeof RULE_DESTINATIONS)[number];
