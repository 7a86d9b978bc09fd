/** The MCP servers in an agent file (`mcp` or `mcpServers`), with their variables expanded. */
import { isServerName, type McpConfig, type McpServer } from "../../abi/mcp.ts";
import { expandVariables } from "../../lib/variables.ts";
import type { YamlFields } from "./yaml-fields.ts";

const REMOTE = new Set(["http", "streamable-http", "sse"]);

export interface EntryContext {
  /** The environment of the starter of the agent. */
  readonly env: Readonly<Record<string, string>>;
  /** Called for settings without effect and for variables that are not set. */
  warn(message: string): void;
}

/** INVALID: an entry is not a valid server. */
export function mcpServers(fields: YamlFields, context: EntryContext): McpServer[] {
  if (fields.has("mcp") && fields.has("mcp_servers"))
    throw fields.wrong("mcp", "and mcpServers are the same: give one");
  const key = fields.has("mcp") ? "mcp" : "mcp_servers";
  const servers: McpServer[] = [];
  for (const { name, fields: entry } of fields.named(key)) {
    if (!isServerName(name))
      throw fields.wrong(key, `needs names of letters, digits, - and single _: ${JSON.stringify(name)}`);
    if (servers.some((server) => server.name === name)) throw fields.wrong(key, `names ${name} twice`);
    if (entry === null) context.warn(`${key}: ${name} is a name alone; a server needs a command or a url`);
    else if (entry.flag("disabled") !== true)
      servers.push(new Entry(name, key, fields, entry, context).read());
  }
  return servers;
}

class Entry {
  readonly #name: string;
  readonly #key: string;
  readonly #file: YamlFields;
  readonly #fields: YamlFields;
  readonly #context: EntryContext;

  constructor(name: string, key: string, file: YamlFields, fields: YamlFields, context: EntryContext) {
    this.#name = name;
    this.#key = key;
    this.#file = file;
    this.#fields = fields;
    this.#context = context;
  }

  read(): McpServer {
    const fields = this.#fields;
    const required = fields.flag("required") ?? true;
    const alwaysLoad = fields.flag("always_load") === true ? { alwaysLoad: true as const } : {};
    const config = this.#config();
    for (const unread of fields.unread())
      if (unread !== "name") this.#warn(`${unread} is not supported and is ignored`);
    return { name: this.#name, config, required, ...alwaysLoad };
  }

  #config(): McpConfig {
    const fields = this.#fields;
    const type = fields.text("type");
    const isRemote = type === "" ? fields.has("url") : REMOTE.has(type);
    if (type !== "" && type !== "stdio" && !isRemote)
      throw this.#wrong(`type ${type} is not supported: stdio, http or sse`);
    if (fields.has("url") && fields.has("command")) throw this.#wrong("has both a command and a url");
    return isRemote ? this.#remote() : this.#local();
  }

  #local(): McpConfig {
    const fields = this.#fields;
    const command = this.#expand(fields.text("command"));
    if (command === "") throw this.#wrong("needs a command or a url");
    const args = fields.strings("args").map((arg) => this.#expand(arg));
    const env = Object.entries(fields.texts("env")).map(([name, value]) => [name, this.#expand(value)]);
    const cwd = this.#expand(fields.text("cwd")).replace(/^~(?=\/|$)/, this.#context.env.HOME ?? "~");
    if (cwd !== "" && !cwd.startsWith("/")) throw this.#wrong(`cwd must be absolute: ${cwd}`);
    return {
      type: "stdio",
      command,
      args,
      env: Object.fromEntries(env) as Record<string, string>,
      ...(cwd !== "" && { cwd }),
    };
  }

  /** A header with an unset variable is left out: an incomplete header is worse than none. */
  #remote(): McpConfig {
    const url = this.#expand(this.#fields.text("url"));
    if (url === "") throw this.#wrong("needs a url");
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#fields.texts("headers"))) {
      const { text, missing } = expandVariables(value, this.#context.env);
      if (missing.length === 0) headers[name] = text;
      else this.#warn(`${missing.join(", ")} is not set; the header ${name} is left out`);
    }
    return { type: "http", url, headers, ...(this.#fields.text("type") === "sse" ? { sse: true } : {}) };
  }

  #expand(written: string): string {
    const { text, missing } = expandVariables(written, this.#context.env);
    if (missing.length > 0) this.#warn(`${missing.join(", ")} is not set and counts as empty`);
    return text;
  }

  #warn(what: string): void {
    this.#context.warn(`${this.#key}: ${this.#name}: ${what}`);
  }

  #wrong(what: string): Error {
    return this.#file.wrong(this.#key, `${this.#name}: ${what}`);
  }
}
