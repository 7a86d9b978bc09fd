import { describe, expect, test } from "vitest";
import { memoryFiles } from "../testing/memory-files.ts";
import { makeAgentLoader } from "./loader.ts";

const files = memoryFiles({
  "/low/reviewer/agent.yaml": "name: reviewer\nskills: [reading, talking]\npreload: true\n",
  "/low/reviewer/instructions.md": "You review.\n",
  "/low/explore/agent.yaml": "name: explore\n",
  "/low/explore/instructions.md": "low",
  "/high/Explore/agent.yaml": "name: Explore\nmystery: 1\n",
  "/high/Explore/instructions.md": "high",
  "/low/bare/agent.yaml": "name: bare\n",
  "/low/nameless/agent.yaml": "description: x\n",
  "/low/broken/agent.yaml": "name: broken\nskills: [\n",
  "/low/lost/agent.yaml": "name: lost\nskills: [nowhere]\n",
  "/low/lost/instructions.md": "x",
  "/low/huge/agent.yaml": `name: huge\n#${"x".repeat(256 * 1024)}`,
  "/low/outside": { link: "/elsewhere/agent" },
  "/elsewhere/agent/agent.yaml": "name: outside\n",
  "/elsewhere/agent/instructions.md": "x",
  "/low/leaky/agent.yaml": "name: leaky\n",
  "/low/leaky/instructions.md": { link: "/secret" },
  "/secret": "secret",
  "/low/notes.txt": "no agent",
  "/skills/reading/SKILL.md": "---\nname: reading\nallowed-tools: /dev/fs Read\n---\nRead well.\n",
  "/skills/talking/SKILL.md": "---\nname: talking\n---\nTalk well.\n",
});
const warnings: string[] = [];
const loader = makeAgentLoader({
  dirs: ["/missing", "/low", "/high"],
  skillDirs: ["/skills"],
  files,
  warn: (message) => warnings.push(message),
});

describe("AgentLoader.load()", () => {
  test("reads an agent with its skills", async () => {
    const agent = await loader.load("reviewer");
    expect(agent).toMatchObject({
      manifest: { name: "reviewer", skills: ["reading", "talking"] },
      instructions: "You review.",
      systemPrompt: "You review.\n\nRead well.\n\nTalk well.",
      allowedDevices: ["/dev/fs"],
    });
    expect(agent.skills.map((skill) => skill.manifest.name)).toEqual(["reading", "talking"]);
    expect(structuredClone(agent)).toEqual(agent);
  });

  test("keeps the texts of skills out of the prompt unless it preloads them; their devices count", async () => {
    const reader = memoryFiles({
      "/a/reader/agent.yaml": "name: reader\nskills: [reading]\n",
      "/a/reader/instructions.md": "You read.\n",
      "/s/reading/SKILL.md": "---\nname: reading\nallowed-tools: /dev/fs\n---\nRead well.\n",
    });
    const bare = makeAgentLoader({ dirs: ["/a"], skillDirs: ["/s"], files: reader });
    expect(await bare.load("reader")).toMatchObject({
      systemPrompt: "You read.",
      allowedDevices: ["/dev/fs"],
      skills: [{ body: "Read well." }],
    });
  });

  test("takes the definition of highest precedence whole, whatever its case, and warns of what does nothing", async () => {
    expect(await loader.load("explore")).toMatchObject({
      manifest: { name: "Explore" },
      systemPrompt: "high",
    });
    expect(warnings).toContain("/high/Explore/agent.yaml:2: unknown key 'mystery'");
  });

  test.each([
    ["../low/reviewer", "INVALID", "agent path escapes its directory"],
    ["/low/reviewer", "INVALID", "agent path escapes its directory"],
    ["..", "INVALID", "agent path escapes its directory"],
    ["a\\b", "INVALID", "agent path escapes its directory"],
    ["a\0b", "INVALID", "agent path escapes its directory"],
    ["outside", "INVALID", "agent path escapes its directory"],
    ["leaky", "INVALID", "agent path escapes its directory"],
    ["", "INVALID", 'not an agent name: ""'],
    [".hidden", "INVALID", 'not an agent name: ".hidden"'],
    ["x".repeat(65), "INVALID", `not an agent name: "${"x".repeat(65)}"`],
    ["main", "INVALID", "agent name is reserved: main"],
    ["nameless", "INVALID", "/low/nameless/agent.yaml: name is required"],
    ["broken", "INVALID", expect.stringMatching(/^\/\w+\/broken\/agent.yaml:\d+:\d+: /)],
    ["huge", "INVALID", "/low/huge/agent.yaml: larger than 256 KiB"],
    ["bare", "NOT_FOUND", "agent bare: instructions.md not found beside agent.yaml"],
    ["lost", "NOT_FOUND", "skill not found: nowhere. Skills here: reading, talking"],
    [
      "reviewers",
      "NOT_FOUND",
      "agent not found: reviewers. Agents here: Explore, bare, broken, leaky, lost, nameless, reviewer",
    ],
    ["notes.txt", "NOT_FOUND", expect.stringMatching(/^agent not found: notes.txt\. /)],
  ])("load(%j) is %s", async (name, code, message) => {
    await expect(loader.load(name)).rejects.toMatchObject({ code, message });
  });

  test("says so where there are no agents at all", async () => {
    const none = makeAgentLoader({ dirs: ["/missing"], skillDirs: [], files });
    await expect(none.load("x")).rejects.toThrow("agent not found: x. Agents here: none");
  });
});

test("AgentLoader.list() is sorted, and a folder without agent.yaml is none", async () => {
  expect(await loader.list()).toEqual(["Explore", "bare", "broken", "leaky", "lost", "nameless", "reviewer"]);
});

describe("an agent in one file", () => {
  const loader = makeAgentLoader({
    dirs: ["/low", "/high"],
    skillDirs: [],
    files: memoryFiles({
      "/low/Helper.md": "---\nname: helper\ntools: Bash, Read\nodd: 1\n---\nHelp.\n",
      "/low/README.md": "# Agents\n",
      "/low/both.md": "---\nname: both\n---\nfile\n",
      "/low/both/agent.yaml": "name: both\n",
      "/low/both/instructions.md": "folder",
      "/low/leaky.md": { link: "/secret.md" },
      "/secret.md": "---\nname: leaky\n---\nx\n",
      "/low/bad.md": "---\nname: [\n---\nx\n",
      "/high/nothing": "x",
    }),
    warn: (message) => warnings.push(message),
  });

  test("has its settings on top and its instructions below, found whatever its case", async () => {
    expect(await loader.load("helper")).toMatchObject({
      manifest: { name: "helper", tools: ["bash", "view"] },
      instructions: "Help.",
      systemPrompt: "Help.",
    });
    expect(warnings).toContain("/low/Helper.md:4: unknown key 'odd'");
  });

  test("says the same as a folder that has its settings in one file and its instructions in another", async () => {
    const settings = `name: twin
description: Finds things.
model: small
effort: high
tools: Bash, Read
disallowedTools: [write]
maxTurns: 7
background: true
memory: user
permissionMode: plan
delegate: true
context_budget: 900
odd: 1
`;
    const load = async (given: Readonly<Record<string, string>>) => {
      const warned: string[] = [];
      const agents = makeAgentLoader({
        ...{ dirs: ["/a"], skillDirs: [], files: memoryFiles(given) },
        warn: (message) => warned.push(message.replace(/^.*?: /, "")),
      });
      return { ...(await agents.load("twin")), warned };
    };
    const one = await load({ "/a/twin.md": `---\n${settings}---\nLook well.\n` });
    const two = await load({ "/a/twin/agent.yaml": settings, "/a/twin/instructions.md": "Look well.\n" });
    expect(one.manifest).toMatchObject({
      name: "twin",
      maxSteps: 7,
      tools: ["bash", "view"],
      delegate: true,
    });
    expect(one).toEqual(two);
    expect(one.warned).toEqual(["unknown key 'odd'"]);
  });

  test("yields to a folder of the name; a text without settings is none; a link does not lead out", async () => {
    expect((await loader.load("both")).instructions).toBe("folder");
    await expect(loader.load("README")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(loader.load("leaky")).rejects.toMatchObject({ code: "INVALID" });
    await expect(loader.load("bad")).rejects.toMatchObject({ message: expect.stringContaining("bad.md") });
    expect(await loader.list()).toEqual(["Helper", "bad", "both"]);
  });
});

test("a folder that may not be looked at holds no agents; a file of one that may not be read is told", async () => {
  const denied = (path: string) =>
    Promise.reject(Object.assign(new Error(`EACCES: ${path}`), { code: "EACCES" }));
  const guarded = {
    ...files,
    list: (dir: string) => (dir === "/shut" ? denied(dir) : files.list(dir)),
    realPath: (path: string) => (path.startsWith("/shut") ? denied(path) : files.realPath(path)),
    readText: (path: string) => (path === "/high/Explore/agent.yaml" ? denied(path) : files.readText(path)),
  };
  const there = makeAgentLoader({
    dirs: ["/low", "/shut"],
    skillDirs: ["/shut", "/skills"],
    files: guarded,
    warn: () => {},
  });
  expect(await there.load("reviewer")).toMatchObject({ manifest: { name: "reviewer" } });
  const unreadable = makeAgentLoader({ dirs: ["/high"], skillDirs: [], files: guarded, warn: () => {} });
  await expect(unreadable.load("Explore")).rejects.toMatchObject({
    code: "PERMISSION",
    message: "EACCES: /high/Explore/agent.yaml",
  });
});
