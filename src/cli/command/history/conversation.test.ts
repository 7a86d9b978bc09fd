import { expect, test } from "vitest";
import type { JournalLine } from "../../../abi/journal/line.ts";
import { conversationMarkdown } from "../../screen/conversation-text.ts";
import { crux } from "../../testing/run-command.ts";
import { ConversationReader } from "./conversation.ts";

const line = (kind: string, body: unknown, proc = "p"): JournalLine => ({
  ...{ lsn: 9, seq: 4, epoch: 1, proc, pid: 3, kind, v: 1, at: 0, mono: 0, hash: "00", body },
});
const reading = (...lines: readonly JournalLine[]) => {
  const reader = new ConversationReader();
  for (const each of lines) reader.take(each);
  return reader.whole;
};

const at = "1970-01-01T00:00:00.000Z";
const spawned = line("process.spawned", { intent: "fix it", agent: "coder", cwd: "/w" });
const call = { type: "tool_use", id: "c1", name: "bash", input: { command: "ls" } };
const replied = line("ctx.record", { role: "assistant", content: "I look.", blocks: [call] });
const answered = line("ctx.record", {
  role: "tool",
  content: "a ``` b\n",
  tool_call_id: "c1",
  is_error: true,
});

test("a conversation is the intent, what was said, the calls and their results", () => {
  expect(reading(spawned, line("process.log", { message: "x" }), replied, answered)).toEqual({
    ...{ pid: 3, uuid: "p", agent: "coder", cwd: "/w", created_at: at },
    messages: [
      { role: "user", text: "fix it", at },
      {
        role: "assistant",
        text: "I look.",
        at,
        calls: [{ id: "c1", tool: "bash", arguments: { command: "ls" } }],
      },
      { role: "tool", text: "a ``` b\n", at, call_id: "c1", is_error: true },
    ],
  });
});

test("a system prompt, other contexts and what stands in place of a message are no part of it", () => {
  const none = [
    { system_prompt: "You are" },
    { role: "user", content: "x", cid: 7 },
    { role: "tool", content: "x", replaces: 2 },
  ];
  expect(reading(...none.map((body) => line("ctx.record", body))).messages).toEqual([]);
});

test("of a fork it is its own, with what it began with", () => {
  const fork = reading(spawned, replied, line("process.forked", { from: "p", at: 4 }, "q"));
  expect(fork).toMatchObject({ uuid: "q", agent: "coder" });
  expect(fork.messages).toHaveLength(2);
});

test("as Markdown nothing that was said closes a fence", () => {
  expect(conversationMarkdown(reading(spawned, replied, answered))).toBe(`# fix it

process 3 (p) · agent coder · /w · ${at}

## User

fix it

## Assistant

I look.

### Call \`c1\`: bash

\`\`\`json
{
  "command": "ls"
}
\`\`\`

### Result of \`c1\` (failed)

\`\`\`\`
a \`\`\` b
\`\`\`\`
`);
});

test.each(["export", "export 3 --format html"])(
  "crux %s is refused before anything is asked",
  async (words) => {
    const { code, daemon } = await crux(words);
    expect([code, daemon.asked]).toEqual([1, []]);
  },
);
