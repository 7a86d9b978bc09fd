/** A daemon that is stopped for a while, and the clock that its processes live by; another that took over meanwhile. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MessageDevice } from "../../src/kernel/testing/fake-devices.ts";
import { modify } from "../../src/kernel/testing/guarded.ts";
import { bytes, testKernel } from "../../src/kernel/testing/test-kernel.ts";
import { FakeMachine } from "../../src/lib/testing/fake-machine.ts";
import { SteadyClock } from "../../src/lib/time/steady-clock.ts";
import { openJournal } from "../../src/store/sqlite/open-journal.ts";
import { inTurn, modelEnv } from "../harness/model.ts";
import { Wire } from "../harness/wire.ts";
import { settled, World } from "../harness/world.ts";
import { text, toolUse } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";

describe("a daemon that is stopped for 9 s", () => {
  let world: World;
  let server: ModelServer;
  beforeEach(async () => {
    const wait = toolUse({
      name: "bash",
      input: { command: "touch begun; until [ -e go ]; do sleep 0.05; done; echo done", timeout: 7_000 },
    });
    server = await startModelServer({ script: [{ default: inTurn(wait, text("All done.")) }] });
    world = new World(modelEnv(server));
  });
  afterEach(async () => {
    await world.close();
    await server.close();
  });

  it("goes on as if nothing had been: no deadline, no tool and no client is cut off by that time", async () => {
    const run = world.start(["--permission-mode", "bypass", "do the work"]);
    await settled(
      () => world.commands(/touch begun/).length,
      (count) => count > 0,
    );
    const idle = world.start(["attach", "1", "-v"]);
    const pid = world.daemonPid!;
    await idle.seen("[attach] attached to PID");
    process.kill(pid, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 9_000));
    process.kill(pid, "SIGCONT");
    const told = await settled(
      () => world.log(),
      (log) => log.includes("clock: nothing ran for"),
    );
    expect(told).toMatch(/ warn clock: nothing ran for \d+(\.\d)? s: no deadline counts that time\n/);
    world.write("go", "");
    const { code, stdout } = await run.done;
    expect([code, stdout.includes("All done.")]).toEqual([0, true]);
    const requests = JSON.stringify(server.requests.at(-1)?.body ?? "");
    expect(requests).toContain("done");
    expect(requests).not.toContain("timed out");
    expect((await idle.done).code).toBe(0);
    expect(world.daemonPid).toBe(pid);
  });
});

describe("a model server that closes its idle connections while the daemon is stopped", () => {
  let world: World;
  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer({ script: () => text("Yes.") });
    world = new World(modelEnv(server));
  });
  afterEach(async () => {
    await world.close();
    await server.close();
  });

  it.each(["openai", "anthropic"] as const)(
    "costs the next call of %s nothing: one request, no failure, no wait",
    async (dialect) => {
      expect((await world.crux(["daemon", "start"])).code).toBe(0);
      const env = { ...world.env, OPENAI_API_KEY: "", ...modelEnv(server, dialect) };
      const place = { session: true, verbose: true, cwd: world.work, permission_mode: "bypass" };
      const events: Record<string, unknown>[] = [];
      const follower = await Wire.open(world.socket);
      const head = await follower.ask("spawn", { intent: "begin", ...place, env });
      const reading = (async () => {
        for (let line = await follower.next(); line !== undefined; line = await follower.next())
          events.push(line.payload ?? {});
      })();
      const idles = () => events.filter(({ event }) => event === "idle");
      await settled(idles, ({ length }) => length === 1);
      const speaker = await Wire.open(world.socket);
      for (let round = 2; round <= 4; round++) {
        process.kill(world.daemonPid!, "SIGSTOP");
        try {
          expect(server.closeIdle()).toBeGreaterThan(0);
          // it is there in the same moment in which the daemon goes on
          const payload = { pid: head!.payload!.pid, text: "more" };
          speaker.send(`${JSON.stringify({ method: "session.say", payload })}\n`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        } finally {
          process.kill(world.daemonPid!, "SIGCONT");
        }
        await settled(idles, ({ length }) => length === round);
        expect(idles().at(-1)).toMatchObject({ outcome: "completed", result: "Yes." });
        expect(server.requestCount).toBe(round);
      }
      expect(events.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
      await Promise.all([follower.close(), speaker.close(), reading]);
    },
  );
});

describe("a daemon that is stopped until another has taken its directories over", () => {
  let world: World;
  let server: ModelServer;
  beforeEach(async () => {
    const wait = toolUse({
      name: "bash",
      input: { command: "touch begun; until [ -e go ]; do sleep 0.05; done; echo first >> done" },
    });
    const second = toolUse({ name: "bash", input: { command: "echo second >> done" } });
    server = await startModelServer({ script: [{ default: inTurn(wait, second, text("All done.")) }] });
    world = new World(modelEnv(server));
  });
  afterEach(async () => {
    await world.close();
    await server.close();
  });

  it("writes nothing, does nothing, and takes nothing from that one when it goes on", async () => {
    const former = world.start(["daemon", "--internal"]);
    await settled(() => world.daemonPid, Boolean);
    const run = world.start(["--permission-mode", "bypass", "do the work"]);
    await settled(
      () => existsSync(join(world.work, "begun")),
      (isThere) => isThere,
    );
    const pid = world.daemonPid!;
    process.kill(pid, "SIGSTOP");
    // who cleans up by hand takes the locks away
    rmSync(join(world.dir, "state/crux/journal/lease.db"));
    rmSync(join(world.dir, "run/crux"), { recursive: true });
    const successor = world.start(["daemon", "--internal"]);
    const next = () => world.daemonPid;
    expect(await settled(next, (found) => found !== undefined && found !== pid)).not.toBe(pid);
    expect((await world.crux(["wait", "1"])).code).toBe(0);
    process.kill(pid, "SIGCONT");
    world.write("go", "");
    expect((await former.done).code).toBe(75);
    expect(await run.done).toMatchObject({ code: 1, stderr: expect.stringContaining("journal_fenced") });
    // the call that the successor found begun is unknown, and was not made again
    expect(world.file("done")).toBe("second\n");
    expect((await world.crux(["-q", "--permission-mode", "bypass", "more"])).code).toBe(0);
    expect(world.daemonPid).toBe(successor.child.pid);
    const owner = readFileSync(join(world.dir, "state/crux/journal/owner.json"), "utf8");
    expect(JSON.parse(owner)).toMatchObject({ pid: successor.child.pid });
    expect((await world.crux(["fsck", "--full"])).code).toBe(0);
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    expect((await successor.done).code).toBe(0);
  });
});

describe("after a gap in which another daemon took over", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "crux-fenced-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("the first effect is refused before it happens, and the journal is lost to the former owner", async () => {
    const machine = new FakeMachine();
    const clock = new SteadyClock(machine);
    const journal = await openJournal({ dir });
    const t = testKernel({ journal, clock, gaps: clock });
    const tool = new MessageDevice("edit");
    tool.script.effects = [modify("/desk/a")];
    t.kernel.mount("/bin/edit", tool);
    const { sys } = await t.start();
    const fd = await sys.open("/bin/edit", 2);
    await sys.write(fd, bytes("before"));
    await machine.freeze(600_000);
    const successor = await openJournal({ dir });
    expect(successor.epoch).toBeGreaterThan(journal.epoch);
    await expect(sys.write(fd, bytes("after"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("journal_fenced"),
    });
    expect(tool.written).toEqual(["before"]);
    expect(journal.state).toMatchObject({ state: "lost", reason: "journal_fenced" });
    await t.kernel.abandon("fenced");
    await successor.close();
    await journal.close().catch(() => {});
  });
});
