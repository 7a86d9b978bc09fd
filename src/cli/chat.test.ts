import { expect, test } from "vitest";
import type { ProgressPayload, WireStreamLine } from "../abi/wire.ts";
import { runCli } from "./cli.ts";
import { FakeDaemon, Feed } from "./testing/fake-daemon.ts";
import { aMachine, crux } from "./testing/run-command.ts";

const told = (payload: Omit<ProgressPayload, "pid">): WireStreamLine => ({
  type: "progress",
  payload: { pid: 1, ...payload },
});
const idle = (seq: number, more: Partial<ProgressPayload> = {}): WireStreamLine =>
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

function aDaemon(feed: Feed) {
  let seq = 0;
  return new FakeDaemon(
    {
      spawn: () => ({ pid: 1 }),
      "session.open": () => aSession,
      "session.list": () => ({ sessions: [aSession, { ...aSession, pid: 2, title: "the printer" }] }),
      "session.history": () => ({ messages: [{ role: "user", text: "before", calls: [], at: "", seq: 1 }] }),
      "session.say": () => ({ seq: ++seq, ahead: 0 }),
      "session.withdraw": () => undefined,
      kill: () => undefined,
    },
    feed,
  );
}

/** The terminal is taken: from here on keys are read. */
async function taken(stdin: { readonly isRaw: boolean; readonly isFlowing: boolean }): Promise<void> {
  while (!stdin.isRaw || !stdin.isFlowing) await new Promise((resolve) => setImmediate(resolve));
}

/** A conversation at a terminal; what was asked of the daemon beside the stream. */
function atTerminal(line: string, feed = new Feed()) {
  const daemon = aDaemon(feed);
  const machine = aMachine({ daemon, isTerminal: true });
  const done = runCli(
    line.split(" ").filter((word) => word !== ""),
    machine.host,
  );
  const asked = (method: string) =>
    daemon.asked.filter(([name]) => name === method).map(([, payload]) => payload);
  return { ...machine, daemon, done, feed, asked };
}

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
  expect(chat.stdout.text).toContain("[session] PID 1 rests; crux -r 1\n");
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
  await chat.stdout.shows("no such word: /bogus");
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

test("-r alone is a list to choose from: Enter opens the one that is marked, Esc none", async () => {
  const chat = atTerminal("-r");
  await chat.stdout.shows("the printer");
  chat.stdin.type("\x1b[B");
  chat.stdin.type("\r");
  await chat.stdout.shows("before");
  await taken(chat.stdin);
  expect(chat.asked("session.open")).toMatchObject([{ pid: 2 }]);
  chat.stdin.type("\x04");
  expect(await chat.done).toBe(0);
  const left = atTerminal("-r");
  await left.stdout.shows("the printer");
  left.stdin.type("\x1b");
  expect(await left.done).toBe(0);
  expect([left.asked("session.open"), left.stdin.isRaw]).toEqual([[], false]);
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

test("what is settled when a session begins is no flag of -c", async () => {
  const { err, daemon } = await crux("-c -m opus go on", { daemon: aDaemon(new Feed()) });
  expect(err).toContain("--model is settled when a session begins");
  expect(daemon.asked).toEqual([]);
});
