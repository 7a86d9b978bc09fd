import { expect, test } from "vitest";
import { runCli } from "../../cli.ts";
import { aRow, FakeDaemon } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";

const ROWS = [
  aRow({
    pid: 1,
    kind: "supervisor",
    name: "compose:notes",
    activity: "waiting",
    tokens_used: 0,
    elapsed_ms: 4000,
    intent: "notes",
  }),
  aRow({
    pid: 4,
    ppid: 1,
    kind: "native",
    name: "git",
    activity: null,
    state: "zombie",
    tokens_used: 0,
    elapsed_ms: 100,
    intent: "git log",
  }),
  aRow({
    pid: 5,
    ppid: 1,
    name: "writer",
    activity: "thinking",
    tokens_used: 812,
    cost_usd: 0.5,
    intent: "Draft\nit",
  }),
  aRow({ pid: 6, ppid: 0, kind: "service", name: "mcp:notes", intent: "server-memory" }),
  aRow({ pid: 7, ppid: 6, name: "", activity: "paused", tokens_used: 5, intent: "x\x1b[2J" }),
];
const daemon = (processes = ROWS, ended: typeof ROWS = []) =>
  new FakeDaemon({
    "process.list": () => ({ processes }),
    "process.ended": (page) => {
      const { tree } = page as { tree?: number };
      return {
        processes: ended.filter(({ pid, ppid }) => tree === undefined || tree === pid || tree === ppid),
      };
    },
  });

const SCREEN = `PROCESS           KIND         STATE              TOKENS   TREE TOKENS    COST   TREE COST   ELAPSED   INTENT
───────────────   ──────────   ────────────────   ──────   ───────────   ─────   ─────────   ───────   ────────
1 compose:notes   supervisor   running/waiting         0           812       -       $0.50      4.0s   notes
├─ 4 git          native       zombie                  0             0       -           -      0.1s   git log
└─ 5 writer       agent        running/thinking      812           812   $0.50       $0.50      3.2s   Draft
7 -               agent        paused                  5             5       -           -      3.2s   x\\x1b[2J
`;

test.each(MODE_FLAGS)("tree %s is %s", async (flags, mode) => {
  const { out, err, code, daemon: asked } = await crux(`tree ${flags}`, { daemon: daemon() });
  const isTable = mode === "default" || mode === "verbose";
  expect({ err, code, open: asked.openConnections }).toEqual({ err: "", code: 0, open: 0 });
  if (isTable) expect(out).toBe(SCREEN);
  if (mode === "quiet") expect(out).toBe("1\n4\n5\n7\n");
  if (mode === "json") {
    const { processes } = JSON.parse(out).data;
    expect(processes.map((each: { pid: number; depth: number }) => [each.pid, each.depth])).toEqual([
      [1, 0],
      [4, 1],
      [5, 1],
      [7, 0],
    ]);
    expect(Object.keys(processes[0])).toEqual(
      "pid ppid depth kind role name state activity model tokens_used subtree_tokens elapsed_ms intent cost_usd subtree_cost_usd".split(
        " ",
      ),
    );
  }
});

test("tree --all has services too, and what they started below them", async () => {
  const { out } = await crux("tree --all --ascii", { daemon: daemon() });
  expect(out).toContain("\n6 mcp:notes ");
  expect(out).toContain("\n`- 7 - ");
  expect((await crux("tree -a -q", { daemon: daemon() })).out).toBe("1\n4\n5\n6\n7\n");
});

test("tree shows an internal fork with --all alone, as what it is", async () => {
  const inner = () => daemon([...ROWS, aRow({ pid: 8, ppid: 1, fork: "memory" })]);
  expect((await crux("tree -q", { daemon: inner() })).out).not.toContain("8");
  expect((await crux("tree --all", { daemon: inner() })).out).toMatch(/8 code-analyst +internal /);
  const gone = daemon(ROWS, [aRow({ pid: 8, ppid: 1, state: "dead", activity: null, fork: "memory" })]);
  expect((await crux("tree --all", { daemon: gone })).out).toMatch(/8 code-analyst +internal /);
});

test("tree of a pid is it and what is below it, also a service that was asked for", async () => {
  expect((await crux("tree 1 -q", { daemon: daemon() })).out).toBe("1\n4\n5\n");
  expect((await crux("tree 6 -q", { daemon: daemon() })).out).toBe("6\n7\n");
  expect(await crux("tree 9", { daemon: daemon() })).toMatchObject({
    out: "",
    err: "✗ [NOT_FOUND] process not found: 9\n  → hint: crux ps lists the processes\n",
    code: 1,
  });
});

test("tree --all has what ended, and a tree whose root has ended needs no --all", async () => {
  const dead = { state: "dead", activity: null, exit: { code: 2, reason: "x", kind: "done" } } as const;
  const ended = [aRow({ ...dead, pid: 9, ppid: 8, cost_usd: 0.25 }), aRow({ ...dead, pid: 8, ppid: 5 })];
  expect((await crux("tree -q", { daemon: daemon(ROWS, ended) })).out).toBe("1\n4\n5\n7\n");
  const { out } = await crux("tree --all --ascii", { daemon: daemon(ROWS, ended) });
  expect(out).toMatch(/\n {3}`- 8 code-analyst +subagent +exited\(2\) /);
  expect(out).toMatch(/\n {6}`- 9 code-analyst /);
  const { data } = JSON.parse((await crux("tree 8 --json", { daemon: daemon(ROWS, ended) })).out);
  expect(data.processes).toMatchObject([
    { pid: 8, depth: 0, state: "dead", exit_code: 2, subtree_cost_usd: 0.25 },
    { pid: 9, depth: 1 },
  ]);
});

test("tree tells who waits for a slot, at which place, on 40 columns and without colour", async () => {
  const slot = { lane: "anthropic sonnet", waited_ms: 12_900, place: 3 };
  const rows = [aRow({ pid: 1, cost_usd: 0.5 }), aRow({ pid: 2, ppid: 1, slot, cost_usd: 0.25 })];
  const { out } = await crux("tree", { daemon: daemon(rows) });
  expect(out).toMatch(/2 code-analyst +subagent +slot 12s #3 /);
  const { host, stdout } = aMachine({ daemon: daemon(rows), isTerminal: true });
  stdout.columns = 40;
  await runCli(["tree"], host);
  expect(stdout.text).toContain("TREE COST    $0.75\n");
  for (const line of stdout.text.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
});

test("tree of nothing, and as ps --tree", async () => {
  expect((await crux("tree", { daemon: daemon([]) })).out).toBe("No active processes.\n");
  expect((await crux("tree -q", { daemon: daemon([]) })).out).toBe("");
  expect((await crux("ps --tree", { daemon: daemon() })).out).toBe(SCREEN);
  expect((await crux("ps --tree -aq", { daemon: daemon() })).out).toBe("1\n4\n5\n6\n7\n");
});

test.each(["tree x", "tree 1 2", "tree --deep"])("%s is INVALID and reaches no daemon", async (line) => {
  const { err, daemon: asked } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect(asked.reached).toEqual([]);
});

test("tree --all names what a call named, and says in words what an agent started of itself is for", async () => {
  const dead = {
    state: "dead",
    activity: null,
    exit: { code: 0, reason: "completed", kind: "done" },
  } as const;
  const intent = "<crux-note>A task of its own";
  const ended = [
    aRow({ ...dead, pid: 8, ppid: 5, called: "scout", intent: "find it" }),
    aRow({ ...dead, pid: 9, ppid: 5, fork: "memory", intent }),
    aRow({ ...dead, pid: 10, ppid: 5, fork: "fork", intent: "a fork" }),
  ];
  const { out } = await crux("tree --all", { daemon: daemon(ROWS, ended) });
  expect(out).toMatch(/8 scout \(code-analyst\) .* find it$/m);
  expect(out).toMatch(/9 code-analyst +internal .* takes notes of the conversation$/m);
  expect(out).toMatch(/10 code-analyst +fork .* a fork$/m);
  expect(out).not.toContain("crux-note");
});
