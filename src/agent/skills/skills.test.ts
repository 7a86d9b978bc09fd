/** Skills in a run: the list, those that come into sight, and those that the user calls. */
import { describe, expect, test } from "vitest";
import type { AgentInfo } from "../../abi/agent.ts";
import type { SkillLine } from "../../abi/skill.ts";
import { FakeProcess, type FakeTool } from "../testing/fake-process.ts";
import { call, reply, says } from "../testing/replies.ts";

const line = (name: string, paths?: readonly string[]): SkillLine => ({
  name,
  description: `Does ${name}.`,
  source: "user",
  ...(paths === undefined ? {} : { paths }),
});
const around = { confinement: null, scratch: "", git: "", instructions: [], notices: [] };
const cwd = "/home/ada/project";
const skill: FakeTool = { run: () => says("Deploy it.").run({}, new AbortController().signal) };
const agent: AgentInfo = {
  manifest: {
    ...{ name: "a", description: "", models: {}, contextBudget: 0, maxSteps: 0, skills: [], mcp: [] },
    tools: ["view", "skill"],
  },
  ...{ instructions: "", skills: [], systemPrompt: "", allowedDevices: null },
};

function processOf(options: Partial<ConstructorParameters<typeof FakeProcess>[0]>) {
  return new FakeProcess({
    answers: [reply("done")],
    agent,
    tools: { skill, view: says("content") },
    surroundings: { ...around, skills: [line("deploy"), line("styles", ["*.css", "!old/**"])] },
    ...options,
  });
}
const said = ({ messages }: FakeProcess) =>
  messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));

describe("the list of skills", () => {
  test("stands before the first message, without those for certain files", async () => {
    const process = processOf({});
    await process.run();
    expect(JSON.stringify(process.requests[0]?.messages[0])).toContain(
      "\\n- deploy: Does deploy.\\n</system-reminder>",
    );
    expect(JSON.stringify(process.requests[0])).not.toContain("styles");
  });

  test("is left out where the process has no tool for it", async () => {
    const process = processOf({ tools: { view: says("content") } });
    await process.run();
    expect(JSON.stringify(process.requests[0])).not.toContain("deploy");
  });
});

test("skills for certain files are told once a call touches such a file, and only once", async () => {
  const calls = ["a.ts", "old/a.css", "src/a.css", "src/b.css"];
  const process = processOf({
    answers: [...calls.map((path, at) => reply([call("view", { file_path: path }, `${at}`)])), reply("done")],
    nearby: () => ({ instructions: [], notices: [] }),
  });
  await process.run();
  const note =
    "<system-reminder>\nMore skills, for the files that you work on:\n- styles: Does styles.\n</system-reminder>";
  expect(said(process)).toEqual(["do it", note]);
  expect(process.messages.findIndex(({ content }) => content === note)).toBe(7);
});

test("skills of a folder that a call touches are told", async () => {
  const process = processOf({
    answers: [reply([call("view", { file_path: "sub/a.ts" }, "1")]), reply("done")],
    nearby: (dirs) => {
      expect(dirs).toEqual([`${cwd}/sub`]);
      return { instructions: [], notices: [], skills: [line("inner")] };
    },
  });
  await process.run();
  expect(said(process)[1]).toContain("- inner: Does inner.");
});

describe("a first message that begins with /name", () => {
  test("loads the skill through its tool, once, before the model is asked", async () => {
    const inputs: unknown[] = [];
    const tool: FakeTool = {
      run: (input, signal) => {
        inputs.push(input);
        return skill.run(input, signal);
      },
    };
    const process = processOf({ intent: "/deploy to staging", tools: { skill: tool } });
    await process.run();
    expect(inputs).toEqual([{ skill: "deploy", args: "to staging" }]);
    expect(said(process)).toEqual([
      "/deploy to staging",
      "<system-reminder>\nThe user has called the skill deploy.\nDeploy it.\n</system-reminder>",
    ]);
    const again = processOf({
      intent: "/deploy to staging",
      tools: { skill: tool },
      restored: { state: null, since: [] },
      said: [{ role: "user", content: said(process)[1] ?? "" }],
    });
    await again.run();
    expect(inputs).toHaveLength(1);
    expect(said(again)).toHaveLength(2);
  });

  test("is text where there is no such skill, or no name", async () => {
    const none: FakeTool = {
      run: () => ({
        ok: false,
        content: [],
        error: { code: "NOT_FOUND", message: "skill not found: deploy" },
      }),
    };
    for (const intent of ["/deploy", "/etc/hosts is odd", "//deploy"]) {
      const process = processOf({ intent, tools: { skill: none } });
      await process.run();
      expect(said(process)).toEqual([intent]);
    }
  });
});
