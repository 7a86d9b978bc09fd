import { expect, test } from "vitest";
import type { JournalLine } from "../../../abi/journal/line.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { runCli } from "../../cli.ts";
import { journalLine } from "../../screen/journal-line.ts";
import { PLAIN } from "../../screen/text/paint.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux } from "../../testing/run-command.ts";

const aLine = (kind: string, body: unknown, more: Partial<JournalLine> = {}): JournalLine => ({
  ...{ lsn: 9, seq: 4, epoch: 1, proc: "p", pid: 3, kind, v: 1, at: 0, mono: 0, hash: "00", body },
  ...more,
});
const sent = (line: JournalLine): WireStreamLine => ({
  type: "record",
  payload: { text: JSON.stringify(line) },
});
const EOF: WireStreamLine = { type: "eof" };
const reading = (...lines: WireStreamLine[]) => new FakeDaemon({}, new Feed().push(...lines).end());

test.each([
  ["process.spawned", { agent: "coder", kind: "agent", intent: "fix\nit" }, "coder: fix\\nit"],
  [
    "call.intent",
    { tool: "bash", device: "/dev/shell", effects: [{ kind: "exec", argv: [], shell: "npm test" }] },
    "bash  /dev/shell  exec npm test",
  ],
  ["call.result", { ok: true, cost: { tokens: 12 } }, "done, 12 tokens"],
  ["call.result", { ok: false, code: "TIMEOUT", message: "too slow" }, "TIMEOUT: too slow"],
  ["ctx.record", { role: "assistant", content: "\x1b]0;x\x07hello" }, "assistant: \\x1b]0;x\\x07hello"],
  ["signal", { signal: 4, disposition: "default" }, "SIGPAUSE: default"],
  ["process.exited", { code: 2, reason: "budget_exceeded", tokensUsed: 7 }, "2 budget_exceeded, 7 tokens"],
  ["journal.tombstone", { pid: 8, seq: 40 }, "pid 8: 40 records removed"],
  ["something.new", { a: 1 }, ""],
  ["ctx.record", null, ""],
])("a line of %s tells its essence, and cannot steer the terminal", (kind, body, essence) => {
  const line = journalLine(aLine(kind, body), PLAIN, false);
  expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {5}4 {2}/);
  expect(line.slice(27)).toBe(`${kind.padEnd(18)} ${essence}`.trimEnd());
});

test("journal prints a line a record, --json each as it is stored, put together from its pieces", async () => {
  const line = aLine("ctx.record", { role: "user", content: "hi" });
  const text = JSON.stringify(line);
  const pieces: WireStreamLine[] = [
    { type: "record", payload: { text: text.slice(0, 20), more: true } },
    { type: "record", payload: { text: text.slice(20) } },
  ];
  expect((await crux("journal 3", { daemon: reading(...pieces, EOF) })).out).toMatch(
    /ctx\.record +user: hi\n$/,
  );
  expect((await crux("journal 3 --json", { daemon: reading(...pieces, EOF) })).out).toBe(`${text}\n`);
});

test("journal asks for what its flags say", async () => {
  const askedFor = async (line: string) => (await crux(line, { daemon: reading(EOF) })).daemon.asked;
  expect(await askedFor("journal 3 -n 5 --kind signal -f")).toEqual([
    ["journal.read", { process: "3", last: 5, kind: "signal", follow: true }],
  ]);
  const uuid = "00000001-0000-4000-8000-000000000000";
  expect(await askedFor(`journal ${uuid} --from 7`)).toEqual([["journal.read", { process: uuid, from: 7 }]]);
});

test("journal of one that is not known is the daemon's NOT_FOUND", async () => {
  const daemon = new FakeDaemon({
    "journal.read": () => Promise.reject(Object.assign(new Error("no history of process 3"))),
  });
  expect(await crux("journal 3", { daemon })).toMatchObject({
    code: 1,
    err: expect.stringContaining("no history"),
  });
});

test("journal -f ends with Ctrl-C, and well", async () => {
  const daemon = new FakeDaemon({}, new Feed().push(sent(aLine("signal", { signal: 1 }))));
  const { host, stdout, stderr, interrupt } = aMachine({ daemon });
  const done = runCli(["journal", "3", "-f"], host);
  await stdout.shows("SIGTERM");
  interrupt();
  expect(await done).toBe(0);
  expect([stderr.text, daemon.openConnections]).toEqual(["", 0]);
});

test("a journal that breaks off is an error", async () => {
  const run = await crux("journal 3", { daemon: reading(sent(aLine("signal", {}))) });
  expect(run).toMatchObject({ code: 1, err: expect.stringContaining("[UNAVAILABLE]") });
});

test.each(["journal", "journal x", "journal 1 2", "journal 1 -n few"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\]/);
    expect(daemon.reached).toEqual([]);
  },
);
