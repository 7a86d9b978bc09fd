import { expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { SkillEffect } from "../../abi/skill.ts";
import { makePermit } from "../policy.ts";

const SKILL: SkillEffect = { isPlain: false, isTyped: false, isOwn: true, rules: ["Bash(git *)"] };

function decided(
  skill: Partial<SkillEffect>,
  rules: Record<string, "allow" | "ask" | "deny"> = {},
  mode: PermissionMode = "default",
) {
  const permit = makePermit({
    rules: Object.entries(rules).map(([text, behavior]) => ({ source: "userSettings", behavior, text })),
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => path,
    skillPaths: ["/home/u/.config/crux/skills"],
  });
  const subject = { pid: asPid(1), mode, cwd: "/ws", roots: ["/ws"], allowedDevices: null, grants: [] };
  const spawn = {
    kind: "spawn",
    program: "deploy",
    background: false,
    skill: { ...SKILL, ...skill },
  } as const;
  const read = { kind: "read", path: "/home/u/.config/crux/skills/deploy/words.txt" } as const;
  return {
    start: permit.decide(subject, { tool: "skill", effects: [spawn], readOnly: true }),
    read: permit.decide(subject, { tool: "view", effects: [read], readOnly: true }).behavior,
  };
}

test.each([
  ["one with rules", {}, {}, "ask"],
  ["one that only instructs", { isPlain: true }, {}, "allow"],
  ["an own one that the user calls", { isTyped: true }, {}, "allow"],
  ["one of a workspace that the user calls", { isTyped: true, isOwn: false }, {}, "ask"],
  ["one that a rule allows", {}, { "skill(deploy)": "allow" }, "allow"],
  ["a plain one that a rule refuses", { isPlain: true, isTyped: true }, { "skill(deploy)": "deny" }, "deny"],
  ["a plain one that a rule asks about", { isPlain: true }, { "skill(deploy:*)": "ask" }, "ask"],
] as const)("%s: the answer", (_what, skill, rules, behavior) => {
  expect(decided(skill, rules).start.behavior).toBe(behavior);
});

test("the question offers the rule for exactly this skill", () => {
  expect(decided({}).start).toMatchObject({ always: "skill(deploy)" });
});

test("plan mode loads what only instructs; files of the user's skills are read without a question", () => {
  expect(decided({ isPlain: true }, {}, "plan").start.behavior).toBe("allow");
  expect(decided({}).read).toBe("allow");
});
