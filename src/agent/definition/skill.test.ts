import { describe, expect, test } from "vitest";
import type { Skill } from "../../abi/agent.ts";
import { memoryFiles } from "../testing/memory-files.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { allowedDevices, allowedTools, makeSkillLoader, parseSkill } from "./skill.ts";

const SAMPLE = `---
name: code-analysis
description: >
  Analyze code quality, identify bugs, performance issues and security
  vulnerabilities.
allowed-tools: /dev/fs /dev/shell
metadata:
  author: crux
  version: "1.0"
---

# Body

Text.
`;

describe("parseSkill()", () => {
  test("reads the published form", () => {
    expect(parseSkill(SAMPLE)).toEqual({
      manifest: {
        name: "code-analysis",
        description: "Analyze code quality, identify bugs, performance issues and security vulnerabilities.",
        allowedTools: "/dev/fs /dev/shell",
        metadata: { author: "crux", version: "1.0" },
      },
      body: "# Body\n\nText.",
    });
  });

  test("takes CRLF, a byte-order mark and a list of tools; describes itself by its first paragraph", () => {
    const text =
      "\uFEFF---\r\nname: x\r\nallowed-tools: [Read, Bash(git *)]\r\n---\r\n# X\r\n\r\nDoes x\r\nwell.\r\n";
    expect(parseSkill(text).manifest).toMatchObject({
      allowedTools: "Read Bash(git *)",
      description: "Does x well.",
    });
  });

  test.each([
    ["name: x\n", "SKILL.md must start with ---"],
    ["\n---\nname: x\n---\n", "SKILL.md must start with ---"],
    ["---js\n{ name: process.exit(1) }\n---\n", "SKILL.md must start with ---"],
    ["", "SKILL.md must start with ---"],
    ["---\nname: x\n", "SKILL.md missing closing ---"],
    ["---\ndescription: x\n---\n", "SKILL.md: name is required"],
    ["---\nname: x\na: [\n---\n", /^SKILL.md:\d+:\d+: /],
  ])("throws INVALID for %j", (text, message) => {
    expect(() => parseSkill(text)).toThrow(
      expect.objectContaining({
        code: "INVALID",
        message: typeof message === "string" ? message : expect.stringMatching(message),
      }),
    );
  });
});

test("parseFrontMatter() counts lines from the top of the file", () => {
  expect(() => parseFrontMatter("SKILL.md", "---\nname: x\nname: y\n---\n")).toThrow("SKILL.md:3:1: ");
});

describe("allowed tools", () => {
  const skill = (allowedTools: string): Skill => ({
    manifest: { name: "s", description: "", allowedTools, metadata: {} },
    body: "",
  });

  test.each([
    ["/dev/fs /dev/shell", ["/dev/fs", "/dev/shell"]],
    ["Bash(git diff, git log), Read /dev/fs", ["Bash(git diff, git log)", "Read", "/dev/fs"]],
    ["", null],
    ["  ", null],
  ])("allowedTools() of %j", (raw, words) => {
    expect(allowedTools(skill(raw).manifest)).toEqual(words);
  });

  test("allowedDevices() is the union of those that name any", () => {
    expect(allowedDevices([])).toBeNull();
    expect(allowedDevices([skill(""), skill("Read Bash(git *)")])).toBeNull();
    expect(allowedDevices([skill("/dev/fs"), skill(""), skill("/dev/shell /dev/fs Read")])).toEqual([
      "/dev/fs",
      "/dev/shell",
    ]);
  });
});

describe("makeSkillLoader()", () => {
  const files = memoryFiles({
    "/low/a/SKILL.md": "---\nname: a\n---\nlow",
    "/high/a/SKILL.md": "---\nname: a\n---\nhigh",
    "/low/b/SKILL.md": "---\nname: b\n---\nb",
    "/high/linked": { link: "/elsewhere/c" },
    "/elsewhere/c/SKILL.md": "---\nname: linked\n---\nc",
    "/high/leaky/SKILL.md": { link: "/secret" },
    "/secret": "---\nname: secret\n---\n",
    "/low/loose.md": "no skill",
  });
  const loader = makeSkillLoader(["/missing", "/low", "/high"], files);

  test("takes the higher one, and a folder that is a link", async () => {
    expect((await loader.loadFull("a")).body).toBe("high");
    expect((await loader.loadFull("b")).body).toBe("b");
    expect((await loader.loadFull("linked")).body).toBe("c");
    expect(await loader.loadMetadata("a")).toMatchObject({ name: "a" });
  });

  test("refuses what lies elsewhere, and tells which there are", async () => {
    await expect(loader.loadFull("../low/a")).rejects.toMatchObject({
      code: "INVALID",
      message: "skill path escapes its directory",
    });
    await expect(loader.loadFull("leaky")).rejects.toMatchObject({ code: "INVALID" });
    await expect(loader.loadFull("nope")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "skill not found: nope. Skills here: a, b, leaky, linked",
    });
  });
});
