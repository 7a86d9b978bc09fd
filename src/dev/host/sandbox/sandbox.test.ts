import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import type { ExecChild } from "../../../kernel/ports/host.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { until } from "../../testing.ts";
import { HostProcesses } from "../exec.ts";
import { keeperWords } from "../kept/keeper-in-perl.ts";
import { childrenOf } from "../procfs.ts";
import {
  bashSpec,
  bwrapAt,
  commandOf,
  confinersHere,
  openDescriptors,
  openedSince,
  openInPrograms,
  TRIES_TO_WRITE,
} from "../testing.ts";
import { wrappersHere } from "../wrapper.ts";
import { SandboxFinder } from "./probe.ts";
import { Sandboxes } from "./sandbox.ts";

const node = shellWord(process.execPath);
const never = new AbortController().signal;
const state = new SandboxFinder().get();
const hasNamespaces = new SandboxFinder({ keeper: undefined }).get().available;
const real = wrappersHere().find(({ kind }) => kind === "bubblewrap");
/** Not below /tmp, which a sandboxed program has to itself. */
const own = realpathSync(mkdtempSync("/var/tmp/crux-sandbox-test-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
const confiners = confinersHere().flatMap(({ kind, by }) => {
  const pipesDir = join(own, `pipes-${kind}`);
  const each = { kind, by, name: kind as string, isKept: false };
  const exec = () => new HostProcesses({ kernelId: "k-sandbox", epoch: 1, pipesDir, sandboxes, ...by });
  const kept = { ...each, name: `${kind}, kept`, isKept: true };
  return [each, ...(kind === "bubblewrap" && keeperWords() !== undefined ? [kept] : [])].map((one) => ({
    ...one,
    exec: exec(),
  }));
});
let exec: HostProcesses;
/** Each command runs in a sandbox that is kept from one before it. */
let isKept = false;
let over = new AbortController();
afterAll(async () => {
  for (const each of confiners) await each.exec.close();
  rmSync(own, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly violations: readonly string[];
}

let work = "";
beforeEach(() => {
  work = mkdtempSync(join(own, "work-"));
});

function profile(fields: Partial<SandboxProfile> = {}): SandboxProfile {
  return { write: [work], protect: [], hide: ["/run"], show: [], network: "off", ...fields };
}

function start(script: string, sandbox: SandboxProfile): { child: ExecChild; out(): string } {
  const process = isKept ? { id: work, until: over.signal } : undefined;
  const { spec, out } = bashSpec(script, { cwd: work, sandbox, isMerged: true, ...(process && { process }) });
  return { child: exec.run(spec, never), out };
}

const kept = () => childrenOf(process.pid).filter((pid) => commandOf(pid).includes("KEEPER"));

async function run(script: string, sandbox = profile()): Promise<Ran> {
  const before = kept();
  if (isKept && sandbox.network === "off") {
    await start("true", sandbox).child.exited;
    await until(() => exec.spares > 0, "one is kept");
  }
  const { child, out } = start(script, sandbox);
  const { code, error, violations = [] } = await child.exited;
  if (error !== undefined) throw error;
  if (isKept) {
    over.abort();
    over = new AbortController();
    await until(() => kept().length === before.length, "it is gone");
  }
  return { code, out: out(), violations };
}

describe.each(confiners)("a sandboxed program, by $name", ({ kind, by, exec: its, isKept: areKept }) => {
  beforeAll(() => {
    exec = its;
    isKept = areKept;
  });
  beforeEach(() => {
    over = new AbortController();
  });
  afterEach(() => over.abort());
  /** What only mounts and networks can hold; instead of it, rules hold what landlock.test.ts says. */
  const itByNamespaces = it.skipIf(kind === "landlock");

  it("writes below its roots and nowhere else", async () => {
    const outside = join(own, "outside");
    const { out } = await run(`echo in > in; echo x > ${outside}; echo x > /etc/crux-canary; echo x > ~/x`);
    expect(readFileSync(join(work, "in"), "utf8")).toBe("in\n");
    expect(existsSync(outside)).toBe(false);
    expect(existsSync("/etc/crux-canary")).toBe(false);
    expect(out.match(/Read-only file system|Permission denied|No such file/g)?.length).toBe(3);
  });

  it("writes nothing at all where nothing is writable, but in its own temporary folder", async () => {
    const { code } = await run(
      '! touch x 2>/dev/null && echo t > "$TMPDIR/t" && cat "$TMPDIR/t"',
      profile({ write: [] }),
    );
    expect([code, readdirSync(work)]).toEqual([0, []]);
  });

  it.each([
    ["its folder", () => [work]],
    ["everything", () => ["/"]],
    ["the places of the kernel themselves", () => ["/proc", "/proc/sys", "/sys", "/sys/kernel", "/dev"]],
  ])(
    "can open no file of /proc and /sys for writing, also as root, with the right to write %s",
    async (_, write) => {
      const { out } = await run(
        `${node} -e ${shellWord(TRIES_TO_WRITE)} /proc /sys; echo over`,
        profile({ write: write() }),
      );
      expect(out).toBe("over\n");
      const device = await run("echo 0 > /dev/null && : < /dev/kmsg", profile({ write: write() }));
      expect(device.out).toMatch(/kmsg: (No such file|Permission denied)/);
    },
  );

  itByNamespaces("has a /tmp to itself, with the roots that lie in it", async () => {
    const below = realpathSync(mkdtempSync("/tmp/crux-sandbox-test-"));
    onTestFinished(() => rmSync(below, { recursive: true, force: true }));
    const { out } = await run(`ls /tmp; echo x > ${below}/x`, profile({ write: [work, below] }));
    const topOf = (path: string) => path.split("/")[2];
    // where the Node of the tests lies is there too, should that be below /tmp
    const others = out
      .trim()
      .split("\n")
      .filter((name) => !process.execPath.startsWith("/tmp/") || name !== topOf(process.execPath));
    expect(others).toEqual([topOf(below)]);
    expect(existsSync(join(below, "x"))).toBe(true);
  });

  // a program in the host's /tmp, such as this Node, is shown in the sandbox's: then that is another for each command
  const itOutsideTmp = it.skipIf(kind === "landlock" || realpathSync(process.execPath).startsWith("/tmp/"));

  itOutsideTmp(
    "has the folder of its process as its /tmp, one after the other, by both names, and leaves nothing of ours in it",
    async () => {
      const hidden = join(own, "crux");
      const tmp = join(hidden, "1");
      mkdirSync(tmp, { recursive: true });
      writeFileSync(join(hidden, "journal"), "CANARY");
      const wish = { tmp, hide: [hidden] };
      await run('echo a > /tmp/a; echo b > "$TMPDIR/b"', profile(wish));
      const hosts = { allow: ["a.example"], deny: [] };
      const { out } = await run(
        'cat "$TMPDIR/a" /tmp/b; echo c > /tmp/c',
        profile({ ...wish, write: [], network: hosts }),
      );
      const names = await run(`ls ${hidden}; ls "$TMPDIR"`, profile(wish));
      expect(out).toBe("a\nb\n");
      expect(names.out).not.toContain("journal");
      expect(readdirSync(tmp)).toEqual(["a", "b", "c"]);
    },
  );

  itOutsideTmp(
    "has an empty /tmp where the host's must be seen in it, or the folder of its process is none",
    async () => {
      const [below, tmp] = ["/tmp/crux-sandbox-test-", join(own, "tmp-")].map((path) =>
        realpathSync(mkdtempSync(path)),
      );
      onTestFinished(() => rmSync(below ?? "", { recursive: true, force: true }));
      const inTmp = await run(
        "echo x > /tmp/x; echo $TMPDIR",
        profile({ write: [work, below ?? ""], tmp: tmp ?? "" }),
      );
      expect([inTmp.out, readdirSync(tmp ?? "")]).toEqual(["/tmp\n", []]);
      symlinkSync("/etc", join(work, "turned"));
      for (const other of ["turned", "missing"])
        expect((await run("ls -A /tmp; echo x > /tmp/x", profile({ tmp: join(work, other) }))).out).toBe("");
      expect(existsSync("/etc/x")).toBe(false);
    },
  );

  itByNamespaces("cannot change a protected path, nor put another in its place", async () => {
    mkdirSync(join(work, "a/.git/hooks"), { recursive: true });
    const hooks = join(work, "a/.git/hooks");
    const script = `echo x > ${hooks}/pre-commit; mv a/.git a/g; mv a b; rm -rf a/.git; rmdir ${hooks}
      echo y > a/.git/index`;
    const { out } = await run(script, profile({ protect: [hooks] }));
    expect(readdirSync(join(work, "a/.git")).sort()).toEqual(["hooks", "index"]);
    expect(readdirSync(hooks)).toEqual([]);
    expect(readdirSync(work)).toEqual(["a"]);
    expect(out).toMatch(/Read-only file system/);
    expect(out).toMatch(/busy/);
  });

  itByNamespaces(
    "cannot make a protected directory that is not there, and nothing is left of what stood for it",
    async () => {
      const protect = [join(work, ".crux/settings.json"), join(work, ".claude/")];
      const script = "mkdir -p .crux; echo '{}' > .crux/settings.json; echo x > .claude/x; ls -A";
      const { out } = await run(script, profile({ protect }));
      expect(out.match(/Permission denied/g)?.length).toBe(2);
      expect(readdirSync(work)).toEqual([]);
      expect(readdirSync(join(own, "ledger"))).toEqual([]);
    },
  );

  it("writes to nowhere when it gives itself the right to write where something is kept from it", async () => {
    const hidden = mkdtempSync(join(own, "hidden-"));
    const script = `chmod 777 .crux ${hidden}; echo '{}' > .crux/settings.json; echo x > ${hidden}/x; ls .crux ${hidden}`;
    const { out } = await run(script, profile({ protect: [join(work, ".crux/")], hide: [hidden] }));
    expect(out).toContain("settings.json");
    expect([readdirSync(work), readdirSync(hidden)]).toEqual([[], []]);
  });

  itByNamespaces("holds a placeholder as long as any program needs it", async () => {
    const protect = [join(work, ".crux/")];
    const long = start(
      "echo ready; until [ -e go ]; do sleep 0.01; done; echo x > .crux/x",
      profile({ protect }),
    );
    await until(() => long.out() !== "", "it is ready");
    await run("true", profile({ protect }));
    expect(readdirSync(work)).toEqual([".crux"]);
    writeFileSync(join(work, "go"), "");
    expect((await long.child.exited).code).toBe(1);
    expect(readdirSync(work)).toEqual(["go"]);
  });

  it("has a protected file that it made moved aside, and it is told", async () => {
    const path = join(work, ".npmrc");
    const { violations } = await run("echo script-shell=./evil > .npmrc", profile({ protect: [path] }));
    expect(readdirSync(work)).toEqual([".npmrc.crux-quarantine-1"]);
    expect(violations).toEqual([`${path} was made; it is now ${path}.crux-quarantine-1`]);
  });

  itByNamespaces("cannot put another folder in the place of one in which a file is protected", async () => {
    mkdirSync(join(work, "sub"));
    const sandbox = profile({ write: [work, join(work, "sub")], protect: [join(work, "sub/.npmrc")] });
    const { code } = await run("mv sub moved || mv -T sub moved", sandbox);
    expect([code, readdirSync(work)]).toEqual([1, ["sub"]]);
  });

  it("leads nobody to a file elsewhere, when a folder is replaced while it runs", async () => {
    const [sub, elsewhere] = [join(work, "sub"), mkdtempSync(join(own, "elsewhere-"))];
    mkdirSync(sub);
    writeFileSync(join(elsewhere, ".npmrc"), "of the user");
    const protect = [join(sub, ".npmrc")];
    const { child, out } = start("echo ready; until [ -e go ]; do sleep 0.01; done", profile({ protect }));
    await until(() => out() !== "", "it is ready");
    renameSync(sub, join(work, "moved"));
    symlinkSync(elsewhere, sub);
    writeFileSync(join(work, "go"), "");
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(readdirSync(elsewhere)).toEqual([".npmrc"]);
  });

  it("has whatever it made of a protected pattern moved aside, and what was there left alone", async () => {
    writeFileSync(join(work, ".yarnrc.yml"), "a");
    const { violations } = await run("echo x > .yarnrc.cjs", profile({ protect: [join(work, ".yarnrc*")] }));
    expect(readdirSync(work).sort()).toEqual([".yarnrc.cjs.crux-quarantine-1", ".yarnrc.yml"]);
    expect(violations.length).toBe(1);
  });

  it("cannot turn a protected link", async () => {
    spawnSync("ln", ["-s", "real", ".husky"], { cwd: work });
    const { violations } = await run("ln -sfn evil .husky", profile({ protect: [join(work, ".husky/")] }));
    expect(spawnSync("readlink", [".husky"], { cwd: work, encoding: "utf8" }).stdout).toBe("real\n");
    expect(violations.length).toBe(1);
  });

  it("reads nothing that is hidden, by whatever name it tries", async () => {
    writeFileSync(join(work, ".env"), "CANARY");
    const home = join(own, "home");
    mkdirSync(join(home, ".ssh"), { recursive: true });
    writeFileSync(join(home, ".ssh/id_x"), "CANARY");
    const hide = [join(work, ".env"), join(home, ".ssh")];
    const script = `cat .env ${home}/.ssh/id_x /proc/self/root${work}/.env; cp .env f; ln .env l; mv .env e; cat e
      mv ${work} ${work}2; cat /proc/1/root${work}/.env; grep -r CANARY . ${home}`;
    const { out } = await run(script, profile({ hide }));
    expect(out).not.toContain("CANARY");
    expect(readFileSync(join(work, ".env"), "utf8")).toBe("CANARY");
  });

  it("moves nothing that is hidden to where the next one would not look for it", async () => {
    mkdirSync(join(work, "a/b/sub"), { recursive: true });
    mkdirSync(join(work, "node_modules"));
    writeFileSync(join(work, "a/b/sub/.env"), "CANARY");
    const sandbox = profile({ hide: [join(work, "a/b/sub/.env")] });
    const moves = ["a/b/sub", "a/b", "a"].map((dir) => `mv -T ${dir} node_modules/x`).join("; ");
    await run(`${moves}; mv a z; rm -rf a; echo made > a/b/new; echo made > a/new`, sandbox);
    expect(readFileSync(join(work, "a/b/sub/.env"), "utf8")).toBe("CANARY");
    if (kind !== "landlock") expect(readdirSync(join(work, "a/b")).sort()).toEqual(["new", "sub"]);
  });

  itByNamespaces("sees of a hidden folder what is shown, and may write its own place in it", async () => {
    const hidden = join(own, "state");
    mkdirSync(join(hidden, "scratch/1"), { recursive: true });
    writeFileSync(join(hidden, "journal"), "CANARY");
    writeFileSync(join(hidden, "shown"), "shown");
    const wish = { write: [work, join(hidden, "scratch/1")], hide: [hidden], show: [join(hidden, "shown")] };
    const { out } = await run(
      `cat ${hidden}/shown; ls ${hidden}; echo x > ${hidden}/scratch/1/x; echo x > ${hidden}/y; echo x > ${hidden}/scratch/y`,
      profile(wish),
    );
    expect(out).toContain("shown");
    expect(out).not.toContain("journal");
    expect(readdirSync(join(hidden, "scratch/1"))).toEqual(["x"]);
    expect(readdirSync(hidden).sort()).toEqual(["journal", "scratch", "shown"]);
  });

  itByNamespaces("reaches no socket of the host but the one that is shown, and no network", async () => {
    const sockets = join(own, "run");
    mkdirSync(sockets, { recursive: true });
    const heard: string[] = [];
    const listen = async (where: string | number) => {
      const server = createServer((socket) => {
        heard.push(String(where));
        socket.end("hello\n");
      });
      await new Promise<void>((resolve) =>
        server.listen(where === 0 ? { port: 0, host: "127.0.0.1" } : where, resolve),
      );
      onTestFinished(() => void server.close());
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    };
    await listen(join(sockets, "docker.sock"));
    await listen(join(sockets, "own.sock"));
    const port = await listen(0);
    const connect = (to: string) =>
      `${node} -e 'require("net").connect(${to}).on("error",(e)=>console.log(e.code)).on("data",(d)=>console.log(String(d)))'`;
    const script = [
      connect(`{path:"${sockets}/docker.sock"}`),
      connect(`{path:"${sockets}/own.sock"}`),
      connect(`{port:${port},host:"127.0.0.1"}`),
      connect(`{port:80,host:"1.1.1.1"}`),
    ].join("; ");
    const { out } = await run(script, profile({ hide: [sockets], show: [join(sockets, "own.sock")] }));
    expect(out.trim().split(/\n+/)).toEqual(["ENOENT", "hello", "ECONNREFUSED", "ENETUNREACH"]);
    expect(heard).toEqual([join(sockets, "own.sock")]);
  });

  it("has no rights, gains none, and makes no namespace", async () => {
    const { out } = await run(`grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
      unshare -U true; unshare -m true; mount -t tmpfs none /mnt; chroot / true`);
    expect(out).toContain("CapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
    expect(out.match(/unshare failed: Operation not permitted/g)?.length).toBe(2);
    expect(out).not.toMatch(/^ok$/m);
  });

  it("cannot make the calls that the filter refuses", async ({ skip }) => {
    skip(spawnSync("python3", ["-V"]).status !== 0, "python3 makes the calls, and is not installed");
    const tool = `import ctypes, fcntl, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, n, *args):
    ctypes.set_errno(0); r = libc.syscall(n, *args); print(name, os.strerror(ctypes.get_errno()) if r < 0 else "DONE")
x64 = os.uname().machine == "x86_64"
call("ptrace", 101 if x64 else 117, 0, 0, 0, 0)
call("keyctl", 250 if x64 else 219, 0, -3, 0)
call("bpf", 321 if x64 else 280, 0, 0, 0)
call("userfaultfd", 323 if x64 else 282, 0)
call("io_uring_setup", 425, 1, 0)
call("clone newuser", 56 if x64 else 220, 0x10000011, 0, 0, 0, 0)
for name, args in (("packet", (17, 3)), ("raw", (2, 3)), ("vsock", (40, 1)), ("tcp", (2, 1))):
    try: socket.socket(*args); print(name, "DONE")
    except OSError as e: print(name, e.strerror)
try: fcntl.ioctl(0, 0x5412, b"x"); print("TIOCSTI DONE")
except OSError as e: print("TIOCSTI", e.strerror)
`;
    writeFileSync(join(work, "calls.py"), tool);
    const { out } = await run("python3 calls.py");
    const refused = "ptrace keyctl bpf userfaultfd io_uring_setup,clone newuser,packet raw vsock".split(",");
    for (const name of refused.flatMap((each) => (each === "clone newuser" ? [each] : each.split(" "))))
      expect(out).toContain(`${name} Operation not permitted\n`);
    expect(out).toContain("TIOCSTI Operation not permitted\n");
    expect(out).toContain(`tcp ${kind === "landlock" ? "Operation not permitted" : "DONE"}\n`);
  });

  itByNamespaces("cannot reach what tells its status, nor stop or end the first process", async () => {
    const perl = `my $first = syscall(434, 1, 0); print "got it\n" for grep { syscall(438, $first, $_, 0) >= 0 } 0 .. 9`;
    const script = `for fd in /proc/1/fd/[0-6]; do printf '\n9\n' > $fd; printf '9\n' <> $fd >&0; done 2>/dev/null
      kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -PIPE 1; echo x > /proc/1/mem; echo 1000 > /proc/1/oom_score_adj
      perl -e ${shellWord(perl)}; printf '%s ' fds; ls /proc/self/fd | tr '\\n' ' '; exit 5`;
    const { code, out } = await run(script);
    expect(code).toBe(5);
    expect(out).not.toContain("got it");
    expect(out.match(/Read-only file system/g)?.length).toBe(2);
    // no more than it would have outside
    expect(out.endsWith(`fds ${isKept ? "0 1 2 3 " : openInPrograms()}`)).toBe(true);
  });

  it("is told as ended while its wrapper ends, and is gone with close()", async () => {
    const dir = mkdtempSync(join(own, "close-"));
    const alone = new HostProcesses({ kernelId: "k-close", epoch: 1, pipesDir: join(dir, "pipes"), ...by });
    const { spec } = bashSpec("exit 3", { cwd: work, sandbox: profile() });
    const child = alone.run(spec, never);
    expect(await child.exited).toEqual({ code: 3, signal: null });
    await alone.close();
    expect(existsSync(`/proc/${child.osPid}`)).toBe(false);
  });

  it("gains nothing by a setuid program, and leaves none", async () => {
    const { out } = await run(
      "cp /bin/true s; chmod u+s s; su -c id 2>&1 </dev/null; mount --bind / /mnt 2>&1",
    );
    expect(out).not.toMatch(/uid=0.*groups=.*\n/);
    expect(out).toMatch(/denied|not permitted|must be|Authentication|cannot/i);
  });

  it("does not start in a place that is hidden from it", async () => {
    const hidden = mkdtempSync(join(own, "hidden-"));
    const { spec } = bashSpec("true", { cwd: hidden, sandbox: profile({ hide: [hidden] }) });
    const { error } = await exec.run({ ...spec, cwd: join(hidden) }, never).exited;
    expect(error).toBeUndefined();
    mkdirSync(join(hidden, "below"));
    const below = await exec.run({ ...spec, cwd: join(hidden, "below") }, never).exited;
    expect(below.error).toMatchObject({ code: "UNAVAILABLE" });
  });

  it.skipIf(kind === "landlock")(
    "is set up anew where a file went while it was set up, three times at most, and the error says why",
    async () => {
      const frail = new Sandboxes({ dir: join(own, "frail"), ledgerDir: join(own, "frail-ledger") });
      const confine = frail.confine.bind(frail);
      let left = 0;
      frail.confine = (what) => {
        const made = confine(what);
        const gone = ["--ro-bind", join(work, "gone"), join(work, "gone")];
        return left-- > 0 ? { ...made, options: [...made.options, ...gone] } : made;
      };
      const host = new HostProcesses({ kernelId: "k-frail", epoch: 1, sandboxes: frail, ...by });
      onTestFinished(() => host.close());
      const runs = async (times: number) => {
        left = times;
        const { spec, out } = bashSpec("echo ran >> count", {
          cwd: work,
          sandbox: profile(),
          isMerged: true,
        });
        const { error } = await host.run(spec, never).exited;
        return [error?.message, out()];
      };
      expect(await runs(3)).toEqual([undefined, ""]);
      expect(await runs(4)).toEqual([
        expect.stringMatching(/could not be set up: .*gone/),
        expect.stringContaining("gone"),
      ]);
      expect(readFileSync(join(work, "count"), "utf8")).toBe("ran\n");
    },
  );

  it("ends with all it started, and its filter and sockets are gone", async () => {
    await run("true");
    const before = openDescriptors();
    const { child, out } = start("(setsid sleep 60 &) ; echo ready; sleep 60", profile());
    await until(() => out() !== "", "it is ready");
    await child.kill();
    for (let i = 0; i < 5; i++) await run("true", profile({ network: { allow: ["a.example"], deny: [] } }));
    over.abort();
    // the loopback of the next process waits
    const isNext = (each: string) => isKept && /^\d+ (user|net):/.test(each);
    await until(() => openedSince(before).every(isNext), "all are closed");
    expect(readdirSync(join(own, "sb"))).toEqual([]);
  });
});

describe("Sandboxes", () => {
  it("sweep() removes what a killed daemon left, if it is still empty", () => {
    const ledgerDir = join(work, "ledger");
    mkdirSync(ledgerDir);
    for (const name of ["empty", "used"]) mkdirSync(join(work, name));
    writeFileSync(join(work, "used/x"), "");
    writeFileSync(join(ledgerDir, "1"), JSON.stringify([join(work, "empty"), join(work, "used")]));
    writeFileSync(join(ledgerDir, "2"), '["cut');
    expect(new Sandboxes({ ledgerDir }).sweep()).toBe(2);
    expect(readdirSync(work)).toEqual(["used"]);
  });

  it("a machine that cannot confine starts nothing that is to be confined, and says what to do", async () => {
    const finder = new SandboxFinder({ wrappers: [] });
    await finder.lookAhead();
    expect(finder.get()).toMatchObject({ available: false, why: "neither bubblewrap nor perl is installed" });
    const lacking = new HostProcesses({ kernelId: "k-none", epoch: 1, sandbox: () => finder.get() });
    const { spec } = bashSpec(`touch ${join(work, "ran")}`, { sandbox: profile() });
    const { error } = await lacking.run(spec, never).exited;
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect(error?.message).toContain("apt-get install bubblewrap");
    expect(existsSync(join(work, "ran"))).toBe(false);
    await lacking.close();
  });

  it.runIf(state.available)("is found on a PATH without a single program, and on an empty one", async () => {
    const path = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    for (const other of [work, "/no/such/folder", ""]) {
      process.env.PATH = other;
      const ahead = new SandboxFinder();
      await ahead.lookAhead();
      expect([new SandboxFinder().get(), ahead.get()]).toEqual([state, state]);
    }
  });

  it.runIf(hasNamespaces && real !== undefined)(
    "says what does not hold, and names user namespaces only where they are the reason",
    async () => {
      const bwrap = real?.words[0];
      const liar = join(work, "bwrap");
      const found = (does: string) => {
        writeFileSync(liar, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
        return new SandboxFinder({ wrappers: bwrapAt(liar), probeMs: 10_000 }).get();
      };
      const without = (option: string, words: number) =>
        `n=$#; while [ $n -gt 0 ]; do n=$((n - 1)); word=$1; shift
        if [ "$word" = ${option} ]; then shift ${words}; n=$((n - ${words})); else set -- "$@" "$word"; fi; done
        exec ${bwrap} "$@"`;
      const namespaces = expect.stringContaining("allow user namespaces");
      expect(found(without("--seccomp", 1))).toEqual({
        available: false,
        why: "bubblewrap does not work here: no filter of system calls is at work in it",
        fix: expect.not.stringContaining("namespaces"),
      });
      expect(found(without("--unshare-net", 0))).toMatchObject({
        why: expect.stringContaining("it has a network"),
      });
      expect(found('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1')).toMatchObject({
        fix: namespaces,
      });
      expect(found("exit 3")).toMatchObject({
        why: expect.stringContaining("exit code 3"),
        fix: expect.not.stringContaining("namespaces"),
      });
    },
  );

  it("a bubblewrap that does not confine is none", async () => {
    const liar = join(work, "bwrap");
    const says = (does: string) => writeFileSync(liar, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
    says('echo "setting up uid map: Permission denied" >&2; exit 1');
    const denied = new SandboxFinder({ wrappers: bwrapAt(liar) }).get();
    expect(denied).toMatchObject({
      available: false,
      why: expect.stringContaining("uid map: Permission denied"),
    });
    says('echo "sandbox: make namespaces: Operation not permitted" >&2; exit 1');
    const wrappers = [...bwrapAt(join(work, "missing")), { kind: "namespaces", words: [liar] }] as const;
    expect(new SandboxFinder({ wrappers: wrappers.slice(1) }).get()).toMatchObject({
      why: expect.stringMatching(/^namespaces made without bubblewrap do not work here: .*not permitted$/),
      fix: expect.stringMatching(/^apt-get install bubblewrap, or allow user namespaces/),
    });
    expect(new SandboxFinder({ wrappers }).get()).toMatchObject({
      why: expect.stringMatching(/^bubblewrap does not work here: .*ENOENT; namespaces made without/),
    });
    says('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
    expect(new SandboxFinder({ wrappers: bwrapAt(liar) }).get().available).toBe(false);
    expect(statSync(liar).isFile()).toBe(true);
  });

  it.runIf(hasNamespaces)(
    "what bubblewrap cannot set up is UNAVAILABLE, not a status of the program",
    async () => {
      const file = join(work, "file");
      writeFileSync(file, "");
      linkSync(file, join(work, "second"));
      const gone = join(work, "gone");
      mkdirSync(gone);
      const confine = sandboxes.confine.bind(sandboxes);
      const breaking = Object.assign(Object.create(sandboxes) as Sandboxes, {
        confine: (what: Parameters<typeof confine>[0]) => {
          const made = confine(what);
          rmSync(gone, { recursive: true });
          return made;
        },
        close: () => {},
      });
      const host = new HostProcesses({ kernelId: "k-broken", epoch: 1, sandboxes: breaking });
      const { spec } = bashSpec("true", {
        cwd: work,
        sandbox: profile({ write: [work, gone], hide: [work] }),
      });
      const { code, error } = await host.run(spec, never).exited;
      expect([code, error]).toMatchObject([1, { code: "UNAVAILABLE" }]);
      await host.close();
    },
  );
});
