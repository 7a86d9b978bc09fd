import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../trust/inventory.ts";
import type { ProjectView } from "../trust/trust.ts";
import { definitionFiles } from "./definition-files.ts";
import { SkillDesk } from "./skill-desk.ts";
import { SkillUsage } from "./skill-usage.ts";

let base: string;
let root: string;
let isTrusted: boolean;
let approved: Set<string>;
let disabled: string[];
let now: number;
let usage: SkillUsage;
let desk: SkillDesk;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "crux-skills-")));
  root = join(base, "project");
  mkdirSync(root);
  isTrusted = true;
  approved = new Set();
  disabled = [];
  now = Date.UTC(2026, 0, 1);
  usage = new SkillUsage({ file: join(base, "usage.json"), now: () => now, warn: () => {} });
  const view = (): ProjectView => ({
    root,
    isTrusted,
    key: `${isTrusted} ${approved.size}`,
    approves: (path, digest) => isTrusted && approved.has(`${path} ${digest}`),
  });
  desk = new SkillDesk({
    home: join(base, "home"),
    configDir: join(base, "config"),
    lib: join(base, "lib"),
    policyDir: join(base, "policy"),
    trust: { viewOf: view },
    files: definitionFiles,
    usage,
    settings: () => ({ disabled, runsCommands: true }),
  });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** `isSeen`: the user has trusted it as it is. */
function put(path: string, name: string, more = "", isSeen = true): void {
  const at = join(base, path, name, "SKILL.md");
  const text = `---\nname: ${name}\ndescription: ${path}\n${more}---\nBody of ${name} in ${path}.`;
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
  if (isSeen) approved.add(`${at} ${digestOf(text)}`);
}
const names = async (cwd = root) =>
  (await desk.lines(cwd)).map(({ name, description }) => `${name} ${description}`);

describe("SkillDesk", () => {
  test("finds every source: the nearest folder of the project wins, policy over all, other formats below all", async () => {
    put("lib/skills", "a");
    put("home/.claude/skills", "a");
    put("home/.agents/skills", "b");
    put("config/skills", "c");
    put("project/.claude/skills", "b");
    put("project/.claude/skills", "d");
    put("project/.crux/skills", "c");
    put("project/sub/.crux/skills", "c");
    put("project/sub/.crux/skills", "e");
    put("policy/skills", "e");
    expect(await names()).toEqual([
      "a lib/skills",
      "b home/.agents/skills",
      "c project/.crux/skills",
      "d project/.claude/skills",
      "e policy/skills",
    ]);
    expect((await names(join(root, "sub")))[2]).toBe("c project/sub/.crux/skills");
  });

  test("of an untrusted project nothing counts, of a trusted one only what was seen, at the call again", async () => {
    put("project/.crux/skills", "seen");
    put("project/.crux/skills", "unseen", "", false);
    expect(await names()).toEqual(["seen project/.crux/skills"]);
    const shelf = await desk.shelf(root);
    expect(shelf.find("seen")?.body).toBe("Body of seen in project/.crux/skills.");
    writeFileSync(join(root, ".crux/skills/seen/SKILL.md"), "---\nname: seen\n---\nEvil.");
    expect(shelf.find("seen")).toBeUndefined();
    isTrusted = false;
    expect(await names()).toEqual([]);
  });

  test("no skill runs commands in a project that is not trusted, and without commands it only instructs", async () => {
    const at = join(base, "config/skills/run/SKILL.md");
    put("config/skills", "run");
    writeFileSync(at, "---\nname: run\n---\nOn !`git branch`.");
    expect((await desk.shelf(root)).find("run")).toMatchObject({ runsCommands: true, isPlain: false });
    isTrusted = false;
    expect((await desk.shelf(root)).find("run")).toMatchObject({ runsCommands: false, isPlain: true });
  });

  test("lists the most used first, not those for the user alone, nor those that are turned off", async () => {
    for (const name of ["a", "b", "c"]) put("config/skills", name);
    put("config/skills", "mine", "disable-model-invocation: true\n");
    put("config/skills", "own", "context: fork\n");
    disabled = ["c"];
    (await desk.shelf(root)).used("b");
    expect(await names()).toEqual(["b config/skills", "a config/skills", "own config/skills"]);
    const shelf = await desk.shelf(root);
    expect(shelf.names()).toEqual(["a", "b", "mine", "own"]);
    expect(shelf.find("c")).toBeUndefined();
    expect(shelf.find("mine")).toMatchObject({ forModel: false, forUser: true });
  });

  test("finds the skills of folders below that a process has come to", async () => {
    put("project/lib/.crux/skills", "inner");
    put("project/lib/deep/.agents/skills", "deep");
    put("project/.crux/skills", "outer");
    const below = await desk.linesBelow(root, [join(root, "lib/deep")]);
    expect(below.map(({ name }) => name)).toEqual(["deep", "inner"]);
    expect((await desk.shelf(root)).find("inner")).toBeUndefined();
    expect((await desk.shelf(root, [join(root, "lib/deep")])).find("inner")).toMatchObject({
      source: "project",
    });
  });
});

describe("SkillUsage", () => {
  test("counts once a minute, halves in a week and never falls below a tenth; it outlives the daemon", () => {
    usage.used("a");
    now += 59_000;
    usage.used("a");
    expect(usage.score("a")).toBeCloseTo(1, 2);
    now += 2_000;
    usage.used("a");
    expect(usage.score("a")).toBeCloseTo(2, 2);
    const later = new SkillUsage({ file: join(base, "usage.json"), now: () => now, warn: () => {} });
    now += 7 * 86_400_000;
    expect(later.score("a")).toBeCloseTo(1, 5);
    now += 700 * 86_400_000;
    expect(later.score("a")).toBeCloseTo(0.2, 5);
    expect(later.score("b")).toBe(0);
  });
});
