/** A run between shell pipes: stdin is its data, stdout its result. */
import { afterEach, expect, test, vi } from "vitest";
import type { WireStreamLine } from "../../abi/wire.ts";
import { runCli } from "../cli.ts";
import type { StreamKind } from "../host/stream-kind.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { aMachine, crux } from "../testing/run-command.ts";

afterEach(() => {
  vi.useRealTimers();
});

const progress = (payload: object): WireStreamLine => ({ type: "progress", payload: { pid: 1, ...payload } });
const complete = (more: object = {}): WireStreamLine => ({
  type: "complete",
  payload: {
    event: "complete",
    pid: 1,
    result: "one\n\ttwo \x1b[1m",
    exit_code: 0,
    tokens_used: 12,
    elapsed_ms: 600,
    ...more,
  },
});
const answering = (...lines: WireStreamLine[]) =>
  new FakeDaemon({ spawn: () => ({ pid: 1 }) }, new Feed().push(...lines).end());
const spawnOf = (daemon: FakeDaemon) =>
  daemon.asked[0]?.[1] as { intent: string; stdin?: { base64: string } };
const dataOf = (daemon: FakeDaemon): string | undefined => {
  const { stdin } = spawnOf(daemon);
  return stdin === undefined ? undefined : Buffer.from(stdin.base64, "base64").toString("utf8");
};

test.each<[StreamKind, string | undefined]>([
  ["pipe", "some data\n"],
  ["file", "some data\n"],
  ["socket", "some data\n"],
  ["device", undefined],
  ["none", undefined],
])("beside an intent, a %s at stdin gives %j", async (stdinKind, data) => {
  const { daemon, code } = await crux("sum it up", {
    daemon: answering(complete()),
    stdin: "some data\n",
    stdinKind,
  });
  expect([spawnOf(daemon).intent, dataOf(daemon), code]).toEqual(["sum it up", data, 0]);
});

test("data goes on byte for byte, and an empty stdin is none", async () => {
  const { host, stdin } = aMachine({ daemon: answering(complete()), stdinKind: "pipe" });
  const daemon = host.daemon as FakeDaemon;
  const code = runCli(["-d", "--", "x"], host);
  await expect.poll(() => stdin.isFlowing).toBe(true);
  stdin.emit("data", Buffer.from([0, 255]));
  stdin.emit("data", Buffer.from([10]));
  stdin.emit("end");
  await code;
  expect(spawnOf(daemon)).toMatchObject({ intent: "x", detach: true, stdin: { base64: "AP8K" } });
  const empty = await crux("x", { daemon: answering(complete()), stdin: "", stdinKind: "pipe" });
  expect(dataOf(empty.daemon)).toBeUndefined();
});

test("without words stdin is the intent, as ever", async () => {
  const { daemon } = await crux("-q", { daemon: answering(complete()), stdin: "do it\n", stdinKind: "pipe" });
  expect([spawnOf(daemon).intent, dataOf(daemon)]).toEqual(["do it", undefined]);
});

test("data is bounded, and says what to do instead", async () => {
  const most = 4 * 1024 * 1024;
  const fits = await crux("x", {
    daemon: answering(complete()),
    stdin: "y".repeat(most),
    stdinKind: "file",
  });
  expect(dataOf(fits.daemon)).toHaveLength(most);
  const { err, code, daemon } = await crux("x", { stdin: "y".repeat(most + 1), stdinKind: "file" });
  expect(err).toBe(
    "✗ [INVALID] the data on stdin is longer than 4194304 bytes\n  → hint: put it into a file, and name the file in the intent\n",
  );
  expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
});

/** From when it reads stdin on, time is the test's. */
async function reading(stdinKind: StreamKind, ...argv: string[]) {
  vi.useFakeTimers();
  const machine = aMachine({ daemon: answering(complete()), stdinKind });
  const code = runCli(argv, machine.host);
  while (!machine.stdin.isFlowing) await vi.advanceTimersByTimeAsync(0);
  return { ...machine, code, daemon: machine.host.daemon as FakeDaemon };
}

test("a pipe that says nothing is waited for, which is told once", async () => {
  const { daemon, stdin, stderr, code } = await reading("pipe", "x");
  await vi.advanceTimersByTimeAsync(2_999);
  expect(stderr.text).toBe("");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stderr.text).toBe("[crux] waiting for the end of stdin (< /dev/null runs without it)\n");
  stdin.emit("data", Buffer.from("late"));
  stdin.emit("end");
  expect(await code).toBe(0);
  expect(dataOf(daemon)).toBe("late");
});

test("one that has begun to speak is waited for without a word, and -q says none", async () => {
  for (const flags of [[], ["-q"]]) {
    const { stdin, stderr, code } = await reading("pipe", ...flags, "x");
    if (flags.length === 0) stdin.emit("data", Buffer.from("begun "));
    await vi.advanceTimersByTimeAsync(60_000);
    stdin.emit("data", Buffer.from("done"));
    stdin.emit("end");
    expect(await code).toBe(0);
    expect(stderr.text).toBe("");
  }
});

test("a socket that says nothing for 3 s has nothing to say", async () => {
  const { daemon, stdin, stderr, code } = await reading("socket", "--", "x");
  await vi.advanceTimersByTimeAsync(2_999);
  expect(daemon.reached).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await code).toBe(0);
  expect([dataOf(daemon), stderr.text]).toEqual([undefined, ""]);
  expect([stdin.isFlowing, stdin.listenerCount("data")]).toEqual([false, 0]);
});

const SPAWNED = progress({ event: "spawn", intent: "x" });
const STEP = progress({ event: "step", step: 1, total: 10 });
const SCREEN = "[kernel] spawning PID 1...\n[agent/1] reasoning step 1...\n";
const LAST = "[kernel] PID 1 exited(0) | tokens: 12 | elapsed: 0.6s\n";

test.each<StreamKind>(["pipe", "file"])(
  "a %s at stdout gets the result as it is and one newline, stderr the screen",
  async (stdoutKind) => {
    const { out, err, code } = await crux("x", {
      daemon: answering(SPAWNED, STEP, complete()),
      stdoutKind,
    });
    expect({ out, err, code }).toEqual({ out: "one\n\ttwo \x1b[1m\n", err: SCREEN + LAST, code: 0 });
    const ended = await crux("x", { daemon: answering(complete({ result: "done\n" })), stdoutKind });
    expect(ended.out).toBe("done\n");
    const silent = await crux("x", { daemon: answering(complete({ result: "" })), stdoutKind });
    expect(silent.out).toBe("");
  },
);

test.each<StreamKind>(["socket", "device", "none"])("a %s at stdout gets the screen", async (stdoutKind) => {
  const { out, err } = await crux("x", { daemon: answering(SPAWNED, STEP, complete()), stdoutKind });
  expect(out).toBe(
    `${SCREEN}══ Result ${"═".repeat(70)}\n  one\n  \ttwo \\x1b[1m\n${"═".repeat(80)}\n${LAST}`,
  );
  expect(err).toBe("");
});

test("who names a mode gets that mode, into a pipe too", async () => {
  const run = (flag: string) =>
    crux(`${flag} x`, {
      daemon: answering(SPAWNED, STEP, complete({ result: "r" })),
      stdoutKind: "pipe",
    });
  expect((await run("-q")).out).toBe("r\n");
  expect(JSON.parse((await run("--json")).out).data.result).toBe("r");
  const verbose = await run("-v");
  expect(verbose.out).toContain("══ Result");
  expect(verbose.err).toBe("");
});

test("a run that fails leaves what there is of a result, the reason and its code", async () => {
  const { out, err, code } = await crux("x", {
    daemon: answering(complete({ result: "half", exit_code: 1, exit_reason: "max steps exceeded" })),
    stdoutKind: "pipe",
  });
  expect({ out, code }).toEqual({ out: "half\n", code: 1 });
  expect(err).toBe(
    "[agent/1] error: max steps exceeded\n[kernel] PID 1 exited(1) | tokens: 12 | elapsed: 0.6s\n",
  );
});

test("a notice stays out of the result too", async () => {
  const spawned = progress({ event: "spawn", intent: "x", notice: "a script answers" });
  const { out, err } = await crux("x", {
    daemon: answering(spawned, complete({ result: "r" })),
    stdoutKind: "pipe",
  });
  expect(out).toBe("r\n");
  expect(err).toMatch(/^a script answers\n/);
});
