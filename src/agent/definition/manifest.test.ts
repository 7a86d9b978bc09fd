import { describe, expect, test } from "vitest";
import { parseManifest } from "./manifest.ts";

function parse(text: string) {
  const warnings: string[] = [];
  return { manifest: parseManifest(text, (message) => warnings.push(message)), warnings };
}

describe("parseManifest()", () => {
  test("reads the published form", () => {
    const text = `name: code-analyst
description: "分析代码"
models:
  provider: claude
  preferred: sonnet
  fallback: haiku
context_budget: 8192
skills:
  - code-analysis
`;
    expect(parse(text)).toEqual({
      manifest: {
        name: "code-analyst",
        description: "分析代码",
        models: { provider: "claude", preferred: "sonnet", fallback: ["haiku"] },
        contextBudget: 8192,
        maxSteps: 0,
        skills: ["code-analysis"],
        tools: null,
        mcp: [],
      },
      warnings: [],
    });
  });

  test("reads the names of servers that must be there", () => {
    expect(parse("name: x\nrequiredMcpServers: [git-*, notes]")).toMatchObject({
      ...{ manifest: { requiredServers: ["git-*", "notes"] }, warnings: [] },
    });
  });

  test("has defaults for all but the name", () => {
    expect(parse("name: x").manifest).toEqual({
      name: "x",
      description: "",
      models: {},
      contextBudget: 0,
      maxSteps: 0,
      skills: [],
      tools: null,
      mcp: [],
    });
  });

  test.each([
    ["context_budget: -5", { contextBudget: 0 }],
    ["max_steps: 7", { maxSteps: 7 }],
    ["maxTurns: 7", { maxSteps: 7 }],
    ["skills: a, b", { skills: ["a", "b"] }],
    ["tools: Read, bash", { tools: ["view", "bash"] }],
    ["tools: '*'", { tools: null }],
    ["tools: []", { tools: [] }],
    ["disallowedTools: [Bash, Write]", { tools: null, disallowedTools: ["bash", "write"] }],
    ["tools: view, bash\ndisallowedTools: Bash", { tools: ["view"], disallowedTools: ["bash"] }],
    ["disallowedTools: [mcp__memory__delete, Bash]", { disallowedTools: ["mcp__memory__delete", "bash"] }],
    ["outward: [web, mcp]", { outward: ["web", "mcp"] }],
    ["model: haiku", { models: { preferred: "haiku" } }],
    ["model: inherit", { models: {} }],
    ["effort: high", { effort: "high" }],
    ["effort: 4096", { effort: 4_096 }],
    ["memory: user", { memory: "user" }],
    ["isolation: worktree", { isolation: "worktree" }],
    ["model: haiku\nmodels: { preferred: opus }", { models: { preferred: "opus" } }],
  ])("%s", (text, expected) => {
    expect(parse(`name: x\n${text}`).manifest).toMatchObject(expected);
  });

  test.each([
    ["description: x", "agent.yaml: name is required"],
    ["name: ''", "agent.yaml:1: name is required"],
    ["", "agent.yaml: name is required"],
    ["name: x\nmax_steps: 0", "agent.yaml:2: max_steps must be at least 1"],
    ["name: x\nmax_steps: 1.5", "agent.yaml:2: max_steps must be a whole number"],
    ["name: x\nmax_steps: 1\nmax_turns: 2", "agent.yaml:2: max_steps and max_turns are the same: give one"],
    ["name: x\ncontext_budget: much", "agent.yaml:2: context_budget must be a whole number"],
    ["name: x\noutward: everything", "agent.yaml:2: outward takes web, mcp, file, exec, peer"],
    [
      "name: x\neffort: much",
      "agent.yaml:2: effort takes low, medium, high, xhigh, max, or a number of tokens",
    ],
    ["name: x\neffort: 7", "agent.yaml:2: effort takes 1024 to 1000000 tokens"],
    ["name: x\nmodels: sonnet", "agent.yaml:2: models must be a mapping"],
  ])("throws INVALID for %j", (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: "INVALID", message }));
  });

  test("warns of a memory that has no folder, and goes without", () => {
    const { manifest, warnings } = parse("name: x\nmemory: project");
    expect(manifest.memory).toBeUndefined();
    expect(warnings).toEqual(["agent.yaml:2: memory takes local or user; project has no effect"]);
  });

  test("warns of an isolation that there is not", () => {
    const { manifest, warnings } = parse("name: x\nisolation: remote");
    expect(manifest).not.toHaveProperty("isolation");
    expect(warnings).toEqual(["agent.yaml:2: isolation takes worktree; remote has no effect"]);
  });

  test("takes a colour that there is, and warns of another", () => {
    const warned: string[] = [];
    const colorOf = (color: string) =>
      parseManifest(`name: x\ncolor: ${color}\n`, (each) => warned.push(each)).color;
    expect([colorOf("purple"), colorOf("mauve")]).toEqual(["purple", undefined]);
    expect(warned).toEqual([
      expect.stringMatching(/^agent\.yaml:2: color takes red, .*; mauve has no effect$/),
    ]);
  });

  test("takes an initial prompt, and says nothing of a version", () => {
    const { manifest, warnings } = parse("name: x\nversion: 2\ninitialPrompt: |\n  /greet Ada\n  twice\n");
    expect([manifest.initialPrompt, warnings]).toEqual(["/greet Ada\ntwice", []]);
    expect(parse("name: x\ninitial_prompt: ''").manifest).not.toHaveProperty("initialPrompt");
  });

  test("pins texts whole, one or a list of them", () => {
    const pinned = (lines: string) => parse(`name: x\n${lines}`).manifest.pins;
    expect(pinned("pins: [a, ' b, c ']")).toEqual(["a", "b, c"]);
    expect(pinned("pins: Never push, ever.")).toEqual(["Never push, ever."]);
    expect(pinned("pins: []")).toBeUndefined();
    expect(() => pinned("pins: [{ a: 1 }]")).toThrow("pins must be a list of texts");
  });

  test("warns of keys that do nothing", () => {
    expect(parse("name: x\ncolour: red\nmcp: [{ name: s, command: c, shape: round }]").warnings).toEqual([
      "agent.yaml: mcp: s: shape is not supported and is ignored",
      "agent.yaml:2: unknown key 'colour' (did you mean color?)",
    ]);
  });
});
