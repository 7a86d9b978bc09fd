import { expect, test } from "vitest";
import { Fault } from "../../../abi/errors.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import type { IdleEvent, WireEvent } from "../../../abi/wire-events.ts";
import { runCli } from "../../cli.ts";
import { type Answers, FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux } from "../../testing/run-command.ts";

type Told = WireEvent extends infer E ? (E extends WireEvent ? Omit<E, "pid"> : never) : never;
const told = (payload: Told): WireStreamLine => ({
  type: "progress",
  payload: { pid: 1, ...payload },
});
const idle = (seq: number, more: Partial<IdleEvent> = {}): WireStreamLine =>
  told({
    event: "idle",
    seq,
    outcome: "completed",
    result: "ok",
    exit_code: 0,
    tokens_used: 7,
    elapsed_ms: 100,
    queued: 0,
    ...more,
  });
const aSession = {
  pid: 1,
  uuid: "u",
  title: "the parser",
  name: "",
  cwd: "/home/me/project",
  state: "waiting",
  created_at: "2026-01-01T00:00:00.000Z",
  last_at: "2026-01-01T00:00:00.000Z",
  tokens_used: 5,
  turns: 2,
  kept: false,
};

const BEFORE = [{ role: "user", text: "before", calls: [] as string[], at: "", seq: 1 }];

function aDaemon(feed: Feed, messages = BEFORE, state = "waiting", more: Answers = {}) {
  let seq = 0;
  return new FakeDaemon(
    {
      spawn: () => ({ pid: 1 }),
      "skills.check": () => ({ definitions: [] }),
      "session.open": () => ({ ...aSession, state }),
      "session.list": () => ({ sessions: [aSession, { ...aSession, pid: 2, title: "the printer" }] }),
      "session.history": () => ({ messages }),
      "session.say": () => ({ seq: ++seq, ahead: 0 }),
      "session.withdraw": () => undefined,
      kill: () => undefined,
      ...more,
    },
    feed,
  );
}

/** The terminal is taken: from here on keys are read. */
async function taken(stdin: { readonly isRaw: boolean; readonly isFlowing: boolean }): Promise<void> {
  while (!stdin.isRaw || !stdin.isFlowing) await new Promise((resolve) => setImmediate(resolve));
}

/** A conversation at a terminal; what was asked of the daemon beside the stream. */
function atTerminal(line: string, feed = new Feed(), daemon = aDaemon(feed)) {
  const machine = aMachine({ daemon, isTerminal: true });
  const done = runCli(
    line.split(" ").filter((word) => word !== ""),
    machine.host,
  );
  const asked = (method: string) =>
    daemon.asked.filter(([name]) => name === method).map(([, payload]) => payload);
  return { ...machine, daemon, done, feed, asked };
}

test("an answer, and the line of its end, are broken at blanks at a narrow terminal", async () => {
  const chat = atTerminal("");
  chat.stdout.columns = 40;
  chat.feed.push(told({ event: "spawn", intent: "" }));
  chat.feed.push(told({ event: "reply", text: "Some words that go on behind the end of a line." }), idle(1));
  await chat.stdout.shows("Some words that go on behind the end of\na line.");
  await chat.stdout.shows("elapsed");
  expect(chat.stdout.text).toContain(" | tokens: 7 |\n  elapsed: 0.1s\n");
  chat.stdin.type("\x04");
  await chat.done;
});

test("crux alone on a terminal is a conversation; what is typed is said, and Ctrl-D leaves it resting", async () => {
  const chat = atTerminal("");
  await chat.stdout.shows("› ");
  expect(chat.asked("spawn")).toMatchObject([{ intent: "", session: true, interactive: true }]);
  chat.stdin.type("hello\r");
  chat.feed.push(told({ event: "reply", text: "Hi there." }), idle(1));
  await chat.stdout.shows("Hi there.");
  await chat.stdout.shows("[session/1]");
  expect(chat.asked("session.say")).toMatchObject([{ pid: 1, text: "hello" }]);
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
  expect(chat.stdout.text).toContain("[session] PID 1 waits; crux -r 1\n");
  expect(chat.stdin.isRaw).toBe(false);
  expect(chat.daemon.openConnections).toBe(0);
});

test("Ctrl-C ends the run that is under way; when nothing is, twice leaves", async () => {
  const chat = atTerminal("chat");
  await chat.stdout.shows("› ");
  chat.feed.push(told({ event: "input", seq: 1, from: 0, client: "x", text: "go" }));
  await chat.stdout.shows("client x › go");
  chat.stdin.type("\x03");
  chat.feed.push(idle(1, { outcome: "interrupted", exit_code: 130, message: "interrupted by the user" }));
  await chat.stdout.shows("interrupted");
  expect(chat.asked("kill")).toEqual([{ pid: 1, signal: 3 }]);
  chat.stdin.type("\x03");
  await chat.stdout.shows("Ctrl-C again");
  chat.stdin.type("\x03");
  expect(await chat.done).toBe(0);
  expect(chat.asked("kill")).toHaveLength(1);
});

test("an unknown slash word is told and sends nothing", async () => {
  const chat = atTerminal("chat");
  await chat.stdout.shows("› ");
  chat.stdin.type("/bogus\r");
  await chat.stdout.shows("no skill or command /bogus");
  await chat.stdout.shows("/help lists what line mode has");
  chat.stdin.type("/exit\r");
  expect(await chat.done).toBe(0);
  expect(chat.asked("session.say")).toEqual([]);
});

test("-r opens by words of the title, and shows what was said last; several are CONFLICT", async () => {
  const chat = atTerminal("-r parser");
  await chat.stdout.shows("before");
  await taken(chat.stdin);
  expect(chat.asked("session.open")).toMatchObject([{ pid: 1, interactive: true }]);
  expect(chat.stdout.text).toContain('[session/1] "the parser" (waiting, 2 messages)');
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
  const several = await crux("-r the", { daemon: aDaemon(new Feed()) });
  expect(several.err).toContain("several sessions: the: 1 the parser; 2 the printer");
});

test("-r alone on a terminal that shows lines names the list instead of drawing one", async () => {
  const { err, code, daemon } = await crux("-r", { daemon: aDaemon(new Feed()), isTerminal: true });
  expect(err).toContain("which session?");
  expect(err).toContain("crux sessions --all");
  expect([code, daemon.asked]).toEqual([1, []]);
});

test("-c with words is one run, shown as a run is, with its exit code; other runs before it are not shown", async () => {
  const feed = new Feed().push(
    told({ event: "step", step: 9, total: 0 }),
    idle(77),
    told({ event: "input", seq: 1, from: 0, client: "x", text: "and now?" }),
    told({ event: "step", step: 1, total: 0 }),
    idle(1, { outcome: "limit", exit_code: 1, message: "max steps exceeded", result: "half" }),
  );
  const { out, err, code } = await crux("-c and now?", { daemon: aDaemon(feed) });
  expect(out).toMatch(/^\[agent\/1\] reasoning step 1\.\.\.\n══ Result/);
  expect(out).toContain("  half\n");
  expect([err, code]).toEqual(["[agent/1] error: max steps exceeded\n", 1]);
});

test("-c --worktree continues the latest session of that worktree, -r none that works elsewhere", async () => {
  const daemon = (cwd: string) =>
    aDaemon(
      new Feed().push(told({ event: "input", seq: 1, from: 0, client: "x", text: "go on" }), idle(1)),
      BEFORE,
      "waiting",
      { "session.list": () => ({ sessions: [{ ...aSession, cwd }] }) },
    );
  const there = daemon(`${aSession.cwd}/.crux/worktrees/fix`);
  expect((await crux("-c --worktree=fix go on", { daemon: there })).code).toBe(0);
  for (const cwd of [
    aSession.cwd,
    "/elsewhere/.crux/worktrees/fix",
    `${aSession.cwd}/.crux/worktrees/fix2`,
  ]) {
    const { err } = await crux("-c --worktree=fix go on", { daemon: daemon(cwd) });
    expect(err).toContain("no session in this folder");
  }
  const { err } = await crux("-r 1 --worktree=fix go on", { daemon: daemon("/elsewhere") });
  expect(err).toContain("session 1 works in /elsewhere: --worktree is settled when a session begins");
});

test("-c with flags changes the session first, and lends it rules as long as the command runs", async () => {
  const feed = new Feed().push(
    told({ event: "input", seq: 1, from: 0, client: "x", text: "go on" }),
    idle(1, { result: "done" }),
  );
  const daemon = aDaemon(feed, BEFORE, "waiting", {
    "session.change": () => ({ dirs: [], mcp_servers: [] }),
    "process.mode": () => ({ mode: "accept_edits", ceiling: "auto" }),
    "process.model": () => ({ pid: 1, driver: "claude", model: "opus", from: "run" }),
    "budget.get": () =>
      ({ accounts: [{ pid: 1, spent: { usd: 0.25, tokens: 900, steps: 3 } }], windows: [] }) as never,
    "budget.set": () => ({ pid: 1, limits: {} }),
    "grant.add": () => ({ ids: ["g_1"] }),
  });
  const flags =
    "-m opus --effort high --append-system-prompt brief --permission-mode acceptEdits --allow bash --deny fetch --max-usd 1 --max-steps 7";
  const { code } = await crux(`-c ${flags} go on`, { daemon });
  expect(code).toBe(0);
  const asked = daemon.asked.filter(([method]) => !["session.list", "skills.check"].includes(method));
  expect(asked).toEqual([
    ["session.change", { pid: 1, system_prompt: "brief", env: {} }],
    ["process.mode", { pid: 1, mode: "accept_edits" }],
    ["process.model", { pid: 1, model: "opus", effort: "high", env: {} }],
    ["budget.get", { pid: 1 }],
    ["budget.set", { pid: 1, set: { usd: 1.25 } }],
    ["grant.add", { pid: 1, allow: ["bash"], deny: ["fetch"], while_connected: true }],
    ["session.open", expect.objectContaining({ pid: 1 })],
    ["session.say", expect.objectContaining({ pid: 1, text: "go on", max_steps: 7 })],
  ]);
});

test("-c with the agent of the session goes on, with another it says which it began as", async () => {
  const named = { ...aSession, name: "reviewer" };
  const daemon = () =>
    aDaemon(
      new Feed().push(told({ event: "input", seq: 1, from: 0, client: "x", text: "go on" }), idle(1)),
      BEFORE,
      "waiting",
      {
        "session.list": () => ({ sessions: [named] }),
      },
    );
  expect((await crux("-c --agent reviewer go on", { daemon: daemon() })).code).toBe(0);
  const { err, code } = await crux("-c --agent explore go on", { daemon: daemon() });
  expect([code, err]).toEqual([1, expect.stringContaining("session 1 began as reviewer")]);
});

/** So many messages were sent. */
async function said(chat: ReturnType<typeof atTerminal>, count: number): Promise<void> {
  while (chat.asked("session.say").length < count) await new Promise((resolve) => setImmediate(resolve));
}

const pasted = (text: string): string => `\x1b[200~${text}\x1b[201~`;

test("several lines that are pasted, or parted by Alt-Enter, are one message, and come back as one", async () => {
  const chat = atTerminal("chat");
  await chat.stdout.shows("› ");
  chat.stdin.type(pasted("first\rsecond\r"));
  chat.stdin.type("\x1b\rthird\r");
  await said(chat, 1);
  chat.stdin.type("\x1b[A\r");
  await said(chat, 2);
  const text = "first\nsecond\nthird";
  expect(chat.asked("session.say")).toMatchObject([{ text }, { text }]);
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
  const marks = chat.stdout.text.split("\x1b[?2004").slice(1);
  expect(marks.map(([first]) => first)).toEqual(["h", "l"]);
});

test("text that comes at once is as long on the screen as it is: an edit of it draws all its rows again", async () => {
  const chat = atTerminal("chat");
  await chat.stdout.shows("› ");
  chat.stdin.type("x".repeat(100));
  chat.stdin.type("\x01");
  chat.stdout.clear();
  chat.stdin.type("y");
  // from the first row on, where the cursor is: one row up would be above the line
  expect(chat.stdout.text).toBe(`\x1b[1G\x1b[0J› y${"x".repeat(100)}\x1b[4G\x1b[1A`);
  chat.stdin.type("\x05");
  chat.stdout.clear();
  chat.stdin.type("\x01");
  expect(chat.stdout.text).toContain("\x1b[1A\x1b[1G\x1b[0J");
  chat.stdin.type("\x15\x0b\x04");
  expect(await chat.done).toBe(0);
});

test("-c with words ends with the run, and says that the session waits", async () => {
  const feed = new Feed().push(told({ event: "input", seq: 1, from: 0, client: "x", text: "go" }), idle(1));
  const { out, code } = await crux("-c go", { daemon: aDaemon(feed) });
  expect(out).toContain(
    "[session/1] completed | tokens: 7 | elapsed: 0.1s\n[session] PID 1 waits; crux -r 1\n",
  );
  expect(out).not.toContain("exited");
  expect(code).toBe(0);
});

test("Ctrl-C ends a run that was under way when its session came back, also at its question", async () => {
  const chat = atTerminal("-r 1");
  await taken(chat.stdin);
  chat.feed.push(told({ event: "ask", ask_id: "a", text: "write file: f", options: ["yes", "no"] }));
  await chat.stderr.shows("allow write file: f?");
  chat.stdin.type("\x03");
  while (chat.asked("kill").length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(chat.asked("kill")).toEqual([{ pid: 1, signal: 3 }]);
  chat.feed.push(
    told({ event: "ask_closed", ask_id: "a", answer: null }),
    idle(1, { outcome: "interrupted" }),
  );
  await chat.stdout.shows("interrupted");
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
});

test("a session that is left while it works goes on", async () => {
  const chat = atTerminal("chat");
  await chat.stdout.shows("› ");
  chat.feed.push(told({ event: "step", step: 1, total: 0 }));
  await chat.stdout.shows("reasoning step 1");
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
  expect(chat.stdout.text).toContain("[session] PID 1 continues; crux -r 1\n");
});

test("a daemon that ends names the session, and how to go on with it", async () => {
  const chat = atTerminal("chat", new Feed().push(told({ event: "spawn", intent: "" })).end());
  expect(await chat.done).toBe(1);
  expect(chat.stderr.text).toContain("the daemon ended; what was said and done in session 1 is kept\n");
  expect(chat.stderr.text).toContain("  → hint: crux -r 1 continues it\n");
  expect((await crux("-c go", { daemon: aDaemon(new Feed().end()) })).err).toContain(
    "crux -r 1 continues it",
  );
});

test("an interrupt that is part of the history is shown as what it is, and is nothing that was typed", async () => {
  const feed = new Feed();
  const daemon = aDaemon(feed, [
    { role: "user", text: "go", calls: [], at: "", seq: 1 },
    { role: "user", text: "[interrupted by the user]", calls: [], at: "", seq: 2 },
  ]);
  const chat = atTerminal("-r 1", feed, daemon);
  await taken(chat.stdin);
  expect(chat.stdout.text).toContain("[interrupted by the user]");
  expect(chat.stdout.text).not.toContain("› [interrupted");
  chat.stdin.type("\x1b[A\r");
  await said(chat, 1);
  expect(chat.asked("session.say")).toMatchObject([{ text: "go" }]);
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
});

test("what was typed and not sent stays on the screen when the daemon ends", async () => {
  const feed = new Feed();
  const chat = atTerminal("chat", feed);
  await chat.stdout.shows("› ");
  chat.stdin.type("half a thought");
  chat.stdout.clear();
  feed.end();
  expect(await chat.done).toBe(1);
  expect(chat.stdout.text).toContain("› half a thought\n");
  const left = atTerminal("chat");
  await left.stdout.shows("› ");
  left.stdin.type("\x04");
  expect(await left.done).toBe(0);
  expect(left.stdout.text).toMatch(/PID 1 waits; crux -r 1\n$/);
});

test("a conversation without a model says at its beginning how one is configured", async () => {
  const feed = new Feed().push(told({ event: "spawn", intent: "", notice: "No model is configured." }));
  const chat = atTerminal("chat", feed);
  await chat.stdout.shows("ANTHROPIC_API_KEY");
  expect(chat.stdout.text.indexOf("No model is configured.")).toBeGreaterThanOrEqual(0);
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
});

test("-c with words says why its message is not read, before and while it waits", async () => {
  const paused = told({ event: "paused", is_paused: true });
  const why = told({ event: "log", level: "error", message: "the model driver openai is not set up" });
  const ends = told({ event: "withdrawn", seq: 1 });
  const { err, code } = await crux("-c go", { daemon: aDaemon(new Feed().push(why, paused, ends)) });
  expect(err).toBe(
    "[agent/1] log: the model driver openai is not set up\n[agent/1] paused; crux cont 1 resumes it\n",
  );
  expect(code).toBe(130);
  const before = aDaemon(new Feed().push(ends), BEFORE, "paused");
  expect((await crux("-c go", { daemon: before })).err).toBe("[agent/1] paused; crux cont 1 resumes it\n");
});

test("Shift-Tab goes to the next mode that can be entered, /mode to one by its name; the line begins with it", async () => {
  const feed = new Feed();
  let mode: string = "accept_edits";
  const daemon = new FakeDaemon(
    {
      spawn: () => ({ pid: 1 }),
      "session.history": () => ({ messages: [] }),
      "process.mode": (payload) => {
        const { mode: wanted } = payload as { mode?: string };
        if (wanted === "auto") throw new Fault({ code: "UNAVAILABLE", message: "auto mode: no" });
        mode = wanted ?? mode;
        return { mode, ceiling: "auto" };
      },
    },
    feed,
  );
  const chat = atTerminal("chat", feed, daemon);
  await taken(chat.stdin);
  chat.stdin.type("\x1b[Z");
  const isIn = (wanted: string): boolean => mode === wanted;
  while (!isIn("plan")) await new Promise((resolve) => setImmediate(resolve));
  // auto cannot be entered: after plan comes default
  chat.stdin.type("\x1b[Z");
  while (!isIn("default")) await new Promise((resolve) => setImmediate(resolve));
  chat.stdin.type("/mode dont_ask\r");
  while (!isIn("dont_ask")) await new Promise((resolve) => setImmediate(resolve));
  feed.push(told({ event: "mode", mode: "plan" }));
  await chat.stdout.shows("◇ plan ");
  await chat.stdout.shows("[session/1] plan mode");
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
});

test("chat with a session whose run failed says so after its last message, with what to do next", async () => {
  const end = {
    outcome: "failed",
    message: "the server is\u001b[2J down",
    code: "DRIVER",
    hint: "crux doctor",
  };
  const said = BEFORE.map((item) => ({ ...item, end }));
  const feed = new Feed();
  const chat = atTerminal("-r parser", feed, aDaemon(feed, said));
  await taken(chat.stdin);
  const shown = chat.stdout.text;
  expect(shown).toMatch(/› before.*\[agent\/1\] error: the server is\S* down.*crux doctor/s);
  expect(shown).not.toContain("\u001b[2J");
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
});
