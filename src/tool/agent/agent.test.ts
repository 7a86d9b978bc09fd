import { expect, test, vi } from "vitest";
import type { Ended } from "../../abi/child.ts";
import { Fault } from "../../abi/errors.ts";
import { asPid, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { CALL_ID, testScope } from "../testing/bench.ts";
import type { RunContext } from "../tool.ts";
import { agent } from "./agent.ts";

const DONE: Ended = {
  agentId: "agent-0123456789ab",
  exit: EXIT.completed,
  result: "Found.",
  tokensUsed: 12,
  elapsedMs: 1_500,
};
const TREE = { path: "/w/.crux/worktrees/a", branch: "worktree/a", main: "/w", gitDir: "/w/.git", base: "0" };
const TASK = { description: "find it", prompt: "Where is it?" };

/** A process whose children end as `ends` says, one after another; then all are done. */
function parent(...ends: readonly Ended[]) {
  const kept = new Map<string, unknown>();
  let pid = 6;
  const calls = {
    spawn: vi.fn(async () => asPid(++pid)),
    ended: vi.fn(
      async (_pid: Pid, _options?: object): Promise<Ended | null> =>
        ends[calls.ended.mock.calls.length - 1] ?? DONE,
    ),
    reap: vi.fn(async () => {}),
    kill: vi.fn(async () => {}),
    detach: vi.fn(async (_pid: Pid) => false),
    listProcs: vi.fn(async () => []),
    sleep: vi.fn(async () => "exit" as const),
    getPid: () => asPid(1),
    stat: vi.fn(async (path: string) => {
      if (path.endsWith("/gone")) throw new Fault({ code: "NOT_FOUND", message: "gone" });
      return { host: { kind: path.endsWith("/file") ? "file" : "directory" }, size: 0 };
    }),
  };
  const values = { get: (name: string) => kept.get(name), entries: () => kept };
  const context = (signal: AbortSignal): RunContext => ({
    ...testScope("/w"),
    kept: { ...values, set: (name, value) => void kept.set(name, value) },
    sys: calls as unknown as Syscalls,
    signal,
    ...{ pid: asPid(1), callId: CALL_ID, now: () => 0, progress: () => {} },
  });
  const call = (args: object, { signal } = new AbortController()) =>
    agent.bind({ ...TASK, ...args }, testScope("/w")).run(context(signal));
  return { call, kept, calls, context };
}

test("its effect is the start of the agent, by its name in small letters; nothing else is asked about", () => {
  const bound = (args: object) => agent.bind({ ...TASK, ...args }, testScope("/w"));
  expect(bound({ subagent_type: "Explore" })).toMatchObject({
    effects: [{ kind: "spawn", program: "explore", background: false }],
    effectClass: "none",
    readOnly: true,
    parallel: true,
    about: "explore: find it",
  });
  expect(bound({})).toMatchObject({ effects: [{ program: "general-purpose" }], about: "find it" });
  // what programs alone say is not told to a model
  expect(Object.keys(agent.inputSchema.properties as object)).not.toContain("tool_use_id");
});

test("the child ends with its parent, and its call is kept with it", async () => {
  const { call, kept, calls } = parent(DONE);
  const { text } = await call({ model: "m", tool_use_id: "t1" });
  expect(text).toBe("Found.\n\n[agent-0123456789ab, pid 7: 12 tokens, 1.5 s]");
  expect(calls.spawn).toHaveBeenCalledExactlyOnceWith("Where is it?", "general-purpose", {
    onParentExit: "terminate",
    child: { call: "t1", title: "find it" },
    model: "m",
  });
  expect([...kept.values()]).toEqual([[{ call: "t1", pid: 7, task: "find it\nWhere is it?" }]]);
  expect(calls.reap).toHaveBeenCalledExactlyOnceWith(7);
});

test.each(["plan", "bypassPermissions"])(
  "mode %s widens and narrows nothing: it is for members of a team",
  async (mode) => {
    const [plain, named] = [parent(DONE), parent(DONE)];
    await plain.call({});
    const { text } = await named.call({ mode });
    expect(named.calls.spawn.mock.calls).toEqual(plain.calls.spawn.mock.calls);
    expect(text).toContain("[mode had no effect: it is for members of a team]");
  },
);

test("one-shot agents say nothing of themselves", async () => {
  expect((await parent(DONE).call({ subagent_type: "explore" })).text).toBe("Found.");
});

test("a worktree that is kept is named with its branch, also by one-shot agents and failures; one that is gone is not", async () => {
  const treed = { ...DONE, worktree: TREE };
  const failed = { ...treed, exit: EXIT.budget };
  const kept = "its work is in /w/.crux/worktrees/a, branch worktree/a";
  const { call, calls } = parent(treed, treed, treed, DONE, treed, treed, failed, failed);
  const args = { isolation: "worktree", subagent_type: "explore" };
  const { text, meta } = await call({ isolation: "worktree" });
  expect(text).toMatch(new RegExp(`1\\.5 s; ${kept}\\]$`));
  expect(meta).toMatchObject({ worktree_path: TREE.path, worktree_branch: TREE.branch });
  expect(calls.spawn).toHaveBeenCalledExactlyOnceWith(
    "Where is it?",
    "general-purpose",
    expect.objectContaining({ worktree: "" }),
  );
  // it is asked once more when the worktree is settled
  expect(calls.ended.mock.calls).toEqual([
    [7, { isTold: true }],
    [7, { isSettled: true }],
  ]);
  expect((await call({ isolation: "worktree" })).text).not.toContain("worktrees");
  expect((await call(args)).text).toBe(`Found.\n\n[${kept}]`);
  expect((await call(args)).error).toMatchObject({
    message: expect.stringMatching(new RegExp(`; ${kept}$`)),
    hint: expect.stringContaining("Above is"),
  });
});

test("made again after a restart it waits for the child that it had started, and starts none", async () => {
  const { call, kept, calls } = parent(DONE);
  kept.set("agent/calls", [{ call: "t1", pid: 40 }]);
  expect((await call({ tool_use_id: "t1", again: true })).text).toContain("pid 40:");
  expect(calls.spawn).not.toHaveBeenCalled();
  // the same name of a call in a later reply is another call
  await call({ tool_use_id: "t1" });
  // and one that had not begun yet begins
  await call({ tool_use_id: "t2", again: true });
  expect(calls.spawn).toHaveBeenCalledTimes(2);
});

test("made again, it takes no child of an earlier call that had the same id", async () => {
  const { call, kept, calls } = parent(DONE);
  const noted = (pid: number, prompt: string) => ({ call: "t1", pid, task: `find it\n${prompt}` });
  kept.set("agent/calls", [
    noted(40, "Where is it?"),
    noted(41, "Where is it?"),
    noted(42, "And the other?"),
  ]);
  const again = { tool_use_id: "t1", again: true };
  expect((await call(again)).text).toContain("pid 41:");
  expect((await call({ ...again, prompt: "And the other?" })).text).toContain("pid 42:");
  expect(calls.spawn).not.toHaveBeenCalled();
  await call({ ...again, prompt: "And a third?" });
  expect(calls.spawn).toHaveBeenCalledOnce();
  // one that began, and was not noted any more, is the newest that nobody noted
  const child = (pid: number) => ({ pid, ppid: 1, child: { call: "t1", title: "find it" } });
  calls.listProcs.mockResolvedValue([child(42), child(50), child(51)] as never);
  expect((await call({ ...again, prompt: "And a fourth?" })).text).toContain("pid 51:");
  expect(calls.spawn).toHaveBeenCalledOnce();
});

test("a failure brings what was said last, and the reason; without a word, the reason alone", async () => {
  const failed = { ...DONE, exit: EXIT.budget, result: "Half." };
  const fault = { ...failed, exit: { ...EXIT.unexpected, reason: "the model is down" } };
  const { call } = parent(failed, { ...failed, result: "" }, { ...DONE, exit: EXIT.sigterm }, fault, {
    ...fault,
    result: "",
  });
  expect(await call({})).toMatchObject({
    text: "Half.",
    error: {
      code: "BUDGET",
      message: expect.stringMatching(/^agent general-purpose \(pid 7\) failed: budget_exceeded$/),
    },
  });
  await expect(call({})).rejects.toThrow("agent general-purpose (pid 8) failed: budget_exceeded");
  expect((await call({})).error).toMatchObject({
    code: "CANCELLED",
    message: expect.stringContaining("(pid 9) was ended: SIGTERM"),
  });
  expect(await call({})).toMatchObject({
    text: "Half.",
    error: { code: "DRIVER", message: expect.stringMatching(/\(pid 10\) failed: the model is down$/) },
  });
  // by the name that the call gave it, which is that of its row and its address
  await expect(call({ name: "scout" })).rejects.toMatchObject({
    code: "DRIVER",
    message: "agent scout (pid 11) failed: the model is down",
  });
});

test.each([
  [undefined, 120_000],
  [7_000, 7_000],
])("with %s in the settings a call waits %i ms for its child, and no shorter", async (afterMs, waitMs) => {
  const { context, calls } = parent();
  const timers: { readonly at: number; readonly wake: (how: string) => void }[] = [];
  let now = 0;
  calls.ended.mockResolvedValue(null);
  calls.detach.mockResolvedValue(true);
  calls.sleep.mockImplementation(
    ((ms: number) => new Promise((wake) => void timers.push({ at: now + ms, wake }))) as never,
  );
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    for (const timer of timers.splice(0)) timer.at <= now ? timer.wake("timer") : timers.push(timer);
    await new Promise(setImmediate);
  };
  const scope = { ...testScope("/w"), background: afterMs === undefined ? {} : { afterMs } };
  const done = vi.fn();
  const { signal } = new AbortController();
  const result = agent.bind(TASK, scope).run({ ...context(signal), ...scope });
  void result.then(done);
  await pass(0);
  await pass(waitMs - 1_000);
  expect([done.mock.calls.length, calls.detach.mock.calls.length]).toEqual([0, 0]);
  await pass(1_000);
  expect(calls.detach).toHaveBeenCalledExactlyOnceWith(7);
  expect(await result).toMatchObject({ meta: { status: "async_launched", pid: 7 } });
});

test("an interrupt of the call ends the child", async () => {
  const { call, calls } = parent();
  const interrupt = new AbortController();
  calls.ended.mockResolvedValue(null);
  calls.sleep.mockImplementation(async () => {
    interrupt.abort();
    throw interrupt.signal.reason;
  });
  await expect(call({}, interrupt)).rejects.toThrow();
  expect(calls.kill).toHaveBeenCalledExactlyOnceWith(7, 1);
});

test("a program may say where the child works: a folder that is read for it, and no worktree beside it", async () => {
  const { call, calls } = parent();
  expect(agent.bind({ ...TASK, cwd: "docs" }, testScope("/w")).effects).toMatchObject([
    { kind: "spawn" },
    { kind: "read", path: "/w/docs" },
  ]);
  await call({ cwd: "docs" });
  expect(calls.stat).toHaveBeenCalledWith("/dev/fs/w/docs", expect.anything());
  expect(calls.spawn).toHaveBeenLastCalledWith(
    "Where is it?",
    "general-purpose",
    expect.objectContaining({ cwd: "/w/docs" }),
  );
  calls.spawn.mockClear();
  await expect(call({ cwd: "docs", isolation: "worktree" })).rejects.toMatchObject({ code: "INVALID" });
  await expect(call({ cwd: "/w/file" })).rejects.toMatchObject({ code: "INVALID" });
  await expect(call({ cwd: "gone" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(calls.spawn).not.toHaveBeenCalled();
  expect(Object.keys(agent.inputSchema.properties as object)).not.toContain("cwd");
});

test("a name that could be taken for another address is refused, and nothing is started", async () => {
  const { call, calls } = parent();
  for (const name of ["main", "7", "agent-0123456789ab", "job-1", "*", ""])
    await expect(call({ name, run_in_background: true })).rejects.toMatchObject({ code: "INVALID" });
  expect(calls.spawn).not.toHaveBeenCalled();
});

test.each([true, false])(
  "one of the background names its output; the caller has view: %s",
  async (hasView) => {
    const { call, calls } = parent();
    if (!hasView) calls.stat.mockRejectedValue(new Fault({ code: "PERMISSION", message: "no" }));
    const file = "/var/out/agent-0123456789ab";
    const { text, meta } = await call({ run_in_background: true });
    expect(text.includes(file)).toBe(hasView);
    expect(meta).toMatchObject({ ...TASK, output_file: file, can_read_output_file: hasView });
    expect(calls.stat).toHaveBeenCalledExactlyOnceWith("/bin/view", expect.anything());
  },
);

test("a fork is a spawn of the caller itself, in the background, and the default where forks are on", async () => {
  const on = { ...testScope("/w"), background: { forks: true }, forksUnnamed: true };
  const { context, calls } = parent();
  const use = (args: object) =>
    agent.bind({ ...TASK, ...args }, on).run({ ...context(new AbortController().signal), ...on });
  for (const args of [{}, { subagent_type: "Fork", model: "other" }]) {
    expect(agent.bind({ ...TASK, ...args }, on).effects).toEqual([
      { kind: "spawn", program: "fork", background: true },
    ]);
    expect(await use(args)).toMatchObject({
      meta: { status: "async_launched" },
      facts: { job: expect.stringMatching(/^pid \d+$/) },
    });
    const [task, named, opts] = calls.spawn.mock.lastCall as unknown as [string, string | null, object];
    expect([task, named]).toEqual([TASK.prompt, null]);
    expect(opts).toMatchObject({ fork: { label: "fork" }, child: { isBackground: true } });
    expect(opts).not.toHaveProperty("model");
  }
  await use({ subagent_type: "explore" });
  expect(calls.spawn.mock.lastCall).toMatchObject([
    TASK.prompt,
    "explore",
    { child: { isBackground: true } },
  ]);
});

test("a fork is refused before anything is asked where it is off or impossible, or is to be something else", () => {
  const refused = (scope: object, args: object = {}) => {
    const bind = () =>
      agent.bind({ ...TASK, subagent_type: "fork", ...args }, { ...testScope("/w"), ...scope });
    return expect(() => bind().effects);
  };
  const on = { background: { forks: true }, forksUnnamed: true };
  refused({ forksUnnamed: true }).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  refused(on, { cwd: "/w/a" }).toThrow(expect.objectContaining({ code: "INVALID" }));
  const kept = { get: () => ({ name: "port" }), entries: () => new Map(), set: () => {} };
  refused({ ...on, kept }, { name: "ada" }).toThrow(expect.objectContaining({ code: "INVALID" }));
});
