import { expect, test } from "vitest";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const STATUS = {
  version: "0.1.0",
  os_pid: 7,
  processes: 0,
  connections: 1,
  uptime_ms: 1,
  sandbox: { available: true, mode: "on", kind: "bubblewrap" },
};
const WORKSPACE = {
  root: "/w",
  trusted: true,
  session_only: false,
  main: null,
  declined: false,
  items: [],
  refused: [],
};
const checked = (findings: readonly object[]) =>
  new Feed().push({ type: "complete", payload: { findings } } as never).end();
const answered = (...events: readonly object[]) => {
  const feed = new Feed();
  for (const payload of events) feed.push({ type: "progress", payload } as never);
  return feed.end();
};
const done = () => answered({ event: "complete", pid: 1, exit_code: 0, tokens_used: 12 });

interface World {
  readonly status?: object;
  readonly settings?: object;
  readonly trust?: object;
  readonly journal?: Feed;
  readonly run?: Feed;
}

function aWorld({ status, settings, trust, journal, run }: World = {}) {
  return new FakeDaemon(
    {
      "kernel.status": () => ({ ...STATUS, ...status }),
      "settings.list": () => ({ settings: [], problems: [], ...settings }),
      "trust.show": () => ({ ...WORKSPACE, ...trust }),
      "journal.check": () => undefined,
      spawn: () => ({ pid: 1 }),
    },
    { spawn: run ?? done(), "journal.check": journal ?? checked([]) },
  );
}

const doctor = (line: string, world: World = {}) =>
  crux(`doctor ${line}`, {
    daemon: aWorld(world),
    env: { PATH: "/nowhere", OPENAI_API_KEY: "k", XDG_STATE_HOME: "/tmp" },
  });
const lineOf = (out: string, name: string) => {
  const lines = out.split("\n");
  const at = lines.findIndex((line) => line.slice(2).startsWith(`${name}: `));
  return lines
    .slice(at, at + 2)
    .filter((line, n) => n === 0 || line.startsWith("  → "))
    .join("\n");
};

test("doctor shows a line for each check, and a remedy where one is needed", async () => {
  const { out } = await doctor("--offline");
  expect(lineOf(out, "model")).toBe("✓ model: set up: openai");
  expect(lineOf(out, "daemon")).toBe("✓ daemon: running (PID 7), v0.1.0");
  expect(lineOf(out, "sandbox")).toBe("✓ sandbox: works (bubblewrap)");
  expect(lineOf(out, "trust")).toBe("✓ trust: this folder brings nothing that acts");
  expect(lineOf(out, "journal")).toBe("✓ journal: whole");
  expect(lineOf(out, "git")).toBe(
    "! git: not on PATH; agents read states and differences with it\n  → install git",
  );
  expect(out).not.toContain("test call");
});

test("doctor names the worktrees that the daemon has removed", async () => {
  const { out } = await doctor("--offline", { status: { swept_worktrees: ["/w/a", "/w/b"] } });
  expect(lineOf(out, "worktrees")).toBe("✓ worktrees: removed after long disuse: /w/a, /w/b");
});

test("doctor says what confines commands, and what that does not promise", async () => {
  const kinds = { namespaces: "ok", landlock: "warn" } as const;
  for (const [kind, state] of Object.entries(kinds)) {
    const sandbox = {
      available: true,
      mode: "on",
      kind,
      why: "no namespaces",
      fix: "apt install bubblewrap",
    };
    const { out } = await doctor("--json --offline", { status: { sandbox } });
    const { checks } = JSON.parse(out).data;
    const found = checks.find(({ name }: { name: string }) => name === "sandbox");
    expect(found).toMatchObject({ state, kind, not_promised: expect.any(Array) });
    const text = await doctor("--offline", { status: { sandbox } });
    const line = lineOf(text.out, "sandbox");
    if (kind === "namespaces") expect(line).toBe("✓ sandbox: works (namespaces)");
    else
      expect(line).toMatch(
        /^! sandbox: works \(landlock\), and does not .*hidden.*\n {2}→ apt install bubblewrap$/,
      );
  }
});

test("doctor asks the model once, in plan mode, unless it is told not to", async () => {
  const daemon = aWorld();
  const { out } = await crux("doctor", { daemon });
  expect(lineOf(out, "test call")).toBe("✓ test call: answered, 12 tokens");
  expect(daemon.asked.find(([method]) => method === "spawn")?.[1]).toMatchObject({
    agent: "none",
    max_steps: 1,
    permission_mode: "plan",
    verbose: true,
  });
  expect(daemon.openConnections).toBe(0);
  const offline = aWorld();
  await crux("doctor --offline", { daemon: offline });
  expect(offline.asked.map(([method]) => method)).not.toContain("spawn");
});

test.each<[string, World, string, number]>([
  [
    "sandbox",
    {
      status: {
        sandbox: { available: false, mode: "on", why: "bwrap is not there", fix: "apt install bubblewrap" },
      },
    },
    "✗ sandbox: bwrap is not there\n  → apt install bubblewrap",
    1,
  ],
  [
    "settings",
    { settings: { problems: ["x.json: broken"] } },
    "✗ settings: x.json: broken\n  → fix the file",
    1,
  ],
  [
    "journal",
    { journal: checked([{ severity: "damage" }]) },
    "✗ journal: 1 damaged places\n  → crux fsck",
    1,
  ],
  ["journal", { journal: new Feed().end() }, "✗ journal: the check broke off", 1],
  [
    "daemon",
    { status: { version: "0.0.9" } },
    "! daemon: running (PID 7), v0.0.9; this is v0.1.0\n  → crux daemon restart",
    0,
  ],
  ["trust", { trust: { trusted: false, items: [{ state: "new" }] } }, "! trust: 1 of 1 file that", 0],
  ["trust", { trust: { items: [{ state: "trusted" }] } }, "✓ trust: this folder is trusted, with 1 file", 0],
  [
    "test call",
    {
      run: answered(
        { event: "error", pid: 1, error_message: "401: wrong key" },
        { event: "complete", pid: 1, exit_code: 1 },
      ),
    },
    "✗ test call: 401: wrong key\n  → check the key",
    1,
  ],
  [
    "test call",
    {
      run: answered(
        { event: "spawn", pid: 1, notice: "No model" },
        { event: "error", error_message: "not understood", exit_code: 1 },
      ),
    },
    "! test call: not made, since no model is set up",
    0,
  ],
])("doctor tells what is wrong: %s %#", async (name, world, said, code) => {
  const run = await doctor("", world);
  expect(lineOf(run.out, name)).toContain(said);
  // what this machine lacks may fail too
  if (code === 1) expect(run.code).toBe(1);
});

test("doctor without a daemon that starts says so, and stops there", async () => {
  const daemon = aWorld();
  daemon.ensure = () => Promise.reject(new Error("daemon did not start"));
  const { out, code } = await crux("doctor", { daemon });
  expect(code).toBe(1);
  expect(lineOf(out, "daemon")).toContain("✗ daemon: daemon did not start\n  → crux daemon");
  expect(out).not.toContain("journal:");
});

test("doctor --json is one object, --quiet what is not in order", async () => {
  const json = JSON.parse((await doctor("--offline --json")).out);
  expect(json.data.checks.map(({ name }: { name: string }) => name)).toEqual([
    ...["version", "git", "disk", "model", "daemon", "sandbox", "settings", "trust", "journal"],
  ]);
  expect((await doctor("--offline -q")).out).not.toContain("✓");
});
