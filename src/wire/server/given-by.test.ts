/** What a person gives or takes is kept with who it was: the principal of the connection, and the name it has spoken under. */
import { expect, test } from "vitest";
import type { GrantBy } from "../../abi/grants.ts";
import type { RequestContext } from "./handler.ts";
import { askAnswer } from "./handlers/ask-answer.ts";
import { budgetSet } from "./handlers/budget.ts";
import { grantRemove, processMode } from "./handlers/rights.ts";

function aCall(): { call: RequestContext; heard: GrantBy[] } {
  const heard: GrantBy[] = [];
  const hear = async (by: GrantBy) => {
    heard.push(by);
    return {};
  };
  const kernel = {
    budgets: { set: (_pid: number, { by }: { by: GrantBy }) => hear(by) },
    rights: {
      mode: (_pid: number, { by }: { by: GrantBy }) => hear(by),
      removeGrant: (_id: string, by: GrantBy) => hear(by),
    },
    answer: (_id: string, _answer: string, _words: string, { by }: { by: GrantBy }) => hear(by),
  };
  const principal = { kind: "user", isProven: true, uid: 1000 };
  return { call: { kernel, principal, client: "chat-1" } as unknown as RequestContext, heard };
}

test.each([
  ["budget.set", (call: RequestContext) => budgetSet({ pid: 1, set: { tokens: 5 } }, call)],
  ["process.mode", (call: RequestContext) => processMode({ pid: 1, mode: "plan" }, call)],
  ["grant.remove", (call: RequestContext) => grantRemove({ id: "g" }, call)],
  ["ask.answer", (call: RequestContext) => askAnswer({ ask_id: "a", answer: "yes" }, call)],
])("%s names the principal, its uid and its client", async (_method, act) => {
  const { call, heard } = aCall();
  await act(call);
  expect(heard).toEqual([{ principal: "user", client: "chat-1", uid: 1000 }]);
});
