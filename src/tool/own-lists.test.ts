/** What holds for the tools that act on the caller's own jobs, tasks, steps, clock and person. */
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import type { Effect } from "../abi/effects.ts";
import askUserText from "./ask_user/ask_user.md";
import { askUser } from "./ask_user/ask_user.ts";
import gitStatusText from "./git_status/git_status.md";
import { gitStatus } from "./git_status/git_status.ts";
import jobKillText from "./job_kill/job_kill.md";
import { jobKill } from "./job_kill/job_kill.ts";
import jobOutputText from "./job_output/job_output.md";
import { jobOutput } from "./job_output/job_output.ts";
import pinText from "./pin/pin.md";
import { pin } from "./pin/pin.ts";
import processControlText from "./process_control/process_control.md";
import { processControl } from "./process_control/process_control.ts";
import processReadText from "./process_read/process_read.md";
import { processRead } from "./process_read/process_read.ts";
import processSpawnText from "./process_spawn/process_spawn.md";
import { processSpawn } from "./process_spawn/process_spawn.ts";
import processWriteText from "./process_write/process_write.md";
import { processWrite } from "./process_write/process_write.ts";
import sendText from "./send/send.md";
import { send } from "./send/send.ts";
import sleepText from "./sleep/sleep.md";
import { sleep } from "./sleep/sleep.ts";
import snipText from "./snip/snip.md";
import { snip } from "./snip/snip.ts";
import stopText from "./stop/stop.md";
import { stop } from "./stop/stop.ts";
import taskCreateText from "./task_create/task_create.md";
import { taskCreate } from "./task_create/task_create.ts";
import taskGetText from "./task_get/task_get.md";
import { taskGet } from "./task_get/task_get.ts";
import taskListText from "./task_list/task_list.md";
import { taskList } from "./task_list/task_list.ts";
import taskUpdateText from "./task_update/task_update.md";
import { taskUpdate } from "./task_update/task_update.ts";
import teamCreateText from "./team_create/team_create.md";
import { teamCreate } from "./team_create/team_create.ts";
import teamDeleteText from "./team_delete/team_delete.md";
import { teamDelete } from "./team_delete/team_delete.ts";
import { Bench, testScope, textOf } from "./testing/bench.ts";
import threadText from "./thread/thread.md";
import { thread } from "./thread/thread.ts";
import todoText from "./todo/todo.md";
import { todo } from "./todo/todo.ts";
import type { Tool, ToolEnv } from "./tool.ts";
import worktreeEnterText from "./worktree_enter/worktree_enter.md";
import { worktreeEnter } from "./worktree_enter/worktree_enter.ts";
import worktreeExitText from "./worktree_exit/worktree_exit.md";
import { worktreeExit } from "./worktree_exit/worktree_exit.ts";

type Kind = Effect["kind"];
/** Name, text, R, P and kinds of effects, as in the table of flags; `interrupt` is `block` where nothing may be left half done. */
const CASES: readonly [Tool, string, boolean, boolean, Kind, "core" | "deferred", "cancel" | "block"][] = [
  [askUser, askUserText, true, false, "person", "core", "cancel"],
  [gitStatus, gitStatusText, true, true, "read", "deferred", "cancel"],
  [jobKill, jobKillText, false, true, "state", "deferred", "cancel"],
  [jobOutput, jobOutputText, true, true, "state", "deferred", "cancel"],
  [pin, pinText, true, false, "state", "deferred", "cancel"],
  [processControl, processControlText, false, false, "state", "deferred", "cancel"],
  [processRead, processReadText, true, true, "state", "deferred", "cancel"],
  [processSpawn, processSpawnText, false, false, "exec", "deferred", "cancel"],
  [processWrite, processWriteText, false, false, "state", "deferred", "cancel"],
  [send, sendText, false, false, "message", "deferred", "cancel"],
  [sleep, sleepText, true, true, "state", "deferred", "cancel"],
  [snip, snipText, true, false, "state", "deferred", "cancel"],
  [stop, stopText, false, true, "state", "deferred", "cancel"],
  [taskCreate, taskCreateText, true, false, "state", "deferred", "block"],
  [taskGet, taskGetText, true, true, "state", "deferred", "cancel"],
  [taskList, taskListText, true, true, "state", "deferred", "cancel"],
  [taskUpdate, taskUpdateText, true, false, "state", "deferred", "block"],
  [teamCreate, teamCreateText, true, false, "state", "deferred", "cancel"],
  [teamDelete, teamDeleteText, false, false, "state", "deferred", "cancel"],
  [thread, threadText, true, false, "state", "deferred", "cancel"],
  [todo, todoText, true, false, "state", "core", "block"],
  [worktreeEnter, worktreeEnterText, false, false, "write", "deferred", "cancel"],
  [worktreeExit, worktreeExitText, false, false, "state", "deferred", "cancel"],
];

describe.each(CASES)("%o", (tool, text, readOnly, parallel, kind, listed, interrupt) => {
  const examples = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(
    (match) => JSON.parse(match[1] ?? "") as object,
  );

  test(`${tool.name}: its examples are calls with the flags and effects of its row`, () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const call = tool.bind(example, testScope("/w"));
      expect(call).toMatchObject({ readOnly, parallel });
      expect(call.effects.map((effect) => effect.kind)).toEqual([kind]);
      expect(call.view.operation).not.toMatch(/\n|^$/);
    }
    expect(tool).toMatchObject({ listed, interrupt });
  });

  test(`${tool.name}: its text names parameters and limits of the code, and is terse`, () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(40);
    const named = [...text.matchAll(/^- ((?:`\w+`(?:, )?)+):/gm)].flatMap((match) =>
      (match[1] ?? "").replaceAll("`", "").split(", "),
    );
    expect(named.sort()).toEqual(Object.keys(tool.inputSchema.properties as object).sort());
    const all = z.toJSONSchema(tool.args, { io: "input" }).properties as Record<
      string,
      Record<string, unknown>
    >;
    for (const [name, { maximum, maxLength, default: usual }] of Object.entries(all)) {
      const line = text
        .split("\n")
        .find((row) => row.startsWith("- ") && row.split(":")[0]?.includes(`\`${name}\``));
      for (const limit of [maximum, maxLength, usual])
        if (typeof limit === "number" && limit < Number.MAX_SAFE_INTEGER)
          expect(line, name).toContain(String(limit));
    }
    expect(Buffer.byteLength(tool.description)).toBeLessThanOrEqual(300);
  });

  test(`${tool.name}: an unknown key is INVALID`, () => {
    expect(() => tool.bind({ ...examples[0], lines: 1 }, testScope("/w"))).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining('unknown key "lines"') }),
    );
  });
});

const TASKS = [taskCreate, taskGet, taskList, taskUpdate];

test("the task tools are on unless the settings say todo; todo is off where they take its place", () => {
  const env = (more: Partial<ToolEnv>): ToolEnv => ({
    platform: "linux",
    env: {},
    interactive: false,
    isSession: false,
    isChild: false,
    hasTeam: false,
    mayTeam: true,
    ...more,
  });
  const rows: readonly [Partial<ToolEnv>, boolean, boolean][] = [
    [{}, true, true],
    [{ isSession: true }, true, false],
    [{ env: { CRUX_ENABLE_TASKS: "1" } }, true, false],
    [{ isSession: true, tasks: "todo" }, false, true],
    [{ env: { CRUX_ENABLE_TASKS: "1" }, tasks: "todo" }, false, true],
  ];
  for (const [more, areTasks, isTodo] of rows) {
    expect(todo.enabled(env(more)) === true).toBe(isTodo);
    for (const tool of TASKS) expect(tool.enabled(env(more)) === true).toBe(areTasks);
  }
});

function bench(isSession: boolean): Bench {
  const made = new Bench([todo, askUser, jobOutput]);
  onTestFinished(() => made[Symbol.dispose]());
  made.caller = { ...made.caller, isSession, env: {} };
  return made;
}

test("their lines say what came of a call", async () => {
  const made = new Bench([gitStatus, taskCreate, taskGet, taskList, taskUpdate, todo]);
  onTestFinished(() => made[Symbol.dispose]());
  const task = { id: "3", subject: "Fix it", description: "", status: "pending", blocks: [], blocked_by: [] };
  const after = async (name: string, args: object, answer: unknown) => {
    made.other = () => answer;
    made.caller = { ...made.caller, env: name === "todo" ? {} : { CRUX_ENABLE_TASKS: "1" } };
    await made.call(name, args);
    return made.note;
  };
  const tasks = { ok: true, list: "l", tasks: [task] };
  const [staged, both] = ["1 M. N... 1 1 1 a b", "1 MM N... 1 1 1 a b"];
  const status = Buffer.from(`${staged} one\0${both} two\0? three\0`);
  expect(await after("git_status", {}, status)).toEqual({
    about: "",
    facts: { count: { n: 3, of: "changed" } },
  });
  expect((await after("task_create", { subject: "Fix it", description: "" }, tasks)).facts).toEqual({
    now: "task 3",
  });
  expect((await after("task_get", { task_id: "3" }, tasks)).facts).toEqual({ now: "pending" });
  expect((await after("task_list", {}, tasks)).facts).toEqual({ count: { n: 1, of: "task" } });
  expect((await after("task_update", { task_id: "3", status: "deleted" }, tasks)).facts).toEqual({
    now: "deleted",
  });
  const todos = [{ content: "a", status: "completed", active_form: "A" }];
  expect((await after("todo", { todos }, [])).facts).toEqual({ done: { n: 1, of: 1 } });
});

describe("todo", () => {
  const done = (content: string) => ({ content, status: "completed", active_form: content });

  test("three steps done and none verified: the result urges it, in a session's own process alone", async () => {
    const plain = bench(false);
    plain.other = () => [];
    const todos = [done("read"), done("write"), done("report")];
    expect(await plain.text("todo", { todos })).toBe("All steps are done; the list is empty now.");
    expect((await plain.call("todo", { todos })).meta).toMatchObject({ todos: [], completed: 3 });
    expect(await plain.text("todo", { todos: [done("read"), { ...done("write"), status: "pending" }] })).toBe(
      "1 of 2 steps are done.",
    );
  });
});

describe("todo with several steps in progress", () => {
  const step = (content: string, status: string) => ({ content, status, active_form: content });

  test("is refused with their names, and the list stays as it was", async () => {
    const plain = bench(false);
    const asked: unknown[] = [];
    plain.other = (request: unknown) => {
      asked.push(request);
      return [];
    };
    const todos = [step("read", "in_progress"), step("write", "in_progress"), step("report", "pending")];
    expect(await plain.call("todo", { todos })).toMatchObject({
      ok: false,
      error: {
        code: "INVALID",
        message: expect.stringMatching(/^2 steps are in progress: "read", "write"\. One at a time/),
      },
    });
    expect(asked).toEqual([]);
    expect(await plain.text("todo", { todos: todos.slice(1) })).toBe("0 of 2 steps are done.");
  });
});

describe("ask_user", () => {
  const questions = [
    {
      question: "Which?",
      header: "Choice",
      options: [
        { label: "A", description: "" },
        { label: "B", description: "" },
      ],
    },
  ];

  test.each([
    [{ kind: "nobody", reason: "no person is attached" }, "UNAVAILABLE"],
    [{ kind: "dismissed" }, "CANCELLED"],
  ])("%j is %s", async (outcome, code) => {
    const made = bench(false);
    made.other = () => outcome;
    expect((await made.call("ask_user", { questions })).error?.code).toBe(code);
  });

  test("its line has the question, and what was chosen or said", async () => {
    const made = bench(false);
    made.other = () => ({ kind: "answered", answers: [{ chosen: ["B"], text: " or C" }] });
    await made.call("ask_user", { questions });
    expect(made.note).toEqual({ about: "Which?", facts: { now: "B, or C" } });
  });

  test("two options of one label are INVALID", async () => {
    const made = bench(false);
    const [first] = questions;
    const twice = [{ ...first, options: [first?.options[0], first?.options[0]] }];
    expect((await made.call("ask_user", { questions: twice })).error?.code).toBe("INVALID");
  });
});

test("job_output names the rest of a long output, and where all of it is", async () => {
  const made = bench(false);
  const job = {
    ...{
      id: "job-1",
      command: "x",
      cwd: "/",
      state: "running",
      exit_code: null,
      signal: null,
      started_at: 0,
    },
    ...{ ended_at: null, output_path: "/var/out/c_1", total_bytes: 900_000, is_told: false },
  };
  made.other = () => ({ job, output: "part\n", next_offset: 5, total_bytes: 900_000 });
  const result = await made.call("job_output", { shell_id: "job-1", block: false });
  expect(textOf(result)).toBe(
    "part\njob-1: running\n[bytes 5 to 900000 follow: offset=5, or view /var/out/c_1]",
  );
});
