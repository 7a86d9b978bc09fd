/**
 * MCP servers as the kernel mounts them. `dev/mcp` implements it: transports, the pool, the device over a transport.
 */
import type { Device } from "../../abi/device.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { McpConfig, McpState } from "../../abi/mcp.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";

/** The owner of a mount: the folder a server works in, the environment it may see, and who is notified. */
export interface McpOwner {
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The sandbox of a local server; absent or null: none. Owners with different sandboxes share no server. */
  readonly sandbox?: SandboxProfile | null;
  log(level: "info" | "warn" | "error", message: string): void;
}

/** One reference to a server; the process behind it may be shared. */
export interface McpTransport {
  /** A label for screens, without secrets: `stdio: npx server-memory`. */
  readonly label: string;
  readonly state: McpState;
  /** The service process behind it; null: remote, or not started. */
  readonly servicePid: Pid | null;
  /** Why it is not connected; "" otherwise. */
  readonly problem: string;
  readonly tools: number;
  /**
   * Resolves when connected; rejects UNAVAILABLE, BUDGET (too many servers), or with the signal's reason. At most 30 s.
   */
  connect(signal: AbortSignal): Promise<void>;
  /** Instead of `connect`: the first use connects, with the same errors. */
  connectOnUse(): void;
  /** UNAVAILABLE: not connected. DRIVER: the server's error. TIMEOUT. */
  call(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  ping(signal: AbortSignal): Promise<void>;
  /** Drops the reference; calls in progress end with UNAVAILABLE. Idempotent, at most 600 ms. */
  close(): Promise<void>;
}

export interface McpHost {
  /** INVALID: a malformed config. Starts nothing before `connect`. */
  transport(config: McpConfig, owner: McpOwner): McpTransport;
  /** The device of kernel reference 9.1 over a transport; `server` names it in effects and rules. */
  device(server: string, transport: McpTransport): Device;
  /** Ends all services, at shutdown. */
  close(): Promise<void>;
}
