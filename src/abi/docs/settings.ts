/** What `docs/settings.md` says of a key beside its schema: an example, and a default that is not a plain value. */
import type { SETTING_KEYS } from "../setting-keys.ts";

interface SettingDoc {
  /** Tests check it against the schema. */
  readonly example: unknown;
  /** Where `SETTING_DEFAULTS` has none. */
  readonly otherwise?: string;
}

/** One for each key: a missing one does not compile. */
export const SETTING_DOCS: { readonly [K in (typeof SETTING_KEYS)[number]]: SettingDoc } = {
  "agents.limits.children": { example: 8 },
  "agents.limits.depth": { example: 3 },
  "agents.limits.kernel": { example: 32 },
  "agents.limits.spawnsPerDay": { example: 500 },
  "agents.limits.tree": { example: 16 },
  "audit.anchor": { example: "/mnt/usb/crux-roots.jsonl" },
  "autoMode.allow": { example: ["$defaults", "Reading any file below /srv/data"] },
  "autoMode.environment": { example: ["The staging cluster may be broken at any time"] },
  "autoMode.soft_deny": { example: ["Publishing packages"] },
  "autoMode.stage": { example: "thinking" },
  "bash.background": { example: false },
  "budget.children": { example: 20 },
  "budget.concurrent": { example: 4 },
  "budget.depth": { example: 2 },
  "budget.onLimit": { example: "fail", otherwise: "`ask`" },
  "budget.onWindow": { example: "wait", otherwise: "`fail`" },
  "budget.steps": { example: 200 },
  "budget.tokens": { example: 500_000 },
  "budget.usd": { example: 2 },
  "budget.wallMs": { example: 1_200_000 },
  "budget.windows": { example: [{ usd: 20, per: "1d" }] },
  cleanupPeriodDays: { example: 90 },
  "daemon.idleTimeoutMs": { example: 600_000 },
  "defaults.maxSteps": { example: 50 },
  "journal.maxBytes": { example: 5_368_709_120 },
  "labels.exec": { example: "deny" },
  "labels.outward": { example: ["web"] },
  maxBudgetUsd: { example: 2 },
  model: { example: "sonnet", otherwise: "the first driver that is set up" },
  modelType: { example: "openai", otherwise: "the driver that has the model" },
  models: {
    example: { "model-large": { price: { input: 2, output: 8 } } },
    otherwise: "list prices of common models",
  },
  "permissions.additionalDirectories": { example: ["~/notes"] },
  "permissions.allow": { example: ["bash(npm test:*)", "edit(src/**)"], otherwise: "shipped rules" },
  "permissions.ask": { example: ["bash(git push:*)"], otherwise: "shipped rules" },
  "permissions.askTimeoutSeconds": { example: 600 },
  "permissions.defaultMode": { example: "accept_edits" },
  "permissions.deny": { example: ["view(secrets/**)"], otherwise: "shipped rules" },
  "permissions.detachedTimeoutSeconds": { example: 86_400 },
  "permissions.disableAutoMode": { example: true, otherwise: "`false`" },
  "permissions.disableBypass": { example: true, otherwise: "`false`" },
  "permissions.drop_defaults": { example: ["bash(git status:*)"] },
  "permissions.protect": { example: ["Makefile"], otherwise: "shipped paths" },
  requireModel: { example: true },
  "sandbox.allowOptOut": { example: true, otherwise: "`false`" },
  "sandbox.allowWrite": { example: ["~/.cache/pip"] },
  "sandbox.autoAllow": { example: true, otherwise: "`false`" },
  "sandbox.denyRead": { example: ["~/.ssh"] },
  "sandbox.denyWrite": { example: ["dist"] },
  "sandbox.excluded": { example: ["bash(docker:*)"] },
  "sandbox.mode": { example: "required" },
  "sandbox.network.allow": { example: ["packages.example.org"] },
  "sandbox.network.deny": { example: ["*.example.org"] },
  "secrets.passEnv": { example: { gh: ["GH_TOKEN"] } },
  "sessions.restAfterMs": { example: 3_600_000 },
  tasks: { example: "todo", otherwise: "the task tools" },
  "ui.calls": { example: false },
  useAutoModeDuringPlan: { example: false, otherwise: "`true`" },
  "web.private": { example: ["localhost:3000"] },
};
