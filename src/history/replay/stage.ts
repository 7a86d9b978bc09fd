/**
 * The environment of a replayed program: the real gate, contexts and handle, but no devices, and ports that are closed.
 * A call that reaches a port is a bug of the replay; it is noted in `reached`.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { asProcUuid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { ProgramStart } from "../../abi/program.ts";
import { NO_RIGHTS } from "../../abi/rights.ts";
import { Account } from "../../kernel/account/account.ts";
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Start, Tape } from "../../kernel/ports/tape.ts";
import { type AgentHost, agentBody } from "../../kernel/process/agent-body.ts";
import { Process } from "../../kernel/process/process.ts";
import type { ProcessSeed } from "../../kernel/process/process-seed.ts";
import { Session } from "../../kernel/process/session.ts";
import { STDIN } from "../../kernel/process/spawn/stdio.ts";
import { closedPorts, type OpenPorts } from "./closed-ports.ts";
import type { Memory, Spawned } from "./memory.ts";
import { Incomplete } from "./recording.ts";

export interface ReplayStage {
  readonly proc: Process;
  /** Sets the listener for the records that the program would write. */
  hear(listener: (drafts: readonly JournalDraft[]) => void): void;
  /** Names of the ports that were called. */
  readonly reached: readonly string[];
  run(tape: Tape): Promise<ExitStatus>;
  close(): void;
}

/** The kernel of a replay, as far as the stage uses it. */
type StageKernel = AgentHost & { readonly ports: Pick<KernelPorts, "clock"> };

export type MakeCore = (ports: KernelPorts) => StageKernel;

/** Which process runs again, and in what. */
export interface Setting {
  readonly pid: Pid;
  readonly make: MakeCore;
  readonly ports: OpenPorts;
}

export function setStage({ pid, make, ports }: Setting, memory: Memory, start: Start): ReplayStage {
  const { spawned } = memory;
  if (spawned === null) throw new Incomplete("its beginning is not recorded");
  const reached: string[] = [];
  let listener: (drafts: readonly JournalDraft[]) => void = () => {};
  const core = make(closedPorts(ports, (drafts) => listener(drafts), reached));
  const proc = new Process(seedOf(core, pid, { spawned, start }), PID_KERNEL);
  fill(core, proc, { memory, start });
  proc.start(core.ports.clock.mono());
  return {
    proc,
    hear: (heard) => {
      listener = heard;
    },
    reached,
    run: (tape) => {
      proc.runOn(tape);
      const begun = core.program(proc);
      return ports.program(begun.sys, asItWas(begun.start, start));
    },
    close: () => {
      proc.life.close();
      proc.contexts.freeAll(core.contexts);
    },
  };
}

function fill(core: StageKernel, proc: Process, { memory, start }: { memory: Memory; start: Start }): void {
  proc.contexts.open(core.contexts);
  core.contexts.fill(proc.ctxId, {
    systemPrompt: start.systemPrompt ?? memory.systemPrompt,
    views: memory.views,
    messages: new Map(memory.messages.map((message, i) => [i + 1, message])),
    keepsAll: true,
  });
  const { modelDevice: device, model, thinking, effort, fallbacks = [] } = start;
  proc.model.choose({
    ...{ device, model, fallbacks },
    ...(thinking === undefined ? {} : { thinking }),
    ...(effort === undefined ? {} : { effort }),
  });
  if (!start.restored) return;
  proc.conclude(memory.result);
  proc.past.recalled(memory.restored);
}

/** Passes the recorded input, mounts and tool set to the program: the stage has none. */
function asItWas(
  {
    toolset: _,
    modes: __,
    surroundings: ___,
    window: ____,
    viewRequests: _____,
    fallbackWindows: ________,
    early: ______,
    slash: _______,
    chosen: _________,
    maker: __________,
    fork: ___________,
    team: ____________,
    ownAgents: _____________,
    ...begun
  }: ProgramStart,
  { input, mounts, ...was }: Start,
): ProgramStart {
  const { toolset, modes, surroundings, window, viewRequests, fallbackWindows } = was;
  const { early, ownAgents, slash, chosen, maker, fork, team } = was;
  return {
    ...begun,
    input: input ? STDIN : null,
    mounts,
    ...(toolset === undefined ? {} : { toolset }),
    ...(modes === undefined ? {} : { modes }),
    ...(surroundings === undefined ? {} : { surroundings }),
    ...(slash === undefined ? {} : { slash }),
    ...(window === undefined ? {} : { window }),
    ...(viewRequests === undefined ? {} : { viewRequests }),
    ...(fallbackWindows === undefined ? {} : { fallbackWindows }),
    ...(early === undefined ? {} : { early }),
    ...(ownAgents === undefined ? {} : { ownAgents }),
    ...(chosen === undefined ? {} : { chosen }),
    ...(maker === undefined ? {} : { maker }),
    ...(fork === undefined ? {} : { fork }),
    ...(team === undefined ? {} : { team }),
  };
}

function seedOf(
  core: StageKernel,
  pid: Pid,
  { spawned, start }: { spawned: Spawned; start: Start },
): ProcessSeed {
  const { clock } = core.ports;
  const { intent, cwd } = spawned;
  const { maxSteps, client } = start;
  const agent = agentOf(spawned, start);
  return {
    pid,
    uuid: asProcUuid("00000000-0000-4000-8000-000000000000"),
    kind: "agent",
    body: agentBody(core, agent),
    intent,
    agent,
    skills: [],
    createdAt: new Date(0),
    createdMono: clock.mono(),
    cwd,
    roots: [],
    scratch: "",
    env: {},
    mode: "default",
    rights: NO_RIGHTS,
    line: [],
    maxSteps,
    account: new Account(null),
    session: new Session(null),
    onParentExit: "reparent",
    ...(client === undefined ? {} : { isSession: true, client }),
  };
}

function agentOf({ agent: name }: Spawned, { agent }: Start): AgentInfo | null {
  if (agent === null) return null;
  const manifest = {
    name: name ?? "",
    description: "",
    models: {},
    contextBudget: 0,
    maxSteps: 0,
    skills: [],
    mcp: [],
    ...agent,
  };
  return { manifest, instructions: "", skills: [], systemPrompt: "", allowedDevices: null };
}
