/**
 * Describes what a file of a workspace would do, for the user who is asked to trust it. Nothing here makes decisions.
 */
import type { BroughtKind } from "../../abi/trust.ts";

const MAX_ACTS = 20;
const MAX_CHARS = 300;

/** One line per act, cut to a bound; at least one. */
export async function actsOf(kind: BroughtKind, text: string): Promise<readonly string[]> {
  const said = kind === "compose" ? await composeActs(text) : linesOf(kind, text);
  const all = said.map((line) => line.replace(/\s+/g, " ").trim());
  const cut = all.map((line) => (line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line));
  return cut.length <= MAX_ACTS ? cut : [...cut.slice(0, MAX_ACTS), `and ${cut.length - MAX_ACTS} more`];
}

/** Its variables stand as they are: whoever brings the project up fills them in. */
async function composeActs(text: string): Promise<readonly string[]> {
  // loaded on demand, as where it is read
  const { parseComposeYaml } = await import("../../abi/compose/yaml.ts");
  let file: unknown;
  try {
    file = parseComposeYaml("it", text);
  } catch {
    return ["it is not a compose file"];
  }
  const services = isRecord(file) && isRecord(file.services) ? Object.entries(file.services) : [];
  return services.map(([name, service]) => serviceAct(name, service));
}

function serviceAct(name: string, service: unknown): string {
  const { command, agent, intent } = isRecord(service) ? service : {};
  const words = typeof command === "string" ? [command] : texts(command);
  if (words.length > 0) return `starts ${name}: ${words.join(" ")}`;
  const whom = typeof agent === "string" ? `the agent ${agent}` : "an agent";
  return `starts ${name}: ${whom}${typeof intent === "string" ? `, ${intent}` : ""}`;
}

function linesOf(kind: Exclude<BroughtKind, "compose">, text: string): readonly string[] {
  switch (kind) {
    case "settings":
      return settingsActs(parsed(text));
    case "server":
      return [serverAct(parsed(text))];
    case "agent":
      return ["defines an agent", ...frontMatter(text, ["tools", "mcpServers", "mcp", "hooks"])];
    case "skill":
      return ["instructs the model where it is used", ...frontMatter(text, ["allowed-tools", "hooks"])];
    case "command":
      return ["a command to be typed", ...frontMatter(text, ["allowed-tools"])];
    case "hook":
      return ["a program for hooks"];
    case "instructions":
      return [`instructs the model: ${text.split("\n").length} lines`];
    case "environment":
      return ["sets variables for tools that read it"];
  }
}

function settingsActs(value: unknown): readonly string[] {
  if (!isRecord(value)) return ["it is not a settings file"];
  const permissions = isRecord(value.permissions) ? value.permissions : {};
  return [
    ...texts(permissions.allow).map((rule) => `allows without asking: ${rule}`),
    ...texts(permissions.additionalDirectories).map((dir) => `lets work in: ${dir}`),
    ...hooksOf(value.hooks),
    ...commandOf("status line", value.statusLine),
    ...[value.model, ...texts(value.fallbackModel)]
      .filter((name) => typeof name === "string")
      .map((name) => `chooses the model: ${name}`),
    ...Object.keys(isRecord(value.env) ? value.env : {}).map((name) => `sets in the environment: ${name}`),
    ...[...texts(permissions.ask), ...texts(permissions.deny)]
      .slice(0, 1)
      .map(() => "asks or forbids more (holds already)"),
  ];
}

function hooksOf(hooks: unknown): readonly string[] {
  if (!isRecord(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, matchers]) =>
    list(matchers).flatMap((matcher) =>
      list(isRecord(matcher) ? matcher.hooks : undefined).map(
        (hook) =>
          `runs at ${event}: ${isRecord(hook) ? shown(hook.command ?? hook.url ?? hook.type) : shown(hook)}`,
      ),
    ),
  );
}

function commandOf(what: string, value: unknown): readonly string[] {
  return isRecord(value) && value.command !== undefined
    ? [`runs for the ${what}: ${shown(value.command)}`]
    : [];
}

function serverAct(entry: unknown): string {
  if (!isRecord(entry)) return "it is not a server";
  if (entry.command === undefined) return `connects to: ${shown(entry.url)}`;
  const names = Object.keys(isRecord(entry.env) ? entry.env : {});
  const argv = [entry.command, ...list(entry.args)].map(shown).join(" ");
  return `starts: ${argv}${names.length === 0 ? "" : ` (with ${names.join(", ")} set)`}`;
}

/** The front matter lines of those keys, as written. */
function frontMatter(text: string, keys: readonly string[]): readonly string[] {
  const head = text.split("\n").slice(0, 60);
  return head.filter((line) => keys.some((key) => line.startsWith(`${key}:`)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function texts(value: unknown): readonly string[] {
  return list(value).filter((item) => typeof item === "string");
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "?");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
