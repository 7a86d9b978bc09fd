import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { daemonGone, ensureDaemon, findDaemon, forceDaemon, HEAP_FLAGS } from "./daemon.ts";
import { launchDaemon } from "./launch.ts";
import { ClientFixture } from "./testing.ts";
import { versionHint } from "./version-hint.ts";

let fixture: ClientFixture;
beforeEach(() => {
  fixture = new ClientFixture();
});
afterEach(() => fixture.close());

const busy = () => '{"ok":false,"error":{"code":"UNAVAILABLE","message":"daemon is shutting down"}}\n';

it("HEAP_FLAGS leave V8 the code that Node has compiled of its own modules", () => {
  const tag = (...flags: string[]) =>
    execFileSync(process.execPath, [...flags, "-p", "v8.cachedDataVersionTag()"], { encoding: "utf8" });
  expect(tag(...HEAP_FLAGS)).toBe(tag());
});

describe("ensureDaemon()", () => {
  it("uses the connection that a running daemon answered on", async () => {
    const running = await fixture.listen();
    const { connection, version } = await ensureDaemon(fixture.options());
    expect(version).toBe("0.1.0");
    await connection.request("ping", {});
    expect(running.connections).toBe(1);
    expect(fixture.launches).toEqual([]);
    connection.close();
  });

  it("starts one where none runs, once, and waits until it answers", async () => {
    fixture.onLaunch = () => {
      void settle(30).then(() => fixture.listen());
      return { ended: false, error: undefined };
    };
    const { connection } = await ensureDaemon(fixture.options());
    expect(fixture.launches).toHaveLength(1);
    expect(fixture.launches[0]).toMatchObject({
      command: ["crux"],
      stateDir: fixture.stateDir,
      runtimeDir: fixture.runtimeDir,
    });
    connection.close();
  });

  it("starts one beside a stale socket file, and leaves that alone", async () => {
    writeFileSync(fixture.socketPath, "");
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(fixture.launches).toHaveLength(1);
    expect(existsSync(fixture.socketPath)).toBe(true);
  });

  it("after 3 s is TIMEOUT with the last five lines of the log", async () => {
    writeFileSync(join(fixture.stateDir, "daemon.log"), "1\n2\n3\n4\n5\n6\n");
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({
      code: "TIMEOUT",
      message: "daemon did not start within 3s\n2\n3\n4\n5\n6",
    });
    expect(fixture.clock.mono()).toBeGreaterThanOrEqual(3_000);
    expect(fixture.clock.mono()).toBeLessThan(3_200);
  });

  describe.skipIf(!existsSync("/proc/self/stat"))("on a busy machine", () => {
    const launch = () => {
      fixture.onLaunch = () => ({ ended: false, error: undefined, pid: process.pid });
      return ensureDaemon(fixture.options());
    };
    /** CPU time of the daemon, which here is the test, in every turn of the clock. */
    const work = async (untilMs: number) => {
      while (fixture.clock.mono() < untilMs) {
        const begun = process.cpuUsage();
        for (let used = 0; used < 200; ) used = process.cpuUsage(begun).user + process.cpuUsage(begun).system;
        await settle(1);
      }
    };

    it("waits for one that is at work", async () => {
      const ensured = launch();
      await work(6_000);
      await fixture.listen();
      (await ensured).connection.close();
      expect(fixture.launches).toHaveLength(1);
    });

    it("waits for the holder of the lock while that comes up, if its own found it held", async () => {
      fixture.onLaunch = () => {
        const stat = readFileSync("/proc/self/stat", "utf8");
        fixture.own(process.pid, 0, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]));
        return { ended: true, error: undefined };
      };
      const ensured = ensureDaemon(fixture.options());
      await work(6_000);
      await fixture.listen();
      (await ensured).connection.close();
      expect(fixture.launches).toHaveLength(1);
    });

    it("gives up one that is at work for ever after 30 s, and says so", async () => {
      const ensured = launch();
      ensured.catch(() => {});
      await work(30_000);
      await expect(ensured).rejects.toMatchObject({
        code: "TIMEOUT",
        message: expect.stringMatching(/^daemon did not start within 30s/),
      });
      expect(fixture.clock.mono()).toBeLessThan(30_300);
    });

    it("gives up one that does nothing after 3 s", async () => {
      const idle = spawn("sleep", ["1000"], { stdio: "ignore" });
      fixture.onLaunch = () => ({ ended: false, error: undefined, pid: idle.pid });
      await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "TIMEOUT" });
      expect(fixture.clock.mono()).toBeLessThan(3_500);
      idle.kill();
    });
  });

  it("starts again when the first found the lock still held by one that was leaving", async () => {
    fixture.onLaunch = () => {
      if (fixture.launches.length === 2) void fixture.listen();
      return { ended: true, error: undefined };
    };
    const { connection } = await ensureDaemon(fixture.options());
    expect(fixture.launches).toHaveLength(2);
    connection.close();
  });

  it("reports one that gave up after a slow start, and starts no other", async () => {
    const state = { ended: false, error: undefined as Error | undefined };
    fixture.onLaunch = () => state;
    const ensured = ensureDaemon(fixture.options());
    ensured.catch(() => {});
    while (fixture.clock.mono() < 2_000) await settle();
    Object.assign(state, { ended: true, error: new Error("journal_damaged") });
    await expect(ensured).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "daemon could not be started: journal_damaged",
    });
    expect(fixture.launches).toHaveLength(1);
  });

  it("names another place for its files where their folder cannot be made", async () => {
    const error = Object.assign(new Error("EROFS: read-only file system, mkdir '/ro'"), { syscall: "mkdir" });
    fixture.onLaunch = () => ({ ended: true, error });
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({
      message: "daemon could not be started: EROFS: read-only file system, mkdir '/ro'",
      hint: "XDG_STATE_HOME=<folder> keeps its files in another place",
    });
  });

  it.skipIf(!existsSync("/proc/self/stat"))(
    "starts none beside one that holds the lock and is not yet there",
    async () => {
      const stat = readFileSync("/proc/self/stat", "utf8");
      fixture.own(process.pid, process.pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]));
      const ensured = ensureDaemon(fixture.options());
      while (fixture.clock.mono() < 100) await settle();
      await fixture.listen();
      (await ensured).connection.close();
      expect(fixture.launches).toEqual([]);
    },
  );

  it("waits for one that is shutting down, then starts the next", async () => {
    const leaving = await fixture.listen(busy);
    fixture.onLaunch = () => {
      void fixture.listen();
      return { ended: false, error: undefined };
    };
    const ensured = ensureDaemon(fixture.options());
    while (leaving.lines.length < 3) await settle();
    expect(fixture.launches).toEqual([]);
    await leaving.close();
    (await ensured).connection.close();
    expect(fixture.launches).toHaveLength(1);
  });

  it("one that stays busy is UNAVAILABLE with its own words", async () => {
    await fixture.listen(busy);
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "daemon is shutting down",
    });
    expect(fixture.launches).toEqual([]);
  });

  it("one that holds the lock and does not answer for 4 s is UNAVAILABLE", async () => {
    await fixture.listen(() => undefined);
    fixture.own(process.pid);
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: `daemon (PID ${process.pid}) does not answer`,
      fact: { kind: "daemon_silent" },
    });
    expect(fixture.clock.mono()).toBe(4_000);
    expect(fixture.launches).toEqual([]);
  });

  it("one that holds the lock and answers late is used", async () => {
    const slow = await fixture.listen(() => undefined);
    fixture.own(process.pid);
    const ensured = ensureDaemon(fixture.options());
    while (fixture.clock.mono() < 1_000) await settle();
    slow.say('{"ok":true,"payload":{"version":"0.1.0"}}\n');
    (await ensured).connection.close();
    expect(slow.connections).toBe(1);
    expect(fixture.launches).toEqual([]);
  });

  it("a foreign pid in crux.pid does not make a silent socket a daemon", async () => {
    await fixture.listen(() => undefined);
    fixture.own(process.pid, process.ppid);
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(fixture.launches).toHaveLength(1);
  });

  it("inside a process of Crux uses the given socket and never starts one", async () => {
    fixture.env = { ...fixture.env, CRUX_IPC_SOCKET: fixture.socketPath, CRUX_SOCKET: "/nowhere/x.sock" };
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(fixture.launches).toEqual([]);
    await fixture.listen();
    (await ensureDaemon(fixture.options())).connection.close();
  });

  it("refuses an open folder before it connects, and a path that is too long", async () => {
    const running = await fixture.listen();
    chmodSync(fixture.runtimeDir, 0o755);
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "PERMISSION" });
    expect(running.connections).toBe(0);
    fixture.env.CRUX_SOCKET = `/${"x".repeat(107)}`;
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "INVALID" });
  });

  it("is CANCELLED by its signal", async () => {
    const stop = new AbortController();
    const ensured = ensureDaemon(fixture.options({ signal: stop.signal }));
    await settle();
    stop.abort();
    expect(codeOf(await ensured.catch((error: unknown) => error))).toBe("CANCELLED");
  });

  it("a program that cannot be started is told at once", async () => {
    fixture.onLaunch = () => ({ ended: true, error: new Error("spawn ENOENT") });
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(fixture.clock.mono()).toBe(0);
  });
});

describe.skipIf(!existsSync("/proc/self/stat"))("a daemon that holds the lock and has no socket", () => {
  const own = () => {
    const stat = readFileSync("/proc/self/stat", "utf8");
    fixture.own(process.pid, process.pid, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]));
  };
  const unanswered = {
    code: "UNAVAILABLE",
    message: `daemon (PID ${process.pid}) does not answer`,
    fact: { kind: "daemon_silent" },
  };

  it("does not answer, and is not doubled", async () => {
    own();
    await expect(findDaemon(fixture.options())).rejects.toMatchObject(unanswered);
    await expect(ensureDaemon(fixture.options())).rejects.toMatchObject(unanswered);
    expect(fixture.launches).toEqual([]);
  });

  it("is found if it was just starting", async () => {
    own();
    const found = findDaemon(fixture.options());
    while (fixture.clock.mono() < 100) await settle();
    await fixture.listen();
    (await found)?.connection.close();
    expect(await found).toMatchObject({ version: "0.1.0" });
  });
});

describe("findDaemon()", () => {
  it("starts none", async () => {
    expect(await findDaemon(fixture.options())).toBeUndefined();
    await fixture.listen();
    const found = await findDaemon(fixture.options({ version: "0.2.0" }));
    expect(found?.hint).toContain("v0.1.0, this is v0.2.0");
    found?.connection.close();
    const again = await findDaemon(fixture.options({ version: "0.2.0" }));
    expect(again?.hint).toBeUndefined();
    again?.connection.close();
    expect(fixture.launches).toEqual([]);
  });
});

describe("forceDaemon() and daemonGone()", () => {
  it("end the holder of the lock, also one that ignores SIGTERM", async () => {
    expect(await forceDaemon(fixture.options())).toBe(false);
    const script = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e6)";
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    fixture.own(child.pid ?? 0);
    const gone = daemonGone(fixture.options());
    expect(await forceDaemon(fixture.options())).toBe(true);
    expect(await exited).toBe("SIGKILL");
    await gone;
  });

  it("do not wait for the next daemon", async () => {
    fixture.own(process.pid);
    const gone = daemonGone(fixture.options());
    fixture.own(process.ppid);
    await gone;
  });

  it.skipIf(!existsSync("/proc/self/stat"))("take a zombie for no holder", async () => {
    // the shell that started it has become a program that never asks for its end
    const child = spawn("sh", ["-c", "sh -c 'echo $$; read line' <&3 3<&- & exec 3<&- sleep 1000"], {
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    });
    const zombie = await new Promise<number>((resolve) =>
      child.stdout?.once("data", (d) => resolve(Number(d))),
    );
    fixture.own(zombie);
    child.stdio[3]?.destroy();
    await daemonGone(fixture.options());
    expect(readFileSync(`/proc/${zombie}/stat`, "utf8")).toMatch(/\) Z /);
    child.kill("SIGKILL");
  });

  it("take nobody for the holder whose start time is another's", async () => {
    writeFileSync(
      join(fixture.stateDir, "journal", "owner.json"),
      JSON.stringify({ pid: process.pid, startTime: 1 }),
    );
    const known = existsSync("/proc/self/stat");
    if (known) await daemonGone(fixture.options());
  });
});

describe("launchDaemon()", () => {
  it("gives the daemon its own session, /, the log, and no name of the process it was started in", async () => {
    const script = join(fixture.dir, "daemon.mjs");
    writeFileSync(
      script,
      `import { readFileSync } from "node:fs";
const ids = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), session: Number(ids[3]) === process.pid,
  env: Object.keys(process.env).filter((name) => /^(CRUX|KAIRO|KEPT|MALLOC)/.test(name)) }));`,
    );
    const env = {
      CRUX_IPC_SOCKET: "/x",
      CRUX_IPC_TOKEN: "t",
      KAIRO_IPC_SOCKET: "/x",
      CRUX_LANG: "en",
      KEPT: "1",
    };
    const launched = launchDaemon({
      command: [process.execPath, script],
      env,
      stateDir: fixture.stateDir,
      runtimeDir: fixture.stateDir,
    });
    while (!launched.ended) await settle();
    expect(JSON.parse(readFileSync(join(fixture.stateDir, "daemon.log"), "utf8"))).toEqual({
      args: ["daemon", "--internal"],
      cwd: "/",
      session: true,
      env: ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "CRUX_LANG", "KEPT"],
    });
  });

  it("tells what one that gave up wrote last, and nothing of what stood there before", async () => {
    const run = async (script: string) => {
      const path = join(fixture.dir, "daemon.mjs");
      writeFileSync(path, script);
      const launched = launchDaemon({
        command: [process.execPath, path],
        env: {},
        stateDir: fixture.stateDir,
        runtimeDir: fixture.stateDir,
      });
      while (!launched.ended) await settle();
      return launched.error?.message;
    };
    expect(await run("process.exit(0)")).toBeUndefined();
    expect(await run("console.log('first'); console.log('no room'); process.exit(1)")).toBe("no room");
    expect(await run("console.log('2026-01-01T00:00:00.000Z error daemon: no'); process.exit(1)")).toBe("no");
    expect(await run("process.exit(3)")).toBe("exit code 3");
    expect(await run("process.kill(process.pid, 'SIGKILL')")).toBeUndefined();
    const gone = `(await import("node:fs")).rmSync(${JSON.stringify(fixture.stateDir)}, { recursive: true, force: true });`;
    expect(await run(`${gone} process.exit(3)`)).toBe("exit code 3");
  });

  it.skipIf(spawnSync("bwrap", ["--dev-bind", "/", "/", "--tmpfs", "/tmp", "true"]).status !== 0)(
    "tells that the disk is full, of which no log can tell",
    () => {
      const state = fixture.dir;
      const launch = join(import.meta.dirname, "launch.ts");
      const script = `
        import { writeFileSync } from "node:fs";
        import { launchDaemon } from ${JSON.stringify(launch)};
        try { writeFileSync("${state}/fill", Buffer.alloc(1e6)); } catch {}
        const spec = { command: ["/bin/sh", "-c", "echo no; exit 1"], env: {}, stateDir: "${state}", runtimeDir: "${state}" };
        const launched = launchDaemon(spec);
        const timer = setInterval(() => {
          if (!launched.ended) return;
          console.log(launched.error?.message);
          clearInterval(timer);
        }, 5);`;
      const room = ["--dev-bind", "/", "/", "--size", "65536", "--tmpfs", state, "--unshare-pid"];
      const node = [process.execPath, "--input-type=module", "-e", script];
      const { stdout } = spawnSync("bwrap", [...room, "--", ...node], { encoding: "utf8" });
      expect(stdout).toBe(`no space is left on the disk of ${state}\n`);
    },
  );

  it("tells what cannot be started", async () => {
    const launched = launchDaemon({
      command: ["/no/such/crux"],
      env: {},
      stateDir: fixture.stateDir,
      runtimeDir: fixture.stateDir,
    });
    while (!launched.ended) await settle();
    expect(launched.error?.message).toContain("ENOENT");
    const file = join(fixture.dir, "file");
    writeFileSync(file, "");
    const refused = launchDaemon({
      command: [process.execPath],
      env: {},
      stateDir: join(file, "state"),
      runtimeDir: file,
    });
    expect(refused.error?.message).toContain("ENOTDIR");
  });
});

describe("versionHint()", () => {
  it("comes once per shell and version", () => {
    const shell = { runtimeDir: fixture.runtimeDir, pid: 7 };
    expect(versionHint("1", "1", shell)).toBeUndefined();
    expect(versionHint("2", "1", shell)).toBe("the daemon runs crux v1, this is v2: crux daemon restart");
    expect(versionHint("2", "1", shell)).toBeUndefined();
    expect(versionHint("3", "1", shell)).toBeDefined();
    expect(versionHint("2", "1", { ...shell, pid: 8 })).toBeDefined();
  });
});
