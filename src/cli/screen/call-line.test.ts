import { describe, expect, test } from "vitest";
import type { CallNote } from "../../abi/call-note.ts";
import { callLine, childLine } from "./call-line.ts";
import { COLOURED, PLAIN } from "./text/paint.ts";
import { widthOf } from "./text/width.ts";

const line = (call: Partial<CallNote>, columns = 80) =>
  callLine({ tool: "bash", about: "npm test", ...call }, columns, { paint: PLAIN });

test("childLine() names the agent, what it does and where it is found, and fits", () => {
  const event = {
    event: "child",
    pid: 1,
    child: 12,
    agent: "explore",
    title: "find the\u001b callers",
  } as const;
  expect(childLine(event, 80, PLAIN)).toBe("○ agent explore find the\\x1b callers pid 12");
  expect(childLine({ ...event, agent: "" }, 24, PLAIN)).toBe("○ agent find the… pid 12");
  for (let columns = 1; columns < 60; columns++)
    expect(widthOf(childLine(event, columns, PLAIN))).toBeLessThanOrEqual(Math.max(3, columns));
});

describe("callLine()", () => {
  test.each<[string, Partial<CallNote>]>([
    ["● edit src/a.ts +3 −1", { tool: "edit", about: "src/a.ts", facts: { added: 3, removed: 1 } }],
    ["● bash npm test → exit 1", { facts: { exit: 1 } }],
    ["● bash npm test → ended by SIGKILL", { facts: { signal: "SIGKILL" } }],
    ["○ bash npm test → runs on as job-3", { facts: { job: "job-3" } }],
    [
      "● view src/a.ts 120 lines",
      { tool: "view", about: "src/a.ts", facts: { count: { n: 120, of: "line" } } },
    ],
    ["● grep x 1 match", { tool: "grep", about: "x", facts: { count: { n: 1, of: "match" } } }],
    [
      "● fetch https://a.io/b 200, 12.1 KiB",
      { tool: "fetch", about: "https://a.io/b", facts: { status: 200, bytes: 12_400 } },
    ],
    ["● git_status 1 changed", { tool: "git_status", about: "", facts: { count: { n: 1, of: "changed" } } }],
    ["● todo 2 of 5 done", { tool: "todo", about: "", facts: { done: { n: 2, of: 5 } } }],
    ["● task_list 3 tasks", { tool: "task_list", about: "", facts: { count: { n: 3, of: "task" } } }],
    ["● task_update 3 → completed", { tool: "task_update", about: "3", facts: { now: "completed" } }],
    ["● sleep", { tool: "sleep", about: "" }],
    ["✗ nope → tool not found", { tool: "nope", about: "", error: "tool not found" }],
    ["✗ bash npm test → refused", { refused: true, error: "Permission denied: rule" }],
    ["✗ bash npm test → failed", { error: "" }],
  ])("%s", (shown, call) => {
    expect(line(call)).toBe(shown);
  });

  test("cuts the argument, then what failed, to the columns of the terminal", () => {
    const long = "src/kernel/syscall/a-file-with-a-long-name.ts";
    expect(line({ tool: "edit", about: long, facts: { added: 3, removed: 1 } }, 40)).toBe(
      "● edit src/kernel/syscall/a-file-… +3 −1",
    );
    expect(line({ about: long, error: "x".repeat(90) }, 40)).toBe(
      `✗ bash src/kernel/sysc… → ${"x".repeat(13)}…`,
    );
    const wide = { tool: "view", about: "文档/说明书和更多的内容与章节.md" };
    expect(line({ ...wide, facts: { count: { n: 7, of: "line" } } }, 30)).toBe(
      "● view 文档/说明书和… 7 lines",
    );
  });

  test("is never wider than asked, whatever it is made of", () => {
    for (let columns = 4; columns < 90; columns++)
      for (const about of ["", "a", "文".repeat(50), "x".repeat(90)])
        for (const end of [{}, { error: "字".repeat(60) }, { facts: { exit: 127 } }])
          expect(widthOf(line({ tool: "mcp__notes__add", about, ...end }, columns))).toBeLessThanOrEqual(
            columns,
          );
  });

  test("shows what could steer the terminal as escapes, and colours marks alone", () => {
    const call = { tool: "x\x1b[2J", about: "a\x1b]0;t\x07\nb\u202e", error: "\x9b31m" };
    expect(line(call)).toBe("✗ x\\x1b[2J a\\x1b]0;t\\x07\\nb\\u202e → \\x9b31m");
    expect(callLine({ tool: "ls", about: "." }, 80, { paint: COLOURED })).toBe("\x1b[32m●\x1b[39m ls .");
  });
});
