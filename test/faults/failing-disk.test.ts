/** A disk that lies: a sync that fails ends the daemon, a write that fails is waited out. Nothing acknowledged is lost by either. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "../harness/model.ts";
import { type Running, settled, World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { Injection, noStrace } from "./strace.ts";

const reason = noStrace();
const STEPS = 5;
let world: World;
let server: ModelServer;
let injection: Injection | undefined;
beforeEach(async () => {
  const step = (n: number, more = "") =>
    toolUse({ name: "bash", input: { command: `echo ${n} >> steps.txt${more}` } });
  const waits = step(1, "; until [ -e go ]; do sleep 0.05; done");
  const later = Array.from({ length: STEPS - 1 }, (_, n) => step(n + 2));
  server = await startModelServer({ script: [{ default: inTurn(waits, ...later, text("All done.")) }] });
  world = new World(modelEnv(server));
});
afterEach(async () => {
  await injection?.end();
  injection = undefined;
  await world.close();
  await server.close();
});

const daemon = async (): Promise<Running> => {
  const running = world.start(["daemon", "--internal"]);
  await settled(
    () => world.daemonPid,
    (pid) => pid !== undefined,
  );
  return running;
};
const steps = () => (existsSync(join(world.work, "steps.txt")) ? world.file("steps.txt") : "");
const work = () => world.start(["--permission-mode", "bypass", "do the work"]);

describe.skipIf(reason !== undefined)(
  `a failing disk${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    it("a sync that fails: nothing more is acknowledged, all ends, exit 74; the next daemon has what was acknowledged", async () => {
      const running = await daemon();
      const pid = world.daemonPid!;
      const run = work();
      await settled(steps, (done) => done === "1\n");
      injection = await Injection.start(pid, "fdatasync,fsync", "EIO");
      const refused = await world.crux(["-q", "-d", "more work"]);
      expect([refused.code, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toMatch(/^✗ \[UNAVAILABLE\] .*journal_sync_failed: /);
      expect(refused.stderr).toMatch(/→ hint: /);
      expect((await running.done).code).toBe(74);
      // who followed it hears why it ended, and no exit of it
      const { code, stdout, stderr } = await run.done;
      expect(code).not.toBe(0);
      expect(stdout + stderr).toContain("journal_sync_failed");
      expect(await world.left(0)).toEqual([]);
      expect(world.log()).toMatch(/ error stopping: journal_sync_failed: .*\n/);
      expect(existsSync(join(world.dir, "run/crux/crux.pid"))).toBe(false);

      expect((await world.crux(["ps"])).code).toBe(0);
      expect((await world.crux(["logs", "1"])).stdout).toContain("reasoning step 1");
      expect((await world.crux(["daemon", "stop"])).code).toBe(0);
      using db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
      expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      const spawned = db.prepare("SELECT pid FROM records WHERE kind = 'process.spawned'").all();
      expect(spawned).toContainEqual({ pid: 1 });
    });

    it("a write that fails: agents pause, and go on when the disk takes writes again; each step once", async () => {
      const running = await daemon();
      const run = work();
      await settled(steps, (done) => done === "1\n");
      injection = await Injection.start(
        world.daemonPid!,
        "pwrite64",
        "EROFS",
        join(world.dir, "state/crux/journal/journal.db-wal"),
      );
      world.write("go", "");
      const tree = async () => (await world.crux(["ps", "--tree"])).stdout;
      expect(await settled(tree, (shown) => /\bpaused\b/.test(shown))).toMatch(/\bpaused\b/);
      expect((await world.crux(["logs", "1"])).stdout).toMatch(
        /paused: journal_\w+: .*; it resumes by itself/,
      );
      const refused = await world.crux(["-q", "-d", "more work"]);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/^✗ \[UNAVAILABLE\] .*nothing was begun\n {2}→ hint: /);
      await injection.end();
      const { code, stdout } = await run.done;
      expect([code, stdout.includes("All done.")]).toEqual([0, true]);
      expect(steps()).toBe(Array.from({ length: STEPS }, (_, n) => `${n + 1}\n`).join(""));
      expect((await world.crux(["daemon", "stop"])).code).toBe(0);
      expect((await running.done).code).toBe(0);
    });
  },
);

it("a daemon that is idle uses next to no processor", async () => {
  await world.crux(["ps"]);
  const ticks = () => {
    const stat = readFileSync(`/proc/${world.daemonPid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  };
  const usedIn4s = async () => {
    const before = ticks();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    return ticks() - before;
  };
  // once what comes after the start is over
  expect(await settled(usedIn4s, (used) => used < 20)).toBeLessThan(20);
});
