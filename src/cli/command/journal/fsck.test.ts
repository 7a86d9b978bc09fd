import { expect, test } from "vitest";
import type { CheckWire } from "../../../abi/journal/wire.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { runCli } from "../../cli.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux } from "../../testing/run-command.ts";

const CLEAN: CheckWire = { processes: 3, records: 1204, blobs: 2, elapsed_ms: 412, findings: [] };
const DAMAGE: CheckWire = {
  ...CLEAN,
  findings: [
    {
      code: "bad_hash",
      severity: "damage",
      pid: 3,
      seq: 41,
      lsn: 1201,
      detail: "its hash does not follow",
      repair: "cut pid 3 after its record 40",
    },
    {
      code: "open_intent",
      severity: "notice",
      pid: 4,
      seq: 7,
      lsn: 99,
      detail: "call c_1 has \x1b[2J no result",
    },
  ],
};
const REPAIRED: CheckWire = {
  ...CLEAN,
  repaired: { findings: DAMAGE.findings, quarantine: "/q/1", done: ["pid 3: 2 records were cut"] },
};

const told = (report: CheckWire): WireStreamLine => ({ type: "complete", payload: report });
/** A daemon that runs, or what the check without one prints. */
const asked = (report: CheckWire) =>
  new FakeDaemon({ "kernel.status": () => ({ os_pid: 77 }) }, new Feed().push(told(report)).end());
function offline(...lines: WireStreamLine[]): FakeDaemon {
  const daemon = new FakeDaemon();
  daemon.isRunning = false;
  daemon.offlineFeed = new Feed().push(...lines).end();
  return daemon;
}

test.each([
  ["", "[fsck] 3 processes, 1,204 records checked in 0.4s: clean\n"],
  ["--full", "[fsck] 3 processes, 1,204 records, 2 blobs checked in 0.4s: clean\n"],
  ["-q", ""],
  [
    "--json",
    '{"ok": true, "data": {"processes": 3, "records": 1204, "blobs": 2, "elapsed_ms": 412, "findings": []}}\n',
  ],
])("fsck %s of a journal that is whole is 0", async (flags, screen) => {
  const run = await crux(`fsck ${flags}`, { daemon: asked(CLEAN) });
  expect(run).toMatchObject({ out: screen, err: "", code: 0 });
  expect(run.daemon.reached).toEqual(["find"]);
  expect(run.daemon.openConnections).toBe(0);
});

test("fsck tells each finding, what would be done, and is 1; nothing of it steers the terminal", async () => {
  const { out, code } = await crux("fsck", { daemon: asked(DAMAGE) });
  expect(out.split("\n")).toEqual([
    "✗ bad_hash             pid 3, record 41, lsn 1201: its hash does not follow",
    "                       → repair: cut pid 3 after its record 40",
    "· open_intent          pid 4, record 7, lsn 99: call c_1 has \\x1b[2J no result",
    "[fsck] 3 processes, 1,204 records checked in 0.4s: 1 damaged, 1 notice",
    "[fsck] crux fsck --repair does what is named; the daemon must be stopped",
    "",
  ]);
  expect(code).toBe(1);
  expect(await crux("fsck -q", { daemon: asked(DAMAGE) })).toMatchObject({ out: "bad_hash 3 41\n", code: 1 });
});

test("fsck starts no daemon: where none runs it looks by itself", async () => {
  const { daemon, code } = await crux("fsck --full 3", { daemon: offline(told(CLEAN)) });
  expect(daemon.reached).toEqual(["find", "offline"]);
  expect(daemon.asked).toEqual([["offline", ["--full", "3"]]]);
  expect(code).toBe(0);
});

test("fsck --repair --yes tells what was done and is 2", async () => {
  const { out, code, daemon } = await crux("fsck --repair --yes", { daemon: offline(told(REPAIRED)) });
  expect(out).toContain(
    "[fsck] repaired: pid 3: 2 records were cut\n[fsck] what was touched is kept in /q/1\n",
  );
  expect(code).toBe(2);
  expect(daemon.asked).toEqual([["offline", ["--repair"]]]);
});

test("fsck --repair beside a daemon is CONFLICT, names it, and is 3", async () => {
  const { err, code, daemon } = await crux("fsck --repair --yes", { daemon: asked(DAMAGE) });
  expect(err).toBe(
    "✗ [CONFLICT] a daemon (PID 77) has the journal open: nothing is repaired beside it\n  → hint: crux daemon stop\n",
  );
  expect(code).toBe(3);
  expect(daemon.openConnections).toBe(0);
});

test("fsck --repair without --yes asks nobody in a pipe", async () => {
  const { err, code, daemon } = await crux("fsck --repair", { daemon: offline(told(DAMAGE)), stdin: "" });
  expect(err).toMatch(/^✗ \[INVALID\] --repair needs --yes/);
  expect([code, daemon.asked]).toEqual([3, []]);
});

test("fsck --repair on a terminal shows what it would do, and without a yes does nothing", async () => {
  const daemon = offline(told(DAMAGE));
  const { host, stdout, stdin } = aMachine({ daemon, isTerminal: true });
  const done = runCli(["fsck", "--repair"], host);
  await stdout.shows("[N]o ");
  let isOver = false;
  void done.then(() => {
    isOver = true;
  });
  // what is typed too soon is not taken for an answer
  while (!isOver) {
    stdin.type("n");
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await done).toBe(3);
  expect(daemon.asked).toEqual([["offline", []]]);
  expect(stdout.text).toContain("cut pid 3 after its record 40");
});

test("a check that breaks off, or says that it cannot, is 3", async () => {
  const error = { code: "CONFLICT", message: "a daemon (PID 9) has the journal open" };
  const refused = await crux("fsck", { daemon: offline({ type: "error", payload: error }) });
  expect(refused).toMatchObject({ code: 3, err: "✗ [CONFLICT] a daemon (PID 9) has the journal open\n" });
  expect((await crux("fsck", { daemon: offline() })).code).toBe(3);
});

test("Ctrl-C ends a check, on a terminal after it was told how far it was", async () => {
  const feed = new Feed().push({ type: "progress", payload: { records: 12_000 } });
  const daemon = new FakeDaemon({}, feed);
  const { host, stderr, interrupt } = aMachine({ daemon, isTerminal: true });
  const done = runCli(["fsck", "--full"], host);
  await stderr.shows("12,000 records");
  interrupt();
  expect(await done).toBe(3);
  expect(stderr.text).toContain("[CANCELLED]");
  expect(daemon.openConnections).toBe(0);
});

test.each(["fsck x", "fsck 1 --nothing"])("%s is INVALID and asks nobody", async (line) => {
  const { err, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\]/);
  expect(daemon.reached).toEqual([]);
});
