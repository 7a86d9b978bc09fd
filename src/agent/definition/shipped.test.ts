import { readdir, readFile, realpath } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { makeAgentLoader } from "./loader.ts";
import { makeSkillLoader } from "./skill.ts";

const lib = fileURLToPath(new URL("../../../lib", import.meta.url));
const files = {
  readText: (path: string) => readFile(path, "utf8"),
  list: (dir: string) => readdir(dir),
  realPath: realpath,
};
const warnings: string[] = [];
const agents = makeAgentLoader({
  dirs: [`${lib}/agents`],
  skillDirs: [`${lib}/skills`],
  files,
  warn: (message) => warnings.push(message),
});

test("every shipped agent loads without a warning", async () => {
  const names = await agents.list();
  expect(names).toEqual([
    ...["code-analyst", "coordinator", "explore", "general-purpose", "plan", "statusline-setup"],
    ...["verification", "worker"],
  ]);
  for (const name of names) expect((await agents.load(name)).manifest.name).toBe(name);
  expect(warnings).toEqual([]);
});

test("every shipped skill loads under its own name, with a body of bounded size", async () => {
  const skills = makeSkillLoader([`${lib}/skills`], files);
  for (const name of await readdir(`${lib}/skills`)) {
    const { manifest, body } = await skills.loadFull(name);
    expect(manifest).toMatchObject({ name, allowedTools: "/dev/fs /dev/shell" });
    expect(manifest.description).not.toBe("");
    expect(body.length).toBeLessThan(5_000);
  }
});

test("the default agent is small and unrestricted", async () => {
  const agent = await agents.load("general-purpose");
  expect(Buffer.byteLength(agent.systemPrompt)).toBeLessThanOrEqual(1_700);
  expect(agent).toMatchObject({
    allowedDevices: null,
    manifest: { maxSteps: 200, tools: null, contextBudget: 0 },
  });
});

test("those that only look change nothing and start nobody", async () => {
  const writers = ["edit", "multi_edit", "write", "notebook_edit"];
  const { manifest: explore } = await agents.load("explore");
  expect(explore).toMatchObject({
    permissionMode: "plan",
    disallowedTools: ["agent", "plan_exit", ...writers],
  });
  expect((await agents.load("plan")).manifest).toMatchObject({
    permissionMode: "plan",
    disallowedTools: ["agent", ...writers],
  });
  const { manifest, instructions } = await agents.load("verification");
  expect(manifest).toMatchObject({ disallowedTools: ["agent", ...writers] });
  expect(instructions).toMatch(/PASS .* FAIL .* PARTIAL/);
});

test("a coordinator only gives work to others, and its workers may change files", async () => {
  expect((await agents.load("coordinator")).manifest).toMatchObject({
    tools: ["agent", "send", "stop"],
    delegate: true,
  });
  expect((await agents.load("worker")).manifest).toMatchObject({ background: true, tools: null });
});

test("the status line is set up by the user alone, in a process of its own", async () => {
  const skills = makeSkillLoader([`${lib}/skills`], files);
  const { body } = await skills.loadFull("statusline");
  expect(body).toContain("$ARGUMENTS");
  const text = await readFile(`${lib}/skills/statusline/SKILL.md`, "utf8");
  expect(text).toMatch(/^disable-model-invocation: true\ncontext: fork\nagent: statusline-setup$/m);
  const { manifest } = await agents.load("statusline-setup");
  expect(manifest).toMatchObject({ disallowedTools: ["agent", "send"], tools: null });
});

test("the prompt of each shipped agent is short, and its description a line", async () => {
  for (const name of await agents.list()) {
    const { instructions, manifest } = await agents.load(name);
    expect(Buffer.byteLength(instructions), name).toBeLessThanOrEqual(1_700);
    expect(manifest.description.length, name).toBeLessThanOrEqual(130);
  }
});

test("code-analyst has a skill, fewer devices and a budget", async () => {
  expect(await agents.load("code-analyst")).toMatchObject({
    manifest: {
      models: { provider: "claude", preferred: "sonnet", fallback: ["mid"] },
      contextBudget: 400_000,
      maxSteps: 60,
      skills: ["code-analysis"],
    },
    allowedDevices: ["/dev/fs", "/dev/shell"],
  });
});

test("the agent file of the user's page loads, with its servers", async () => {
  const page = await readFile(new URL("../../../docs/processes.md", import.meta.url), "utf8");
  const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const told: string[] = [];
  const loader = makeAgentLoader({
    dirs: ["/agents"],
    skillDirs: [],
    files: {
      readText: async (path) => (path.endsWith("agent.yaml") ? yaml : "Keep it."),
      list: async () => ["librarian"],
      realPath: async (path) => path,
    },
    env: { HOME: "/home/ada", TOKEN: "t" },
    warn: (message) => told.push(message),
  });
  const { manifest } = await loader.load("librarian");
  expect(manifest.mcp?.map(({ name, required }) => [name, required])).toEqual([
    ["memory", true],
    ["tracker", false],
  ]);
  expect(manifest.mcp?.[0]?.config).toMatchObject({ env: { MEMORY_FILE_PATH: "/home/ada/memory.json" } });
  expect(told).toEqual([]);
});
