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
    pid: 7,
    seed: { cwd: "/w", env, agents: {} },
    model: { device: "/dev/llm/anthropic", name: "big" },
  } as unknown as Process;
  const core = { ports: { loadAgent: async () => agent } };
  const { intent, opts: more } = await loadedAgent(
    core,
    caller,
    { intent: "x", agent: "named", opts },
    never,
  );
  return { ...more, intent };
}

test("the model is that of the environment, else of the call, else of the file, else of the parent", async () => {
  const env = { CRUX_SUBAGENT_MODEL: "for-all" };
  expect((await started(withModel("own"), { model: "called" }, env)).model).toBe("for-all");
  expect((await started(withModel("own"), { model: "called" })).model).toBe("called");
  // that of its file is taken where the model is resolved
  expect(await started(withModel("own"))).not.toHaveProperty("model");
  expect((await started(withModel())).model).toBe("anthropic/big");
  // `inherit` is the parent's, whoever says it; in another spelling it is a name like any other
  expect((await started(withModel("own"), { model: "inherit" })).model).toBe("anthropic/big");
  const all = { CRUX_SUBAGENT_MODEL: "inherit" };
  expect((await started(withModel("own"), { model: "called" }, all)).model).toBe("anthropic/big");
  expect((await started(withModel(), { model: "Inherit" })).model).toBe("Inherit");
});

test("a file may say that nobody waits for its agent, where a call of a model starts it", async () => {
  const child = { call: "c", title: "t" };
  expect((await started(withModel(), { child })).child).toEqual({ ...child, isBackground: true });
  expect(await started(withModel())).not.toHaveProperty("child");
});

test("a child works in a worktree where the call or its file says so, is told of it, and is given no other folder", async () => {
  const child = { call: "c", title: "t" };
  const file = agentFile();
  const isolated: AgentInfo = { ...file, manifest: { ...file.manifest, isolation: "worktree" } };
  for (const made of [await started(isolated, { child }), await started(file, { child, worktree: "" })])
    expect(made).toMatchObject({
      worktree: "",
      intent: expect.stringMatching(/^x\n\n\(You work in a git worktree/),
    });
  expect(await started(isolated)).not.toHaveProperty("worktree");
  await expect(started(isolated, { child, cwd: "/w/docs" })).rejects.toMatchObject({ code: "INVALID" });
});
