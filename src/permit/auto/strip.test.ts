import { beforeAll, describe, expect, test } from "vitest";
import { allowed, bash, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { parseRule } from "../rules/rule.ts";
import { loadParser } from "../shell/parser.ts";
import { isAutoModeActive, isDangerous } from "./strip.ts";

beforeAll(() => loadParser());

const ruleOf = (text: string) => parseRule({ source: "userSettings", behavior: "allow", text });

describe("isDangerous()", () => {
  test.each([
    ...["bash", "bash(*)", "bash(python:*)", "bash(python3 *)", "bash(python)", "bash(python -m pytest:*)"],
    ...[
      "bash(node:*)",
      "bash(/usr/bin/node *)",
      "bash(bash:*)",
      "bash(sh -c *)",
      "bash(sudo:*)",
      "bash(eval:*)",
    ],
    ...["bash(env:*)", "bash(xargs *)", "bash(timeout 5 *)", "bash(npx:*)", "bash(npm run:*)", "bash(npm *)"],
    ...[
      "bash(yarn run *)",
      "bash(npm run test*)",
      "bash(py*:*)",
      "bash(pwsh:*)",
      "bash(find:*)",
      "bash(make:*)",
    ],
    ...["agent", "agent(helper)", "Bash(ruby:*)", "Task(x)", "bash('python' *)", 'bash("bash" *)'],
  ])("%s lets whole programs past a judge", (text) => expect(isDangerous(ruleOf(text))).toBe(true));

  test.each([
    ...["bash(npm test)", "bash(npm test:*)", "bash(npm run test:*)", "bash(git *)", "bash(git commit:*)"],
    ...["bash(ls:*)", "bash(cargo build:*)", "bash(python setup.py --version)", "edit(src/**)", "view"],
    ...["fetch(domain:h.io)", "mcp__s__t", "skill(x)"],
  ])("%s stays", (text) => expect(isDangerous(ruleOf(text))).toBe(false));
});

describe("a decision while mode auto is active", () => {
  const permit = makePermit({
    rules: [allowed("bash(python:*)"), allowed("bash(npm test:*)"), allowed("bash")],
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    exists: () => false,
  });
  const decide = (text: string, more: Parameters<typeof subject>[0]) =>
    permit.decide(subject(more), { tool: "bash", effects: [bash(text)] });

  test("dangerous rules are gone within, and back after it, with grants of the session as well", () => {
    const grants = ["bash(node:*)"];
    for (const text of ["python x.py", "node x.js"]) {
      expect(decide(text, { mode: "default", grants }).behavior).toBe("allow");
      expect(decide(text, { mode: "auto", grants })).toMatchObject({ behavior: "ask", isJudgeable: true });
      expect(decide(text, { mode: "default", grants }).behavior).toBe("allow");
    }
    expect(decide("npm test -- --x", { mode: "auto" }).behavior).toBe("allow");
  });

  test("in mode plan entered from auto they are gone as well, and what would ask is judged", () => {
    expect(isAutoModeActive({ mode: "plan", judgesPlan: true })).toBe(true);
    expect(isAutoModeActive({ mode: "plan" })).toBe(false);
    expect(isAutoModeActive({ mode: "default", judgesPlan: true })).toBe(false);
    const read = { kind: "read", path: "/srv/a", real: "/srv/a" } as const;
    const of = (judgesPlan: boolean) =>
      permit.decide(subject({ mode: "plan", ...(judgesPlan ? { judgesPlan: true as const } : {}) }), {
        tool: "view",
        effects: [read],
      });
    expect(of(true)).toMatchObject({ behavior: "ask", isJudgeable: true });
    expect(of(false)).not.toHaveProperty("isJudgeable");
  });
});
