/** Prepares the start of the program: its folder, arguments and environment. */
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCard } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";
import { renderHistory } from "./history.ts";

/** The MCP server's name; its tools appear to the program as `mcp__crux__<tool>`. */
export const TOOL_PREFIX = "mcp__crux__";

export interface ClaudeLaunch {
  /** Private to this attempt; removed after it. */
  readonly folder: string;
  /** An empty folder, so that the program finds no files of the user. */
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The text for standard input, one line. */
  readonly input: string;
}

/** Turns off what Crux does itself: the program's own retries, compaction, updates and reports. */
const settings: Readonly<Record<string, string>> = {
  CLAUDE_CODE_MAX_RETRIES: "0",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTO_COMPACT: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_ERROR_REPORTING: "1",
  DISABLE_TELEMETRY: "1",
  ENABLE_TOOL_SEARCH: "false",
  /** One day, because the bridge never answers calls. */
  MCP_TOOL_TIMEOUT: "86400000",
};

/** The program's path, its caller's environment, and the folder for temporary files. */
interface Installed {
  readonly program: string;
  readonly callerEnv: Readonly<Record<string, string>>;
  readonly tmpDir: string;
}

/** Makes the attempt's folder with its files. The third parameter is the model's id and its limit of output tokens. */
export async function prepareLaunch(
  { program, callerEnv, tmpDir }: Installed,
  request: AttemptRequest,
  { id: model, maxOutputTokens }: Pick<ModelCard, "id" | "maxOutputTokens">,
): Promise<ClaudeLaunch> {
  await mkdir(tmpDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(tmpDir, "claude-"));
  const cwd = join(folder, "work");
  const file = (name: string): string => join(folder, name);
  const tools = request.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  const server = {
    command: process.execPath,
    args: [file("bridge.mjs"), file("tools.json")],
    alwaysLoad: true,
  };
  await mkdir(cwd);
  await Promise.all([
    writeFile(file("bridge.mjs"), bridgeSource()),
    writeFile(file("tools.json"), JSON.stringify(tools)),
    writeFile(file("mcp.json"), JSON.stringify({ mcpServers: tools.length === 0 ? {} : { crux: server } })),
    // in a file, because an argument is limited to 128 KiB and visible in ps
    writeFile(file("system.txt"), request.system.map(({ text }) => text).join("\n\n") || "Answer the user."),
  ]);
  return {
    folder,
    cwd,
    argv: [
      program,
      ...flags,
      "--mcp-config",
      file("mcp.json"),
      "--system-prompt-file",
      file("system.txt"),
      "--model",
      model,
    ],
    env: {
      ...programEnv(callerEnv),
      ...settings,
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens),
      PWD: cwd,
    },
    input: `${JSON.stringify({
      type: "user",
      message: { role: "user", content: [{ type: "text", text: renderHistory(request.messages) }] },
    })}\n`,
  };
}

const flags: readonly string[] = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--include-partial-messages",
  "--tools",
  "",
  "--setting-sources",
  "",
  "--strict-mcp-config",
  "--allowedTools",
  "mcp__crux",
  "--no-session-persistence",
  "--disable-slash-commands",
];

/**
 * The caller's environment without Crux's variables, and without those by which the program would think it runs inside
 * itself.
 */
function programEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(CRUX_|KAIRO_)/.test(name) && name !== "CLAUDECODE" && name !== "CLAUDE_CODE_ENTRYPOINT",
  );
  return Object.fromEntries(kept);
}

/**
 * The MCP server that the program sees: it lists the request's tools and never answers a call, because Crux runs the
 * tools and ends the program when its reply is complete. It is written to a file and started with our own Node, so
 * `serve` must be self-contained: no imports, nothing from outside.
 */
export function bridgeSource(): string {
  return `(${serve.toString()})();\n`;
}

interface Call {
  id?: unknown;
  method?: string;
  params?: { protocolVersion?: string };
}

/** argv[2] names a file with the list of tools. The server ends when its standard input ends. */
function serve(): void {
  const tools: unknown = JSON.parse(
    process.getBuiltinModule("node:fs").readFileSync(process.argv[2] ?? "", "utf8"),
  );
  const send = (message: object): void => {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const answer = ({ id, method, params }: Call): void => {
    if (id === undefined || method === "tools/call") return;
    if (method === "initialize") {
      const protocolVersion = params?.protocolVersion ?? "2025-06-18";
      const serverInfo = { name: "crux", version: "1" };
      send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") send({ id, result: { tools } });
    else if (method === "ping") send({ id, result: {} });
    else send({ id, error: { code: -32601, message: `unknown method ${method}` } });
  };
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") answer(JSON.parse(line));
  });
  process.stdin.on("end", () => process.exit(0));
}
