import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { VerifyWire } from "../../../abi/journal/wire.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const dir = mkdtempSync(join(tmpdir(), "crux-audit-"));
afterAll(() => rmSync(dir, { recursive: true }));

const ROOT = { lsn: 40, root: "ab".repeat(32), previous: "", at: 0 };
const HOLDS: VerifyWire = {
  records: 1204,
  processes: 3,
  anchors: 1,
  unchecked_anchors: 0,
  last_anchor: ROOT,
  broken: null,
  elapsed_ms: 412,
};
const broken = { code: "bad_hash", severity: "damage", pid: 3, seq: 4, lsn: 9, detail: "edited" } as const;
const answering = (report: VerifyWire) =>
  new FakeDaemon({}, new Feed().push({ type: "complete", payload: report }).end());

test("audit verify tells that the chain holds, with the last root", async () => {
  const { out, code, daemon } = await crux("audit verify", { daemon: answering(HOLDS) });
  expect(out).toBe(
    `[audit] the chain holds: 3 processes, 1,204 records, 1 root in 0.4s\n[audit] last root ${ROOT.root} over lsn 1 to 40\n`,
  );
  expect(code).toBe(0);
  expect(daemon.asked).toEqual([["journal.verify", {}]]);
  expect((await crux("audit verify -q", { daemon: answering(HOLDS) })).out).toBe("");
});

test("audit verify names the first broken record and is 1", async () => {
  const { out, code } = await crux("audit verify", { daemon: answering({ ...HOLDS, broken }) });
  expect(out).toMatch(/^✗ broken: bad_hash: pid 3, record 4, lsn 9: edited\n/);
  expect(code).toBe(1);
  const json = await crux("audit verify --json", { daemon: answering({ ...HOLDS, broken }) });
  expect(JSON.parse(json.out)).toMatchObject({ data: { broken } });
});

test("audit roots prints what --against reads", async () => {
  const feed = new Feed().push({ type: "record", payload: ROOT }, { type: "eof" }).end();
  const { out } = await crux("audit roots --json", { daemon: new FakeDaemon({}, feed) });
  const file = join(dir, "roots.ndjson");
  writeFileSync(file, `${out}\n`);
  const { daemon, code } = await crux(["audit", "verify", "--against", file], { daemon: answering(HOLDS) });
  expect(daemon.asked).toEqual([["journal.verify", { against: [ROOT] }]]);
  expect(code).toBe(0);
});

test.each([
  ["no JSON", "roots\n", /:1: not a root/],
  ["no hash", `${JSON.stringify(ROOT)}\n${JSON.stringify({ ...ROOT, root: "x" })}\n`, /:2: not a root/],
  ["nothing", "\n", /has no roots/],
])(
  "audit verify --against a file with %s is INVALID, names the line, and is 3",
  async (_what, content, words) => {
    const file = join(dir, "bad.ndjson");
    writeFileSync(file, content);
    const { err, code, daemon } = await crux(["audit", "verify", "--against", file]);
    expect(err).toMatch(words);
    expect([code, daemon.reached]).toEqual([3, []]);
  },
);

test.each(["audit", "audit check", "audit roots x"])("%s is INVALID and reaches no daemon", async (line) => {
  const { err, daemon, code } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\]/);
  expect([code, daemon.reached]).toEqual([1, []]);
});
