import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../abi/errors.ts";
import type { Settings } from "../abi/settings/settings.ts";
import type { JournalState } from "../kernel/ports/journal.ts";
import { settle, VirtualClock } from "../kernel/testing/virtual-clock.ts";
import { shortHash } from "../lib/short-hash.ts";
import { FakeKernel } from "../wire/server/testing/fake-kernel.ts";
import { RawClient, until } from "../wire/server/testing/fixture.ts";
import type { BootContext } from "./boot-context.ts";
import { claimSeat } from "./claim.ts";
import type { DaemonHost, HostEvent } from "./host.ts";
import { runDaemon } from "./run.ts";

class FakeHost implements DaemonHost {
  readonly pid = 4711;
  readonly exits: number[] = [];
  readonly handlers: [HostEvent, (error?: unknown) => void][] = [];
  on(event: HostEvent, act: (error?: unknown) => void): void {
    this.handlers.push([event, act]);
  }
  off(event: HostEvent, act: (error?: unknown) => void): void {
    const at = this.handlers.findIndex(([name, found]) => name === event && found === act);
    this.handlers.splice(at, 1);
  }
  exit(code: number): void {
    this.exits.push(code);
  }
  vanish(code: number): void {
    this.exits.push(code);
  }
  emit(event: HostEvent, error?: unknown): void {
    for (const [name, act] of this.handlers) if (name === event) act(error);
  }
}

const pong = '{"ok":true,"payload":{"version":"0.1.0"}}\n';
let dir = "";
let env: Record<string, string> = {};
let log: string[] = [];
let host: FakeHost;
let clock: VirtualClock;
let kernel: FakeKernel;
let clients: RawClient[] = [];
const path = (...names: string[]) => join(dir, ...names);
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-daemon-"));
  env = { XDG_RUNTIME_DIR: dir, XDG_STATE_HOME: path("state"), XDG_CONFIG_HOME: path("config") };
  log = [];
  host = new FakeHost();
  clock = new VirtualClock();
  kernel = new FakeKernel();
  clients = [];
});
afterEach(() => {
  for (const client of clients) client.socket.destroy();
  rmSync(dir, { recursive: true, force: true });
});

interface Parts {
  takeLease?: () => Promise<{ release(): void } | null>;
  boot?: (context: BootContext<{ release(): void }>) => void | Promise<void>;
  reload?: (settings: Settings, problems: readonly string[]) => void;
  close?: () => Promise<void>;
  journal?: FakeState;
}

class FakeState {
  state: JournalState = { state: "well" };
  readonly listeners = new Set<(state: JournalState) => void>();
  onState(listener: (state: JournalState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  become(state: JournalState): void {
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }
}

function run(parts: Parts = {}): Promise<number> {
  const release = () => void log.push(`lease released, socket ${existsSync(path("crux/crux.sock"))}`);
  return runDaemon<{ release(): void }>(
    async (context) => {
      await parts.boot?.(context);
      log.push("booted");
      const close = parts.close ?? (async () => void log.push("closed"));
      const reload = parts.reload ?? (() => {});
      const { journal } = parts;
      return {
        kernel,
        serves: { loadAgent: async () => null },
        reload,
        close,
        ...(journal === undefined ? {} : { journal }),
      };
    },
    {
      version: "0.1.0",
      clock,
      env,
      home: dir,
      host,
      takeLease: parts.takeLease ?? (async () => ({ release })),
    },
  );
}

async function connect(): Promise<RawClient> {
  await until(() => existsSync(path("crux/crux.pid")));
  const socket = net.connect({ path: path("crux/crux.sock") });
  const client = new RawClient(socket);
  clients.push(client);
  await new Promise((resolve) => socket.once("connect", resolve));
  return client;
}

async function prove(client: { ask(line: string): Promise<string> }): Promise<void> {
  const cookie = readFileSync(path("crux/crux.cookie"), "utf8");
  expect(await client.ask(JSON.stringify({ method: "auth", payload: { cookie } }))).toContain('"ok":true');
}

const readLog = () => readFileSync(path("state/crux/daemon.log"), "utf8");

/** Timers of a daemon that nobody uses: its look whether it is idle, and the window of the loop lag. A client has one more. */
const AT_REST = 2;

describe("runDaemon()", () => {
  it("boots, listens, and stops in order when it is told to", async () => {
    const ended = run();
    const client = await connect();
    expect(readFileSync(path("crux/crux.pid"), "utf8")).toBe("4711\n");
    expect(await client.ask('{"method":"ping"}')).toBe(pong);
    expect(statSync(path("crux/crux.cookie")).mode & 0o777).toBe(0o600);
    expect(await client.ask('{"method":"shutdown"}')).toContain("PERMISSION");
    await prove(client);
    expect(await client.ask('{"method":"shutdown"}')).toBe('{"ok":true}\n');
    expect(await client.rest()).toBe("");
    expect(await ended).toBe(0);
    expect(existsSync(path("crux/crux.cookie"))).toBe(false);
    expect(log).toEqual(["booted", "closed", "lease released, socket false"]);
    expect(kernel.calls).toEqual(["shutdown 10000"]);
    expect(existsSync(path("crux/crux.pid"))).toBe(false);
    expect(host.handlers).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(readLog()).toContain("info stopping: shutdown\n");
    expect(statSync(path("state/crux/daemon.log")).mode & 0o077).toBe(0);
  });

  it("without the lease exits 0 and touches nothing", async () => {
    mkdirSync(path("crux"), { mode: 0o700 });
    writeFileSync(path("crux/crux.sock"), "the other's");
    expect(await run({ takeLease: async () => null })).toBe(0);
    expect(log).toEqual([]);
    expect(readFileSync(path("crux/crux.sock"), "utf8")).toBe("the other's");
    expect(existsSync(path("state"))).toBe(false);
    expect(existsSync(path("crux/crux.pid"))).toBe(false);
  });

  it("replaces a stale socket and the pid of a dead daemon", async () => {
    mkdirSync(path("crux"), { mode: 0o700 });
    writeFileSync(path("crux/crux.sock"), "");
    writeFileSync(path("crux/crux.pid"), "1\n");
    const ended = run();
    await until(() => statSync(path("crux/crux.sock")).isSocket());
    expect(await (await connect()).ask('{"method":"ping"}')).toBe(pong);
    host.emit("SIGTERM");
    expect(await ended).toBe(0);
  });

  it("a signal stops it; while processes end, new clients are told; a second signal exits at once", async () => {
    let allEnded = () => {};
    kernel.shutdown = async () => {
      await new Promise<void>((resolve) => {
        allEnded = resolve;
      });
    };
    const ended = run();
    const early = await connect();
    expect(await early.ask('{"method":"ping"}')).toBe(pong);
    host.emit("SIGINT");
    await settle();
    expect(await (await connect()).ask('{"method":"ping"}')).toContain(
      '"UNAVAILABLE","message":"daemon is shutting down"',
    );
    expect(await early.ask('{"method":"ping"}')).toBe(pong);
    expect(host.exits).toEqual([]);
    host.emit("SIGTERM");
    expect(host.exits).toEqual([143]);
    allEnded();
    expect(await ended).toBe(0);
  });

  it("a signal during boot stops it after boot", async () => {
    expect(await run({ boot: () => host.emit("SIGTERM") })).toBe(0);
    expect(log).toEqual(["booted", "closed", "lease released, socket false"]);
  });

  it("a lost journal ends it with its code and words, and clients are told; nothing exits", async () => {
    for (const [reason, code] of [
      ["journal_sync_failed", 74],
      ["journal_damaged", 74],
    ] as const) {
      kernel = new FakeKernel();
      const journal = new FakeState();
      const ended = run({ journal });
      const early = await connect();
      expect(await early.ask('{"method":"ping"}')).toBe(pong);
      journal.become({ state: "degraded", reason: "journal_full", path: "/x", freeBytes: 0, needBytes: 1 });
      expect(await early.ask('{"method":"ping"}')).toBe(pong);
      journal.become({ state: "lost", reason, message: `${reason}: it is gone` });
      expect(await ended).toBe(code);
      expect(kernel.calls).toEqual([`abandon ${reason}: it is gone`]);
      expect(readLog()).toContain(`error stopping: ${reason}: it is gone\n`);
      expect([existsSync(path("crux/crux.pid")), journal.listeners.size, clock.pending]).toEqual([
        false,
        0,
        0,
      ]);
    }
  });

  it("one that another has taken over from ends its processes, tells its clients, and leaves every file to that one", async () => {
    const journal = new FakeState();
    const ended = run({ journal });
    const early = await connect();
    expect(await early.ask('{"method":"ping"}')).toBe(pong);
    rmSync(path("crux/crux.sock"));
    writeFileSync(path("crux/crux.sock"), "the other's");
    journal.become({ state: "lost", reason: "journal_fenced", message: "another has it" });
    expect(await ended).toBe(75);
    expect([kernel.calls, host.exits]).toEqual([["abandon another has it"], [75]]);
    expect(log).not.toContain("closed");
    expect(readFileSync(path("crux/crux.sock"), "utf8")).toBe("the other's");
  });

  it("a journal that is lost while it stops in order is not waited for", async () => {
    kernel.shutdown = () => new Promise(() => {});
    const journal = new FakeState();
    const ended = run({ journal });
    await connect();
    host.emit("SIGTERM");
    await settle();
    journal.become({ state: "lost", reason: "journal_sync_failed", message: "gone" });
    expect(await ended).toBe(74);
    expect(kernel.calls).toEqual(["abandon gone"]);
  });

  it("a lost journal whose disk stalls holds its end for 10 s at most", async () => {
    const journal = new FakeState();
    let release = () => {};
    const ended = run({ journal, close: () => new Promise((resolve) => (release = resolve)) });
    await connect();
    journal.become({ state: "lost", reason: "journal_sync_failed", message: "gone" });
    await clock.advance(9_000);
    expect(host.exits).toEqual([]);
    await clock.advance(1_500);
    expect([host.exits, existsSync(path("crux/crux.pid"))]).toEqual([[74], false]);
    release();
    await ended;
  });

  it("boots in safe mode after three that died, says so, and counts no stop in order as a death", async () => {
    const seen: boolean[] = [];
    const boot = ({ isSafeMode }: { isSafeMode: boolean }) => void seen.push(isSafeMode);
    const once = async (): Promise<string> => {
      const ended = run({ boot });
      const answer = await (await connect()).ask('{"method":"ping"}');
      host.emit("SIGTERM");
      await ended;
      return answer;
    };
    for (let n = 0; n < 4; n++) await once();
    writeFileSync(path("state/crux/boot-count"), "3\n");
    expect(await once()).toBe('{"ok":true,"payload":{"version":"0.1.0","safe_mode":true}}\n');
    expect(seen).toEqual([false, false, false, false, true]);
    rmSync(path("state/crux/boot-count"));
    expect(await once()).toBe(pong);
  });

  it("a boot that says what is wrong is no death; one that breaks is", async () => {
    const count = () => existsSync(path("state/crux/boot-count"));
    const fault = new Fault({ code: "UNAVAILABLE", message: "no journal" });
    expect(await run({ boot: () => Promise.reject(fault) })).toBe(1);
    expect(count()).toBe(false);
    expect(await run({ boot: () => Promise.reject(new TypeError("x is undefined")) })).toBe(1);
    expect(count()).toBe(true);
  });

  it("a daemon that has lived for a minute has booted", async () => {
    kernel.activeCount = 1;
    mkdirSync(path("state/crux"), { recursive: true });
    const ended = run();
    await connect();
    expect(existsSync(path("state/crux/boot-count"))).toBe(true);
    await clock.advance(66_000);
    expect(existsSync(path("state/crux/boot-count"))).toBe(false);
    host.emit("SIGTERM");
    await ended;
  });

  it("a stop that hangs is cut off after 30 s", async () => {
    let release = () => {};
    const ended = run({ close: () => new Promise((resolve) => (release = resolve)) });
    await connect();
    host.emit("SIGTERM");
    await clock.advance(29_000);
    expect(host.exits).toEqual([]);
    await clock.advance(2_000);
    expect(host.exits).toEqual([1]);
    release();
    await ended;
  });

  it("stops when idle: not at 59 s, at 65 s, and neither while a client or a process is there", async () => {
    kernel.activeCount = 1;
    const ended = run();
    const client = await connect();
    await until(() => clock.pending === AT_REST + 1);
    await clock.advance(120_000);
    kernel.activeCount = 0;
    await clock.advance(120_000);
    client.socket.destroy();
    await until(() => clock.pending === AT_REST);
    await clock.advance(59_000);
    expect(existsSync(path("crux/crux.sock"))).toBe(true);
    await clock.advance(6_000);
    expect(await ended).toBe(0);
    expect(readLog()).toContain("stopping: idle");
  });

  it("a client that came and went between two checks resets the clock", async () => {
    const ended = run();
    await until(() => clock.pending === AT_REST);
    await clock.advance(58_000);
    const client = await connect();
    client.socket.end();
    await client.closed;
    await until(() => clock.pending === AT_REST);
    await clock.advance(55_000);
    expect(existsSync(path("crux/crux.sock"))).toBe(true);
    await clock.advance(12_000);
    expect(await ended).toBe(0);
  });

  it("SIGHUP reads the settings again", async () => {
    mkdirSync(path("config/crux"), { recursive: true });
    const seen: unknown[] = [];
    const ended = run({
      boot: (context) => void seen.push(context.settings, context.settingsProblems.length),
      reload: (settings, problems) => void seen.push(settings, problems.length),
    });
    await connect();
    writeFileSync(path("config/crux/settings.json"), '{"daemon":{"idleTimeoutMs":0},"model":5}');
    host.emit("SIGHUP");
    expect(seen).toEqual([{}, 0, { daemon: { idleTimeoutMs: 0 } }, 1]);
    expect(readLog()).toMatch(/warn INVALID .*settings\.json: model: /);
    for (const client of clients) client.socket.destroy();
    await settle(5);
    await clock.advance(300_000);
    expect(existsSync(path("crux/crux.sock"))).toBe(true);
    host.emit("SIGTERM");
    await ended;
  });

  it("a client finds the settings that the file has when it connects", async () => {
    mkdirSync(path("config/crux"), { recursive: true });
    const seen: unknown[] = [];
    const ended = run({ reload: (settings) => void seen.push(settings) });
    await connect();
    expect(seen).toEqual([]);
    const saved = (text: string) => writeFileSync(path("config/crux/settings.json"), text);
    saved('{"model":"opus"}');
    await connect();
    await connect();
    expect(seen).toEqual([{ model: "opus" }]);
    saved('{"model":');
    await connect();
    expect(seen[1]).toEqual({ model: "opus" });
    expect(readLog()).toMatch(/warn INVALID .*settings\.json: /);
    rmSync(path("config/crux/settings.json"));
    await connect();
    expect(seen.slice(2)).toEqual([{}]);
    host.emit("SIGTERM");
    await ended;
  });

  it("a lease that cannot be asked for is logged, and exits 1", async () => {
    expect(await run({ takeLease: () => Promise.reject(new Error("on NFS")) })).toBe(1);
    expect(log).toEqual([]);
    expect(readLog()).toContain("error daemon: Error: on NFS");
  });

  it("a boot that fails is logged, exits 1 and frees the lease", async () => {
    const boot = () => Promise.reject(new Error("no journal"));
    expect(await run({ boot })).toBe(1);
    expect(log).toEqual(["lease released, socket false"]);
    expect(readLog()).toContain("error daemon: Error: no journal");
    expect(host.handlers).toEqual([]);
  });

  it("a socket place that is refused frees the lease, and nothing was booted", async () => {
    mkdirSync(path("crux"), { mode: 0o755 });
    expect(await run()).toBe(1);
    expect(log).toEqual(["lease released, socket false"]);
    expect(readLog()).toContain("is open to others");
  });

  it("a socket that cannot be made puts away what was booted", async () => {
    mkdirSync(path("crux"), { mode: 0o700 });
    mkdirSync(path("crux/crux.sock"));
    expect(await run()).toBe(1);
    expect(log).toEqual(["booted", "closed", "lease released, socket true"]);
    expect(existsSync(path("crux/crux.owner"))).toBe(false);
  });

  it("a runtime directory that another state directory's daemon has is left alone: it listens below", async () => {
    mkdirSync(path("crux"), { mode: 0o700 });
    const other = claimSeat(
      { usual: path("crux/crux.sock"), own: undefined, isGiven: true },
      { pid: 7, stateDir: "/other" },
      process.getuid?.() ?? 0,
    );
    mkdirSync(path("state/crux"), { recursive: true });
    const below = path("crux", shortHash(realpathSync(path("state/crux"))));
    const ended = run();
    await until(() => existsSync(join(below, "crux.pid")));
    expect(readdirSync(path("crux")).sort()).toEqual(["crux.lock", "crux.owner", basename(below)].sort());
    host.emit("SIGTERM");
    expect(await ended).toBe(0);
    expect(existsSync(below)).toBe(false);
    // where the user named the socket there is no other
    env.CRUX_SOCKET = path("crux/mine.sock");
    expect(await run()).toBe(73);
    expect(readLog()).toContain(`${path("crux")} is in use by the daemon (PID 7) of /other`);
    other.release();
    expect(readdirSync(path("crux"))).toEqual([]);
  });

  it("an uncaught exception ends the process, a stray rejection is only logged", async () => {
    const ended = run();
    const client = await connect();
    host.emit("unhandledRejection", new Error("stray"));
    expect(host.exits).toEqual([]);
    expect(await client.ask('{"method":"ping"}')).toBe(pong);
    host.emit("uncaughtException", new Error("bug"));
    expect(host.exits).toEqual([70]);
    expect(readLog()).toMatch(
      /unhandled rejection: Error: stray[^\n]*\n.*uncaught exception, exit: Error: bug/,
    );
    host.emit("SIGTERM");
    await ended;
  });
});

describe("runDaemon() in real processes", () => {
  // in one file: each of the eleven would strip the types of two hundred, and at once, before any has kept them
  const bundle = fileURLToPath(new URL(`../../node_modules/.cache/tiny-${process.pid}.mjs`, import.meta.url));
  beforeAll(() => {
    const entryPoints = [fileURLToPath(new URL("testing/tiny-daemon.ts", import.meta.url))];
    const modules = { bundle: true, format: "esm", platform: "node" } as const;
    buildSync({ ...modules, entryPoints, outfile: bundle, external: ["koffi"], loader: { ".md": "text" } });
  });
  afterAll(() => rmSync(bundle, { force: true }));
  const start = () =>
    spawn(process.execPath, [bundle], {
      env: { ...process.env, ...env, HOME: dir },
      stdio: ["ignore", "pipe", "inherit"],
    });
  const exitOf = (child: ChildProcess) =>
    new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));

  it("of ten started at once one serves and nine exit 0; after kill -9 the next takes over", async () => {
    let booted = 0;
    const all = Array.from({ length: 10 }, start);
    for (const child of all) child.stdout.on("data", () => booted++);
    const exits: { pid: number | undefined; code: number | null }[] = [];
    const ends = all.map(async (child) => void exits.push({ pid: child.pid, code: await exitOf(child) }));
    try {
      await until(() => exits.length === 9);
      expect(exits.map(({ code }) => code)).toEqual(Array(9).fill(0));
      expect(booted).toBe(1);
      expect(await (await connect()).ask('{"method":"ping"}')).toBe(pong);
      const winner = all.find((child) => child.exitCode === null);
      expect(readFileSync(path("crux/crux.pid"), "utf8")).toBe(`${winner?.pid}\n`);
      winner?.kill("SIGKILL");
      await Promise.all(ends);
      expect(existsSync(path("crux/crux.sock"))).toBe(true);
      const next = start();
      const end = exitOf(next);
      await until(() => readFileSync(path("crux/crux.pid"), "utf8") === `${next.pid}\n`);
      const last = await connect();
      await prove(last);
      expect(await last.ask('{"method":"shutdown"}')).toBe('{"ok":true}\n');
      expect(await end).toBe(0);
      expect(existsSync(path("crux/crux.sock"))).toBe(false);
    } finally {
      for (const child of all) child.kill("SIGKILL");
    }
  });
});
