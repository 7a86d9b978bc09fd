import { expect, test } from "vitest";
import type { AgentInfo } from "../../../abi/agent.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { agentFile } from "../../testing/test-kernel.ts";
import type { Process } from "../process.ts";
import { loadedAgent } from "./named.ts";

const never = new AbortController().signal;
const withModel = (preferred?: string): AgentInfo => {
  const file = agentFile();
  const models = preferred === undefined ? {} : { preferred };
  return { ...file, manifest: { ...file.manifest, models, background: true } };
};

/** With which options an agent is started that a process names. */
async function started(agent: AgentInfo, opts: SpawnOpts = {}, env: Record<string, string> = {}) {
  const caller = {
    seed: { cwd: "/w", env, agents: {} },
    model: { device: "/dev/llm/anthropic", name: "big" },
  } as unknown as Process;
  const core = { ports: { loadAgent: async () => agent } };
  return (await loadedAgent(core, caller, { intent: "x", agent: "named", opts }, never)).opts;
}

test("the model is that of the environment, else of the call, else of the file, else of the parent", async () => {
  const env = { CRUX_SUBAGENT_MODEL: "for-all" };
  expect((await started(withModel("own"), { model: "called" }, env)).model).toBe("for-all");
  expect((await started(withModel("own"), { model: "called" })).model).toBe("called");
  // that of its file is taken where the model is resolved
  expect(await started(withModel("own"))).not.toHaveProperty("model");
  expect((await started(withModel())).model).toBe("anthropic/big");
});

test("a file may say that nobody waits for its agent, where a call of a model starts it", async () => {
  const child = { call: "c", title: "t" };
  expect((await started(withModel(), { child })).child).toEqual({ ...child, isBackground: true });
  expect(await started(withModel())).not.toHaveProperty("child");
});
