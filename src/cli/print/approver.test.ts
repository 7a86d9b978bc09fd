import { beforeEach, expect, test } from "vitest";
import type { AskReply } from "../../abi/ask.ts";
import type { ControlAsk } from "../../abi/print/print.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { Approver } from "./approver.ts";
import type { Fields } from "./user-line.ts";

const question: AskEvent = {
  ...{ event: "ask", pid: 1, ask_id: "a_1", text: "bash: npm test", options: ["yes", "no", "always"] },
  ...{ tool: "bash", arguments: '{"command":"npm test"}', reason: "no rule allows it" },
  rules: [{ rule: "bash(npm test:*)", destinations: ["session", "userSettings"] }],
};

let lines: ControlAsk[];
let replies: (readonly [string, AskReply])[];
let approver: Approver;
beforeEach(() => {
  lines = [];
  replies = [];
  approver = new Approver({
    put: (line) => lines.push(line),
    answer: async (id, reply) => void replies.push([id, reply]),
  });
});
const answer = (response: Fields | undefined) => approver.answered({ kind: "answer", id: "a_1", response });

test("passes a question on once, with its call and what may be allowed for good", () => {
  approver.asked(question, "call_1");
  approver.asked(question, "call_1");
  const rules = [{ toolName: "bash", ruleContent: "npm test:*" }];
  expect(lines).toEqual([
    {
      ...{ type: "control_request", request_id: "a_1" },
      request: {
        ...{
          subtype: "can_use_tool",
          tool_name: "bash",
          input: { command: "npm test" },
          tool_use_id: "call_1",
        },
        permission_suggestions: ["session", "userSettings"].map((destination) => ({
          ...{ type: "addRules", rules, behavior: "allow", destination },
        })),
        ...{ title: "bash: npm test", decision_reason: "no rule allows it" },
      },
    },
  ]);
});

const suggestion = {
  type: "addRules",
  rules: [{ toolName: "bash", ruleContent: "npm test:*" }],
  behavior: "allow",
};
const unread = { answer: "no", words: expect.stringContaining("understood") };
test.each<[Fields | undefined, unknown]>([
  [{ behavior: "allow" }, { answer: "yes" }],
  [{ behavior: "allow", updatedInput: { command: "npm test" } }, { answer: "yes" }],
  [
    { behavior: "allow", updatedInput: { command: "ls" } },
    { answer: "yes", input: { command: "ls" } },
  ],
  [
    { behavior: "allow", updatedPermissions: [{ ...suggestion, destination: "userSettings" }] },
    { answer: "always", rule: "bash(npm test:*)", destination: "userSettings" },
  ],
  // not suggested: allowed this once
  [
    { behavior: "allow", updatedPermissions: [{ ...suggestion, rules: [{ toolName: "bash" }] }] },
    { answer: "yes" },
  ],
  [
    { behavior: "allow", updatedPermissions: [{ ...suggestion, destination: "projectSettings" }] },
    { answer: "yes" },
  ],
  [
    { behavior: "deny", message: "not today" },
    { answer: "no", words: "not today" },
  ],
  [{ behavior: "perhaps" }, unread],
  [undefined, unread],
])("takes %j as it is meant", (response, reply) => {
  approver.asked(question, undefined);
  expect(answer(response)).toBe(true);
  expect(answer(response)).toBe(false);
  expect(replies).toEqual([["a_1", reply]]);
});

test("answers questions of the agent by their texts", () => {
  const item = (question: string, multi_select: boolean) => ({
    ...{ question, header: "h", multi_select },
    options: ["red", "blue"].map((label) => ({ label, description: "" })),
  });
  const questions = [item("Which?", false), item("Which ones?", true), item("Why?", false)];
  approver.asked({ ...question, tool: "ask_user", questions }, undefined);
  expect(lines[0]).toMatchObject({ request: { tool_name: "ask_user", input: { questions } } });
  const answers = { "Which?": "blue", "Which ones?": "red, blue", "Why?": "no reason" };
  answer({ behavior: "allow", updatedInput: { answers } });
  const chosen = (...labels: string[]) => ({ chosen: labels, text: "" });
  const given = [chosen("blue"), chosen("red", "blue"), { chosen: [], text: "no reason" }];
  expect(replies).toEqual([["a_1", { answer: "yes", answers: given }]]);
});

test("raises no limit, takes a void question back, and says no once stdin has ended", () => {
  approver.asked({ ...question, ask_id: "a_0", amount: { unit: "usd", offered: "$2.00" } }, undefined);
  approver.asked(question, undefined);
  approver.closed({ event: "ask_closed", pid: 1, ask_id: "a_1", answer: null });
  expect(answer({ behavior: "allow" })).toBe(false);
  expect(lines.map(({ type }) => type)).toEqual(["control_request", "control_cancel_request"]);
  approver.asked({ ...question, ask_id: "a_2" }, undefined);
  approver.end();
  approver.asked({ ...question, ask_id: "a_3" }, undefined);
  expect(replies.map(([id, { answer: said }]) => `${id} ${said}`)).toEqual(["a_0 no", "a_2 no", "a_3 no"]);
});
