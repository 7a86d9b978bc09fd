/** Daemons that die again and again soon after their start, and files that came to harm while none ran. */
import { closeSync, existsSync, fstatSync, openSync, readSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
    5_000,
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
      /^ {2}→ hint: safe mode: the daemon died again and again soon after its start, so nothing was restored; crux daemon start --normal leaves it\n$/;
    const ps = await world.crux(["ps"]);
    expect(ps).toMatchObject({ code: 0, stdout: "No active processes.\n" });
    expect(ps.stderr).toMatch(says);
    const status = await world.crux(["daemon", "status"]);
    expect([status.stdout.endsWith(" | safe mode\n"), says.test(status.stderr)]).toEqual([true, true]);
    expect(JSON.parse((await world.crux(["daemon", "status", "--json"])).stdout)).toMatchObject({
      data: { safe_mode: true },
    });
    expect((await world.crux(["hello"])).code).toBe(0);
    // it lasts, however the daemon ends
    await world.crux(["daemon", "restart"]);
    expect((await world.crux(["ps"])).stderr).toMatch(says);

    expect((await world.crux(["daemon", "start", "--normal"])).code).toBe(0);
    const normal = await world.crux(["ps", "--tree"]);
    expect([normal.stderr, /running\/paused/.test(normal.stdout)]).toEqual(["", true]);
  });
});

describe("a journal that came to harm while no daemon ran", () => {
  const prepare = async () => {
    for (let n = 0; n < 3; n++) expect((await world.crux(["-q", "hello"])).code).toBe(0);
  };

  it("a torn tail of the log of a daemon that was killed costs at most what was torn; all else is there", async () => {
    await prepare();
    await killDaemon();
    const fd = openSync(journal("journal.db-wal"), "r+");
    const { size } = fstatSync(fd);
    closeSync(fd);
    truncateSync(journal("journal.db-wal"), size - 1000);
    expect((await world.crux(["ps"])).code).toBe(0);
    expect((await world.crux(["logs", "1"])).stdout).toContain("Done.");
    expect((await world.crux(["-q", "hello"])).code).toBe(0);
  });

  it("a bit that flipped in the log makes nobody believe that nothing is missing", async () => {
    await prepare();
    await killDaemon();
    const fd = openSync(journal("journal.db-wal"), "r+");
    const at = Math.floor(fstatSync(fd).size / 2);
    const byte = Buffer.alloc(1);
    readSync(fd, byte, 0, 1, at);
    writeSync(fd, Buffer.of(byte[0]! ^ 1), 0, 1, at);
    closeSync(fd);
    expect((await world.crux(["ps"])).code).toBe(0);
    expect(world.log()).toMatch(/ (warn|error) .*(missing|acknowledged)/);
    expect((await world.crux(["-q", "hello"])).code).toBe(0);
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
