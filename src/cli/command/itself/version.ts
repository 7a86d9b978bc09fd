import { printedWire } from "../../../wire/codec/error.ts";
import { noWords } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { Console } from "../../console.ts";
import type { Host } from "../../host/host.ts";
import { hintLine, wireOf } from "../../screen/errors.ts";
import { findClaudeVersion } from "./claude-cli.ts";

/** Starts no daemon, and no program except `claude`. */
export const version: Command = { flags: {}, run };

const HOW_TO_GET_CLAUDE = "npm install -g @anthropic-ai/claude-code";

async function run({ args, console, host }: Call): Promise<number> {
  noWords(args, "crux version");
  switch (console.mode) {
    case "quiet":
      await console.line(host.version);
      break;
    case "json":
      await console.data(await asData(host, args.flags.has("verbose")));
      break;
    case "verbose":
    case "default":
      await sayVersion(host, console);
      if (console.mode === "verbose") await console.line(await moreLines(host));
  }
  return 0;
}

export async function sayVersion(
  { version, env }: Pick<Host, "version" | "env">,
  console: Console,
): Promise<void> {
  await console.line(`crux v${version}`);
  await console.line(claudeLines(await findClaudeVersion(env), console));
}

async function asData(host: Host, more: boolean) {
  const claude = await findClaudeVersion(host.env);
  const found = { version: host.version, claude_code_available: claude !== undefined, claude_code: claude };
  if (!more) return found;
  const daemon = await findDaemon(host);
  return {
    ...found,
    drivers: Object.fromEntries(drivers(host.env)),
    daemon: typeof daemon === "object" ? daemon : null,
  };
}

function claudeLines(found: string | undefined, { words, paint }: Console): string {
  if (found !== undefined) return `claude-code: ${found}`;
  return `${paint.red("✗")} claude-code CLI not found\n${hintLine(HOW_TO_GET_CLAUDE, words)}`;
}

async function moreLines(host: Host): Promise<string> {
  const daemon = await findDaemon(host);
  const text = typeof daemon === "object" ? `v${daemon.version} (PID ${daemon.pid})` : daemon;
  return [...drivers(host.env).map(([name, state]) => `${name}: ${state}`), `daemon: ${text}`].join("\n");
}

/** The model drivers that this environment configures, besides claude. */
function drivers(env: Host["env"]): Array<[name: string, state: string]> {
  const has = (name: string): boolean => (env[name] ?? "") !== "";
  const found: Array<[string, string]> = [];
  const configure = (name: string, credentials: readonly string[], others: readonly string[]): void => {
    if (credentials.some(has)) found.push([name, "ready"]);
    else if (others.some(has) || env.CRUX_PROVIDER === name)
      found.push([name, `${credentials[0]} is not set`]);
  };
  configure("anthropic", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"], ["ANTHROPIC_BASE_URL"]);
  configure("openai", ["OPENAI_API_KEY"], ["OPENAI_BASE_URL"]);
  configure("gemini", ["GEMINI_API_KEY", "GOOGLE_API_KEY"], ["GEMINI_BASE_URL"]);
  configure("bedrock", ["AWS_BEARER_TOKEN_BEDROCK"], []);
  if (has("ANTHROPIC_VERTEX_PROJECT_ID")) found.push(["vertex", "ready"]);
  if (has("VLLM_BASE_URL")) found.push(["vllm", "ready"]);
  configure("xai", ["XAI_API_KEY"], ["XAI_BASE_URL"]);
  return found;
}

async function findDaemon(host: Host): Promise<{ version: string; pid: number } | string> {
  try {
    const client = await host.daemon.find();
    if (client === undefined) return "not running";
    const status = await client.request("kernel.status", {});
    client.close();
    return { version: status.version, pid: status.os_pid };
  } catch (error) {
    return printedWire(wireOf(error));
  }
}
