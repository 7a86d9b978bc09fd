import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { aRow, FakeDaemon } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";
import { METRICS } from "../../testing/snapshot.ts";

const ROWS = [
  aRow({ pid: 1, tokens_used: 100, elapsed_ms: 60_000, intent: "first" }),
  aRow({ pid: 2, ppid: 1, tokens_used: 900, elapsed_ms: 60_000, intent: "second", cost_usd: 0.0123 }),
  aRow({ pid: 3, kind: "service", name: "mcp:notes", intent: "third" }),
];
const daemon = (processes = ROWS) =>
  new FakeDaemon({
    "process.list": () => ({ processes }),
    "kernel.metrics": () => METRICS,
    "process.signal": () => ({ pids: [2] }),
  });

const SCREEN = `2 processes: 2 running (2 thinking) | 1000 tokens/min
memory 121.4 MB, heap 60.2 MB | loop lag 1.2ms in 10s | OS children 3 | connections 2 | up 62.0s

   PID  NAME              ROLE        STATE      MODEL            TOK/MIN    TOKENS      COST   SUBTREE  CHILD       AGE  INTENT
     2  code-analyst      subagent    thinking   sonnet               900       900    $0.012    $0.012      0     60.0s  second
     1  code-analyst      agent       thinking   sonnet               100       100         -    $0.012      1     60.0s  first
`;

test.each(MODE_FLAGS)("top --once %s is %s", async (flags, mode) => {
  const { out, err, code, daemon: asked } = await crux(`top --once ${flags}`, { daemon: daemon() });
  expect({ err, code, open: asked.openConnections }).toEqual({ err: "", code: 0, open: 0 });
  if (mode === "default" || mode === "verbose") expect(out).toBe(SCREEN);
  if (mode === "quiet") expect(out).toBe("2\n1\n");
  if (mode !== "json") return;
  expect(out.endsWith("}\n")).toBe(true);
  const { ok, data } = JSON.parse(out);
  expect(ok).toBe(true);
  expect(data.metrics).toEqual(METRICS);
  expect(data.processes[1]).toEqual({
    pid: 1,
    ppid: 0,
    name: "code-analyst",
    kind: "agent",
    role: "main",
    state: "running",
    activity: "thinking",
    model: "sonnet",
    tokens_per_minute: 100,
    tokens_used: 100,
    children: 1,
    elapsed_ms: 60_000,
    intent: "first",
    cost_usd: 0,
    subtree_cost_usd: 0.0123,
  });
});

test("top --once says in words that nothing is running, and how to begin; scripts get the same as ever", async () => {
  const { out } = await crux("top --once", { daemon: daemon([]) });
  expect(out).toContain('Nothing is running. crux "<intent>" starts an agent');
  expect(out).not.toContain("PID");
  expect((await crux("top --once -q", { daemon: daemon([]) })).out).toBe("");
});

test("top is one look where there is no terminal, or a dumb one", async () => {
  expect((await crux("top", { daemon: daemon() })).out).toBe(SCREEN);
  expect((await crux("top", { daemon: daemon(), isTerminal: true, stdin: "" })).out).toBe(SCREEN);
  const env = { TERM: "dumb" };
  expect((await crux("top", { daemon: daemon(), isTerminal: true, env })).out).toBe(SCREEN);
});

test("top sorts as told, and has services with -a", async () => {
  expect((await crux("top -q --sort pid", { daemon: daemon() })).out).toBe("1\n2\n");
  expect((await crux("top -qa --sort pid", { daemon: daemon() })).out).toBe("1\n2\n3\n");
  expect((await crux("top -q --sort cost", { daemon: daemon() })).out).toBe("2\n1\n");
  expect((await crux("top -q", { daemon: daemon([]) })).out).toBe("");
});

test.each(["top 1", "top --sort money", "top -d 0", "top -d 9999", "top -d soon", "top -d"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, daemon: asked } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect(asked.reached).toEqual([]);
  },
);

const DOWN = "\x1b[B";
const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";

/** `crux top` on a terminal; the next look of its own is an hour away. */
function live(asked = daemon()) {
  const machine = aMachine({ daemon: asked, isTerminal: true, env: { OPENAI_API_KEY: "k" } });
  return { ...machine, asked, code: runCli(["top", "-d", "3600", "--sort", "pid"], machine.host) };
}
function expectRestored({ stdin, stdout, lifecycle, asked }: ReturnType<typeof live>): void {
  expect(stdout.text.endsWith(LEAVE)).toBe(true);
  expect([stdin.isRaw, stdin.isFlowing, stdin.listenerCount("data")]).toEqual([false, false, 0]);
  expect(stdout.listenerCount("resize")).toBe(0);
  expect(lifecycle.undos.size).toBe(0);
  expect(asked.openConnections).toBe(0);
}

test("top on a terminal takes all of it, and q gives it back as it was", async () => {
  const run = live();
  await run.stdout.shows("k signal");
  expect(run.stdout.text.startsWith(`${ENTER}\x1b[2J\x1b[1;1H2 processes`)).toBe(true);
  expect(run.stdin.isRaw).toBe(true);
  run.stdin.type("q");
  expect(await run.code).toBe(0);
  expectRestored(run);
  expect(run.stderr.text).toBe("");
});

test("b sets a limit in dollars, and Enter leaves for the chosen process", async () => {
  const asked = new FakeDaemon({
    "process.list": () => ({ processes: ROWS }),
    "kernel.metrics": () => METRICS,
    "budget.set": () => ({ pid: 2, limits: {} }),
  });
  const machine = aMachine({ daemon: asked, isTerminal: true });
  const commands: (readonly string[])[] = [];
  const command = async (argv: readonly string[]) => commands.push(argv);
  const code = runCli(["top", "-d", "3600", "--sort", "pid"], { ...machine.host, command });
  await machine.stdout.shows("k signal");
  machine.stdin.type(`${DOWN}${DOWN}b`);
  await machine.stdout.shows("in US dollars: _");
  machine.stdin.type("2x.50\r");
  await machine.stdout.shows("at most $2.5 with all below it");
  expect(asked.asked).toContainEqual(["budget.set", { pid: 2, set: { usd: 2.5 } }]);
  machine.stdin.type("b1.2.3\r");
  await machine.stdout.shows("not an amount");
  expect(asked.asked.filter(([method]) => method === "budget.set")).toHaveLength(1);
  machine.stdin.type("\r");
  expect(await code).toBe(1);
  expect([commands, machine.stdout.text.endsWith(LEAVE)]).toEqual([[["attach", "2"]], true]);
});

test.each([
  ["Ctrl-C", (run: ReturnType<typeof live>) => void run.stdin.type("\x03")],
  ["SIGINT", (run: ReturnType<typeof live>) => run.interrupt()],
  ["a terminal that is gone", (run: ReturnType<typeof live>) => void run.stdin.emit("end")],
])("%s leaves it as well", async (_name, leave) => {
  const run = live();
  await run.stdout.shows("k signal");
  leave(run);
  expect(await run.code).toBe(0);
  expectRestored(run);
});

test("a signal or a crash restores the terminal before the process ends", async () => {
  const run = live();
  await run.stdout.shows("k signal");
  for (const undo of run.lifecycle.undos) undo();
  expect(run.stdout.text.endsWith(LEAVE)).toBe(true);
  expect(run.stdin.isRaw).toBe(false);
  run.stdin.type("q");
  await run.code;
});

test("p pauses the chosen process; the answer is shown and a new look is taken", async () => {
  const run = live();
  await run.stdout.shows("k signal");
  run.stdin.type(`${DOWN}${DOWN}p`);
  await run.stdout.shows("PID 2: signal sent (SIGPAUSE)");
  const signals = run.asked.asked.filter(([method]) => method === "process.signal");
  expect(signals).toEqual([["process.signal", { pid: 2, signal: 4 }]]);
  await expect.poll(() => run.asked.asked.filter(([method]) => method === "process.list").length).toBe(2);
  run.stdin.type("r");
  await expect
    .poll(() => run.asked.asked.at(-3))
    .toEqual(["process.signal", { pid: 2, signal: 5, env: { OPENAI_API_KEY: "k" } }]);
  run.stdin.type("q");
  await run.code;
  expectRestored(run);
});

test("k asks which signal, and a refusal is shown without leaving", async () => {
  const refusing = new FakeDaemon({
    "process.list": () => ({ processes: ROWS }),
    "kernel.metrics": () => METRICS,
    "process.signal": () => {
      throw new WireFault({ code: "NOT_FOUND", message: "process not found: 1", syscall: "Signal", pid: 0 });
    },
  });
  const run = live(refusing);
  await run.stdout.shows("k signal");
  run.stdin.type(`${DOWN}k`);
  await run.stdout.shows("signal to PID 1: 1 TERM");
  run.stdin.type("1");
  await run.stdout.shows("process not found: 1");
  run.stdin.type("q");
  expect(await run.code).toBe(0);
});

test("only lines that changed are drawn; a new size draws them all", async () => {
  const run = live();
  await run.stdout.shows("k signal");
  run.stdout.clear();
  run.stdin.type("/seco");
  await run.stdout.shows("/seco_");
  expect(run.stdout.text).not.toContain("\x1b[2J");
  expect(run.stdout.text).not.toContain("memory");
  run.stdout.clear();
  run.stdout.columns = 60;
  run.stdout.rows = 8;
  run.stdout.emit("resize");
  await run.stdout.shows("memory");
  expect(run.stdout.text.startsWith("\x1b[2J\x1b[1;1H1 process:")).toBe(true);
  expect(run.stdout.text).not.toContain("\x1b[9;1H");
  run.stdin.type("\x03");
  await run.code;
});

test("Ctrl-Z gives the terminal back meanwhile", async () => {
  const run = live();
  await run.stdout.shows("k signal");
  run.stdout.clear();
  run.stdin.type("\x1a");
  await run.stdout.shows(ENTER);
  await run.stdout.shows("memory");
  expect(run.stdout.text.startsWith(`${LEAVE}${ENTER}\x1b[2J`)).toBe(true);
  expect([run.lifecycle.suspended, run.stdin.isRaw]).toEqual([1, true]);
  run.stdin.type("q");
  await run.code;
  expectRestored(run);
});

test("a daemon that is gone ends it, with its error on the terminal as it was", async () => {
  let looks = 0;
  const dying = new FakeDaemon({
    "process.list": () => {
      if (looks++ > 0) throw new WireFault({ code: "UNAVAILABLE", message: "daemon closed the connection" });
      return { processes: ROWS };
    },
    "kernel.metrics": () => METRICS,
    "process.signal": () => ({ pids: [1] }),
  });
  const run = live(dying);
  await run.stdout.shows("k signal");
  run.stdin.type(`${DOWN}p`);
  expect(await run.code).toBe(1);
  expectRestored(run);
  expect(run.stderr.text).toContain("daemon closed the connection");
});
