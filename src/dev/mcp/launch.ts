/** Resolves the config entry of a server for its owner: the program to start, or the URL to connect to. */
import { createHash } from "node:crypto";
import type { McpConfig } from "../../abi/mcp.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { McpOwner } from "../../kernel/ports/mcp.ts";
import { serverLabel } from "../../lib/redact/server-label.ts";
import { driverError } from "../driver-error.ts";

export type ServerLaunch = LocalLaunch | RemoteLaunch;

interface Common {
  /** Equal for entries that can share one server. */
  readonly key: string;
  /** A readable name, without secrets. */
  readonly label: string;
  /** The host that effects name as the target of a call. */
  readonly host: string;
}

export interface LocalLaunch extends Common {
  readonly kind: "local";
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: SandboxProfile | null;
}

export interface RemoteLaunch extends Common {
  readonly kind: "remote";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly isSse: boolean;
}

/** INVALID: not a usable config. */
export function launchOf(
  config: McpConfig,
  owner: Pick<McpOwner, "env" | "sandbox">,
  home: string,
): ServerLaunch {
  return config.type === "http" ? remote(config) : local(config, owner, home);
}

function local(
  config: Extract<McpConfig, { type: "stdio" }>,
  owner: Pick<McpOwner, "env" | "sandbox">,
  home: string,
): LocalLaunch {
  const { command, args, cwd = home } = config;
  if (command === "" || [command, ...args].some((word) => word.includes("\0")))
    throw invalid("the command is empty, or has a NUL in it");
  if (!cwd.startsWith("/")) throw invalid(`cwd must be absolute: ${cwd}`);
  for (const [name, value] of Object.entries(config.env))
    if (!/^[^=\0]+$/.test(name) || value.includes("\0"))
      throw invalid(`not a variable of an environment: ${JSON.stringify(name)}`);
  const argv = [command, ...args];
  const env = serverEnvironment(owner.env, config.env);
  const sandbox = owner.sandbox ?? null;
  // protected paths follow from these; what is hidden depends on the rights of the owner, too
  const bounds = sandbox === null ? [] : [sandbox.write, sandbox.network, sandbox.hide.toSorted()];
  const key = keyOf("stdio", argv, cwd, distinguishing(env), bounds);
  return { kind: "local", key, label: serverLabel(config), host: "local", argv, cwd, env, sandbox };
}

function remote(config: Extract<McpConfig, { type: "http" }>): RemoteLaunch {
  const url = URL.parse(config.url);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw invalid(`not an http or https URL: ${config.url.slice(0, 200)}`);
  if (url.username !== "" || url.password !== "")
    throw invalid("user and password do not go into the URL: put them into a header");
  for (const [name, value] of Object.entries(config.headers))
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw invalid(`not an HTTP header: ${JSON.stringify(name)}`);
  const { headers, sse: isSse = false } = config;
  const names = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    kind: "remote",
    key: keyOf(isSse ? "sse" : "http", url.href, names),
    label: serverLabel(config),
    host: url.host,
    url,
    headers,
    isSse,
  };
}

function keyOf(...parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function invalid(message: string): Error {
  return driverError("Open", "INVALID", `MCP server: ${message}`);
}

/**
 * The variables that a local server inherits: those that any program needs, never a key of ours. Its entry adds
 * others.
 */
const KEPT = /^(HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LC_[A-Z_]+|TMPDIR|XDG_[A-Z_]+)$/;
/** Variables that differ between terminals and do not change what a server does. */
const COSMETIC = /^(TERM|LANG|LC_[A-Z_]+|XDG_(SESSION|SEAT|VTNR|CURRENT_DESKTOP)\w*)$/;

function serverEnvironment(
  owner: Readonly<Record<string, string>>,
  entry: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(owner).filter(([name]) => KEPT.test(name));
  return { ...Object.fromEntries(kept), ...entry };
}

/** The variables that distinguish two servers of one entry, sorted by name. */
function distinguishing(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env)
    .filter(([name]) => !COSMETIC.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
