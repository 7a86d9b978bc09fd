/** A state directory that cannot be written when the daemon starts: what is on record can be looked at, and nothing else happens. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelEnv } from "../harness/model.ts";
import { settled } from "../harness/world.ts";
import { text } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { noSandbox, Sandbox } from "./sandbox.ts";

const reason = noSandbox();
let server: ModelServer;
let box: Sandbox;
beforeEach(async () => {
  const hang = {
    when: { lastUserText: "hang" },
    reply: text("This begins and then").stall({ afterEvents: 2 }),
  };
  server = await startModelServer({ script: [hang, { default: text("All done.") }] });
  box = new Sandbox(48 * 1024 * 1024, modelEnv(server));
});
afterEach(async () => {
  await box.close();
  await server.close();
});

/** One agent that has ended, a native program that has, one agent paused, a session that rests. */
async function leaveSome(): Promise<void> {
  expect((await box.crux("-q", "do the work")).code).toBe(0);
  expect((await box.crux("-q", "-d", "hang")).stdout).toBe("2\n");
  expect((await box.crux("pause", "2")).code).toBe(0);
}
const killDaemon = () => box.sh(`kill -9 $(cat ${box.dir}/run/crux/crux.pid); sleep 0.3`);
const files = () => box.sh(`cd ${box.state} && find . -type f | sort | xargs sha256sum`);
const NOTHING_RUNS = /^ {2}→ hint: journal_\w+: .*, so nothing runs and nothing is kept; /;

async function looks(): Promise<void> {
  for (const args of [
    ["ps"],
    ["ps", "--json"],
    ["logs", "1"],
    ["journal", "1"],
    ["journal", "2", "--json"],
    ["sessions"],
    ["steps", "1"],
    ["replay", "--show", "1"],
    ["replay", "1"],
    ["fsck"],
    ["fsck", "--full"],
    ["audit", "verify"],
    ["daemon", "status"],
    ["groups"],
    ["mcp", "list"],
  ]) {
    const { code, stderr } = await box.crux(...args);
    expect([args, code, NOTHING_RUNS.test(stderr)]).toEqual([args, 0, true]);
  }
  expect((await box.crux("logs", "1")).stdout).toContain("reasoning step 1");
  expect((await box.crux("replay", "--show", "1")).stdout).toContain("All done.");
}

async function refuses(fault: string): Promise<void> {
  for (const args of [
    ["-d", "more work"],
    ["resume", "2"],
    ["fork", "1"],
    ["gc"],
    ["keep", "1"],
    ["rewind", "1", "--at", "0"],
    ["mount", "x", "--", "true"],
  ]) {
    const { code, stderr } = await box.crux(...args);
    expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(/✗ \[UNAVAILABLE\] /)]);
    expect([args, stderr]).toEqual([args, expect.stringContaining(fault)]);
  }
  expect(server.requestCount).toBe(2);
}

describe.skipIf(reason !== undefined)(
  `a state directory that cannot be written${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    for (const end of ["stopped", "killed"] as const)
      it(`read-only, the daemon before ${end}: all that looks answers, all that acts is refused, nothing changes; then all is as it was`, async () => {
        await leaveSome();
        if (end === "stopped") expect((await box.crux("daemon", "stop")).code).toBe(0);
        else await killDaemon();
        const before = await files();
        // a daemon that has answered may yet be putting its log away
        const remount = async () => (await box.remount("ro")).code;
        expect(await settled(remount, (code) => code === 0)).toBe(0);
        // nobody has it open: without a daemon, too
        expect((await box.crux("fsck")).code).toBe(0);
        const repair = await box.crux("fsck", "--repair", "--yes");
        expect([repair.code, repair.stderr]).toEqual([3, expect.stringContaining("journal_readonly: ")]);
        await looks();
        await refuses("journal_readonly: ");
        // ten at once are one
        const many = await Promise.all(Array.from({ length: 10 }, () => box.crux("daemon", "--internal")));
        expect(many.map(({ code }) => code)).toEqual(Array(10).fill(0));
        expect(await files()).toBe(before);

        expect((await box.remount("rw")).code).toBe(0);
        const gone = () => box.sh(`test -e ${box.dir}/run/crux/crux.pid || echo gone`);
        expect(await settled(gone, (said) => said !== "")).toBe("gone\n");
        const { stdout, stderr } = await box.crux("ps", "--tree");
        expect([stdout, stderr]).toEqual([expect.stringMatching(/2 .*\bpaused\b/), ""]);
        expect((await box.crux("-q", "do the work")).stdout).toContain("All done.");
        expect((await box.crux("fsck", "--full")).code).toBe(0);
        expect((await box.crux("daemon", "stop")).code).toBe(0);
      });

    it("full at the start: the same, and when there is room the next command finds all as it was", async () => {
      await leaveSome();
      expect((await box.crux("daemon", "stop")).code).toBe(0);
      await box.fill();
      await looks();
      await refuses("journal_full: ");
      await box.sh(`rm ${box.state}/filler`);
      const gone = () => box.sh(`test -e ${box.dir}/run/crux/crux.pid || echo gone`);
      expect(await settled(gone, (said) => said !== "")).toBe("gone\n");
      const { stdout, stderr } = await box.crux("ps", "--tree");
      expect([stdout, stderr]).toEqual([expect.stringMatching(/2 .*\bpaused\b/), ""]);
      expect((await box.crux("fsck", "--full")).code).toBe(0);
    });
  },
);
