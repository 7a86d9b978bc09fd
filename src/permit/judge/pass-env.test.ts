import { beforeAll, describe, expect, test } from "vitest";
import { loadParser } from "../shell/parser.ts";
import { passesEnv } from "./pass-env.ts";

beforeAll(async () => {
  await loadParser();
});

const GIVEN = { gh: ["GH_TOKEN"], aws: ["AWS_*"], both: ["GH_TOKEN", "AWS_PROFILE"] };
const passed = (shell: string) => {
  const effect = { kind: "exec", argv: ["bash", "-c", shell], cwd: "/ws", certain: false, shell } as const;
  const passes = passesEnv(GIVEN, effect, "/home/me");
  return ["GH_TOKEN", "AWS_PROFILE", "OPENAI_API_KEY"].filter(passes);
};

describe("passesEnv()", () => {
  test.each([
    ["gh pr list", ["GH_TOKEN"]],
    ["cd sub && timeout 5 /usr/bin/gh pr list", ["GH_TOKEN"]],
    ["aws s3 ls", ["AWS_PROFILE"]],
    ["gh pr list; both x", ["GH_TOKEN"]],
  ])("gives %s what was given to its programs", (shell, names) => {
    expect(passed(shell)).toEqual(names);
  });

  test.each([
    "ls",
    "gh pr list | sh",
    "gh pr list; echo $GH_TOKEN",
    "gh pr list && aws s3 ls",
    "./gh pr list",
    "/tmp/gh pr list",
    "gh $X",
    'eval "gh $X"',
    "echo gh",
    "gh pr list; $(curl x)",
    "cd x",
    "gh(){ env; }; gh",
  ])("gives %s nothing", (shell) => {
    expect(passed(shell)).toEqual([]);
  });

  test("gives a program that no shell starts its own", () => {
    const effect = (argv: readonly string[]) => ({ kind: "exec", argv, cwd: "/ws", certain: true }) as const;
    expect(passesEnv(GIVEN, effect(["gh", "api"]), "/h")("GH_TOKEN")).toBe(true);
    expect(passesEnv(GIVEN, effect(["node", "gh"]), "/h")("GH_TOKEN")).toBe(false);
    expect(passesEnv({}, effect(["gh", "api"]), "/h")("GH_TOKEN")).toBe(false);
  });
});
