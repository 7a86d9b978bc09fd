import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const mounting = (state = "connected", problem = "") =>
  new FakeDaemon({
    "mcp.mount": (payload) => ({ path: (payload as { path: string }).path, state }),
    "mcp.list": () => ({ mounts: [{ path: "/mnt/mcp/other" }, { path: "/mnt/mcp/notes", problem }] }),
  });
const asked = async (line: string | string[], env: Record<string, string> = {}) => {
  const { daemon, err, code } = await crux(line, { daemon: mounting(), env });
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return daemon.asked.filter(([method]) => method !== "mcp.list");
};

const SCREENS = {
  default: "[kernel] /mnt/mcp/notes: mounted (pending)\n",
  verbose: "[kernel] /mnt/mcp/notes: mounted (pending)\n",
  quiet: "",
  json: '{"ok": true, "data": {"path": "/mnt/mcp/notes", "state": "pending"}}\n',
};

test.each(MODE_FLAGS)("mount %s is %s", async (flags, mode) => {
  const line = `mount ${flags} notes --url http://127.0.0.1:8080/mcp`;
  const { out, err, code } = await crux(line, { daemon: mounting("pending") });
  expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
});

test("mount of a command: all behind -- is its own; one that names nothing here is started at home", async () => {
  expect(
    await asked("mount notes -e A=1=2 --env KEY -- npx -y server --json -e X=1", { KEY: "from here" }),
  ).toEqual([
    [
      "mcp.mount",
      {
        path: "/mnt/mcp/notes",
        config: {
          type: "stdio",
          command: "npx",
          args: ["-y", "server", "--json", "-e", "X=1"],
          env: { A: "1=2", KEY: "from here" },
        },
      },
    ],
  ]);
});

test("mount of a URL with headers, at a path", async () => {
  const words = ["mount", "/mnt/mcp/tracker", "--url", "https://tracker.example/mcp"];
  const headers = ["--header", "Authorization=Bearer a=b", "--header", "X-Team=core"];
  expect(await asked([...words, ...headers])).toEqual([
    [
      "mcp.mount",
      {
        path: "/mnt/mcp/tracker",
        config: {
          type: "http",
          url: "https://tracker.example/mcp",
          headers: { Authorization: "Bearer a=b", "X-Team": "core" },
        },
      },
    ],
  ]);
});

test.each([
  ["-- false", "it ended with 1", "the program false"],
  ["--url http://127.0.0.1:9/mcp", "no answer (ECONNREFUSED)", "the server at http://127.0.0.1:9/mcp"],
])("mount %s that does not connect says why, and what to check", async (how, problem, what) => {
  expect(await crux(`mount notes ${how}`, { daemon: mounting("failed", problem) })).toMatchObject({
    out: "",
    err: `✗ [UNAVAILABLE] mounted, but not connected: /mnt/mcp/notes: ${problem}\n  → hint: check ${what}; its next use tries again, and crux umount /mnt/mcp/notes takes it away\n`,
    code: 1,
  });
});

test("mount says what of a server is left out", async () => {
  const daemon = mounting("connected", "tool x and what follows: there are more tools than fit; left out");
  expect(await crux("mount notes --url http://127.0.0.1:9/mcp", { daemon })).toMatchObject({
    out: "[kernel] /mnt/mcp/notes: mounted (connected)\n",
    err: "/mnt/mcp/notes: tool x and what follows: there are more tools than fit; left out\n",
    code: 0,
  });
});

test.each([
  "mount",
  "mount notes",
  "mount notes --",
  "mount -- npx server",
  "mount notes npx server",
  "mount notes --url http://a/ -- npx",
  "mount notes --url ftp://a/",
  "mount notes --url http://a/ -e A=1",
  "mount notes --header A=1 -- npx",
  "mount not/es -- npx",
  "mount n.s -- npx",
  "umount",
  "umount a b",
  "umount a.b",
  "mcp lsit",
  "mcp list all",
])("%s is INVALID, with a hint, and reaches no daemon", async (line) => {
  const { err, out, code, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] .+\n {2}→ hint: .+\n$/);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

test.each([
  ["mount notes --url http://a/ --header Nothing", "--header needs NAME=VALUE"],
  ["mount notes -e UNSET -- npx", "--env needs NAME=VALUE"],
  ["mount notes -e =1 -- npx", "--env needs NAME=VALUE"],
])("%s is INVALID", async (line, message) => {
  expect((await crux(line)).err).toContain(`✗ [INVALID] ${message}`);
});

test("umount by name and by path", async () => {
  for (const [name, flags, out] of [
    ["notes", "", "[kernel] /mnt/mcp/notes: unmounted\n"],
    ["/mnt/mcp/notes", "-q", ""],
    ["notes", "--json", '{"ok": true, "data": {"path": "/mnt/mcp/notes"}}\n'],
  ] as const) {
    const run = await crux(`umount ${name} ${flags}`);
    expect(run).toMatchObject({ out, err: "", code: 0 });
    expect(run.daemon.asked).toEqual([["mcp.unmount", { path: "/mnt/mcp/notes" }]]);
  }
});

test("umount of what is not mounted is the daemon's error", async () => {
  const daemon = new FakeDaemon({
    "mcp.unmount": () => {
      throw new WireFault({
        code: "NOT_FOUND",
        message: "not mounted: /mnt/mcp/x",
        syscall: "Unmount",
        pid: 0,
        fact: { kind: "not_mounted" },
      });
    },
  });
  expect((await crux("umount x", { daemon })).err).toBe(
    "✗ [NOT_FOUND] PID 0 Unmount: not mounted: /mnt/mcp/x\n  → hint: crux mcp list shows what is mounted\n",
  );
});

const MOUNTS = [
  {
    path: "/mnt/mcp/notes",
    pid: 0,
    server: "stdio: npx server-memory",
    state: "connected",
    tools: 9,
    service_pid: 7,
    problem: "",
  },
  {
    path: "/mnt/mcp/12-tracker",
    pid: 12,
    server: "http: https://tracker.example/mcp",
    state: "failed",
    tools: 0,
    service_pid: null,
    problem: "401\x1b[2J",
  },
];
const listing = (mounts = MOUNTS) => new FakeDaemon({ "mcp.list": () => ({ mounts }) });

test("mcp list is a table as wide as what is in it", async () => {
  expect((await crux("mcp list", { daemon: listing() })).out).toBe(
    `PATH                  OWNER   STATE       TOOLS   PID   SERVER                              PROBLEM
───────────────────   ─────   ─────────   ─────   ───   ─────────────────────────────────   ──────────
/mnt/mcp/notes            0   connected       9     7   stdio: npx server-memory
/mnt/mcp/12-tracker      12   failed          0     —   http: https://tracker.example/mcp   401\\x1b[2J
`,
  );
  expect((await crux("mcp list", { daemon: listing(MOUNTS.slice(0, 1)) })).out).not.toContain("PROBLEM");
});

test("mcp list for scripts, and of nothing", async () => {
  expect((await crux("mcp list -q", { daemon: listing() })).out).toBe(
    "/mnt/mcp/notes\n/mnt/mcp/12-tracker\n",
  );
  expect(JSON.parse((await crux("mcp list --json", { daemon: listing() })).out)).toEqual({
    ok: true,
    data: { mounts: MOUNTS },
  });
  expect((await crux("mcp list", { daemon: listing([]) })).out).toBe("No MCP servers are mounted.\n");
  expect((await crux("mcp list -q", { daemon: listing([]) })).out).toBe("");
});

test("mcp alone is its help", async () => {
  const { out, code, daemon } = await crux("mcp");
  expect(out).toBe((await crux("help mcp")).out);
  expect({ code, reached: daemon.reached }).toEqual({ code: 0, reached: [] });
});
