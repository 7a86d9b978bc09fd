import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import { agentFile, testKernel } from "../testing/test-kernel.ts";
import { Conversation } from "./conversation.ts";
import { beginSkills, hasTyped, skillsInUse } from "./skills-in-use.ts";

const started = (isTyped: boolean, isOwn: boolean): Effect => ({
  kind: "spawn",
  program: "deploy",
  background: false,
  skill: { isPlain: false, isTyped, isOwn, rules: ["bash(git:*)"] },
});

describe("beginSkills()", () => {
  test.each([
    ["the user answered the question", true, false, false, ["bash(git:*)"]],
    ["the user has called an own one", false, true, true, ["bash(git:*)"]],
    ["the user has called one of a workspace, and a rule let it pass", false, true, false, []],
    ["a rule let it pass", false, false, true, []],
  ])("%s: the rules that count", async (_what, byUser, isTyped, isOwn, rules) => {
    const { proc, end } = await testKernel().start({ agent: agentFile() });
    beginSkills(proc, [started(isTyped, isOwn)], byUser);
    expect([...skillsInUse(proc).rules]).toEqual(rules);
    expect([...skillsInUse(proc).names]).toEqual(["deploy"]);
    end();
  });
});

test("hasTyped(): the words of the user alone count, not those of an agent that starts another", () => {
  const typed = (line: Pid[], name: string) =>
    hasTyped({ conversation: null, seed: { intent: "/deploy now", line } }, name);
  expect([typed([], "Deploy"), typed([], "now"), typed([asPid(1)], "deploy")]).toEqual([true, false, false]);
  const conversation = new Conversation();
  const said = (words: string) => {
    const run = { seq: 1, client: "", words, startedMono: 0, tokensBefore: 0 };
    conversation.begin(run, new AbortController().signal);
    return hasTyped({ conversation, seed: { intent: "/deploy", line: [] } }, "deploy");
  };
  expect([said("go on"), said("/deploy")]).toEqual([false, true]);
  conversation.hear("and now?");
  expect(hasTyped({ conversation, seed: { intent: "", line: [] } }, "deploy")).toBe(false);
});
