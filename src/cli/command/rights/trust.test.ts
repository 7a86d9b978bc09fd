/** crux trust, and the question before a run. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WireBrought, WireWorkspace } from "../../../abi/methods/trust.ts";
import { runCli } from "../../cli.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux } from "../../testing/run-command.ts";

const DIGEST = "a".repeat(64);
const SEEN = { ".crux/settings.json": DIGEST, ".mcp.json#x": DIGEST };

const WORKSPACE: WireWorkspace = {
  root: "/ws",
  trusted: false,
  session_only: false,
  main: null,
  declined: false,
  items: [
    {
      path: ".crux/settings.json",
      kind: "settings",
      digest: DIGEST,
      state: "changed",
      acts: ["allows without asking: bash", "runs at Stop: evil\u202e"],
      diff: "@@ -1 +1 @@\n-old\n+new",
    },
    { path: ".mcp.json#x", kind: "server", digest: DIGEST, state: "new", acts: ["starts: x"] },
  ],
  refused: [{ path: "CLAUDE.md", why: "a link that leads out of the workspace" }],
};

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-trust-cli-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const END = { type: "progress", payload: { event: "complete", pid: 1, exit_code: 0, result: "" } };

function daemonWith(change: Partial<WireWorkspace> = {}): FakeDaemon {
  return new FakeDaemon(
    {
      "trust.show": () => ({ ...WORKSPACE, ...change }),
      "trust.add": () => ({ root: "/ws", items: 2, session_only: false }),
      "trust.decline": () => undefined,
      "trust.remove": () => ({ root: "/ws", removed: true }),
      "trust.list": () => ({
        workspaces: [
          { root: "/ws", at: "2026-01-01T00:00:00.000Z", by: "user", items: 1, session_only: false },
        ],
      }),
      spawn: () => ({ pid: 1 }),
    },
    new Feed().push(END as never).end(),
  );
}

const asked = (daemon: FakeDaemon) => daemon.asked.filter(([method]) => method.startsWith("trust."));
const started = (daemon: FakeDaemon) => daemon.asked.some(([method]) => method === "spawn");
const bring = () => writeFileSync(join(dir, "AGENTS.md"), "x");

/** `crux go` in the folder, at a terminal; `answer` once the question is there. */
async function atTerminal(daemon: FakeDaemon, answer: (machine: ReturnType<typeof aMachine>) => void) {
  const machine = aMachine({ daemon, isTerminal: true });
  const done = runCli(["--cwd", dir, "--", "go"], machine.host);
  await machine.stderr.shows("[y/N] ");
  answer(machine);
  return { code: await done, shown: machine.stderr.text, isRaw: machine.stdin.isRaw };
}

describe("a run in a folder that brings something", () => {
  test.each([
    ["y", "trust.add"],
    ["n", "trust.decline"],
    ["\r", "trust.decline"],
    ["\x1b", "trust.decline"],
  ])("at a terminal shows it and asks: %j is %s, for exactly what was shown", async (key, method) => {
    bring();
    const daemon = daemonWith();
    const { shown, isRaw } = await atTerminal(daemon, ({ stdin }) => stdin.type(key));
    expect(asked(daemon)).toEqual([
      ["trust.show", { dir, pending: true, diff: true }],
      [method, { dir, seen: SEEN }],
    ]);
    expect(shown).toContain("/ws brings what you have not trusted:");
    expect(shown).toContain("      runs at Stop: evil\\u202e\n");
    expect(shown).toContain("      -old\n      +new\n");
    expect(shown).toContain("  .mcp.json#x (MCP server)\n      starts: x\n");
    expect([started(daemon), isRaw]).toEqual([true, false]);
  });

  test("h trusts for an hour where trust does not last, and is a no where it does", async () => {
    bring();
    const [short, long] = [daemonWith({ session_only: true }), daemonWith()];
    const { shown } = await atTerminal(short, ({ stdin }) => stdin.type("h"));
    expect(asked(short)[1]).toEqual(["trust.add", { dir, seen: SEEN, hour: true }]);
    expect(shown).toContain("[y/N] for an hour\n");
    await atTerminal(long, ({ stdin }) => stdin.type("h"));
    expect(asked(long)[1]?.[0]).toBe("trust.decline");
  });

  test("Ctrl-C at the question starts nothing and decides nothing", async () => {
    bring();
    const daemon = daemonWith();
    const { code } = await atTerminal(daemon, ({ stdin }) => stdin.type("\x03"));
    expect([code, started(daemon), asked(daemon).length]).toEqual([130, false, 1]);
    expect(daemon.openConnections).toBe(0);
  });

  test("who said no is told in a line, and not asked", async () => {
    bring();
    const daemon = daemonWith({ declined: true, root: "/it's my $HOME" });
    const machine = aMachine({ daemon, isTerminal: true });
    await runCli(["--cwd", dir, "--", "go"], machine.host);
    expect(machine.stderr.text).toContain("! left out, not trusted: 1 settings, 1 MCP server");
    // as a shell takes it
    expect(machine.stderr.text).toContain("crux trust '/it'\\''s my $HOME'\n");
    expect(machine.stderr.text).not.toContain("[y/N]");
    expect(asked(daemon)).toHaveLength(1);
  });

  test.each([["go"], ["-q go"], ["--json go"], ["-d go"]])(
    "without a terminal one line on stderr: crux %s",
    async (line) => {
      bring();
      const daemon = daemonWith();
      const { err, out } = await crux(`--cwd ${dir} ${line}`, { daemon, stdin: "" });
      const all = "! left out, not trusted: 1 settings, 1 MCP server (.crux/settings.json, .mcp.json#x).";
      expect(err).toContain(`${all} To look and to trust: crux trust /ws\n`);
      expect(out).not.toContain("left out");
      expect([asked(daemon).length, started(daemon)]).toEqual([1, true]);
    },
  );

  test("nobody is asked for what only forbids; beside something else it is shown, and a no is not to it", async () => {
    bring();
    const path = ".crux/settings.local.json";
    const holds: WireBrought = { path, kind: "settings", digest: DIGEST, state: "holds", acts: [] };
    const alone = aMachine({ daemon: daemonWith({ items: [holds] }), isTerminal: true });
    expect(await runCli(["--cwd", dir, "--", "go"], alone.host)).toBe(0);
    expect(alone.stderr.text).not.toMatch(/left out|trust/);
    const items = [...WORKSPACE.items, holds];
    const [yes, no] = [daemonWith({ items }), daemonWith({ items })];
    const { shown } = await atTerminal(yes, ({ stdin }) => stdin.type("y"));
    expect(shown).toContain("  .crux/settings.local.json (settings, only forbids, holds already)\n");
    expect(asked(yes)[1]).toEqual(["trust.add", { dir, seen: { ...SEEN, [path]: DIGEST } }]);
    await atTerminal(no, ({ stdin }) => stdin.type("n"));
    expect(asked(no)[1]).toEqual(["trust.decline", { dir, seen: SEEN }]);
    const { err } = await crux(`--cwd ${dir} go`, { daemon: daemonWith({ items }), stdin: "" });
    expect(err).toContain("(.crux/settings.json, .mcp.json#x).");
  });

  test("--trust trusts it without a question", async () => {
    const daemon = daemonWith();
    const { err } = await crux(`--cwd ${dir} --trust go`, { daemon, stdin: "" });
    expect(asked(daemon)[1]).toEqual(["trust.add", { dir, seen: SEEN }]);
    expect(err).not.toContain("left out");
  });

  test("nothing to trust, nothing asked; nothing there, the daemon is not asked either", async () => {
    bring();
    const trusted = daemonWith({ trusted: true, items: [] });
    expect((await crux(`--cwd ${dir} go`, { daemon: trusted, stdin: "" })).err).not.toContain("left out");
    rmSync(join(dir, "AGENTS.md"));
    mkdirSync(join(dir, "sub"));
    const daemon = daemonWith();
    await crux(`--cwd ${join(dir, "sub")} go`, { daemon, stdin: "" });
    expect(asked(daemon)).toEqual([]);
  });
});

describe("crux trust", () => {
  test("shows and trusts; without a terminal, or with --yes, it asks nothing", async () => {
    const daemon = daemonWith();
    const { out, code } = await crux(`trust ${dir}`, { daemon, stdin: "" });
    expect(code).toBe(0);
    expect(out).toContain("[kernel] /ws: trusted\n  .crux/settings.json (settings, changed)\n");
    expect(out).toContain("CLAUDE.md: stays off: a link that leads out of the workspace");
    expect(asked(daemon)[1]).toEqual(["trust.add", { dir, seen: SEEN }]);
    const { daemon: other } = await crux(`trust -y ${dir}`, { daemon: daemonWith(), isTerminal: true });
    expect(asked(other)[1]?.[0]).toBe("trust.add");
  });

  test.each([
    [{}, "/ws brings what you have not trusted:"],
    [{ items: [] }, "/ws is not trusted. Nothing in it would act now."],
  ])("at a terminal it asks, and a no is exit code 1: %j", async (change, words) => {
    const daemon = daemonWith({ trusted: false, ...change });
    const machine = aMachine({ daemon, isTerminal: true });
    const done = runCli(["trust", dir], machine.host);
    await machine.stderr.shows("[y/N] ");
    expect(machine.stderr.text).toContain(`${words}\n`);
    machine.stdin.type("n");
    expect(await done).toBe(1);
    expect(asked(daemon)).toHaveLength(1);
  });

  test.each([
    ["trust show /ws", "trust.show", { dir: "/ws" }],
    ["trust diff /ws", "trust.show", { dir: "/ws", diff: true }],
    ["trust remove /ws", "trust.remove", { dir: "/ws" }],
    ["trust list", "trust.list", {}],
    ["trust show", "trust.show", { dir: "/home/me/project" }],
  ])("%s asks %s", async (line, method, payload) => {
    const daemon = daemonWith();
    const { code } = await crux(line, { daemon });
    expect([code, daemon.asked]).toEqual([0, [[method, payload]]]);
  });

  test.each([
    ["trust list -q", "/ws\n"],
    ["trust list", "/ws  since 2026-01-01T00:00:00.000Z, 1 item\n"],
    ["trust remove /ws", "[kernel] /ws is trusted no longer\n"],
    ["trust remove /ws --json", '{"ok": true, "data": {"root": "/ws", "removed": true}}\n'],
    ["trust show -q /ws", ".crux/settings.json\n.mcp.json#x\n"],
  ])("%s prints %j", async (line, out) => {
    expect((await crux(line, { daemon: daemonWith() })).out).toBe(out);
  });

  test.each([
    ["trust a b", "one folder at a time"],
    ["trust list a", "unknown argument: a"],
    ["trust show -y", "--yes is for crux trust"],
  ])("%s is INVALID: %s", async (line, words) => {
    const { err, code } = await crux(line, { daemon: daemonWith() });
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
  });
});
