/** The pages of docs/ that are written by hand: the index names all, links lead somewhere, and the examples work. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { checkAgents, checkSkills } from "../../src/agent/definition/check.ts";
import { makeAgentLoader } from "../../src/agent/definition/loader.ts";
import { rig } from "../../src/dev/mcp/testing/rig.ts";
import { systemClock } from "../../src/lib/time/system-clock.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = readdirSync(join(root, "docs")).filter((name) => name !== "pictures");
const read = (page: string): string => readFileSync(join(root, "docs", page), "utf8");

test("docs/README.md names every page once", () => {
  const named = [...read("README.md").matchAll(/\]\(([^)#]+)\)/g)].map(([, name]) => name);
  expect(named.toSorted()).toEqual(pages.filter((page) => page !== "README.md").sort());
});

test.each(pages.filter((page) => page.endsWith(".md")))("what docs/%s points to is there", (page) => {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const links = [...text.matchAll(/\]\((?!https?:)([^)]*)\)/g)].map(([, link = ""]) => link);
  const files = links.map((link) => link.split("#")[0] ?? "").filter((file) => file !== "");
  expect(files.filter((file) => !existsSync(join(root, "docs", file)))).toEqual([]);
  const anchors = new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
  const within = links.filter((link) => link.startsWith("#")).map((link) => link.slice(1));
  expect(within.filter((anchor) => !anchors.has(anchor))).toEqual([]);
  const named = [...text.matchAll(/`(?:docs\/)?([a-z][a-z-]*\.md)`/g)].map(([, name = ""]) => name);
  const ofOthers = ["instructions.md"];
  expect(named.filter((name) => !pages.includes(name) && !ofOthers.includes(name))).toEqual([]);
  const paths = [...text.matchAll(/`((?:src|lib|scripts|test)\/[\w./-]+)`/g)].map(([, path = ""]) => path);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

/** The files of a page, written where it says. */
function unpacked(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), "crux-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = [...read(page).matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)];
  expect(files.length).toBeGreaterThan(0);
  for (const [, path = "", text = ""] of files) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** As the daemon would look at the files of a project. */
function optionsFor(folder: string, warnings: string[] = []) {
  return {
    dirs: [join(folder, ".crux/agents")],
    places: [join(folder, ".crux/agents")].map((dir) => ({ dir, source: "project" as const })),
    skillDirs: [join(folder, ".crux/skills")],
    skillFolders: [{ dir: join(folder, ".crux/skills"), source: "project", kind: "skills" } as const],
    files: {
      readText: (path: string) => readFile(path, "utf8"),
      list: (dir: string) => readdir(dir),
      realPath: realpath,
    },
    warn: (message: string) => void warnings.push(message),
    tools: readdirSync(join(root, "src/tool"), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    ),
  };
}

async function loaded(page: string, name: string) {
  const warnings: string[] = [];
  const folder = unpacked(page);
  const options = optionsFor(folder, warnings);
  const [look] = await checkAgents(options, name);
  expect(look?.issues).toEqual([]);
  const agent = await makeAgentLoader(options).load(name);
  expect(warnings).toEqual([]);
  return { agent, folder, options };
}

test("the agent of write-an-agent.md loads without a complaint", async () => {
  const { agent } = await loaded("write-an-agent.md", "reviewer");
  expect(agent.systemPrompt).toMatch(/^You review the latest commit/);
  expect(agent.manifest).toMatchObject({
    tools: ["view", "grep", "glob", "ls", "bash"],
    maxSteps: 40,
    contextBudget: 200_000,
    permissionMode: "default",
  });
});

test("the skill of write-a-skill.md joins the instructions of its agent", async () => {
  const { agent, options } = await loaded("write-a-skill.md", "releaser");
  const [look] = await checkSkills(options, "release-notes");
  expect(look).toMatchObject({ name: "release-notes", issues: [] });
  expect(agent.systemPrompt).toMatch(/^You prepare a release[\s\S]*# Release notes/);
  expect(agent.allowedDevices).toEqual(["/dev/fs", "/dev/shell"]);
});

test("the server of write-a-tool.md answers", async () => {
  const { agent, folder } = await loaded("write-a-tool.md", "counter");
  expect(agent.manifest.mcp).toMatchObject([{ name: "words" }]);
  const made = rig(systemClock);
  const config = {
    type: "stdio",
    command: process.execPath,
    args: [join(folder, "word-count.mjs")],
    env: {},
  } as const;
  const transport = await made.connected(config);
  const never = new AbortController().signal;
  const { tools } = await transport.catalogue("Open", never);
  expect(tools.map(({ name }) => name)).toEqual(["word_count"]);
  const [tool] = tools;
  const result = tool && (await transport.callTool(tool, { text: "one two three" }, never));
  expect(JSON.stringify(result)).toContain("3 words");
});
