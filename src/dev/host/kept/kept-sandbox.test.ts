import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
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
import { childrenOf, descendantsOf, findProcess } from "../procfs.ts";
import { Sandboxes } from "../sandbox/sandbox.ts";
import { bashSpec, commandOf, confinersHere, newTag, running } from "../testing.ts";
import { keeperWords } from "./keeper-in-perl.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-kept-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
/** Its keepers find something mounted in the place of /proc, so that no other may be. */
let isBroken = true;
const broken = new Sandboxes({ dir: join(own, "broken"), ledgerDir: join(own, "broken-ledger") });
const confine = broken.confine.bind(broken);
broken.confine = (what) => {
  const made = confine(what);
  return made.isKept === true && isBroken
    ? { ...made, options: [...made.options, "--tmpfs", "/proc"] }
    : made;
};
let idle = Promise.withResolvers<void>();
/** A minute is over when a test says so. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => (ms === 60_000 ? idle.promise : systemClock.sleep(ms, signal)),
};
const by = confinersHere().find(({ kind }) => kind === "bubblewrap")?.by;
const exec = new HostProcesses({
  kernelId: "k-kept",
  epoch: 1,
  pipesDir: join(own, "pipes"),
  sandboxes,
  clock,
  ...by,
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
afterEach(async () => {
  over.abort();
  await until(() => keepers().length === 0, "no keeper is left");
});

function profile(fields: Partial<SandboxProfile> = {}): SandboxProfile {
  return { write: [work], protect: [], hide: ["/run"], show: [], network: "off", ...fields };
}

function start(script: string, more: Partial<ExecSpec> = {}) {
  const process = { id: work, until: over.signal };
  const { spec, out } = bashSpec(script, { cwd: work, sandbox: profile(), isMerged: true, process, ...more });
  return { child: exec.run(spec, new AbortController().signal), out };
}

async function run(script: string, more: Partial<ExecSpec> = {}) {
  const { child, out } = start(script, more);
  const { error, ...end } = await child.exited;
  if (error !== undefined) throw error;
  return { ...end, out: out() };
}

/** Those of wrappers here: each is the only child of one. */
const keepers = () =>
  childrenOf(process.pid)
    .flatMap(childrenOf)
    .filter((pid) => commandOf(pid).includes("KEEPER"));

/** The first processes whose child is no program yet. */
const waiting = (keeper: number) =>
  childrenOf(keeper).filter((pid) => childrenOf(pid).some((child) => commandOf(child).includes("KEEPER")));

/** The keeper that waits, alone. */
async function kept(): Promise<number> {
  await until(() => exec.spares === 1 && keepers().length === 1, "a keeper waits, alone");
  return keepers()[0] ?? 0;
}

/** After a first command. */
async function begun(more: Partial<ExecSpec> = {}): Promise<number> {
  await run("true", more);
  return kept();
}

describe.skipIf(by === undefined || keeperWords() === undefined)("a kept sandbox", () => {
  it("serves all that its process runs with the same rights, whatever the folder, words, streams and environment", async () => {
    const keeper = await begun();
    mkdirSync(join(work, "sub"));
    expect(await run("echo hi; exit 4")).toMatchObject({ code: 4, out: "hi\n" });
    expect(await run("pwd", { cwd: join(work, "sub") })).toMatchObject({ out: `${join(work, "sub")}\n` });
    expect((await run("echo $A; env", { env: { PATH: "/usr/bin:/bin", A: "b\nc=d" } })).out).toMatch(
      /^b c=d\n(?!.*CRUX_SESSION)/,
    );
    expect((await run("echo out; echo err >&2", { isMerged: false })).out).toMatch(/out/);
    const { child, out } = start("cat; echo over", { stdin: "pipe" });
    await child.write("typed\n");
    child.endInput();
    expect([(await child.exited).code, out()]).toEqual([0, "typed\nover\n"]);
    expect(await kept()).toBe(keeper);
  });

  it("gives each command what a sandbox of its own would", async () => {
    const looks = `grep -E '^(Cap|NoNew|Seccomp:|Sig[PBIC]|Groups)' /proc/self/status; id; umask; ulimit -a; echo /proc/[0-9]*; ls -l /dev /dev/pts /dev/shm | cut -c1-10,40-
      ls -A /run /tmp; echo $TMPDIR $SHLVL; cat /proc/net/route; readlink /proc/self/cwd; grep -c . /proc/self/environ; ps -o pid= 2> /dev/null; echo 0 > /proc/self/oom_score_adj; mount -t tmpfs x /mnt; unshare -rm true; kill -0 1; ls /proc/self/fd | tail -1`;
    const alone = await run(looks);
    await kept();
    const { out } = await run(looks);
    const same = (text: string) =>
      text.replaceAll(/\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d/g, "").replaceAll(/line \d+/g, "");
    expect(same(out)).toBe(same(alone.out));
  });

  it("shows a command nothing of another that runs beside it, nor of the keeper", async () => {
    await begun();
    const tag = newTag();
    const ending = new AbortController();
    const { child } = start(`exec -a ${tag} sleep 60`, { killed: ending.signal });
    await until(() => running(tag).length === 1, "it runs");
    const beside = await run("echo /proc/[0-9]*; kill -KILL -1; kill -TERM 1; ipcs -m | wc -l; ls /dev/shm");
    expect(beside.out).toMatch(/^\/proc\/1 \/proc\/2\n/);
    // who lists processes does not read a script
    expect(Number((await run("wc -c < /proc/1/cmdline")).out)).toBeLessThan(100);
    expect(running(tag).length).toBe(1);
    expect(childrenOf(keepers()[0] ?? 0)).toContain(child.osPid);
    ending.abort();
    await child.exited;
    expect(running(tag)).toEqual([]);
    await kept();
  });

  it("leaves nothing of a command to the next: no process, limit, priority, open file or shared memory", async () => {
    const keeper = await begun();
    const looks =
      "ulimit -n -f -t; nice; ls /dev/shm; ipcs -m | wc -l; set -- /proc/[0-9]*; echo $#; grep -E '^Sig[PBIC]|^Cpus_allowed:' /proc/self/status";
    const before = await run(looks);
    const spoils = `(setsid sleep 60 &) ; prlimit --pid 1 --nofile=9 --fsize=0 --cpu=1; renice -n 19 -p 1; taskset -p 1 1; ipcmk -M 100
      kill -STOP 1; kill -KILL 1; kill -INT 1; exec 9> left; ulimit -n 20; trap '' TERM INT; echo x > /dev/shm/left; exit 0`;
    for (let i = 0; i < 3; i++) await run(spoils);
    expect((await run(looks)).out).toBe(before.out);
    expect(await kept()).toBe(keeper);
  });

  it("has one /tmp for all commands", async () => {
    await begun();
    await run("echo mine > /tmp/file");
    expect((await run("cat /tmp/file")).out).toBe("mine\n");
  });

  it("runs many at a time, each with its own end", async () => {
    const keeper = await begun();
    const ends = await Promise.all(
      Array.from({ length: 40 }, (_, n) => run(`sleep 0.0${n % 10}; echo ${n}; exit ${n}`)),
    );
    expect(ends.map(({ code, out }) => [code, out])).toEqual(
      Array.from({ length: 40 }, (_, n) => [n, `${n}\n`]),
    );
    expect(await kept()).toBe(keeper);
    // the one that waits for the next
    expect(waiting(keeper).length).toBe(1);
  });

  it("is not used once a protected file was replaced", async () => {
    mkdirSync(join(work, ".git"));
    writeFileSync(join(work, ".git/config"), "as it was");
    const sandbox = profile({ protect: [join(work, ".git/config")] });
    const keeper = await begun({ sandbox });
    writeFileSync(join(work, "fresh"), "replaced");
    renameSync(join(work, "fresh"), join(work, ".git/config"));
    expect((await run("echo evil > .git/config", { sandbox })).out).toContain("Read-only file system");
    expect(readFileSync(join(work, ".git/config"), "utf8")).toBe("replaced");
    expect(await kept()).not.toBe(keeper);
  });

  it("is made anew once a protected file was replaced, also for a command in another folder", async () => {
    for (const name of [".git", "sub"]) mkdirSync(join(work, name));
    writeFileSync(join(work, ".git/config"), "as it was");
    const sandbox = profile({ protect: [join(work, ".git/config")] });
    const keeper = await begun({ sandbox });
    writeFileSync(join(work, "fresh"), "replaced");
    renameSync(join(work, "fresh"), join(work, ".git/config"));
    await run("true", { sandbox, cwd: join(work, "sub"), env: { PATH: "/usr/bin:/bin", A: "b" } });
    expect(await kept()).not.toBe(keeper);
  });

  it("hides what came to be hidden meanwhile, and moves aside what a command made, told by that command alone", async () => {
    const sandbox = profile({ protect: [join(work, ".npmrc")], hide: [join(work, ".env")] });
    await begun({ sandbox });
    writeFileSync(join(work, ".env"), "CANARY");
    expect((await run("cat .env", { sandbox })).out).not.toContain("CANARY");
    await kept();
    const made = await run("echo x > .npmrc", { sandbox });
    expect(made.violations?.length).toBe(1);
    expect((await run("true", { sandbox })).violations).toBeUndefined();
    expect(readdirSync(work).sort()).toEqual([".env", ".npmrc.crux-quarantine-1"]);
  });

  it("passes on signals, stops, continues and kills", async () => {
    await begun();
    const trapped = start("trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    await until(() => trapped.out() === "ready\n", "it is ready");
    trapped.child.signal("SIGSTOP");
    const stopped = () =>
      childrenOf(trapped.child.osPid ?? 0).filter((pid) => findProcess(pid)?.isStopped === true);
    await until(() => stopped().length === 1, "it stands");
    trapped.child.signal("SIGCONT");
    trapped.child.signal("SIGTERM");
    expect([(await trapped.child.exited).code, trapped.out().replace("Terminated\n", "")]).toEqual([
      3,
      "ready\ngot\n",
    ]);
    const deaf = start("trap '' TERM; echo deaf; while :; do sleep 0.01; done", { graceMs: 50 });
    await until(() => deaf.out() === "deaf\n", "it is deaf");
    await deaf.child.kill();
    expect((await deaf.child.exited).signal).toBe("SIGKILL");
    // before its first process is known
    const early = start("echo no > early; sleep 60", { killed: AbortSignal.abort() });
    expect((await early.child.exited).signal).toBe("SIGKILL");
    expect((await run("kill -9 $$")).code).toBe(137);
    await kept();
  });

  it("whose keeper is killed ends what runs in it, and the next command has a new one", async () => {
    const keeper = await begun();
    const tag = newTag();
    const { child } = start(`(setsid bash -c 'exec -a ${tag} sleep 60' &); exec -a ${tag} sleep 60`);
    await until(() => running(tag).length === 2, "it runs");
    process.kill(keeper, "SIGKILL");
    expect((await child.exited).signal).toBe("SIGKILL");
    expect(running(tag)).toEqual([]);
    expect((await run("echo on")).out).toBe("on\n");
    expect(await kept()).not.toBe(keeper);
  });

  it.each(["killed", "stopped and killed"])(
    "whose keeper is %s as it is chosen has run nothing: the command runs in a new one, once",
    async (how) => {
      const keeper = await begun();
      const [next = 0] = waiting(keeper).flatMap(childrenOf);
      process.kill(how === "killed" ? keeper : next, how === "killed" ? "SIGKILL" : "SIGSTOP");
      if (how === "killed") while (findProcess(keeper) !== undefined) Atomics.wait(pause, 0, 0, 1);
      else await until(() => findProcess(next)?.isStopped === true, "it reads nothing");
      const ran = run("echo on >> log; cat log; exit 3");
      if (how !== "killed") process.kill(keeper, "SIGKILL");
      expect(await ran).toMatchObject({ code: 3, out: "on\n" });
    },
  );

  it("whose keeper stands still is ended when the command that it does not start is killed", async () => {
    const keeper = await begun();
    for (const pid of [keeper, ...descendantsOf(keeper)]) process.kill(pid, "SIGSTOP");
    const { child } = start("echo no > log", { killed: AbortSignal.abort() });
    expect((await child.exited).signal).toBe("SIGKILL");
    expect(readdirSync(work)).toEqual([]);
    expect((await run("echo on")).out).toBe("on\n");
  });

  it("lets a command end in its time when its process is over, and takes no other", async () => {
    await begun();
    const { child, out } = start(
      "trap 'sleep 0.2; echo done; exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    );
    await until(() => out() === "ready\n", "it is ready");
    over.abort();
    await child.kill();
    expect([(await child.exited).code, out().replace("Terminated\n", "")]).toEqual([5, "ready\ndone\n"]);
  });

  it("is ended when it was not used for a while, never while a command runs", async () => {
    const keeper = await begun();
    const { child } = start("sleep 0.3");
    await until(() => exec.spares === 0, "it runs");
    const first = idle;
    idle = Promise.withResolvers<void>();
    first.resolve();
    expect((await child.exited).code).toBe(0);
    expect(keepers()).toEqual([keeper]);
    const second = idle;
    idle = Promise.withResolvers<void>();
    second.resolve();
    await systemClock.sleep(5);
    idle.resolve();
    await until(() => keepers().length === 0, "it is gone");
  });

  it("is not made where something in /proc is hidden, which a /proc of its own would show", async () => {
    const sandbox = profile({ hide: ["/run", "/proc/cpuinfo"] });
    for (let n = 0; n < 3; n++) {
      expect((await run("cat /proc/cpuinfo", { sandbox })).out).not.toContain("processor");
      await until(() => exec.spares === 1, "one waits");
      expect(keepers()).toEqual([]);
    }
  });

  const killsNext = async (of: (first: number) => number) => {
    const keeper = await begun();
    const beside = start("echo ready; sleep 0.2; exit 6");
    await until(() => beside.out() !== "" && waiting(keeper).length === 1, "one runs, and one waits");
    process.kill(waiting(keeper).map(of)[0] ?? 0, "SIGKILL");
    const end = await run("echo on >> log; exit 3");
    expect((await beside.child.exited).code).toBe(6);
    return end;
  };

  it("takes no further command when the process that waits for it is killed: each runs once, in a new one", async () => {
    for (let round = 0; round < 10; round++)
      expect(await killsNext((first) => childrenOf(first)[0] ?? 0)).toMatchObject({ code: 3 });
    expect(readFileSync(join(work, "log"), "utf8")).toBe("on\n".repeat(10));
  });

  it("tells of a command that it was killed where the first process dies as it is taken; it runs at most once", async () => {
    let count = 0;
    for (let round = 0; round < 10; round++) {
      const { code, signal } = await killsNext((first) => first);
      expect([3, "SIGKILL"]).toContain(code ?? signal);
      if (code === 3) count++;
    }
    const lines = await run("cat log 2> /dev/null | grep -c on");
    expect(Number(lines.out)).toBeGreaterThanOrEqual(count);
    expect(Number(lines.out)).toBeLessThanOrEqual(10);
  });

  const [perl = ""] = keeperWords() ?? [];
  it.each([
    ["perl is hidden", sandboxes, () => profile({ hide: ["/run", perl] })],
    ["no other /proc may be", broken, () => profile()],
  ])(
    "that cannot be made as %s is tried a few times; sandboxes then serve one command each",
    async (_, of, rights) => {
      const failing = new HostProcesses({ kernelId: "k-failing", epoch: 1, sandboxes: of, ...by });
      const process = { id: "failing", until: over.signal };
      const { spec } = bashSpec("echo on >> log", { cwd: work, sandbox: rights(), process });
      let count = 0;
      for (; count < 200 && failing.spares === 0; count++) {
        expect((await failing.run(spec, new AbortController().signal).exited).code).toBe(0);
        await systemClock.sleep(50);
      }
      expect([failing.spares, keepers()]).toEqual([1, []]);
      expect(readFileSync(join(work, "log"), "utf8")).toBe("on\n".repeat(count));
      await failing.close();
    },
  );

  it("is tried again a minute after it could not be made, and kept then", async () => {
    let nowMs = 0;
    const mending = new HostProcesses({
      ...{ kernelId: "k-mending", epoch: 1, sandboxes: broken, ...by },
      clock: { ...clock, mono: () => nowMs },
    });
    const process = { id: "mending", until: over.signal };
    const { spec } = bashSpec("true", { cwd: work, sandbox: profile(), process });
    const runs = async () => {
      await mending.run(spec, new AbortController().signal).exited;
      await systemClock.sleep(50);
    };
    for (let n = 0; n < 200 && mending.spares === 0; n++) await runs();
    isBroken = false;
    await runs();
    expect(keepers()).toEqual([]);
    nowMs = 60_000;
    await runs();
    await until(() => mending.spares === 1 && keepers().length === 1, "one is kept");
    await mending.close();
  });
});
