import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import type { AskReply } from "../../abi/ask.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { Permissions } from "./permissions.ts";

type Asked = Parameters<ConstructorParameters<typeof Permissions>[0]["request"]>[0];

function desk(answer: (asked: Asked) => string | undefined) {
  const [asked, replies, denied]: [Asked[], (readonly [string, AskReply])[], string[]] = [[], [], []];
  const permissions = new Permissions({
    request: async (request): Promise<RequestPermissionResponse> => {
      asked.push(request);
      const optionId = answer(request);
      return optionId === undefined
        ? { outcome: { outcome: "cancelled" } }
        : { outcome: { outcome: "selected", optionId } };
    },
    answer: async (id, reply) => void replies.push([id, reply]),
    deny: async (pid, rule) => void denied.push(`${pid} ${rule}`),
    callOf: () => "call-1",
  });
  return { permissions, asked, replies, denied };
}

const ask = (ask_id: string, more: Partial<AskEvent> = {}): AskEvent => ({
  event: "ask",
  pid: 1,
  ask_id,
  text: "bash: git push",
  options: ["yes", "no", "always"],
  rules: [{ rule: "bash(git push:*)", destinations: ["session"] }],
  ...more,
});

test("a question offers its rule by name, and an always answers with it", async () => {
  const { permissions, asked, replies } = desk(() => "always");
  await permissions.ask(ask("a1"));
  expect(asked[0]?.options.map(({ kind, name }) => [kind, name])).toEqual([
    ["allow_once", "Allow once"],
    ["allow_always", "Always allow in this session: bash(git push:*)"],
    ["reject_once", "Reject"],
    ["reject_always", "Always reject in this session: bash(git push:*)"],
  ]);
  expect(replies).toEqual([["a1", { answer: "always", rule: "bash(git push:*)" }]]);
});

test("a plan offers the modes to carry it out in", async () => {
  const { permissions, asked, replies } = desk(() => "mode-accept_edits");
  await permissions.ask(ask("a1", { options: ["yes", "no"], rules: [], modes: ["accept_edits", "auto"] }));
  expect(asked[0]?.options.map(({ name }) => name)).toEqual([
    ...["Allow once", "Allow once, in accept_edits mode", "Allow once, in auto mode", "Reject"],
  ]);
  expect(replies).toEqual([["a1", { answer: "yes", words: "accept_edits" }]]);
});

test("without a rule only this call is decided, and closing the question is a no", async () => {
  const { permissions, asked, replies } = desk(() => undefined);
  await permissions.ask(ask("a1", { rules: [] }));
  expect(asked[0]?.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
  expect(replies).toEqual([["a1", { answer: "no" }]]);
});

test("what is always rejected is denied by a rule of the session before the question is answered", async () => {
  const { permissions, asked, replies, denied } = desk(() => "never");
  await permissions.ask(ask("a1"));
  await permissions.ask(ask("a2", { rules: [] }));
  expect(denied).toEqual(["1 bash(git push:*)"]);
  expect([asked.length, replies.map(([id, { answer }]) => [id, answer])]).toEqual([
    2,
    [
      ["a1", "no"],
      ["a2", "no"],
    ],
  ]);
});

test("a question that was answered elsewhere gets no second answer", async () => {
  const held = Promise.withResolvers<RequestPermissionResponse>();
  const replies: string[] = [];
  const permissions = new Permissions({
    request: () => held.promise,
    answer: async (id) => void replies.push(id),
    deny: async () => undefined,
    callOf: () => undefined,
  });
  const asking = permissions.ask(ask("a1"));
  permissions.close({ event: "ask_closed", pid: 1, ask_id: "a1", answer: "yes" });
  held.resolve({ outcome: { outcome: "selected", optionId: "yes" } });
  await asking;
  expect(replies).toEqual([]);
});

test("questions of an agent are put one by one, and a rejected one dismisses all", async () => {
  const item = (question: string) => ({
    question,
    header: "h",
    options: [
      { label: "A", description: "the first" },
      { label: "B", description: "" },
    ],
    multi_select: false,
  });
  const questions = [item("one?"), item("two?")];
  const both = desk(() => "answer-1");
  await both.permissions.ask(ask("a1", { questions }));
  const chosen = { chosen: ["B"], text: "" };
  expect(both.replies).toEqual([["a1", { answer: "yes", answers: [chosen, chosen] }]]);
  const none = desk(({ toolCall }) => (toolCall.title === "one?" ? "answer-0" : "no"));
  await none.permissions.ask(ask("a1", { questions }));
  expect(none.replies).toEqual([["a1", { answer: "no" }]]);
});
