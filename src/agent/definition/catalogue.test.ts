import { describe, expect, test } from "vitest";
import { memoryFiles } from "../testing/memory-files.ts";
import { catalogueOf, findIn, MAX_SKILLS, type SkillFolder } from "./catalogue.ts";

const skill = (name: string, body = "Do it.", more = "") => `---\nname: ${name}\n${more}---\n${body}`;
const folder = (dir: string, source: SkillFolder["source"], kind: SkillFolder["kind"] = "skills") => ({
  dir,
  source,
  kind,
});

describe("catalogueOf()", () => {
  test("the highest source has the name, the others stay by their source; each real file counts once", async () => {
    const files = memoryFiles({
      "/lib/review/SKILL.md": skill("review", "lib"),
      "/mine/review/SKILL.md": skill("review", "mine"),
      "/mine/linked": { link: "/elsewhere/linked" },
      "/elsewhere/linked/SKILL.md": skill("linked"),
      "/team/linked": { link: "/elsewhere/linked" },
      "/team/loose.md": "no skill",
    });
    const all = await catalogueOf(
      [
        folder("/lib", "bundled"),
        folder("/mine", "user"),
        folder("/team", "project"),
        folder("/no", "policy"),
      ],
      files,
    );
    expect(all.skills.map(({ name, source, shadowedBy }) => [name, source, shadowedBy])).toEqual([
      ["linked", "project", undefined],
      ["review", "user", undefined],
      ["bundled:review", "bundled", "/mine/review/SKILL.md"],
    ]);
    expect(findIn(all, "review")?.file.body).toBe("mine");
    expect(findIn(all, "bundled:review")?.file.body).toBe("lib");
    expect(findIn(all, "linked")?.dir).toBe("/elsewhere/linked");
    expect(all.broken).toEqual([]);
  });

  test("command files are skills named by their folders, with or without settings", async () => {
    const files = memoryFiles({
      "/c/fix.md": "Fix $1.\n\nMore.",
      "/c/git/sync.md": "---\ndescription: Syncs\n---\nSync.",
      "/c/own/SKILL.md": skill("own"),
      "/c/own/notes.md": "of the skill",
      "/c/b d.md": "not a name",
    });
    const { skills } = await catalogueOf([folder("/c", "project", "commands")], files);
    expect(skills.map(({ name, file }) => [name, file.description])).toEqual([
      ["own", "Do it."],
      ["fix", "Fix $1."],
      ["git:sync", "Syncs"],
    ]);
  });

  test("a bad file is named with its reason, and the others load", async () => {
    const files = memoryFiles({
      "/s/a/SKILL.md": "no settings",
      "/s/b/SKILL.md": skill("b", "x".repeat(256 * 1024)),
      "/s/c/SKILL.md": skill("c", "fine", "context: spoon\n"),
      "/s/d/SKILL.md": { link: "/secret" },
      "/s/e/SKILL.md": skill("e"),
      "/secret": "secret",
    });
    const { skills, broken } = await catalogueOf([folder("/s", "user")], files);
    expect(skills.map(({ name }) => name)).toEqual(["e"]);
    expect(broken.map(({ name, problem }) => [name, problem])).toEqual([
      ["a", "/s/a/SKILL.md must start with ---"],
      ["b", "/s/b/SKILL.md: larger than 256 KiB"],
      ["c", "/s/c/SKILL.md:3: context takes inline or fork"],
      ["d", "skill path escapes its directory"],
    ]);
  });

  test("at most 1,000 are read", async () => {
    const many = Array.from({ length: MAX_SKILLS + 1 }, (_, at) => [`/s/n${at}/SKILL.md`, skill(`n${at}`)]);
    const all = await catalogueOf([folder("/s", "user")], memoryFiles(Object.fromEntries(many)));
    expect(all).toMatchObject({ isCut: true });
    expect(all.skills).toHaveLength(MAX_SKILLS);
  });
});

test("parseSkillFile() reads what matters for a call", async () => {
  const more = [
    "description: Deploys",
    "when_to_use: When asked to.",
    "allowed-tools: Bash(git *), /dev/shell",
    "arguments: [where, how]",
    "argument-hint: '[where]'",
    "paths: [src/**, '!*.md']",
    "disable-model-invocation: true",
    "",
  ].join("\n");
  const files = memoryFiles({
    "/s/a/SKILL.md": skill("a", "Go.", more),
    "/s/b/SKILL.md": skill(
      "b",
      "Go.",
      "user-invocable: false\ncontext: fork\nallowed-tools: /dev/fs\nhooks:\n",
    ),
    "/s/c/SKILL.md": skill("c", "Go.", "color: red\n"),
  });
  const { skills } = await catalogueOf([folder("/s", "user")], files);
  expect(skills.map(({ file }) => file)).toEqual([
    {
      description: "Deploys When asked to.",
      argumentHint: "[where]",
      argumentNames: ["where", "how"],
      rules: ["Bash(git *)"],
      paths: ["src/**", "!*.md"],
      forModel: false,
      forUser: true,
      fork: null,
      isSafe: false,
      body: "Go.",
    },
    expect.objectContaining({
      rules: [],
      forUser: false,
      forModel: true,
      fork: { agent: "", model: "" },
      isSafe: true,
    }),
    expect.objectContaining({ isSafe: false }),
  ]);
});
