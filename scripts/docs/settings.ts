/** docs/settings.md: every key of settings.json. */
import { SETTING_DOCS } from "../../src/abi/docs/settings.ts";
import { SETTING_DEFAULTS, SETTING_KEYS } from "../../src/abi/settings/keys.ts";
import { Settings } from "../../src/abi/settings/settings.ts";
import { folderTerms } from "../../src/daemon/settings/folder-keys.ts";
import { LIMITS } from "../../src/kernel/limits.ts";
import { type Row, readSchema } from "./schema-rows.ts";
import { code, MADE, table } from "./table.ts";

type Key = (typeof SETTING_KEYS)[number];

const OF_THE_KERNEL: Partial<Record<Key, number>> = {
  "agents.limits.children": LIMITS.agentChildren,
  "agents.limits.depth": LIMITS.agentDepth,
  "agents.limits.kernel": LIMITS.agents,
  "agents.limits.spawnsPerDay": LIMITS.agentSpawns,
  "agents.limits.tree": LIMITS.agentTree,
};

export function settingsPage(): string {
  const rows = new Map(readSchema(Settings).rows.map((row) => [row.path, row]));
  const sections = SETTING_KEYS.map((key) => section(key, rows.get(key)));
  return `${MADE}

# Settings

Settings are JSON files. \`crux config list\` shows what holds in a folder and which file says so; \`crux config set <key> <value>\`
changes one value of your own file, checked first. A value that is not valid is reported and left out; the rest of the file counts.

\`\`\`json
{ "model": "sonnet", "permissions": { "allow": ["bash(npm test:*)"] } }
\`\`\`

## Sources

From the weakest to the strongest:

1. the defaults below;
2. **user**: \`~/.config/crux/settings.json\`, or \`$XDG_CONFIG_HOME/crux/settings.json\`;
3. **project**: \`.claude/settings.json\`, then \`.crux/settings.json\` of the project;
4. **local**: \`.crux/settings.local.json\` of the project, which is not committed;
5. **policy**: \`/etc/crux/settings.json\`, then \`/etc/crux/settings.d/*.json\`, which belong to root.

Of single values the stronger source wins. Lists are combined. Rules of all sources apply together, and a deny overrides every allow
(\`permissions.md\`). The flags of a run and \`--settings <file or JSON>\` override the single values of all files, except what the policy
closes or denies; for the model variables do so too (\`environment.md\`).

User and policy files may set every key. Project and local files may set only the keys marked *project*, and once the folder is
trusted a list in \`labels.outward\`. Whatever was cloned may take away: it turns features off and lowers limits. What chooses a model, costs
more or widens rights counts only once the folder is trusted (\`trust.md\`); each key below says so. Of
\`.claude/settings.json\` only the rules count. \`--settings\` takes \`model\`, \`defaults.maxSteps\`,
\`permissions.allow\`, \`ask\`, \`deny\` and \`defaultMode\`, \`maxBudgetUsd\`, and of \`budget\` the limits.

Rules are read again when their file changes. Everything else is read at the start of the daemon, and again when your own file has changed: by the
next \`crux\` command, by \`crux config set\`, and at SIGHUP. A file that cannot be read as JSON changes nothing until it can.

## Keys

${table(
  ["key", "means"],
  SETTING_KEYS.map((key) => [`[${code(key)}](#${anchorOf(key)})`, rows.get(key)?.meaning ?? ""]),
)}

${sections.join("\n\n")}
`;
}

function section(key: Key, row: Row | undefined): string {
  if (row === undefined || row.meaning === "")
    throw new Error(`src/abi/settings/settings.ts does not describe ${key}`);
  const { example } = SETTING_DOCS[key];
  const terms = folderTerms(key);
  const sources = terms === undefined ? "user, policy" : "user, *project*, local, policy";
  const whole = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), example);
  return `### ${key}

${row.meaning}

- Type: ${row.type}
- Default: ${defaultOf(key)}
- Sources: ${sources}${terms ? `; project and local: ${terms}` : ""}

\`\`\`json
${JSON.stringify(whole)}
\`\`\``;
}

function defaultOf(key: Key): string {
  const value = SETTING_DEFAULTS[key] ?? OF_THE_KERNEL[key];
  return value === undefined ? (SETTING_DOCS[key].otherwise ?? "none") : code(JSON.stringify(value));
}

function anchorOf(key: string): string {
  return key.replaceAll(".", "").toLowerCase();
}
