import { describe, expect, test } from "vitest";
import type { CallNote } from "../../../abi/call-note.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import type { CompleteEvent, ErrorEvent, WireEvent } from "../../../abi/wire-events.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";

type Told = WireEvent extends infer E ? (E extends WireEvent ? Omit<E, "pid"> : never) : never;
const progress = (payload: Told): WireStreamLine => ({
  type: "progress",
  payload: { pid: 1, ...payload },
});
const failed = (payload: Omit<ErrorEvent, "pid" | "event">): WireStreamLine => ({
  type: "error",
  payload: { event: "error", pid: 1, ...payload },
});
const complete = (change: Partial<CompleteEvent> = {}): WireStreamLine => ({
  type: "complete",
  payload: {
    event: "complete",
    pid: 1,
    result: "分析结果内容...",
    exit_code: 0,
    tokens_used: 1234,
    elapsed_ms: 6200,
    ...change,
  },
});

const details = {
  agent: "code-analyst",
  model: "sonnet",
  max_steps: 10,
  budget: 8192,
  device: "/dev/llm/claude",
};
const spawned = progress({ event: "spawn", intent: "分析代码", ...details });
const steps = [
  progress({ event: "step", step: 1, total: 10 }),
  progress({ event: "step", step: 2, total: 10 }),
];
const spawn = () => ({ pid: 1 });
const daemonOf = (...lines: WireStreamLine[]) => new FakeDaemon({ spawn }, new Feed().push(...lines).end());
const succeeded = () => daemonOf(spawned, ...steps, complete());

const SCREEN = `[kernel] spawning PID 1...
[agent/1] reasoning step 1...
[agent/1] reasoning step 2...
══ Result ══════════════════════════════════════════════════════════════════════
  分析结果内容...
════════════════════════════════════════════════════════════════════════════════
[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s
`;

const SCREENS = {
  default: SCREEN,
  verbose: SCREEN.replace(
    "...\n",
    "...\n[kernel] PID 1: agent=code-analyst model=sonnet max_steps=10 budget=8192 device=/dev/llm/claude\n",
  )
    .replace("step 1...", "step 1/10...")
    .replace("step 2...", "step 2/10..."),
  quiet: "分析结果内容...\n",
  json: '{"ok": true, "data": {"pid": 1, "result": "分析结果内容...", "tokens_used": 1234, "elapsed_ms": 6200, "exit_code": 0}}\n',
};

test.each(MODE_FLAGS)("run %s is %s, in both languages", async (flags, mode) => {
  for (const LANG of ["zh_CN", "en"])
    for (const line of [`分析 代码 ${flags}`, `${flags} 分析 代码`]) {
      const { out, err, code, daemon } = await crux(line, { daemon: succeeded(), env: { LANG } });
      expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
      expect(daemon.openConnections).toBe(0);
    }
});

test("run sends the words, the flags that are set, and an environment without our own socket", async () => {
  const env = {
    PATH: "/bin",
    CRUX_IPC_TOKEN: "t",
    CRUX_IPC_SOCKET: "/s",
    KAIRO_IPC_SOCKET: "/s",
    CRUX_LANG: "en",
  };
  const line =
    "-m opus --agent reviewer fix the test --max-steps 3 --budget 900 --permission-mode bypass --cwd /tmp";
  const { daemon } = await crux(line, { daemon: succeeded(), env });
  expect(daemon.asked).toEqual([
    [
      "spawn",
      {
        intent: "fix the test",
        agent: "reviewer",
        model: "opus",
        max_steps: 3,
        budget: 900,
        permission_mode: "bypass",
        cwd: "/tmp",
        env: { PATH: "/bin", CRUX_LANG: "en" },
        verbose: true,
      },
    ],
  ]);
  const bare = await crux("hello --max-steps 0 --budget=0", { daemon: succeeded() });
  expect(bare.daemon.asked).toEqual([
    ["spawn", { intent: "hello", cwd: "/home/me/project", env: {}, verbose: true }],
  ]);
});

test("run --verbose tells a person what it cost, with all below it where that is more; nobody else is told", async () => {
  const run = async (flag: string, subtree_cost_usd: number, isTerminal = true) => {
    const daemon = daemonOf(spawned, complete({ cost_usd: 0.0123, subtree_cost_usd }));
    const { out, err } = await crux(`x ${flag}`, { daemon, isTerminal });
    return out + err;
  };
  expect(await run("-v", 0.0123)).toContain("[kernel] PID 1: cost $0.012 for 1234 tokens\n");
  expect(await run("-v", 0.5)).toContain(
    "[kernel] PID 1: cost $0.012 for 1234 tokens (with all below $0.50)\n",
  );
  for (const flag of ["", "-q", "--json"]) expect(await run(flag, 0.5)).not.toContain("cost");
  expect(await run("-v", 0.5, false)).not.toContain("cost $");
});

test("run --verbose shows tool calls and log entries; other modes do not", async () => {
  const more = [
    progress({ event: "tool", device: "/dev/shell", in_bytes: 56, out_bytes: 2048, duration_ms: 1200 }),
    progress({ event: "log", level: "info", message: "compacted" }),
  ];
  const run = (flag: string) => crux(`x ${flag}`, { daemon: daemonOf(spawned, ...more, complete()) });
  expect((await run("-v")).out).toContain(
    "\n[agent/1] tool /dev/shell 56B → 2048B 1.2s\n[agent/1] log: compacted\n══ Result",
  );
  expect((await run("")).out).not.toMatch(/tool|log:/);
});

test("run --verbose prints - where there is nothing, and no limit as none", async () => {
  const bare = progress({
    event: "spawn",
    intent: "x",
    agent: "",
    model: "sonnet",
    max_steps: 0,
    budget: 0,
    device: "",
  });
  const { out } = await crux("x -v", {
    daemon: daemonOf(bare, progress({ event: "step", step: 1, total: 0 }), complete()),
  });
  expect(out).toContain(
    "[kernel] PID 1: agent=- model=sonnet max_steps=- budget=- device=-\n[agent/1] reasoning step 1...\n",
  );
});

const timeout = {
  code: "TIMEOUT",
  message: "deadline exceeded",
  syscall: "Write",
  device: "/dev/llm/claude",
  pid: 1,
} as const;
const fault = (result: string) =>
  daemonOf(
    spawned,
    failed({ error_message: "[TIMEOUT] PID 1 Write: /dev/llm/claude (deadline exceeded)", error: timeout }),
    complete({ result, exit_code: 1, exit_reason: "deadline exceeded" }),
  );

test("run that fails says so on stderr, and shows a box only for a partial result", async () => {
  const { out, err, code } = await crux("x", { daemon: fault("") });
  expect(err).toBe("[agent/1] error: [TIMEOUT] PID 1 Write: /dev/llm/claude (deadline exceeded)\n");
  expect(out).toBe("[kernel] spawning PID 1...\n[kernel] PID 1 exited(1) | tokens: 1234 | elapsed: 6.2s\n");
  expect(code).toBe(1);
  expect((await crux("x", { daemon: fault("half") })).out).toContain("\n  half\n");
  expect(await crux("x -q", { daemon: fault("half") })).toMatchObject({ out: "half\n", err, code: 1 });
  expect((await crux("x -q", { daemon: fault("") })).out).toBe("");
});

test("run --json that fails is the object of the manual", async () => {
  expect(await crux("x --json", { daemon: fault("") })).toMatchObject({
    out: '{"ok": false, "error": {"code": "TIMEOUT", "message": "deadline exceeded", "syscall": "Write", "device": "/dev/llm/claude"}}\n',
    err: "",
    code: 1,
  });
});

describe("a run in which calls were refused", () => {
  const denied = [
    { tool: "bash", what: "rm -r b", reason: "no rule allows it", allow: "--allow 'bash(rm -r b)'" },
    { tool: "view", what: "view /state/x", reason: "it belongs to\u001b[2J crux", allow: null },
  ];
  const LINES = `[agent/1] denied bash: rm -r b (to allow it: --allow 'bash(rm -r b)')
[agent/1] denied view /state/x (it belongs to\\x1b[2J crux)
`;
  const DATA = { pid: 1, result: "r", tokens_used: 1234, elapsed_ms: 6200, exit_code: 0 };

  test("says at its end which, and what would allow them; a script that asked for quiet is spared", async () => {
    const daemon = () => daemonOf(spawned, complete({ result: "r", denied }));
    expect((await crux("x", { daemon: daemon() })).err).toBe(LINES);
    expect(await crux("x -q", { daemon: daemon() })).toMatchObject({ out: "r\n", err: "" });
    const json = await crux("x --json", { daemon: daemon() });
    expect(json.err).toBe(LINES);
    expect(JSON.parse(json.out)).toEqual({ ok: true, data: { ...DATA, denied } });
    expect(json.out.indexOf('"exit_code": 0, "denied": [{"tool"')).toBeGreaterThan(0);
  });

  test("says so in the object of a failure too; bounded on the screen", async () => {
    const many = Array.from({ length: 30 }, (_, n) => ({ ...denied[0]!, what: `rm ${n}` }));
    const daemon = () => daemonOf(spawned, complete({ exit_code: 1, exit_reason: "no", denied: many }));
    const json = await crux("x --json", { daemon: daemon() });
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, error: { message: "no" }, denied: many });
    const lines = json.err.trimEnd().split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([11, "[agent/1] denied 20 more"]);
  });
});

test.each([
  [2, "budget_exceeded", "BUDGET"],
  [1, "max steps exceeded", "BUDGET"],
  [130, "killed: SIGINT", "CANCELLED"],
  [143, "killed: SIGTERM", "CANCELLED"],
  [137, "killed: SIGKILL", "CANCELLED"],
  [1, "unexpected exit", "INTERNAL"],
])("run that exits %i (%s) without an error is %s", async (exit_code, exit_reason, code) => {
  const daemon = () => daemonOf(spawned, complete({ exit_code, exit_reason, result: "" }));
  const json = await crux("x --json", { daemon: daemon() });
  expect(json.out).toBe(`{"ok": false, "error": {"code": "${code}", "message": "${exit_reason}"}}\n`);
  const plain = await crux("x", { daemon: daemon() });
  expect(plain.err).toBe(`[agent/1] error: ${exit_reason}\n`);
  expect(plain.out).toContain(`exited(${exit_code})`);
  expect([json.code, plain.code]).toEqual([exit_code, exit_code]);
});

const NOTICE = "no model is configured: a built-in script answers";
const CONFIGURE = `  → crux auth login  (type a key of Anthropic, OpenAI, Gemini or xAI; it is tried, then stored: docs/models.md)
  → export ANTHROPIC_API_KEY=…  (Claude)
  → export OPENAI_API_KEY=…  (OpenAI; with OPENAI_BASE_URL=… also Ollama, vLLM, DeepSeek)
  → npm install -g @anthropic-ai/claude-code, then run claude once and log in
`;

test.each(MODE_FLAGS)(
  "run %s prints the notice first and the ways to a model last (%s)",
  async (flags, mode) => {
    const noticed = progress({ event: "spawn", intent: "x", notice: NOTICE, ...details });
    const { out, err } = await crux(`x ${flags}`, { daemon: daemonOf(noticed, ...steps, complete()) });
    const around = `${NOTICE}\n${CONFIGURE}`;
    if (mode === "json" || mode === "quiet")
      expect({ out, err }).toEqual({ out: SCREENS[mode], err: around });
    else expect({ out, err }).toEqual({ out: `${NOTICE}\n${SCREENS[mode]}${CONFIGURE}`, err: "" });
  },
);

test("run that is refused before it starts shows the error alone", async () => {
  const daemon = new FakeDaemon({
    spawn: () => {
      throw new WireFault({ code: "NOT_FOUND", message: "agent not found: x", hint: "agents here: a, b" });
    },
  });
  expect(await crux("--agent x hi", { daemon })).toMatchObject({
    out: "",
    err: "✗ [NOT_FOUND] agent not found: x\n  → hint: agents here: a, b\n",
    code: 1,
  });
});

test("run whose daemon goes away is UNAVAILABLE", async () => {
  const { err, code, daemon } = await crux("x", { daemon: daemonOf(spawned, ...steps) });
  expect(err).toBe(
    "✗ [UNAVAILABLE] the daemon ended while process 1 worked; what it had done is kept\n" +
      "  → hint: crux resume 1 resumes it if it waits, crux attach 1 follows it\n",
  );
  expect({ code, open: daemon.openConnections }).toEqual({ code: 1, open: 0 });
});

test("run --detach prints the pid and leaves", async () => {
  const run = (flag: string) => crux(`-d x ${flag}`, { daemon: new FakeDaemon({ spawn }) });
  expect((await run("")).out).toBe("[kernel] spawning PID 1...\n");
  expect((await run("-q")).out).toBe("1\n");
  const { out, daemon } = await run("--json");
  expect(out).toBe('{"ok": true, "data": {"pid": 1}}\n');
  expect(daemon.asked[0]?.[1]).toMatchObject({ detach: true });
  expect(daemon.openConnections).toBe(0);
});

test("run --detach tells that a script answers, beside what a script reads", async () => {
  const run = (flag: string) =>
    crux(`-d x ${flag}`, {
      daemon: new FakeDaemon({ spawn: () => ({ pid: 1, notice: "A script answers." }) }),
    });
  expect((await run("")).out).toBe(`A script answers.\n[kernel] spawning PID 1...\n${CONFIGURE}`);
  const { out, err } = await run("-q");
  expect([out, err]).toEqual(["1\n", `A script answers.\n${CONFIGURE}`]);
});

test.each([
  ["x --max-steps many", "--max-steps needs a whole number"],
  ["x --permission-mode yolo", "unknown permission mode: yolo"],
  ["x --bogus", "unknown flag: --bogus"],
  ["x -a", "unknown flag: -a"],
  ["x --signal 1", "unknown flag: --signal"],
])("%s is INVALID and reaches no daemon", async (line, message) => {
  const { out, err, code, daemon } = await crux(line);
  expect(err).toContain(`✗ [INVALID] ${message}`);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

test("run in a folder that is not there is NOT_FOUND", async () => {
  const { err, daemon } = await crux("x --cwd /no/such/folder");
  expect(err).toBe("✗ [NOT_FOUND] directory not found: /no/such/folder\n");
  expect(daemon.reached).toEqual([]);
});

test("run keeps escape sequences of a model off the screen", async () => {
  const daemon = daemonOf(spawned, complete({ result: "\x1b]0;owned\x07" }));
  expect((await crux("x", { daemon })).out).not.toContain("\x1b");
  const bare = daemonOf(spawned, complete({ result: "\x1b[1m" }));
  expect((await crux("x -q", { daemon: bare })).out).toBe("\x1b[1m\n");
});

test("run colours on a terminal only, and not where it is refused", async () => {
  const run = (line: string, env = {}) => crux(line, { daemon: succeeded(), isTerminal: true, env });
  const coloured = (await run("x")).out;
  expect(coloured).toContain("\x1b[32mexited(0)\x1b[39m");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour is what is taken away
  expect(coloured.replace(/\x1b\[\d+m/g, "")).toBe(SCREEN);
  expect((await run("x --no-color")).out).toBe(SCREEN);
  expect((await run("x", { NO_COLOR: "1" })).out).toBe(SCREEN);
});

describe("lines of calls", () => {
  const called = (call: CallNote) => progress({ event: "call", call });
  const lines = [
    spawned,
    steps[0] as WireStreamLine,
    progress({ event: "said", text: "I look\x1b[2J first.\n" }),
    called({ tool: "view", about: "a.ts", facts: { count: { n: 1, of: "line" } } }),
    called({ tool: "nope", about: "", error: "tool not found" }),
    complete(),
  ];
  const stepLine = "[agent/1] reasoning step 1...\n";
  const expected = SCREEN.replace("[agent/1] reasoning step 2...\n", "").replace(
    stepLine,
    `${stepLine}I look\\x1b[2J first.\n● view a.ts 1 line\n✗ nope → tool not found\n`,
  );

  test("stand between the lines of a run on a terminal, which asks for them", async () => {
    const { out, daemon } = await crux("x --no-color", { daemon: daemonOf(...lines), isTerminal: true });
    expect(out).toBe(expected);
    expect(daemon.asked[0]?.[1]).toMatchObject({ calls: true });
  });

  test.each(["-q", "--json", ""])("do not in a pipe, nor with %s", async (flag) => {
    const isTerminal = flag !== "";
    const { out, daemon } = await crux(`x ${flag}`, { daemon: daemonOf(...lines), isTerminal });
    expect(out).not.toContain("a.ts");
    expect(daemon.asked[0]?.[1]).not.toHaveProperty("calls");
  });
});

test("run: Ctrl-C once sends SIGINT over another connection and waits for the end", async () => {
  const feed = new Feed().push(spawned, ...steps);
  const daemon = new FakeDaemon(
    {
      spawn,
      kill: () =>
        void feed.push(
          failed({ error_message: "killed: SIGINT" }),
          complete({ exit_code: 130, exit_reason: "killed: SIGINT", result: "" }),
        ),
    },
    feed,
  );
  const { host, stdout, stderr, interrupt } = aMachine({ daemon });
  const code = runCli(["--", "x"], host);
  await stdout.shows("step 2...");
  interrupt();
  expect(await code).toBe(130);
  expect(daemon.asked.slice(1)).toEqual([["kill", { pid: 1, signal: 3 }]]);
  expect(stderr.text).toContain("[kernel] PID 1: signal sent (SIGINT)\n");
  expect(stdout.text).toMatch(/\[kernel\] PID 1 exited\(130\) .*\n$/);
  expect(daemon.openConnections).toBe(0);
});

test("run: the last line is that of the end, also where it is heard before the signal is known to be sent", async () => {
  const feed = new Feed().push(spawned, ...steps);
  const sent = Promise.withResolvers<void>();
  const kill = () => {
    feed.push(
      failed({ error_message: "killed: SIGINT" }),
      complete({ exit_code: 130, exit_reason: "killed: SIGINT", result: "" }),
    );
    return sent.promise;
  };
  const { host, stdout, stderr, interrupt } = aMachine({ daemon: new FakeDaemon({ spawn, kill }, feed) });
  const code = runCli(["--", "x"], host);
  await stdout.shows("step 2...");
  interrupt();
  await new Promise((resolve) => setImmediate(resolve));
  expect(stdout.text).not.toContain("exited");
  sent.resolve();
  expect(await code).toBe(130);
  expect(stderr.text).toBe("[kernel] PID 1: signal sent (SIGINT)\n[agent/1] error: killed: SIGINT\n");
});

const RESTS = {
  code: "UNAVAILABLE",
  message: "the daemon stopped; process 1 rests paused",
  hint: "crux cont 1",
} as const;
const resting = () => daemonOf(spawned, failed({ error_message: RESTS.message, error: RESTS }));

test("run: one that rests when the daemon stops is told of once, with how to go on", async () => {
  const { err, code } = await crux("x", { daemon: resting() });
  expect({ err, code }).toEqual({
    err: `[agent/1] error: ${RESTS.message}\n  → hint: crux cont 1\n`,
    code: 1,
  });
  expect((await crux("x --json", { daemon: resting() })).out).toBe(
    `{"ok": false, "error": {"code": "UNAVAILABLE", "message": "${RESTS.message}"}}\n`,
  );
});

test("run: Ctrl-C twice sends SIGKILL and exits 130", async () => {
  const daemon = new FakeDaemon({ spawn }, new Feed().push(spawned));
  const { host, stdout, stderr, interrupt } = aMachine({ daemon });
  const code = runCli(["--", "x"], host);
  await stdout.shows("spawning");
  interrupt();
  await stderr.shows("(SIGINT)");
  interrupt();
  expect(await code).toBe(130);
  expect(daemon.asked.slice(1)).toEqual([
    ["kill", { pid: 1, signal: 3 }],
    ["kill", { pid: 1, signal: 2 }],
  ]);
  expect(stderr.text).toContain("[kernel] PID 1: signal sent (SIGKILL)\n");
  expect(daemon.openConnections).toBe(0);
});

test("run: Ctrl-C twice exits 130, also where the end of the process is heard first", async () => {
  const feed = new Feed().push(spawned);
  const daemon = new FakeDaemon(
    {
      spawn,
      kill: (payload) => {
        if ((payload as { signal: number }).signal === 2)
          feed.push(complete({ exit_code: 137, exit_reason: "killed: SIGKILL", result: "" }));
      },
    },
    feed,
  );
  const { host, stderr, interrupt } = aMachine({ daemon });
  const code = runCli(["--", "x"], host);
  await expect.poll(() => daemon.asked.length).toBe(1);
  interrupt();
  await stderr.shows("(SIGINT)");
  interrupt();
  expect(await code).toBe(130);
  expect(stderr.text).toContain("[kernel] PID 1: signal sent (SIGKILL)\n");
});

test("run: Ctrl-C before the pid is known is sent when it is", async () => {
  const answer = Promise.withResolvers<{ pid: number }>();
  const feed = new Feed();
  const daemon = new FakeDaemon(
    { spawn: () => answer.promise, kill: () => void feed.push(complete({ exit_code: 130, result: "" })) },
    feed,
  );
  const { host, interrupt } = aMachine({ daemon });
  const code = runCli(["--", "x"], host);
  await expect.poll(() => daemon.asked.length).toBe(1);
  interrupt();
  answer.resolve({ pid: 1 });
  expect(await code).toBe(130);
  expect(daemon.asked[1]).toEqual(["kill", { pid: 1, signal: 3 }]);
});

test("run says once, to a person at a terminal, that commands are not confined, and why", async () => {
  const daemon = new FakeDaemon(
    { spawn: () => ({ pid: 1, sandbox: "bubblewrap is not installed; apt-get install\x1b[2J bubblewrap" }) },
    new Feed().push(spawned, complete()).end(),
  );
  const { host, stderr, stdout } = aMachine({ daemon, isTerminal: true });
  expect(await runCli(["--", "x"], host)).toBe(0);
  const line = "sandbox: off (bubblewrap is not installed; apt-get install\\x1b[2J bubblewrap)";
  expect(stderr.text.replaceAll("\n  ", " ").split(line).length).toBe(2);
  expect(stdout.text).not.toContain("sandbox");
});

const question = progress({
  event: "ask",
  ask_id: "q1",
  text: "bash: npm test",
  detail: "+ one\x1b[2J\n- two\n",
  options: ["yes", "no", "always"],
});
const asking = (feed: Feed) =>
  new FakeDaemon(
    {
      spawn,
      "ask.answer": () =>
        void feed.push(progress({ event: "ask_closed", ask_id: "q1", answer: "yes" }), complete()),
    },
    feed,
  );
const QUESTION = "  + one\\x1b[2J\n  - two\n[agent/1] allow bash: npm test? [y]es / [n]o / [a]lways ";

test.each([
  ["y", "yes"],
  ["Y\r", "yes"],
  ["n", "no"],
  ["\r", "no"],
  ["\x1b", "no"],
  ["a", "always"],
])("run asks on a terminal: %j is %s", async (keys, answer) => {
  const feed = new Feed().push(spawned, question);
  const daemon = asking(feed);
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["--", "x"], host);
  await stderr.shows("[a]lways ");
  expect(stdin).toMatchObject({ isRaw: true, isFlowing: true });
  stdin.type("\x1b[A");
  stdin.type("what is this");
  stdin.type(keys);
  expect(await code).toBe(0);
  expect(daemon.asked[0]?.[1]).toMatchObject({ interactive: true });
  expect(daemon.asked.slice(1)).toEqual([["ask.answer", { ask_id: "q1", answer }]]);
  expect(stderr.text).toBe(`${QUESTION}${answer}\n`);
  expect(stdin).toMatchObject({ isRaw: false, isFlowing: false });
  expect(stdin.listenerCount("data")).toBe(0);
});

test("run tells no failure where an answer comes too late", async () => {
  const feed = new Feed().push(spawned, question);
  const late = () => {
    feed.push(progress({ event: "ask_closed", ask_id: "q1", answer: null }), complete());
    throw new WireFault({ code: "CONFLICT", message: "already answered or void: q1" });
  };
  const daemon = new FakeDaemon({ spawn, "ask.answer": late }, feed);
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["--", "x"], host);
  await stderr.shows("[a]lways ");
  stdin.type("\x1b");
  expect(await code).toBe(0);
  expect(stderr.text).toBe(`${QUESTION}no\n(already answered, or no longer needed)\n`);
});

test("run ignores keys that were typed before the question was drawn", async () => {
  const feed = new Feed().push(spawned, question);
  const daemon = asking(feed);
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["--", "x"], host);
  await expect.poll(() => stdin.isRaw).toBe(true);
  stdin.type("y");
  await stderr.shows("[a]lways ");
  stdin.type("n");
  await code;
  expect(daemon.asked[1]).toEqual(["ask.answer", { ask_id: "q1", answer: "no" }]);
});

test("run takes a question back that was answered elsewhere", async () => {
  const feed = new Feed().push(spawned, question);
  const daemon = asking(feed);
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["--", "x"], host);
  await stderr.shows("[a]lways ");
  feed.push(progress({ event: "ask_closed", ask_id: "q1", answer: "no" }), complete());
  expect(await code).toBe(0);
  expect(stderr.text).toBe(`${QUESTION}(answered elsewhere: no)\n`);
  expect(daemon.asked).toHaveLength(1);
  expect(stdin.isRaw).toBe(false);
});

test("run: Ctrl-C while a question waits interrupts the process", async () => {
  const feed = new Feed().push(spawned, question);
  const daemon = new FakeDaemon(
    { spawn, kill: () => void feed.push(complete({ exit_code: 130, result: "" })) },
    feed,
  );
  const { host, stdin, stderr } = aMachine({ daemon, isTerminal: true });
  const code = runCli(["--", "x"], host);
  await stderr.shows("[a]lways ");
  stdin.type("\x03");
  expect(await code).toBe(130);
  expect(daemon.asked.slice(1)).toEqual([["kill", { pid: 1, signal: 3 }]]);
  expect(stderr.text).toContain("[a]lways ^C\n");
  expect(stdin.isRaw).toBe(false);
});

test("run puts no questions where nobody can answer", async () => {
  const piped = await crux("x", { daemon: succeeded(), stdin: "", isTerminal: true });
  expect(piped.daemon.asked[0]?.[1]).not.toHaveProperty("interactive");
  expect(piped.out).toContain("PID 1");
  const redirected = await crux("x", { daemon: succeeded() });
  expect(redirected.daemon.asked[0]?.[1]).not.toHaveProperty("interactive");
});
