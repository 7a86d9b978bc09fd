/** The body of an agent: a context, its MCP servers, its model at fd 3, and the reasoning loop of user space. */
import type { AgentInfo } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import { keepState } from "../../history/recover/kept-state.ts";
import { recorded } from "../../history/replay/recorder.ts";
import { abortable } from "../../lib/abort.ts";
import { keptAbove } from "../account/kept-account.ts";
import type { Core } from "../core.ts";
import { redactedText } from "../redact/model-bound.ts";
import type { Body, Making } from "./body.ts";
import type { Process } from "./process.ts";
import { settleMode } from "./rights/settle-mode.ts";
import { writeResult } from "./spawn/stdio.ts";

export function agentBody(agent: AgentInfo | null): Body {
  return {
    kind: "agent",
    name: agent?.manifest.name ?? "",
    agent,
    isActive: true,
    prepare,
    run: async (core, proc) => {
      const exit = await recorded(core, proc, () => {
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
      ...keptAbove(proc.seed.account),
    }),
    keep: keepState,
  };
}

/** INT ends the current run of a session, not the session itself. */
function endsRunAlone(_core: Core, { conversation }: Process, signal: Signal): boolean {
  if (conversation === null || signal !== SIGNALS.SIGINT) return false;
  conversation.interrupt();
  return true;
}

async function prepare(making: Making): Promise<void> {
  const { core, proc, opts, undo } = making;
  proc.contexts.open(core.contexts);
  undo.push(() => proc.contexts.freeAll(core.contexts));
  const prompt = redactedText(core, proc, systemPrompt(proc.seed.agent, opts.systemPrompt ?? ""));
  core.contexts.setSystemPrompt(proc.ctxId, prompt);
  // a session may begin without an intent
  if (proc.seed.intent !== "") core.contexts.append(proc.ctxId, { role: "user", content: proc.seed.intent });
  await core.mounts.mountAll(making, proc.seed.agent?.manifest.mcp ?? []);
  await openModel(making);
  settleMode(making);
}

function systemPrompt(agent: AgentInfo | null, more: string): string {
  return [agent?.systemPrompt ?? "", more].filter((part) => part !== "").join("\n\n");
}

/** Opens the model at fd 3. This open is the first call in the child's own trace. */
async function openModel({ core, proc, opts, signal }: Making): Promise<void> {
  const { agent, env } = proc.seed;
  const wish = {
    model: opts.model ?? "",
    provider: agent?.manifest.models.provider ?? "",
    preferred: agent?.manifest.models.preferred ?? "",
    fallback: agent?.manifest.models.fallback ?? "",
  };
  const choice = await abortable(core.ports.models.resolve({ ...wish, env }, signal), signal);
  proc.model.choose(choice);
  if (choice.remark !== undefined) proc.log("warn", choice.remark, core.ports.clock.mono());
  await core.handle(proc, null).open(choice.device, O_RDWR, signal);
}
