import { expect, test } from "vitest";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { aRow, FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux } from "../../testing/run-command.ts";

const progress = (payload: object): WireStreamLine => ({ type: "progress", payload: { pid: 1, ...payload } });
const step = (n: number) => progress({ event: "step", step: n, total: 10 });
const complete = (more: object = {}): WireStreamLine => ({
  type: "complete",
  payload: {
    event: "complete",
    pid: 1,
    result: "All done.",
    exit_code: 0,
    tokens_used: 1234,
    elapsed_ms: 6200,
    ...more,
  },
});
const question = progress({
  event: "ask",
  ask_id: "q1",
  text: "bash: npm test",
  options: ["yes", "no", "always"],
});
const following = (feed: Feed, row = aRow()) =>
  new FakeDaemon({ "process.list": () => ({ processes: [row] }) }, { "process.attach": feed });
const attachPayload = (daemon: FakeDaemon) =>
  daemon.asked.find(([method]) => method === "process.attach")?.[1];

const HEAD = "[attach] attached to PID 1 (state: running/thinking)\n";
const LEFT = "[attach] detached from PID 1 (process continues)\n";
const RULE = "═".repeat(80);
const END = `══ Result ${"═".repeat(70)}
  All done.
${RULE}
[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s
`;

test("attach on a terminal is the screen of a run, to its end and with its exit code", async () => {
  const feed = new Feed().push(step(3), complete({ exit_code: 2, exit_reason: "budget_exceeded" })).end();
  const { out, err, code, daemon } = await crux("attach 1 --no-color", {
    daemon: following(feed),
    isTerminal: true,
  });
  expect(out).toBe(`${HEAD}[agent/1] reasoning step 3...\n${END.replace("exited(0)", "exited(2)")}`);
  expect({ err, code }).toEqual({ err: "[agent/1] error: budget_exceeded\n", code: 2 });
  expect(attachPayload(daemon)).toEqual({ pid: 1, interactive: true, verbose: true, calls: true });
  expect(daemon.openConnections).toBe(0);
});

test("attach where nobody looks is one event a line, also with --json", async () => {
  for (const line of ["attach 1", "attach 1 --json", "attach --json --quiet 1"]) {
    const { out, code, daemon } = await crux(line, {
      daemon: following(new Feed().push(step(3), complete()).end()),
      stdin: "",
    });
    expect(out).toBe(
      `{"event": "attached", "pid": 1, "state": "running/thinking"}
{"pid": 1, "event": "step", "step": 3, "total": 10}
{"event": "complete", "pid": 1, "result": "All done.", "exit_code": 0, "tokens_used": 1234, "elapsed_ms": 6200}
`,
    );
    expect(code).toBe(0);
    expect(attachPayload(daemon)).toEqual({ pid: 1, interactive: false, verbose: true });
  }
});

test("attach --quiet is the result, and -v the verbose screen, wherever they go", async () => {
  const feed = () => new Feed().push(step(3), complete()).end();
  expect((await crux("attach -q 1", { daemon: following(feed()) })).out).toBe("All done.\n");
  expect((await crux("attach -v 1", { daemon: following(feed()) })).out).toBe(
    `${HEAD}[agent/1] reasoning step 3/10...\n${END}`,
  );
});

test("attach at a terminal lets go on what a crash of the daemon holds, and --read-only does not", async () => {
  const row = { ...aRow(), activity: "paused" as const, held: "crash" as const };
  for (const [line, times] of [
    ["attach 1", 1],
    ["attach 1 --read-only", 0],
  ] as const) {
    const daemon = new FakeDaemon(
      {
        "process.list": () => ({ processes: [row] }),
        "process.resume": () => ({ pid: 1, state: "running" }),
      },
      { "process.attach": new Feed().push(complete()).end() },
    );
    expect((await crux(line, { daemon, isTerminal: true })).code).toBe(0);
    expect(daemon.asked.filter(([method]) => method === "process.resume")).toHaveLength(times);
  }
});

test("attach --read-only leaves questions to others", async () => {
  const { daemon } = await crux("attach 1 --read-only", {
    daemon: following(new Feed().push(complete()).end()),
    isTerminal: true,
  });
  expect(attachPayload(daemon)).toEqual({ pid: 1, interactive: false, verbose: true, calls: true });
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Ctrl-]", "\x1d"],
])("%s leaves: the process goes on, the terminal is as it was", async (_name, key) => {
  const daemon = following(new Feed().push(step(1)));
  const { host, stdin, stdout, lifecycle } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1", "--no-color"], host);
  await stdout.shows("step 1");
  expect(stdin.isRaw).toBe(true);
  stdin.type(key);
  expect(await code).toBe(0);
  expect(stdout.text).toBe(`${HEAD}[agent/1] reasoning step 1...\n${LEFT}`);
  expect([stdin.isRaw, stdin.isFlowing, stdin.listenerCount("data")]).toEqual([false, false, 0]);
  expect(lifecycle.undos.size).toBe(0);
  expect(daemon.openConnections).toBe(0);
  expect(daemon.asked.map(([method]) => method)).toEqual(["process.list", "process.attach"]);
});

test("SIGINT leaves too, and events have no last line of ours", async () => {
  const daemon = following(new Feed().push(step(1)));
  const { host, stdout, interrupt } = aMachine({ daemon, stdin: "" });
  const code = runCli(["attach", "1"], host);
  await stdout.shows("step");
  interrupt();
  expect(await code).toBe(0);
  expect(stdout.text).toBe(
    '{"event": "attached", "pid": 1, "state": "running/thinking"}\n{"pid": 1, "event": "step", "step": 1, "total": 10}\n',
  );
});

test("Ctrl-Z stops, and the terminal is raw again afterwards", async () => {
  const daemon = following(new Feed().push(step(1)));
  const { host, stdin, stdout, lifecycle } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1"], host);
  await stdout.shows("step 1");
  stdin.type("\x1a");
  await expect.poll(() => lifecycle.suspended).toBe(1);
  await expect.poll(() => stdin.isRaw).toBe(true);
  stdin.type("\x03");
  expect(await code).toBe(0);
});

test("attach answers a question, and the terminal stays its own meanwhile", async () => {
  const feed = new Feed().push(question);
  const daemon = following(feed);
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1"], host);
  await stderr.shows("[agent/1] allow bash: npm test?");
  stdin.type("y");
  await expect.poll(() => daemon.asked.at(-1)).toEqual(["ask.answer", { ask_id: "q1", answer: "yes" }]);
  expect(stdin.isRaw).toBe(true);
  feed.push(complete());
  expect(await code).toBe(0);
  expect(stdin.isRaw).toBe(false);
});

test("leaving while a question is open takes it back, unanswered", async () => {
  const daemon = following(new Feed().push(question));
  const { host, stdin, stdout, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1"], host);
  await stderr.shows("[a]lways ");
  stdin.type("\x03");
  expect(await code).toBe(0);
  expect(stderr.text).toContain("(no longer needed)\n");
  expect(stdout.text).toContain(LEFT);
  expect(daemon.asked.some(([method]) => method === "ask.answer")).toBe(false);
});

const native = aRow({ kind: "native", name: "make", activity: null });
const wrote = (text: string): WireStreamLine => ({
  type: "log",
  payload: { pid: 1, data: { base64: Buffer.from(text).toString("base64") } },
});

test("attach to a program shows what it writes, all of it before its end", async () => {
  const output = new Feed();
  const daemon = new FakeDaemon(
    { "process.list": () => ({ processes: [native] }) },
    { "process.attach": new Feed().push(complete({ result: "" })).end(), "process.logs": output },
  );
  const { host, stdout } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1", "--no-color"], host);
  output.push(wrote("cc -c a.c\n"));
  await stdout.shows("cc -c a.c\n");
  output.push(wrote("ok\n"), { type: "eof" }).end();
  expect(await code).toBe(0);
  expect(stdout.text).toBe(
    "[attach] attached to PID 1 (state: running)\ncc -c a.c\nok\n[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s\n",
  );
  expect(daemon.asked.at(-1)).toEqual(["process.logs", { pid: 1, tail: 50, follow: true }]);
  expect(daemon.openConnections).toBe(0);
});

test("leaving a program that has ended but not said all leaves at once", async () => {
  const daemon = new FakeDaemon(
    { "process.list": () => ({ processes: [native] }) },
    { "process.attach": new Feed().push(complete()), "process.logs": new Feed().push(wrote("x")) },
  );
  const { host, stdin, stdout } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["attach", "1"], host);
  await stdout.shows("x");
  stdin.type("\x03");
  await code;
  expect(daemon.openConnections).toBe(0);
});

test("attach to nobody is the daemon's error, also in JSON", async () => {
  const daemon = () =>
    new FakeDaemon({
      "process.list": () => ({ processes: [] }),
      "process.attach": () => {
        throw new WireFault({
          code: "NOT_FOUND",
          message: "process not found: 9",
          syscall: "Attach",
          pid: 0,
        });
      },
    });
  expect(await crux("attach 9", { daemon: daemon(), isTerminal: true })).toMatchObject({
    out: "",
    code: 1,
  });
  expect((await crux("attach 9 --json", { daemon: daemon() })).out).toBe(
    '{"ok": false, "error": {"code": "NOT_FOUND", "message": "process not found: 9", "syscall": "Attach"}}\n',
  );
});

test.each([true, false])(
  "one that rests when the daemon stops is told of once (terminal: %s)",
  async (isTerminal) => {
    const message = "the daemon stopped; process 1 rests paused";
    const rests: WireStreamLine = {
      type: "error",
      payload: {
        event: "error",
        pid: 1,
        error_message: message,
        error: { code: "UNAVAILABLE", message, hint: "crux cont 1" },
      },
    };
    const { out, err, code } = await crux("attach 1 --no-color", {
      daemon: following(new Feed().push(rests).end()),
      ...(isTerminal ? { isTerminal } : { stdin: "" }),
    });
    expect(code).toBe(1);
    expect(err).toBe(isTerminal ? `[agent/1] error: ${message}\n  → hint: crux cont 1\n` : "");
    // what it begins with, and, of events, the error
    expect(out.split("\n").length).toBe(isTerminal ? 2 : 3);
  },
);

test("a stream that breaks off is an error", async () => {
  const { err, code } = await crux("attach 1", {
    daemon: following(new Feed().push(step(1)).end()),
    stdin: "",
  });
  expect(err).toMatch(/^✗ \[UNAVAILABLE\] daemon closed the connection\n/);
  expect(code).toBe(1);
});

test.each(["attach", "attach x", "attach 1 2", "attach 1 --steal"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect(daemon.reached).toEqual([]);
  },
);
