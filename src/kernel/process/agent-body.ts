/** The body of an agent: a context, its MCP servers, its model at fd 3, and the reasoning loop of user space. */
import type { AgentInfo } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import { Fault } from "../../abi/errors.ts";
import type { Effort } from "../../abi/llm.ts";
import { type ExitStatus, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Begun } from "../../abi/program.ts";
import type { SpawnOpts, Syscalls } from "../../abi/sys.ts";
import { abortable } from "../../lib/abort.ts";
import { keptAbove } from "../account/kept-account.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Journal } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { redactedText } from "../redact/model-bound.ts";
import type { Mounts } from "../vfs/mounts.ts";
import type { Body, Making } from "./body.ts";
import { whyUnseen } from "./chosen-model.ts";
import { keepState } from "./kept-state.ts";
import type { Process } from "./process.ts";
import type { Judging } from "./rights/auto-mode.ts";
import { settleMode } from "./rights/settle-mode.ts";
import { prepareFork } from "./spawn/fork.ts";
import { type ResultWriting, writeResult } from "./spawn/stdio.ts";

/** What agents need of the kernel. */
export type AgentHost = {
  readonly ports: Pick<KernelPorts, "models" | "program" | "redactor"> & {
    readonly journal: Pick<Journal, "row" | "sync">;
  };
  readonly contexts: ContextSpaces;
  readonly mounts: Pick<Mounts, "mountAll" | "requireServers">;
  handle(self: Process, scope: null): Pick<Syscalls, "open" | "write">;
  program(proc: Process): Begun;
  /** Runs the program, and records what it receives from outside. */
  taped(proc: Process, run: () => Promise<ExitStatus>): Promise<ExitStatus>;
} & ResultWriting &
  Judging;

export function agentBody(core: AgentHost, agent: AgentInfo | null): Body {
  return {
    kind: "agent",
    name: agent?.manifest.name ?? "",
    agent,
    isActive: true,
    prepare: (making) => prepare(core, making),
    run: async (proc) => {
      const exit = await core.taped(proc, () => {
        const { sys, start } = core.program(proc);
        return core.ports.program(sys, start);
      });
      await writeResult(core, proc);
      return exit;
    },
    onSignal: endsRunAlone,
    record: (proc) => ({
      model: proc.model.name,
      modelDevice: proc.model.device,
      ...proc.model.asks,
      ...(proc.model.fallbacks.length === 0 ? {} : { fallbacks: proc.model.fallbacks }),
      ...keptAbove(proc.seed.account),
      ...(proc.seed.fork === undefined ? {} : { fork: proc.seed.fork.label }),
    }),
    keep: (making) => keepState(core.contexts, making),
  };
}

/** INT ends the current run of a session, not the session itself. */
function endsRunAlone({ conversation }: Process, signal: Signal): boolean {
  if (conversation === null || signal !== SIGNALS.SIGINT) return false;
  conversation.interrupt();
  return true;
}

async function prepare(core: AgentHost, making: Making): Promise<void> {
  const { proc, opts, undo } = making;
  proc.contexts.open(core.contexts);
  undo.push(() => proc.contexts.freeAll(core.contexts));
  if (opts.fork !== undefined) return prepareFork(core, making);
  const prompt = redactedText(core, proc, systemPrompt(proc.seed.agent, opts));
  core.contexts.setSystemPrompt(proc.ctxId, prompt);
  // a session may begin without an intent
  const shown = opts.media === undefined ? {} : { media: opts.media };
  if (proc.seed.intent !== "")
    core.contexts.append(proc.ctxId, { role: "user", content: proc.seed.intent, ...shown });
  const { mcp = [], requiredServers = [] } = proc.seed.agent?.manifest ?? {};
  await core.mounts.mountAll(making, mcp);
  await core.mounts.requireServers(making, requiredServers);
  await openModel(core, making);
  const unseen = opts.media === undefined ? undefined : whyUnseen(core, proc);
  if (unseen !== undefined) throw new Fault({ code: "INVALID", message: unseen });
  settleMode(core, making);
}

function systemPrompt(agent: AgentInfo | null, { instructions, systemPrompt = "" }: SpawnOpts): string {
  const own = instructions ?? agent?.systemPrompt ?? "";
  return [own, systemPrompt].filter((part) => part !== "").join("\n\n");
}

/** A child is asked to think as much as its parent. */
function effortOf({ model: { effort, thinking } }: Process): Effort | number | undefined {
  return effort ?? (thinking?.mode === "budget" ? thinking.tokens : undefined);
}

/** Opens the model at fd 3. This open is the first call in the child's own trace. */
async function openModel(core: AgentHost, { parent, proc, opts, signal }: Making): Promise<void> {
  const { agent, env, cwd } = proc.seed;
  const effort = opts.effort ?? agent?.manifest.effort ?? effortOf(parent);
  const wish = {
    model: opts.model ?? "",
    provider: agent?.manifest.models.provider ?? "",
    preferred: agent?.manifest.models.preferred ?? "",
    ...(effort === undefined ? {} : { effort }),
    fallback: agent?.manifest.models.fallback ?? [],
    ...(opts.fallbackModels === undefined ? {} : { fallbackModels: opts.fallbackModels }),
  };
  const choice = await abortable(core.ports.models.resolve({ ...wish, env, cwd }, signal), signal);
  proc.model.choose(choice);
  if (choice.remark !== undefined) proc.log("warn", choice.remark, core.ports.clock.mono());
  await core.handle(proc, null).open(choice.device, O_RDWR, signal);
}
