import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentInfo, OwnServers } from "../abi/agent.ts";
import { makeAgentLoader } from "../agent/definition/loader.ts";
import { refuseUntrusted, trustedFiles, withOwn, withProject } from "./project.ts";
import { digestOf, serverEntries } from "./trust/inventory.ts";
import type { ProjectView } from "./trust/trust.ts";

let root: string;
let approved: Map<string, string>;
const warned: string[] = [];
const files = {
  readText: (path: string) => readFile(path, "utf8"),
  list: (dir: string) => readdir(dir),
  realPath: (path: string) => realpath(path),
};

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "crux-project-")));
  approved = new Map();
  warned.length = 0;
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, content: string, isApproved = true): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  if (isApproved) approved.set(path, digestOf(content));
}

const view = (isTrusted = true): ProjectView => ({
  root,
  isTrusted,
  key: "",
  approves: (path, digest) => approved.get(path.replace(`${root}/`, "")) === digest,
});

const dirs = () => [".claude/agents", ".crux/agents"].map((path) => join(root, path));
const loader = (own: readonly string[] = []) => {
  const guarded = trustedFiles(files, view(), dirs());
  return makeAgentLoader({ dirs: [...own, ...dirs()], skillDirs: [], files: guarded });
};
const agentText = (words: string) => `---\nname: helper\n---\n${words}\n`;

describe("trustedFiles()", () => {
  test("a file is there only as it was seen: another content, and it is not", async () => {
    put(".claude/agents/helper.md", agentText("seen"));
    expect((await loader().load("helper")).instructions).toBe("seen");
    put(".claude/agents/helper.md", agentText("changed"), false);
    await expect(loader().load("helper")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(refuseUntrusted("Helper", view(), dirs())).rejects.toMatchObject({
      code: "PERMISSION",
      fact: { kind: "untrusted", folder: root },
    });
  });

  test("one that is not trusted hides no other: the next of the name counts", async () => {
    put(".crux/agents/helper/agent.yaml", "name: helper\n", false);
    put(".crux/agents/helper/instructions.md", "evil", false);
    put("own/helper.md", agentText("mine"), false);
    expect((await loader([join(root, "own")]).load("helper")).instructions).toBe("mine");
    approved.set(".crux/agents/helper/agent.yaml", digestOf("name: helper\n"));
    await expect(loader().load("helper")).rejects.toMatchObject({ code: "NOT_FOUND" });
    approved.set(".crux/agents/helper/instructions.md", digestOf("evil"));
    expect((await loader([join(root, "own")]).load("helper")).instructions).toBe("evil");
  });

  test("a link in the project's folders is judged by what it leads to", async () => {
    put("docs/helper/agent.yaml", "name: helper\n", false);
    put("docs/helper/instructions.md", "evil", false);
    mkdirSync(join(root, ".crux"));
    symlinkSync(join(root, "docs"), join(root, ".crux/agents"));
    await expect(loader().load("helper")).rejects.toMatchObject({ code: "NOT_FOUND" });
    approved.set("docs/helper/agent.yaml", digestOf("name: helper\n"));
    approved.set("docs/helper/instructions.md", digestOf("evil"));
    expect((await loader().load("helper")).instructions).toBe("evil");
  });
});

test("refuseUntrusted() says nothing of names that the project does not have", async () => {
  await expect(refuseUntrusted("helper", view(), dirs())).resolves.toBeUndefined();
});

const agent: AgentInfo = {
  manifest: {
    name: "a",
    description: "",
    models: {},
    contextBudget: 0,
    maxSteps: 0,
    skills: [],
    tools: null,
    mcp: [{ name: "taken", config: { type: "http", url: "https://own", headers: {} }, required: true }],
  },
  instructions: "I.",
  skills: [],
  systemPrompt: "I.",
  allowedDevices: null,
};

describe("withProject()", () => {
  const added = (env: Record<string, string> = {}, isTrusted = true) =>
    withProject(agent, view(isTrusted), {
      env: { TOKEN: "t", ...env },
      warn: (line) => void warned.push(line),
    });
  const approveServers = (text: string, ...names: string[]) => {
    put(".mcp.json", text);
    for (const [name, entry] of serverEntries(text))
      if (names.includes(name)) approved.set(`.mcp.json#${name}`, digestOf(entry));
  };

  test("adds the servers that were seen, which may fail and work in the root; bad ones are told", async () => {
    const mcpServers = {
      good: { command: "run", args: ["$TOKEN"] },
      taken: { command: "evil" },
      bad: { command: "x", url: "y" },
      unseen: { command: "evil" },
      off: { command: "evil", disabled: true },
    };
    approveServers(JSON.stringify({ mcpServers }), "good", "taken", "bad", "off");
    const { manifest } = await added();
    expect(manifest.mcp.map(({ name }) => name)).toEqual(["taken", "good"]);
    expect(manifest.mcp[0]).toEqual(agent.manifest.mcp[0]);
    expect(manifest.mcp[1]).toEqual({
      name: "good",
      config: { type: "stdio", command: "run", args: ["t"], env: {}, cwd: root },
      required: false,
    });
    expect(warned).toEqual([expect.stringContaining("bad: has both a command and a url")]);
  });

  test("adds nothing where the workspace is not trusted, and nothing of a broken file", async () => {
    approveServers(JSON.stringify({ mcpServers: { good: { command: "run" } } }), "good");
    expect(await added({}, false)).toBe(agent);
    put(".mcp.json", "{", false);
    expect(await added()).toBe(agent);
    expect(warned).toEqual([expect.stringContaining(join(root, ".mcp.json"))]);
  });
});

describe("withOwn()", () => {
  const given = (entries: OwnServers["entries"], isStrict = false) =>
    withOwn(agent, { entries, isStrict }, { env: { TOKEN: "t" }, warn: () => {}, cwd: "/w" });

  test("puts the servers of a client before others of their names, or in place of all; they may fail", () => {
    const more = { command: "run", args: ["$TOKEN", "$$"] };
    expect(given({ taken: { url: "https://given" }, more }).manifest.mcp).toEqual([
      {
        name: "taken",
        config: { type: "http", url: "https://given", headers: {} },
        required: false,
        isGiven: true,
      },
      {
        name: "more",
        config: { type: "stdio", command: "run", args: ["t", "$"], env: {}, cwd: "/w" },
        required: false,
        isGiven: true,
      },
    ]);
    expect(given({ more }).manifest.mcp.map(({ name }) => name)).toEqual(["taken", "more"]);
    expect(given({ more }, true).manifest.mcp.map(({ name }) => name)).toEqual(["more"]);
    expect(given({}, true).manifest.mcp).toEqual([]);
    expect(agent.manifest.mcp).toHaveLength(1);
  });

  test.each([
    [{ crux: { command: "run" } }, /crux is the name of an MCP server of Crux itself/],
    [{ "computer-use": { command: "run" } }, /computer-use is the name/],
    [{ a__b: { command: "run" } }, /needs names of letters/],
    [{ a: { command: "run", url: "https://a" } }, /has both a command and a url/],
    [{ a: {} }, /needs a command or a url/],
  ])("refuses %j", (entries, message) => {
    expect(() => given(entries)).toThrow(message);
  });
});
