/**
 * MCP servers as effects of the process that starts them. An agent's servers need consent: its file may name any
 * server, and the process that starts the agent may not be the user.
 */
import type { Effect } from "../../abi/effects.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { McpConfig, McpServer } from "../../abi/mcp.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { serverLabel } from "../../lib/redact/server-label.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { type Granting, subjectOf } from "../process/subject.ts";
import { invalid } from "./errors.ts";
import { guard } from "./guard.ts";
import type { Gatekeeping, KernelPass } from "./passage.ts";

/** The tool name that rules match for mounting a server. */
export const MOUNT_TOOL = "mount";

/** The servers that an agent file names. */
interface Brought {
  readonly syscall: string;
  /** The name of the agent. */
  readonly device: string;
  readonly servers: readonly McpServer[];
}

/** `act` mounts these servers, and no others. */
export function guardServers<T>(
  pass: KernelPass<Gatekeeping & Launching>,
  brought: Brought,
  act: () => Promise<T>,
): Promise<T> {
  const { syscall, device, servers } = brought;
  if (servers.length === 0) return act();
  const { core, self } = pass;
  const effectful = {
    syscall,
    device,
    tool: MOUNT_TOOL,
    effects: servers.map(({ config }) => mountEffect(core, self, { path: device, config })),
    effectClass: "once",
    input: servers.map(({ config }) => serverLabel(config)).join("\n"),
  } as const;
  return guard(pass, effectful, act);
}

/** The parts of the kernel needed to start a local server. */
export interface Launching {
  readonly ports: Pick<KernelPorts, "commandEnv" | "home">;
}

/** A server, and the mount path or the agent it is for. */
interface Mounted {
  readonly path: string;
  readonly config: McpConfig;
}

/** INVALID: not a valid URL, or variables that a program may not set. */
export function mountEffect(core: Launching, self: Process, { path, config }: Mounted): Effect {
  return config.type === "http" ? reach(self, path, config.url) : start(core, self, config);
}

/** Variables of the entry may change what the command does: if it has any, no rule for the command can allow it. */
function start(core: Launching, self: Process, config: Extract<McpConfig, { type: "stdio" }>): Effect {
  core.ports.commandEnv({ pid: self.pid, uuid: self.seed.uuid, env: self.seed.env }, config.env);
  const { command, args, cwd = core.ports.home } = config;
  return { kind: "exec", argv: [command, ...args], cwd, certain: Object.keys(config.env).length === 0 };
}

function reach(self: Process, path: string, text: string): Effect {
  const url = URL.parse(text);
  if (url === null) throw invalid({ op: "Mount", self, device: path }, `not a URL: ${text.slice(0, 200)}`);
  const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
  return { kind: "network", host: url.hostname, port, method: "POST" };
}

/**
 * The sandbox of a local server: an agent's server runs in the agent's sandbox, the user's without one unless its entry
 * asks for it. The agent's scratch folder and scratchpad are left out, so that agents in the same folder can share a server.
 */
export function serverSandbox(
  core: Launching & Granting,
  owner: Process,
  config: McpConfig,
): SandboxProfile | null {
  if (config.type === "http") return null;
  const isPersons = owner.pid === PID_KERNEL;
  if (isPersons && config.confined !== true) return null;
  const { command, args, cwd = core.ports.home } = config;
  const effect = { kind: "exec", argv: [command, ...args], cwd, certain: true } as const;
  const { free: _, shared: __, ...subject } = subjectOf(core, owner);
  const request = { tool: MOUNT_TOOL, effects: [effect] };
  if (isPersons)
    return core.ports.permitFor(cwd).sandbox?.({ ...subject, cwd, roots: [cwd] }, request) ?? null;
  return core.ports.permitFor(owner.seed.cwd).sandbox?.(subject, request) ?? null;
}
