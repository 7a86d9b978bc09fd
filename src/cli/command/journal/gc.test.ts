import { expect, test } from "vitest";
import type { CollectWire } from "../../../abi/journal/wire.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const REPORT: CollectWire = {
  processes: [{ pid: 12, proc: "00000012-0000-4000-8000-000000000000", reason: "age" }],
  records: 1204,
  blobs: 2,
  bytes: 5 * 1024 * 1024,
  usage: {
    database_bytes: 100 * 1024 * 1024,
    reusable_bytes: 1536,
    blob_bytes: 0,
    blobs: 0,
    records: 9,
    processes: 1,
    max_bytes: 20 * 1024 ** 3,
    free_bytes: 1024 ** 4,
  },
};
const answering = (report: CollectWire) =>
  new FakeDaemon({}, new Feed().push({ type: "complete", payload: report }).end());

test("gc tells what went and what the journal takes", async () => {
  const { out, err, code, daemon } = await crux("gc", { daemon: answering(REPORT) });
  expect(out).toBe(
    "[gc] removed: 1 history (1,204 records), 2 blobs, about 5.0 MiB\n" +
      "[gc] the journal takes 100.0 MiB of 20.0 GiB (0 %); 1.5 KiB in its file are free for what comes next; the disk has 1.0 TiB free\n",
  );
  expect([err, code]).toEqual(["", 0]);
  expect(daemon.asked).toEqual([["journal.collect", { dry_run: false }]]);
});

test("gc --dry-run lists what would go", async () => {
  const { out, daemon } = await crux("gc --dry-run", { daemon: answering(REPORT) });
  expect(out).toMatch(/^ {2}pid 12 {2}00000012-\S+ {2}old\n\[gc\] would go: 1 history/);
  expect(daemon.asked).toEqual([["journal.collect", { dry_run: true }]]);
  expect((await crux("gc -q", { daemon: answering(REPORT) })).out).toBe("12\n");
  expect(JSON.parse((await crux("gc --json", { daemon: answering(REPORT) })).out)).toEqual({
    ok: true,
    data: { dry_run: false, ...REPORT },
  });
});

test("gc warns when the journal is nearly full, beside what a script reads", async () => {
  const usage = { ...REPORT.usage, max_bytes: 120 * 1024 * 1024 };
  const { err } = await crux("gc --json", { daemon: answering({ ...REPORT, usage }) });
  expect(err).toMatch(/^\[gc\] 83 % of journal\.maxBytes are used/);
});

test("gc takes no words", async () => {
  expect(await crux("gc now")).toMatchObject({ code: 1, err: expect.stringContaining("[INVALID]") });
});
