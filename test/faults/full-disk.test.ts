/** A disk that is full in the middle of an agent's work: it pauses, says so, and goes on when there is room. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "../harness/model.ts";
import { settled } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { noSandbox, Sandbox } from "./sandbox.ts";

const reason = noSandbox();
const STEPS = 8;
const step = (n: number, more = "") =>
  toolUse({ name: "bash", input: { command: `echo ${n} >> steps.txt${more}` } });

let server: ModelServer;
let box: Sandbox;
beforeEach(async () => {
  const waits = step(1, "; until [ -e go ]; do sleep 0.05; done");
  const later = Array.from({ length: STEPS - 1 }, (_, n) => step(n + 2));
  server = await startModelServer({ script: [{ default: inTurn(waits, ...later, text("All done.")) }] });
  box = new Sandbox(48 * 1024 * 1024, modelEnv(server));
});
afterEach(async () => {
  await box.close();
  await server.close();
});

const log = () => box.sh(`cat ${box.state}/crux/daemon.log`);
const steps = () => readFileSync(join(box.work, "steps.txt"), "utf8");
const isPaused = async () => /\bpaused\b/.test((await box.crux("ps", "--tree")).stdout);

describe.skipIf(reason !== undefined)(
  `on a full disk${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    it("an agent pauses, crux ps shows it, space is freed, and it finishes: each step once, nothing lost", async () => {
      const run = box.crux("--permission-mode", "bypass", "--max-steps", "20", "do the work");
      await settled(
        () => server.requestCount,
        (count) => count > 0,
      );
      await settled(async () => (await box.sh("cat steps.txt")) === "1\n", Boolean);
      await box.fill();
      writeFileSync(join(box.work, "go"), "");
      expect(await settled(isPaused, Boolean)).toBe(true);
      const before = steps();

      // a person sees what is wrong, and is not taken on
      const { stdout: logs } = await box.crux("logs", "1");
      expect(logs).toMatch(
        /paused: journal_full: no space for the journal at \S+journal\.db \(.* free, .* needed\); it resumes by itself/,
      );
      const refused = await box.crux("-d", "more work");
      expect([refused.code, refused.stdout]).toEqual([1, ""]);
      expect(refused.stderr).toMatch(
        /^✗ \[UNAVAILABLE\] .*journal_full: no space for the journal at .*; nothing was begun\n {2}→ hint: free some space on the file system of \S+\n/,
      );
      expect((await box.crux("ps", "--json", "-v")).stdout).toContain('"paused"');

      // it waits, and does not spin
      const usedIn6s = async () => {
        const ticks = await box.daemonTicks();
        await box.sh("sleep 6");
        return (await box.daemonTicks()) - ticks;
      };
      // on a slow machine it is yet at what was asked of it above
      expect(await settled(usedIn6s, (used) => used < 60)).toBeLessThan(60);
      expect([steps(), await isPaused()]).toEqual([before, true]);

      await box.sh(`rm ${box.state}/filler`);
      const { code, stdout, stderr } = await run;
      expect([code, stderr]).toEqual([0, expect.anything()]);
      expect(stdout).toContain("All done.");
      expect(steps()).toBe(Array.from({ length: STEPS }, (_, n) => `${n + 1}\n`).join(""));
      expect(await log()).toMatch(/ info the journal is writable again after \d+ s\n/);
      expect((await box.crux("-d", "more work")).code).toBe(0);
      expect((await box.crux("daemon", "stop")).code).toBe(0);

      // the next daemon finds it all: the exit, each call with its result, how long the disk was full
      expect((await box.crux("ps")).stdout).toBe("No active processes.\n");
      expect((await box.crux("daemon", "stop")).code).toBe(0);
      await box.sh(`cp -r ${box.state}/crux/journal ${box.dir}/copy`);
      using db = new DatabaseSync(join(box.dir, "copy/journal.db"));
      expect(db.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      expect(db.prepare("SELECT * FROM open_calls").all()).toEqual([]);
      const kinds = db
        .prepare("SELECT kind FROM records WHERE pid = 1")
        .all()
        .map(({ kind }) => kind);
      const count = (kind: string) => kinds.filter((each) => each === kind).length;
      // each step is a call of the model and one of its tool; at the end one of the model
      expect([count("call.intent"), count("call.result"), count("process.exited")]).toEqual([17, 17, 1]);
      const degraded = db.prepare("SELECT body FROM records WHERE kind = 'journal.degraded'").all();
      expect(degraded.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
        { reason: "journal_full" },
      ]);
    });

    it("kill ends a paused agent for good, also when the daemon dies on the full disk, and the daemon stops", async () => {
      void box.crux("-d", "--permission-mode", "bypass", "do the work");
      await settled(async () => (await box.sh("cat steps.txt")) === "1\n", Boolean);
      await box.fill();
      writeFileSync(join(box.work, "go"), "");
      expect(await settled(isPaused, Boolean)).toBe(true);
      // blocks were set aside for that: it is recorded, and sticks
      expect(await box.crux("kill", "1")).toMatchObject({ code: 0, stderr: "" });
      expect(await settled(async () => !(await isPaused()), Boolean)).toBe(true);
      const ended = async () => (await box.crux("wait", "1", "--json")).stdout;
      const killed = expect.stringContaining('"exit_code": 143, "reason": "killed: SIGTERM"');
      expect(await ended()).toEqual(killed);

      // also over a death of the daemon, while the disk is full and when there is room again
      await box.sh(`kill -9 $(cat ${box.dir}/run/crux/crux.pid)`);
      expect(await ended()).toEqual(killed);
      await box.sh(`rm ${box.state}/filler`);
      const folded = async () => {
        await box.crux("ps");
        return /ends that a full disk/.test(await log());
      };
      expect(await settled(folded, Boolean)).toBe(true);
      expect((await box.crux("ps")).stdout).toBe("No active processes.\n");
      expect(await ended()).toEqual(killed);
      expect((await box.crux("fsck", "--full")).code).toBe(0);
      expect((await box.crux("daemon", "stop")).code).toBe(0);
    });

    it("a program whose output must not be dropped waits for the disk, and every byte arrives", async () => {
      const lines = 200_000;
      const script = `echo up; until [ -e go ]; do sleep 0.05; done; seq ${lines}; : > printed`;
      const run = box.crux("exec", "--", "sh", "-c", script);
      await settled(async () => /sh -c/.test((await box.crux("ps", "--tree")).stdout), Boolean);
      await box.fill();
      writeFileSync(join(box.work, "go"), "");
      // its pipe is full, and nothing more is taken from it
      await box.sh("sleep 3");
      expect(await box.sh("ls printed 2>/dev/null")).toBe("");
      await box.sh(`rm ${box.state}/filler`);
      const { code, stdout } = await run;
      const wanted = ["up", ...Array.from({ length: lines }, (_, n) => n + 1), ""].join("\n");
      expect([code, stdout.length, stdout === wanted]).toEqual([0, wanted.length, true]);
      expect((await box.crux("daemon", "stop")).code).toBe(0);
    });
  },
);
