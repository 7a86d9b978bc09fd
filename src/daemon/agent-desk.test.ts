import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentMap } from "../abi/agent.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { agentDesk } from "./agent-desk.ts";
import type { ProjectView } from "./trust/trust.ts";

let base: string;
let root: string;
let isTrusted: boolean;
let settings: Settings;
let given: AgentMap;
let desk: ReturnType<typeof agentDesk>;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "crux-agents-")));
  root = join(base, "home/project");
  mkdirSync(join(root, "deep/er"), { recursive: true });
  isTrusted = true;
  settings = {};
  given = {};
  const view = (): ProjectView => ({ root, isTrusted, key: "k", approves: () => isTrusted });
  desk = agentDesk({
    home: join(base, "home"),
    configDir: join(base, "config"),
    lib: join(base, "lib"),
    policyDir: join(base, "policy"),
    trust: { viewOf: view },
    settings: () => settings,
    tools: ["bash", "view", "edit", "team_create"],
    log: () => {},
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text: string): () => void {
  const at = join(base, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
  return () => rmSync(at);
}
const file = (dir: string, fields = "") =>
  put(`${dir}/scout.md`, `---\nname: scout\ndescription: ${dir}\n${fields}---\nI am ${dir}.`);

const seeker = () => ({ cwd: join(root, "deep/er"), env: {}, agents: given });
const load = (name?: string) => desk.load(name, seeker());

/** Each place, the weakest first, with what removes its definition. */
function everywhere(): { words: string; remove: () => unknown }[] {
  settings = {
    agents: { limits: { tree: 8 }, Scout: { description: "of settings", prompt: "I am settings." } },
  };
  given = { SCOUT: { description: "of the line", prompt: "I am the line.", model: "line-model" } };
  const ofFile = (dir: string, fields = "") => ({ words: `I am ${dir}.`, remove: file(dir, fields) });
  return [
    ofFile("lib/agents", "effort: high\n"),
    ofFile("home/.claude/agents", "model: haiku\n"),
    ofFile("config/agents"),
    { words: "I am settings.", remove: () => Object.assign(settings, { agents: {} }) },
    ofFile("home/project/.claude/agents", "max_turns: 3\n"),
    ofFile("home/project/deep/.claude/agents"),
    ofFile("home/project/.crux/agents", "background: true\n"),
    ofFile("home/project/deep/er/.crux/agents"),
    { words: "I am the line.", remove: () => Reflect.deleteProperty(given, "SCOUT") },
    ofFile("policy/agents", "disallowed_tools: bash\n"),
  ];
}

describe("agentDesk()", () => {
  test("a name in every place: the strongest counts as a whole, and what is removed reveals the next", async () => {
    const places = everywhere();
    for (const { words, remove } of places.toReversed()) {
      const agent = await load("scout");
      expect(agent?.systemPrompt).toBe(words);
      const { models, effort, maxSteps, background, disallowedTools } = agent!.manifest;
      const own =
        words === "I am the line." ? "line-model" : words.includes("home/.claude") ? "haiku" : undefined;
      expect(models.preferred).toBe(own);
      expect([effort, maxSteps, background, disallowedTools]).toEqual([
        words.includes("lib") ? "high" : undefined,
        words.includes("home/project/.claude") ? 3 : 0,
        words.includes("home/project/.crux") ? true : undefined,
        words.includes("policy") ? ["bash"] : undefined,
      ]);
      remove();
    }
    await expect(load("scout")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("look() names the place of each, and which one shadows the others", async () => {
    everywhere();
    const found = await desk.look("agents", { ...seeker(), name: "Scout" });
    expect(found.map(({ source }) => source)).toEqual([
      "policy",
      "command",
      "project",
      "project",
      "other",
      "other",
      "settings",
      "user",
      "user",
      "bundled",
    ]);
    expect(found.map(({ path }) => path).slice(0, 2)).toEqual([
      join(base, "policy/agents/scout.md"),
      "--agents/SCOUT.md",
    ]);
    expect(found[0]?.shadowedBy).toBe("");
    expect(new Set(found.slice(1).map(({ shadowedBy }) => shadowedBy))).toEqual(new Set([found[0]?.path]));
    expect((await desk.lines(seeker())).map(({ description }) => description)).toEqual(["policy/agents"]);
  });

  test("a workspace that is not trusted has none; a definition that is wrong stops no other", async () => {
    isTrusted = false;
    file("home/project/.crux/agents");
    await expect(load("scout")).rejects.toMatchObject({ code: "PERMISSION" });
    given = {
      bad: { prompt: 7 },
      worse: { prompt: "x", maxTurns: "many" },
      good: { prompt: "Good.", description: "Good.", mystery: 1 },
    };
    await expect(load("bad")).rejects.toThrow("--agents/bad.md: prompt must be a text");
    await expect(load("worse")).rejects.toThrow("--agents/worse.md:2: max_turns must be a whole number");
    expect((await load("good"))?.systemPrompt).toBe("Good.");
    const issuesOf = async () =>
      (await desk.look("agents", seeker())).flatMap((each) => each.issues.map(({ message }) => message));
    // of files, too, and one without settings on top is nobody's
    put("config/agents/torn.md", "---\nname: [\n---\nTorn.");
    put("config/agents/README.md", "# My agents\n");
    file("config/agents");
    expect((await load("scout"))?.systemPrompt).toBe("I am config/agents.");
    await expect(load("torn")).rejects.toMatchObject({ code: "INVALID" });
    await expect(load("README")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await desk.lines(seeker())).map(({ name }) => name)).toEqual(["good", "scout", "worse"]);
    expect(await issuesOf()).toContainEqual(expect.stringMatching(/config\/agents\/torn\.md:\d+:\d+: /));
    rmSync(join(base, "config"), { recursive: true });
    expect(await issuesOf()).toEqual([
      expect.stringContaining("prompt must be a text"),
      expect.stringContaining("unknown key 'mystery'"),
      expect.stringContaining("max_turns must be"),
    ]);
  });

  test("a folder counts before a file beside it, has no prompt in its settings, and is described by its first line", async () => {
    put("config/agents/scout/agent.yaml", "name: scout\n");
    put("config/agents/scout/instructions.md", "# Scout\n\nLooks ahead.\nThen reports.\n");
    file("config/agents");
    expect((await load("scout"))?.manifest.description).toBe("Looks ahead.");
    expect(
      (await desk.look("agents", seeker())).map(({ path, shadowedBy }) => [path, shadowedBy !== ""]),
    ).toEqual([
      [join(base, "config/agents/scout/agent.yaml"), false],
      [join(base, "config/agents/scout.md"), true],
    ]);
    put("config/agents/scout/agent.yaml", "name: scout\nprompt: other\n");
    await expect(load("scout")).rejects.toThrow(/agent\.yaml:2: prompt belongs into instructions\.md/);
  });

  test("with agents.builtins false the shipped ones cannot be chosen; a run that chooses none has one all the same", async () => {
    put("lib/agents/general-purpose.md", "---\nname: general-purpose\n---\nShipped.");
    settings = { agents: { builtins: false } };
    await expect(load("general-purpose")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await load())?.systemPrompt).toBe("Shipped.");
    expect(await desk.lines(seeker())).toEqual([]);
    settings = {};
    expect((await desk.lines({ ...seeker(), env: { CRUX_DISABLE_BUILTIN_AGENTS: "1" } })).length).toBe(0);
    expect((await desk.lines(seeker())).length).toBe(1);
  });
});

test("CRUX_SIMPLE leaves a worker three tools, and any other agent what it has", async () => {
  for (const name of ["worker", "helper"]) put(`lib/agents/${name}.md`, `---\nname: ${name}\n---\nDo it.`);
  const toolsOf = async (name: string, env: Record<string, string>) =>
    (await desk.load(name, { ...seeker(), env }))?.manifest.tools;
  const three = ["bash", "view", "edit"];
  expect([await toolsOf("worker", {}), await toolsOf("worker", { CRUX_SIMPLE: "1" })]).toEqual([null, three]);
  expect(await toolsOf("helper", { CRUX_SIMPLE: "1" })).toBeNull();
});

test("a coordinator is told which tools its workers have, with their servers, and nobody else is", async () => {
  put(
    "lib/agents/worker.md",
    "---\nname: worker\ndisallowed_tools: [edit]\nmcp: [{name: notes, command: run}]\n---\nDo it.",
  );
  const told = async (more: object) => (await desk.lines({ ...seeker(), ...more })).map(({ tools }) => tools);
  const own = await told({ givesWork: true });
  expect(own).toEqual([expect.arrayContaining(["bash", "mcp__notes"])]);
  expect(own[0]).not.toContain("edit");
  expect(own[0]).not.toContain("team_create");
  expect(await told({ givesWork: true, env: { CRUX_SIMPLE: "1" } })).toEqual([
    ["bash", "view", "mcp__notes"],
  ]);
  expect(await told({})).toEqual([undefined]);
});

test("the servers of a client come with any agent that has tools, and are not kept for the next", async () => {
  file("config/agents");
  const ownServers = { entries: { own: { command: "run", args: ["$CRUX_PROJECT_DIR"] } }, isStrict: false };
  const loaded = (name?: string) => desk.load(name, { ...seeker(), ownServers });
  for (const name of ["scout", "SCOUT"])
    expect((await loaded(name))?.manifest.mcp).toMatchObject([
      { name: "own", config: { args: [seeker().cwd], cwd: seeker().cwd } },
    ]);
  expect((await load("scout"))?.manifest.mcp).toEqual([]);
  await expect(loaded("none")).rejects.toMatchObject({ code: "INVALID" });
  const isStrict = { ownServers: { entries: {}, isStrict: true } };
  expect(await desk.load("none", { ...seeker(), ...isStrict })).toBeNull();
});
