import { expect, test } from "vitest";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { crux } from "../testing/run-command.ts";

const done = { type: "complete", payload: { event: "complete", pid: 1, exit_code: 0, result: "" } } as const;
const daemon = () => new FakeDaemon({ spawn: () => ({ pid: 1 }) }, new Feed().push(done).end());
const intentOf = async (line: string | string[], stdin?: string) => {
  const run = await crux(line, { daemon: daemon(), ...(stdin === undefined ? {} : { stdin }) });
  return (run.daemon.asked[0]?.[1] as { intent: string } | undefined)?.intent;
};

test("the words of an intent are joined by blanks, and stand before stdin", async () => {
  expect(await intentOf("fix the test")).toBe("fix the test");
  expect(await intentOf(["fix  the", "test"], "ignored")).toBe("fix  the test");
});

test("-- makes every word that follows part of the intent", async () => {
  expect(await intentOf("-- ps explained --json")).toBe("ps explained --json");
  expect(await intentOf("-q -- kill")).toBe("kill");
});

test("data on stdin is the intent where there are no words", async () => {
  expect(await intentOf("-q", "分析代码\nall of it\n")).toBe("分析代码\nall of it");
});

test("an empty stdin, or a terminal, is answered with help", async () => {
  for (const parts of [{ stdin: "" }, {}]) {
    const { out, code, daemon } = await crux("", parts);
    expect(out).toContain("Usage:\n  crux [flags] <intent…>");
    expect({ code, reached: daemon.reached }).toEqual({ code: 0, reached: [] });
  }
});

test.each([
  [[""], undefined],
  [["  ", " "], undefined],
  [[], " \n"],
])("an empty intent is INVALID (%j)", async (words, stdin) => {
  const { err, code, daemon } = await crux(words, stdin === undefined ? {} : { stdin });
  expect(err).toBe('✗ [INVALID] the intent is empty\n  → hint: crux "explain this folder"\n');
  expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
});

test("an intent on stdin is bounded", async () => {
  const { err } = await crux("", { stdin: "x".repeat(5 * 1024 * 1024) });
  expect(err).toMatch(/^✗ \[INVALID\] the intent on stdin is longer than/);
});
