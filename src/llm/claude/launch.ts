/** Prepares the start of the program: its folder, arguments and environment. */
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCard } from "../../abi/llm.ts";
import type { AttemptRequest } from "../driver.ts";

/** The MCP server's name; its tools appear to the program as `mcp__crux__<tool>`. */
export const TOOL_PREFIX = "mcp__crux__";

export interface ClaudeLaunch {
  /** Private to this run of the program; removed after it. */
  readonly folder: string;
  /** An empty folder, so that the program finds no files of the user. */
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
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
  /** One day: a call waits until the loop has its result. */
  MCP_TOOL_TIMEOUT: "86400000",
  /** Results are bounded by Crux, and sent as they are. */
  MAX_MCP_OUTPUT_TOKENS: "1000000",
  ENABLE_MCP_LARGE_OUTPUT_FILES: "false",
};

/** The program's path, its caller's environment, and the folder for temporary files. */
interface Installed {
  readonly program: string;
  readonly callerEnv: Readonly<Record<string, string>>;
  readonly tmpDir: string;
}

/** Makes the folder of the run with its files. The third parameter is the model's id and its limit of output tokens. */
export async function prepareLaunch(
  { program, callerEnv, tmpDir }: Installed,
  request: AttemptRequest,
  { id: model, maxOutputTokens }: Pick<ModelCard, "id" | "maxOutputTokens">,
): Promise<ClaudeLaunch> {
  await mkdir(tmpDir, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(tmpDir, "claude-"));
  const cwd = join(folder, "work");
  const system = join(folder, "system.txt");
  // over its own pipes: no program stands in between
  const servers = request.tools.length === 0 ? {} : { crux: { type: "sdk", name: "crux", alwaysLoad: true } };
  await mkdir(cwd);
  // in a file, because an argument is limited to 128 KiB and visible in ps
  await writeFile(system, request.system.map(({ text }) => text).join("\n\n") || "Answer the user.");
  return {
    folder,
    cwd,
    argv: [
      program,
      ...flags,
      "--mcp-config",
      JSON.stringify({ mcpServers: servers }),
      "--system-prompt-file",
      system,
      "--model",
      model,
    ],
    env: {
      ...programEnv(callerEnv),
      ...settings,
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens),
      PWD: cwd,
    },
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
