/** Daemons that die again and again soon after their start, and files that came to harm while none ran. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { statusEnd } from "../harness/confined.ts";
import { modelEnv } from "../harness/model.ts";
import { settled, World } from "../harness/world.ts";
import { text } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";

let world: World;
let server: ModelServer;
beforeEach(async () => {
  const hang = {
    when: { lastUserText: "hang" },
    reply: text("This begins and then").stall({ afterEvents: 2 }),
  };
  server = await startModelServer({ script: [hang, { default: text("Done.") }] });
  world = new World({ CRUX_SAFE_MODE_AFTER: "3", ...modelEnv(server) });
});
afterEach(async () => {
  await server.close();
  await world.close();
});

const journal = (name: string) => join(world.dir, "state/crux/journal", name);
const killDaemon = async () => {
  const pid = world.daemonPid!;
  process.kill(pid, "SIGKILL");
  await settled(
    () => existsSync(`/proc/${pid}/exe`),
    (there) => !there,
  );
};

describe("a boot loop", () => {
  it("after three deaths nothing is restored, every command says so, and --normal leaves it", async () => {
    expect((await world.crux(["-q", "-d", "hang"])).stdout).toBe("1\n");
    await world.crux(["pause", "1"]);
    for (let death = 0; death < 3; death++) {
      const { stderr } = await world.crux(["ps"]);
      expect(stderr).toBe("");
      await killDaemon();
    }
    const says =
      /^ {2}→ hint: safe mode: the daemon died again and again soon after its start, so nothing was restored; 1 agent is on record and waits \(PID 1\); crux daemon start --normal leaves it and restores them\n$/;
    const ps = await world.crux(["ps"]);
    expect(ps).toMatchObject({ code: 0, stdout: "No active processes.\n" });
    expect(ps.stderr).toMatch(says);
    const status = await world.crux(["daemon", "status"]);
    expect([status.stdout.endsWith(` | safe mode${statusEnd}\n`), says.test(status.stderr)]).toEqual([
      true,
      true,
    ]);
    expect(JSON.parse((await world.crux(["daemon", "status", "--json"])).stdout)).toMatchObject({
      data: { safe_mode: true },
    });
    expect((await world.crux(["hello"])).code).toBe(0);
    // it lasts, however the daemon ends
    await world.crux(["daemon", "restart"]);
    expect((await world.crux(["ps"])).stderr).toMatch(says);

    expect((await world.crux(["daemon", "start", "--normal"])).code).toBe(0);
    const normal = await world.crux(["ps", "--tree"]);
    expect([normal.stderr, /\bpaused\b/.test(normal.stdout)]).toEqual(["", true]);
  });
});

/** As they lie in a copy of the database, read by SQLite alone. */
function recordsOf(from: string): Row[] {
  const copy = join(world.dir, `copy-${copies++}.db`);
  for (const end of ["", "-wal"])
    if (existsSync(`${journal(from)}${end}`)) copyFileSync(`${journal(from)}${end}`, `${copy}${end}`);
  using db = new DatabaseSync(copy);
  return db.prepare("SELECT lsn, pid, seq, kind, body FROM records ORDER BY lsn").all() as unknown as Row[];
}
interface Row {
  readonly lsn: number;
  readonly pid: number;
  readonly seq: number;
  readonly kind: string;
  readonly body: string;
}
let copies = 0;

describe("a journal that came to harm while no daemon ran", () => {
  const prepare = async (runs = 3) => {
    for (let n = 0; n < runs; n++) expect((await world.crux(["-q", "hello"])).code).toBe(0);
    // what is written after the answer to a client: until then its last records count as acknowledged for nobody
    let [count, still] = [-1, 0];
    await settled(
      () => recordsOf("journal.db").length,
      (now) => {
        still = now === count ? still + 1 : 0;
        count = now;
        return still === 10;
      },
    );
  };

  it("a torn tail of the log of a daemon that was killed costs at most what was torn; all else is there", async () => {
    await prepare();
    await killDaemon();
    const before = recordsOf("journal.db");
    const { size } = statSync(journal("journal.db-wal"));
    truncateSync(journal("journal.db-wal"), size - 1000);
    const whole = recordsOf("journal.db");
    // one commit is torn; what it held had been acknowledged here, for the tail was whole
    expect(before.slice(0, whole.length)).toEqual(whole);
    const isThere = whole.some(({ pid, kind }) => pid === 2 && kind === "process.exited");
    expect([whole.length < before.length, isThere]).toEqual([true, true]);
    expect((await world.crux(["ps"])).code).toBe(0);
    const after = recordsOf("journal.db");
    expect(after.slice(0, whole.length)).toEqual(whole);
    const lost = [whole.at(-1)!.lsn + 1, before.at(-1)!.lsn];
    expect(world.log()).toContain(`records ${lost[0]} to ${lost[1]} were acknowledged and are missing`);
    for (const pid of [1, 2]) {
      expect((await world.crux(["logs", String(pid)])).stdout).toContain("Done.");
      expect((await world.crux(["replay", String(pid)])).stdout).toContain("0 differences");
    }
    expect((await world.crux(["-q", "hello"])).code).toBe(0);
    // it stays told until a person has seen to it
    const check = await world.crux(["fsck", "--full", "--json"]);
    expect(check.code).toBe(1);
    const { findings } = (JSON.parse(check.stdout) as { data: { findings: object[] } }).data;
    expect(findings).toMatchObject([{ code: "gap", severity: "damage", lsn: lost[0] }]);
    expect((await world.crux(["audit", "verify"])).code).toBe(1);
  });

  it("a bit that flipped in the log makes nobody believe that nothing is missing", async () => {
    await prepare();
    await killDaemon();
    const before = recordsOf("journal.db");
    const fd = openSync(journal("journal.db-wal"), "r+");
    const at = Math.floor(fstatSync(fd).size / 2);
    const byte = Buffer.alloc(1);
    readSync(fd, byte, 0, 1, at);
    writeSync(fd, Buffer.of(byte[0]! ^ 1), 0, 1, at);
    closeSync(fd);
    const whole = recordsOf("journal.db");
    expect(before.slice(0, whole.length)).toEqual(whole);
    expect(whole.length).toBeLessThan(before.length);
    expect((await world.crux(["ps"])).code).toBe(0);
    expect(recordsOf("journal.db").slice(0, whole.length)).toEqual(whole);
    const lost = [whole.length === 0 ? 1 : whole.at(-1)!.lsn + 1, before.at(-1)!.lsn];
    expect(world.log()).toContain(`records ${lost[0]} to ${lost[1]} were acknowledged and are missing`);
    expect((await world.crux(["-q", "hello"])).code).toBe(0);
  });

  it("one record that was changed: its process is named and not run, nine others go on, and all before it is there", async () => {
    for (let pid = 1; pid <= 10; pid++) {
      expect((await world.crux(["-q", "-d", "hang"])).stdout).toBe(`${pid}\n`);
      expect((await world.crux(["pause", String(pid)])).code).toBe(0);
    }
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    const before = recordsOf("journal.db");
    const hit = before.find(({ pid, kind, seq }) => pid === 4 && seq > 3 && kind === "process.log")!;
    const db = new DatabaseSync(journal("journal.db"));
    db.prepare("UPDATE records SET body = replace(body, 'info', 'inf0') WHERE lsn = ?").run(hit.lsn);
    db.close();
    const check = await world.crux(["fsck", "--full", "--json"]);
    expect(check.code).toBe(1);
    const { findings } = (JSON.parse(check.stdout) as { data: { findings: Record<string, unknown>[] } }).data;
    expect(findings.filter(({ severity }) => severity === "damage")).toMatchObject([
      { code: "bad_hash", pid: 4, seq: hit.seq },
    ]);
    const unreadable =
      /^✗ \[CONFLICT\] (?:PID 0 Signal: )?process 4 cannot be resumed: its history cannot be read: record \d+ .*\n {2}→ hint: crux fsck 4 /;
    // to bring them back reads them: the damaged one is held, the others go on
    for (let pid = 1; pid <= 10; pid++) {
      const { code, stderr } = await world.crux(["cont", String(pid)]);
      if (pid !== 4) expect([pid, code, stderr]).toEqual([pid, 0, ""]);
      else expect([code, stderr]).toEqual([1, expect.stringMatching(unreadable)]);
    }
    const tree = async () => (await world.crux(["ps", "--tree", "--json"])).stdout;
    const thinking = await settled(tree, (shown) => shown.split('"thinking"').length - 1 >= 9);
    expect(thinking.split('"thinking"').length - 1).toBe(9);
    const refused = await world.crux(["resume", "4"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(unreadable)]);
    const logs = await world.crux(["logs", "4"]);
    expect([logs.code, logs.stdout]).toEqual([
      0,
      expect.stringMatching(/what follows cannot be read: record \d+ .*damaged/),
    ]);
    expect(recordsOf("journal.db").slice(0, before.length)).toEqual(
      before.map((row) => (row.lsn === hit.lsn ? { ...row, body: row.body.replace("info", "inf0") } : row)),
    );
  });

  it("a flipped bit in the database is told, and nothing of it is taken for sound", async () => {
    await prepare();
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    const fd = openSync(journal("journal.db"), "r+");
    writeSync(fd, Buffer.of(0xff), 0, 1, 4096 * 2);
    closeSync(fd);
    const { code, stderr } = await world.crux(["ps"]);
    if (code !== 0) expect(stderr).toMatch(/^✗ \[UNAVAILABLE\] .*journal_damaged/);
    const check = await world.crux(["fsck", "--full"]);
    expect(check.code).not.toBe(0);
  });
});
