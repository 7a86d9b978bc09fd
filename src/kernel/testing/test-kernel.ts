/** A kernel over ports that live in memory, for tests of the kernel and of the code that uses it. */
import { createSecretKey } from "node:crypto";
import type { AgentInfo } from "../../abi/agent.ts";
import { Fault } from "../../abi/errors.ts";
import { asPid, asProcUuid, PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../abi/process.ts";
import type { Program, ProgramStart } from "../../abi/program.ts";
import type { SpawnOpts, Sys, Syscalls } from "../../abi/sys.ts";
import { Kernel } from "../kernel.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { MessageDevice } from "./fake-devices.ts";
import { fakeExec } from "./fake-exec.ts";
import { FakeMcp } from "./fake-mcp.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { MemorySpools } from "./memory-spools.ts";
import { ScriptedPermit } from "./scripted-permit.ts";
import { VirtualClock } from "./virtual-clock.ts";

const MODEL_PATH = "/dev/llm/fake";
const GRANT_KEY = createSecretKey(new Uint8Array(32));

export interface StartOptions extends SpawnOpts {
  /** The handle that spawns it; default: pid 0. */
  readonly by?: Syscalls;
  readonly agent?: AgentInfo;
  /** It ignores its abort signal. */
  readonly stubborn?: boolean;
}

/** A process that only does what the test does with its handle. */
export interface Started {
  readonly pid: Pid;
  readonly sys: Sys;
  readonly start: ProgramStart;
  readonly proc: Process;
  /** Lets its program return. */
  end(exit?: ExitStatus): void;
}

export class TestKernel {
  readonly clock = new VirtualClock();
  readonly journal: MemoryJournal;
  readonly permit = new ScriptedPermit();
  readonly model = new MessageDevice("fake");
  /** The programs of processes by intent; any other process completes at once. */
  readonly programs = new Map<string, Program>();
  /** Agents by name, for starts inside the kernel. */
  readonly agents = new Map<string, AgentInfo>();
  readonly logs: string[] = [];
  /** Existing scratch folders. */
  readonly scratch = new Set<ProcUuid>();
  readonly kernel: Kernel;
  #named = 0;

  constructor(overrides: Partial<KernelPorts> = {}, journal = new MemoryJournal()) {
    this.journal = journal;
    this.kernel = new Kernel({ ...this.#ports(), ...overrides });
    this.kernel.mount(MODEL_PATH, this.model);
  }

  get init(): Syscalls {
    return this.kernel.init;
  }

  /** Starts a process that waits for the test, or for its end. */
  async start({ by, agent, stubborn, ...opts }: StartOptions = {}): Promise<Started> {
    const intent = `work ${++this.#named}`;
    const made = Promise.withResolvers<Pick<Started, "sys" | "start">>();
    const over = Promise.withResolvers<ExitStatus>();
    this.programs.set(intent, (sys, start) => {
      made.resolve({ sys, start });
      if (stubborn !== true) sys.ending.addEventListener("abort", () => over.resolve(EXIT.unexpected));
      return over.promise;
    });
    const pid = await (by ?? this.init).spawn(intent, agent ?? null, opts);
    return {
      pid,
      ...(await made.promise),
      proc: this.proc(pid),
      end: (exit = EXIT.completed) => over.resolve(exit),
    };
  }

  proc(pid: number): Process {
    const found = this.kernel.table.get(asPid(pid));
    if (found === undefined) throw new Error(`no process ${pid}`);
    return found;
  }

  /** Counts that must be back at their initial values when all processes are gone. */
  census(): Record<string, number> {
    const { kernel, clock, scratch, model } = this;
    return {
      processes: kernel.table.size,
      contexts: kernel.contexts.count,
      children: kernel.table.childrenOf(PID_KERNEL).length,
      modelFiles: model.live,
      scratch: scratch.size,
      sleeps: clock.pending,
    };
  }

  #ports(): KernelPorts {
    const { clock, journal, permit, programs, logs, scratch } = this;
    const count = { uuid: 0, nonce: 0 };
    const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");
    return {
      journal,
      clock,
      permitFor: () => permit,
      models: {
        resolve: async ({ model }) => ({ device: MODEL_PATH, model }),
        supportsImages: (_device, model) => model !== "blind",
      },
      program: async (sys, start) => programs.get(start.intent)?.(sys, start) ?? EXIT.completed,
      realPath: (path) => path,
      grantKey: GRANT_KEY,
      uuid: () => asProcUuid(`00000000-0000-4000-8000-${hex(++count.uuid, 12)}`),
      nonce: () => hex(++count.nonce, 16),
      scratchDir: (uuid) => {
        scratch.add(uuid);
        return `/scratch/${uuid}`;
      },
      onReaped: async (uuid) => void scratch.delete(uuid),
      exec: fakeExec(),
      spools: new MemorySpools(),
      mcp: new FakeMcp(),
      commandEnv: ({ pid, env }, extra) => ({ ...env, ...extra, CRUX_PID: String(pid) }),
      random: () => 0.5,
      loadAgent: async (name) => {
        if (name === undefined || name === "none") return null;
        const found = this.agents.get(name);
        if (found === undefined) throw new Fault({ code: "NOT_FOUND", message: `agent not found: ${name}` });
        return found;
      },
      home: "/home/test",
      env: {},
      defaultMaxSteps: 10,
      log: (level, message) => logs.push(`${level}: ${message}`),
    };
  }
}

export const NOTHING_LEFT = {
  processes: 0,
  contexts: 0,
  children: 0,
  modelFiles: 0,
  scratch: 0,
  sleeps: 0,
};

export function testKernel(overrides: Partial<KernelPorts> = {}, journal = new MemoryJournal()): TestKernel {
  return new TestKernel(overrides, journal);
}

/** An agent file with only the given fields set. */
export function agentFile(
  more: Partial<AgentInfo> & { contextBudget?: number; maxSteps?: number } = {},
): AgentInfo {
  const { contextBudget = 0, maxSteps = 0, ...info } = more;
  const manifest = {
    name: "tester",
    description: "",
    models: {},
    contextBudget,
    maxSteps,
    skills: [],
    tools: null,
    mcp: [],
  };
  return { manifest, instructions: "", skills: [], systemPrompt: "", allowedDevices: null, ...info };
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (data: Uint8Array): string => new TextDecoder().decode(data);
