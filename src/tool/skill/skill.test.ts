import { describe, expect, test, vi } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { SkillsInReach, SkillText } from "../../abi/skill.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { Bench, CALL_ID, testScope } from "../testing/bench.ts";
import type { RunContext } from "../tool.ts";
import { skill } from "./skill.ts";
import { commandsIn, filledIn } from "./template.ts";

const deploy: SkillText = {
  name: "deploy",
  source: "user",
  dir: "/skills/deploy",
  body: "Deploy $1 from ${CRUX_SKILL_DIR}.",
  argumentNames: [],
  rules: [],
  runsCommands: true,
  forModel: true,
  forUser: true,
  fork: null,
  isPlain: true,
};

function shelf(found: Partial<SkillText>, more: Partial<SkillsInReach> = {}) {
  const used: string[] = [];
  const skills: SkillsInReach = {
    find: (name) => (name === "deploy" ? { ...deploy, ...found } : undefined),
    names: () => ["deploy", "review"],
    session: "1",
    used: (name) => void used.push(name),
    isTyped: () => false,
    inUse: () => [],
    ...more,
  };
  const bench = new Bench([skill]);
  bench.caller = { ...bench.caller, skills: async () => skills };
  return { bench, used };
}

const args = { skill: "deploy", args: "staging now" };

describe("skill", () => {
  test("gives the filled in text with its folder, and counts the use", async () => {
    const { bench, used } = shelf({});
    using _ = bench;
    expect(await bench.text("skill", args)).toBe(
      "Skill deploy, in /skills/deploy. Follow it for the task at hand:\n\nDeploy staging from /skills/deploy.",
    );
    expect(used).toEqual(["deploy"]);
  });

  test("declares what it starts and every command, and shows the rules that it asks for", async () => {
    const { bench } = shelf({ body: "!`git log $1`", rules: ["Bash(git *)"], isPlain: false });
    using _ = bench;
    const plan = await bench.plan("skill", { skill: "deploy", args: "'$(id)'" });
    expect(plan.effects).toEqual([
      {
        kind: "spawn",
        program: "deploy",
        background: false,
        skill: { isPlain: false, isTyped: false, isOwn: true, rules: ["Bash(git *)"] },
      },
      expect.objectContaining({ kind: "exec", shell: "skill_1='$(id)'; git log \"${skill_1}\"" }),
    ] satisfies Effect[]);
    expect(plan.effectClass).toBe("once");
    expect(plan.view?.params).toMatchObject({ allows: "Bash(git *) (until this run ends)" });
  });

  test("puts the outputs of commands into the text, and never reads them again", async () => {
    const { bench } = shelf({ body: "On !`git branch`: $1. !`false`", isPlain: false });
    using _ = bench;
    bench.shell = async ({ command }) =>
      command === "false" ? { output: "", exit_code: 1 } : { output: "main $1 !`id`\n", exit_code: 0 };
    expect(await bench.text("skill", args)).toContain("On main $1 !`id`: staging. [exit code 1]");
  });

  test("leaves commands as text where they may not run", async () => {
    const { bench } = shelf({ body: "On !`git branch $1`.", runsCommands: false });
    using _ = bench;
    expect(await bench.text("skill", args)).toContain("On !`git branch $1`.");
    expect((await bench.plan("skill", args)).effects).toHaveLength(1);
  });

  test.each([
    ["an unknown name", { skill: "deplyo" }, {}, {}, "NOT_FOUND", /Similar: deploy/],
    ["one for the user alone", args, { forModel: false }, {}, "PERMISSION", /for the user alone/],
    [
      "the sixth of a run",
      args,
      {},
      { inUse: () => ["a", "b", "c", "d", "e"] },
      "INVALID",
      /5 skills are in use/,
    ],
  ])("refuses %s", async (_name, call, found, more, code, message) => {
    const { bench } = shelf(found, more);
    using _ = bench;
    await expect(bench.plan("skill", call)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("of a process of its own is followed by an agent, whose last message is the result; its rules are nobody's", async () => {
    const spawn = vi.fn(async (..._: unknown[]) => asPid(7));
    const exit = EXIT.completed;
    const ended = async () => ({
      agentId: "agent-1",
      exit,
      result: "Deployed.",
      tokensUsed: 3,
      elapsedMs: 9,
    });
    const { bench, used } = shelf({
      fork: { agent: "Explore", model: "haiku" },
      rules: ["Bash(git *)"],
      isPlain: false,
    });
    using _ = bench;
    const plan = await bench.plan("skill", args);
    const start = { kind: "spawn", background: false } as const;
    const starting = { isPlain: false, isTyped: false, isOwn: true, rules: [] };
    expect(plan.effects).toEqual([
      { ...start, program: "deploy", skill: starting },
      { ...start, program: "explore" },
    ]);
    const skills = await bench.caller.skills?.();
    const scope = { ...testScope("/w"), ...(skills === undefined ? {} : { skills }) };
    const sys = { spawn, ended, reap: async () => {}, listProcs: async () => [] } as unknown as Syscalls;
    const { signal } = new AbortController();
    const kept = { get: () => undefined, set: () => {}, entries: () => new Map<string, unknown>() };
    const context: RunContext = {
      ...{ ...scope, sys, signal, kept, pid: asPid(1), callId: CALL_ID, now: () => 0, progress: () => {} },
    };
    const { text } = await skill.bind(args, scope).run(context);
    expect(text).toContain("Deployed.");
    expect(spawn).toHaveBeenCalledWith(
      "Deploy staging from /skills/deploy.",
      "explore",
      expect.objectContaining({ model: "haiku", onParentExit: "terminate" }),
    );
    expect(used).toEqual(["deploy"]);
  });

  test("the user may call what is not for models", async () => {
    const { bench } = shelf({ forModel: false }, { isTyped: () => true });
    using _ = bench;
    expect(await bench.text("skill", args)).toContain("Deploy staging");
  });
});

describe("filledIn()", () => {
  const filling = { args: "one 'two words'", argumentNames: ["where", "how"], dir: "/d", session: "7" };
  test.each([
    ["$1, $2, $3.", "one, two words, ."],
    ["$where $how $other $10 ${OTHER}", "one two words $other $10 ${OTHER}"],
    ["all: $ARGUMENTS", "all: one 'two words'"],
    ["in ${CRUX_SKILL_DIR} ${CRUX_SESSION_ID}", "in /d 7\n\nARGUMENTS: one 'two words'"],
    ["!`ls $1`", "!`ls $1`\n\nARGUMENTS: one 'two words'"],
  ])("%j becomes %j", (body, text) => {
    expect(filledIn(body, filling, [])).toBe(text);
  });

  test("a value that looks like a placeholder or a command stays text", () => {
    expect(filledIn("$1 $2", { ...filling, args: "$2 !`id`" }, [])).toBe("$2 !`id`");
  });
});

test("commandsIn() passes values as variables of the shell, whatever the quotes around them", () => {
  const filling = { args: `a'b`, argumentNames: [], dir: "/d e", session: "1" };
  const body = "!`ls $1 \"x $1\" 'y $1' \\$1 $HOME` !`cat ${CRUX_SKILL_DIR}/f`";
  expect(commandsIn({ body }, filling)).toEqual([
    `skill_1='a'\\''b'; ls "\${skill_1}" "x \${skill_1}" 'y '"\${skill_1}"'' \\$1 $HOME`,
    `skill_CRUX_SKILL_DIR='/d e'; cat "\${skill_CRUX_SKILL_DIR}"/f`,
  ]);
});
