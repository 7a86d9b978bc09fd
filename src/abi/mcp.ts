/** MCP servers as they are named in agent files and mounted (kernel reference, MCP mounts). */

/** stdio: the kernel starts `command`; http: at `url`, streamable HTTP or the transport before it (`sse`). Values are expanded already. */
export type McpConfig = McpStdio | McpHttp;

export interface McpStdio {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Added to HOME LOGNAME PATH SHELL TERM USER LANG LC_* TMPDIR XDG_*. Never journalled. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; absent: the user's home. */
  readonly cwd?: string;
  /** Of a server that the user mounts: it runs in the sandbox of an agent's commands in `cwd`, as those of agents do anyway. */
  readonly confined?: true;
}

interface McpHttp {
  readonly type: "http";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It answers on a stream of events, as servers did before streamable HTTP. */
  readonly sse?: true;
}

/** One entry of `mcp` in agent.yaml. */
export interface McpServer {
  /** isServerName() */
  readonly name: string;
  readonly config: McpConfig;
  /** false: a server that does not connect is logged and left out. */
  readonly required: boolean;
  /** Its tools are sent with every request, instead of being found by search. */
  readonly alwaysLoad?: true;
  /** A client gave it for this process: no file has it. */
  readonly isGiven?: true;
}

/**
 * Letters, digits, `_` and `-`, at most 64; no `__`, no `_` at the end. Tools are called `mcp__<server>__<tool>`: with
 * such a name, the rules of one server could match another.
 */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) && !name.includes("__") && !name.endsWith("_");
}

export type McpState = "pending" | "connected" | "failed";

/** A mount as `crux mcp list` shows it. */
export interface MountView {
  readonly path: string;
  /** The owner; 0: the user mounted it for all processes. */
  readonly pid: number;
  /** `stdio: npx server-memory`, `http: http://127.0.0.1:8080/mcp`: without secrets. */
  readonly server: string;
  readonly state: McpState;
  readonly tools: number;
  /** The service process behind it; null for a remote server. */
  readonly servicePid: number | null;
  /** Why it is not connected; "" otherwise. */
  readonly problem: string;
}
