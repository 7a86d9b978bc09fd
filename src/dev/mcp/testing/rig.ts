/**
 * Test helpers for MCP: the host with real OS children, a clock that a test may stop, and services that a test can
 * inspect.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { asPid, asProcUuid, type Pid } from "../../../abi/ids.ts";
import type { McpConfig } from "../../../abi/mcp.ts";
import type { ExitStatus } from "../../../abi/process.ts";
import type { Clock } from "../../../abi/program.ts";
import type { McpOwner } from "../../../kernel/ports/mcp.ts";
import type { ServiceSpec, Services } from "../../../kernel/ports/services.ts";
import { VirtualClock } from "../../../kernel/testing/virtual-clock.ts";
import { HostProcesses } from "../../host/exec.ts";
import { mcpHost } from "../host.ts";
import { PooledTransport } from "../pooled-transport.ts";

const SCRIPT = fileURLToPath(new URL("scripted-server.ts", import.meta.url));

export const scripted = (...args: string[]): McpConfig => ({
  type: "stdio",
  command: process.execPath,
  args: [SCRIPT, ...args],
  env: {},
});

/** Services like the kernel's, without a kernel. */
class TestServices implements Services {
  readonly running = new Map<Pid, { stop: AbortController; over: Promise<ExitStatus> }>();
  readonly logs: string[] = [];
  readonly ended: ExitStatus[] = [];
  #next = 100;

  async start(spec: ServiceSpec): Promise<Pid> {
    const pid = asPid(this.#next++);
    const [stop, killed] = [new AbortController(), new AbortController()];
    const log = (level: string, message: string) => this.logs.push(`${level}: ${message}`);
    const over = spec.run({ pid, signal: stop.signal, killed: killed.signal, log }).then((status) => {
      this.running.delete(pid);
      this.ended.push(status);
      return status;
    });
    this.running.set(pid, { stop, over });
    return pid;
  }

  async stop(pid: Pid): Promise<void> {
    const found = this.running.get(pid);
    found?.stop.abort();
    await found?.over;
  }
}

export interface Rig {
  readonly exec: HostProcesses;
  readonly services: TestServices;
  readonly host: ReturnType<typeof mcpHost>;
  /** The pids of all started processes and their descendants, found by the mark in their environment. */
  osProcesses(): string[];
  /** Log messages to owners. */
  readonly told: string[];
  owner(fields?: Partial<McpOwner>): McpOwner;
  /** Returns a connected transport. */
  connected(config?: McpConfig, owner?: McpOwner): Promise<PooledTransport>;
  transport(config?: McpConfig, owner?: McpOwner): PooledTransport;
}

/** Everything it started is ended with the test. */
export function rig(clock: Clock = new VirtualClock(), idleTtlMs?: number): Rig {
  const kernelId = randomUUID();
  const exec = new HostProcesses({ kernelId, epoch: 1 });
  const services = new TestServices();
  const told: string[] = [];
  const home = "/tmp";
  const host = mcpHost({
    exec,
    services: () => services,
    clock,
    home,
    version: "0.0.0",
    ...(idleTtlMs === undefined ? {} : { idleTtlMs }),
  });
  onTestFinished(async () => {
    // a stopped clock would block the steps of stopping a server
    const moving =
      clock instanceof VirtualClock ? setInterval(() => void clock.advance(1_000), 20) : undefined;
    await host.close();
    clearInterval(moving);
    await exec.close();
  });
  const owner = (fields: Partial<McpOwner> = {}): McpOwner => ({
    pid: asPid(7),
    uuid: asProcUuid("0b4f3c1e-0000-4000-8000-00000000000a"),
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home, SECRET_KEY: "hidden" },
    log: (level, message) => told.push(`${level}: ${message}`),
    ...fields,
  });
  const transport = (config: McpConfig = scripted(), by: McpOwner = owner()): PooledTransport => {
    const made = host.transport(config, by);
    if (!(made instanceof PooledTransport)) throw new Error("not a transport of the pool");
    return made;
  };
  const connected: Rig["connected"] = async (config, by) => {
    const made = transport(config, by);
    await made.connect(new AbortController().signal);
    return made;
  };
  return { exec, services, host, osProcesses: () => marked(kernelId), told, owner, transport, connected };
}

function marked(kernelId: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(`CRUX_OWNER=${kernelId}`)
      );
    } catch {
      return false; // gone meanwhile
    }
  });
}
