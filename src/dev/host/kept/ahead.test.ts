import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import type { ExecSpec } from "../../../kernel/ports/host.ts";
import { systemClock } from "../../../lib/time/system-clock.ts";
import { until } from "../../testing.ts";
import { HostProcesses } from "../exec.ts";
import { hostLaunch, type Launcher } from "../launch.ts";
import { childrenOf, findProcess, listPids, readEnviron } from "../procfs.ts";
import { SandboxFinder } from "../sandbox/probe.ts";
import { Sandboxes } from "../sandbox/sandbox.ts";
import { bashSpec, newTag } from "../testing.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-ahead-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
let idle = Promise.withResolvers<void>();
/** Ten seconds are over when a test says so. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => (ms === 10_000 ? idle.promise : systemClock.sleep(ms, signal)),
};
const exec = new HostProcesses({
  ...{ kernelId: "k-ahead", epoch: 1, pipesDir: join(own, "pipes") },
  ...{ sandboxes, clock, isKeeping: false },
});
afterAll(async () => {
  await exec.close();
  rmSync(own, { recursive: true, force: true });
});

const pause = new Int32Array(new SharedArrayBuffer(4));
let work = "";
let over = new AbortController();
beforeEach(() => {
  work = mkdtempSync(join(own, "work-"));
  over = new AbortController();
  idle = Promise.withResolvers<void>();
});
afterEach(() => over.abort());

function profile(fields: Partial<SandboxProfile> = {}): SandboxProfile {
  return { write: [work], protect: [], hide: ["/run"], show: [], network: "off", ...fields };
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly osPid: number | undefined;
  readonly violations: readonly string[];
}

async function run(script: string, sandbox = profile(), more: Partial<ExecSpec> = {}): Promise<Ran> {
  const process = { id: work, until: over.signal };
  const { spec, out } = bashSpec(script, { cwd: work, sandbox, isMerged: true, process, ...more });
  const child = exec.run(spec, new AbortController().signal);
  const { code, error, violations = [] } = await child.exited;
  if (error !== undefined) throw error;
  return { code, out: out(), osPid: child.osPid, violations };
}

/** The keeper of the one that waits. */
async function waiting(): Promise<number> {
  // until its first process is the shell, the wrapper may yet make folders to mount on
  const firsts = () => kept().flatMap((pid) => childrenOf(pid).map(nameOf));
  await until(() => exec.spares === 1 && kept().length === 1 && firsts().join() === "sh", "one waits, alone");
  return kept()[0] ?? 0;
}

const kept = () => childrenOf(process.pid).filter((pid) => ["bwrap", "perl"].includes(nameOf(pid)));

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

/** The pids of those that are made ahead are told late. */
function slowLaunch() {
  const born = Promise.withResolvers<void>();
  const launch: Launcher = (call) => {
    const launched = hostLaunch()(call);
    if (call.isAhead !== true) return launched;
    const { leader } = launched;
    let isBorn = false;
    const started = born.promise.then(async () => {
      await leader.started;
      isBorn = true;
    });
    const late = {
      get pid() {
        return isBorn ? leader.pid : undefined;
      },
      started,
      ended: leader.ended,
    };
    return { ...launched, leader: late };
  };
  return { launch, born };
}

describe.runIf(new SandboxFinder({ keeper: undefined }).get().available)(
  "a sandbox made ahead for one command",
  () => {
    it("serves the next command of its process, and that one alone", async () => {
      await run("true");
      const pid = await waiting();
      expect(await run("echo hi; exit 4")).toMatchObject({ code: 4, out: "hi\n", osPid: pid });
      expect(await waiting()).not.toBe(pid);
    });

    it.each<[string, () => Parameters<typeof run>]>([
      ["of other rights", () => ["echo x > x", profile({ write: [] })]],
      ["in another folder", () => ["true", profile(), { cwd: own }]],
      ["with another environment", () => ["true", profile(), { env: { PATH: "/usr/bin:/bin", A: "b" } }]],
      ["of another process", () => ["true", profile(), { process: { id: "other", until: over.signal } }]],
      ["whose streams are two", () => ["true", profile(), { isMerged: false }]],
      ["that is long", () => [`: ${"x".repeat(9_000)}`, profile()]],
    ])("serves no command %s", async (_, other) => {
      await run("true");
      const pid = await waiting();
      expect((await run(...other())).osPid).not.toBe(pid);
      expect(readdirSync(work)).toEqual([]);
    });

    it("is not used once a protected file was replaced, which no mount of it covers", async () => {
      mkdirSync(join(work, ".git"));
      writeFileSync(join(work, ".git/config"), "as it was");
      const sandbox = profile({ protect: [join(work, ".git/config")] });
      await run("true", sandbox);
      const pid = await waiting();
      writeFileSync(join(work, "fresh"), "replaced");
      renameSync(join(work, "fresh"), join(work, ".git/config"));
      const { osPid, out } = await run("echo evil > .git/config", sandbox);
      expect(osPid).not.toBe(pid);
      expect(out).toContain("Read-only file system");
      expect(readFileSync(join(work, ".git/config"), "utf8")).toBe("replaced");
    });

    it.each([
      ["is gone", () => rmdirSync(join(work, ".crux"))],
      [
        "is another",
        () => {
          rmdirSync(join(work, ".crux"));
          mkdirSync(join(work, ".crux"));
        },
      ],
    ])("is not used once what stood for a protected folder %s", async (_, change) => {
      const sandbox = profile({ protect: [join(work, ".crux/")] });
      await run("true", sandbox);
      const pid = await waiting();
      change();
      const { osPid, out } = await run("mkdir -p .crux; echo x > .crux/settings.json", sandbox);
      expect(osPid).not.toBe(pid);
      expect(out).toMatch(/Permission denied|Read-only/);
      expect(existsSync(join(work, ".crux/settings.json"))).toBe(false);
    });

    it("hides what came to be hidden meanwhile, and moves aside only what the command made", async () => {
      const sandbox = profile({
        protect: [join(work, ".npmrc"), join(work, ".yarnrc")],
        hide: [join(work, ".env")],
      });
      await run("true", sandbox);
      await waiting();
      writeFileSync(join(work, ".env"), "CANARY");
      writeFileSync(join(work, ".npmrc"), "of the user");
      const { out, violations } = await run("cat .env; echo x > .npmrc; echo x > .yarnrc", sandbox);
      expect(out).not.toContain("CANARY");
      expect(readFileSync(join(work, ".npmrc"), "utf8")).toBe("of the user");
      expect(violations.length).toBe(1);
      expect(readdirSync(work).sort()).toEqual([".env", ".npmrc", ".yarnrc.crux-quarantine-1"]);
    });

    it("has nothing of the command before it: no process, no limit, no open file, no signal", async () => {
      const spoils = `(setsid sleep 60 &) ; prlimit --pid 1 --nofile=9 --fsize=0 --cpu=1; renice -n 19 -p 1; taskset -p 1 1
      kill -STOP 1; kill -KILL 1; kill -INT 1; exec 9> left; ulimit -n 20; trap '' TERM INT; echo x > /tmp/left; exit 0`;
      const looks =
        "ulimit -n -f -t; nice; ls /tmp /dev/shm; set -- /proc/[0-9]*; echo $#; grep -E '^Sig[PBIC]|^Cpus_allowed:' /proc/self/status";
      const before = await run(looks);
      for (let i = 0; i < 3; i++) {
        await waiting();
        await run(spoils);
      }
      await waiting();
      expect((await run(looks)).out).toBe(before.out);
    });

    it("serves it once, though the event loop is held while it runs and until after it was reaped", async () => {
      await run("true");
      const pid = await waiting();
      // it has asked, and was heard
      await systemClock.sleep(100);
      await new Promise((resolve) => setImmediate(resolve));
      const ran = run("echo ran >> count");
      for (let n = 0; n < 2_000 && findProcess(pid) !== undefined; n++) Atomics.wait(pause, 0, 0, 5);
      // as the end of another child would: all that have ended are reaped
      process.emit("SIGCHLD", "SIGCHLD");
      for (let n = 0; n < 50; n++) await undefined;
      // the timers come next, and only then what the first process had said
      Atomics.wait(pause, 0, 0, 300);
      expect(await ran).toMatchObject({ code: 0, osPid: pid });
      expect(readFileSync(join(work, "count"), "utf8")).toBe("ran\n");
    });

    const one = (when: string) => until(() => exec.spares === 1, `one waits ${when}`);

    it("is made after the first command, and while each later one runs", async () => {
      mkdirSync(join(work, "sub"));
      writeFileSync(join(work, "sub/.env"), "");
      const sandbox = profile({ hide: [join(work, "sub/.env")], protect: [join(work, ".git/hooks/")] });
      await run("true", sandbox);
      expect(exec.spares).toBe(0);
      await waiting();
      const running = run("until [ -e go ]; do :; done", sandbox);
      expect(exec.spares).toBe(0);
      await one("while it runs");
      writeFileSync(join(work, "go"), "");
      await running;
      await one("after it");
    });

    it("that is yet being started serves no command, and is ended once it has started if it is not needed", async () => {
      const { launch, born } = slowLaunch();
      const slow = new HostProcesses({
        kernelId: "k-slow",
        epoch: 1,
        sandboxes,
        launch: () => launch,
        isKeeping: false,
      });
      const process = { id: work, until: over.signal };
      const told = async () => {
        const { spec, out } = bashSpec("echo hi", { cwd: work, sandbox: profile(), isMerged: true, process });
        await slow.run(spec, new AbortController().signal).exited;
        return out();
      };
      expect(await told()).toBe("hi\n");
      await until(() => kept().length === 1, "one has started, and is not known to");
      expect(slow.spares).toBe(0);
      expect(await told()).toBe("hi\n");
      over.abort();
      const closed = slow.close();
      born.resolve();
      await closed;
      await until(() => kept().length === 0, "all have ended");
    });

    it("is ended with its process, and what it had made is gone at once", async () => {
      await run("true", profile({ protect: [join(work, ".crux/")] }));
      const pid = await waiting();
      expect(readdirSync(work)).toEqual([".crux"]);
      over.abort();
      expect([exec.spares, readdirSync(work)]).toEqual([0, []]);
      await until(() => !kept().includes(pid), "it is gone");
    });

    it("is ended when it is not needed for a while", async () => {
      await run("true");
      const pid = await waiting();
      idle.resolve();
      await until(() => exec.spares === 0 && !kept().includes(pid), "it is gone");
    });

    it("is not made beside sixteen others, of which none is ended for it", async () => {
      const ofProcess = (n: number) =>
        run("true", profile(), { process: { id: `p${n}`, until: over.signal } });
      for (let n = 0; n < 16; n++) {
        await ofProcess(n);
        await until(
          () => exec.spares === n + 1 && kept().length === n + 1,
          "it waits, alone with the others",
        );
      }
      const all = kept();
      await ofProcess(16);
      // the next one would be begun in this round of the event loop
      await systemClock.sleep(100);
      expect([exec.spares, kept().length]).toEqual([16, 16]);
      const { osPid } = await ofProcess(0);
      expect([all.length, all.includes(osPid ?? 0)]).toEqual([16, true]);
    });

    it("dies with a daemon that is killed", async () => {
      const mark = newTag();
      const script = `const { HostProcesses } = await import(${JSON.stringify(join(import.meta.dirname, "../exec.ts"))});
      const { Sandboxes } = await import(${JSON.stringify(join(import.meta.dirname, "../sandbox/sandbox.ts"))});
      const sandboxes = new Sandboxes({ dir: ${JSON.stringify(join(work, "sb"))} });
      const exec = new HostProcesses({ kernelId: ${JSON.stringify(mark)}, epoch: 1, pipesDir: ${JSON.stringify(join(work, "p"))}, sandboxes, isKeeping: false });
      const spec = ${JSON.stringify({ argv: ["bash", "-c", ":"], cwd: work, sandbox: profile(), owner: "t" })};
      const process = { id: "one", until: new AbortController().signal };
      const env = { PATH: "/usr/bin:/bin", MARK: ${JSON.stringify(mark)} };
      await exec.run({ ...spec, env, process, onOutput() {} }, process.until).exited;
      setInterval(() => {}, 1000);`;
      const daemon = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
      const marked = () => listPids().filter((pid) => readEnviron(pid).includes(mark));
      // the wrapper and the first process
      await until(
        () => childrenOf(daemon.pid ?? 0).flatMap(childrenOf).length === 1 && marked().length === 2,
        "one waits",
      );
      daemon.kill("SIGKILL");
      await until(() => marked().length === 0, "nothing of it is left");
    });

    it("that ends by itself is not used", async () => {
      await run("true");
      const pid = await waiting();
      process.kill(pid, "SIGKILL");
      await until(() => exec.spares === 0, "that was seen");
      expect((await run("echo on")).out).toBe("on\n");
    });

    it("that is killed as it is chosen has run nothing: the command runs in a new one, once", async () => {
      await run("true");
      const pid = await waiting();
      const [first = 0] = childrenOf(pid);
      process.kill(pid, "SIGKILL");
      // the event loop stands still meanwhile, so nobody notices the end
      while (findProcess(pid) !== undefined || findProcess(first) !== undefined) Atomics.wait(pause, 0, 0, 1);
      expect(exec.spares).toBe(1);
      expect(await run("echo on >> log; cat log; exit 3")).toMatchObject({ code: 3, out: "on\n" });
    });

    it.each(["its wrapper", "its first process"])(
      "of which %s is killed before it has read the words has run nothing: the command runs in a new one, once",
      async (which) => {
        await run("true");
        const pid = await waiting();
        const [first = 0] = childrenOf(pid);
        process.kill(first, "SIGSTOP");
        await until(() => findProcess(first)?.isStopped === true, "it reads nothing");
        const ran = run("echo on >> log; cat log; exit 3");
        process.kill(which === "its wrapper" ? pid : first, "SIGKILL");
        expect(await ran).toMatchObject({ code: 3, out: "on\n" });
      },
    );
  },
);
