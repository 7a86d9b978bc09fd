import { describe, expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asFd, type Pid } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";
import { outputName } from "../ports/spools.ts";
import { ByteDevice } from "../testing/fake-devices.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { MemorySpools } from "../testing/memory-spools.ts";
import { ALLOW, askWith, DENY } from "../testing/scripted-permit.ts";
import { bytes, NOTHING_LEFT, type TestKernel, testKernel, text } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const never = new AbortController().signal;

function bench() {
  const programs = new FakePrograms();
  const spools = new MemorySpools();
  const t = testKernel({ exec: programs, spools });
  const spawn = (command: readonly string[], opts: SpawnOpts = {}, by = t.init): Promise<Pid> =>
    by.spawn("", null, { ...opts, command });
  return { t, programs, spools, spawn };
}

async function expectNothingLeft(t: TestKernel): Promise<void> {
  await t.clock.advance(60_000);
  await settle();
  expect(t.census()).toEqual(NOTHING_LEFT);
}

describe("a native", () => {
  test("runs its command with the environment of a command, and ends with its code", async () => {
    const { t, programs, spawn } = bench();
    const options = { env: { A: "1" } };
    const pid = await spawn(["make", "all"], { cwd: "/desk", env: { HOME: "/home/ada" }, options });
    const { last } = programs;
    expect(last.spec).toMatchObject({ argv: ["make", "all"], cwd: "/desk", stdin: "ignore" });
    expect(last.spec.env).toMatchObject({ A: "1", HOME: "/home/ada", CRUX_PID: String(pid) });
    expect(t.kernel.info(t.proc(pid))).toMatchObject({
      kind: "native",
      name: "make",
      intent: "make all",
      state: "running",
      activity: null,
      ctxId: 0,
    });
    expect(t.journal.bodies("process.spawned")).toMatchObject([
      { kind: "native", command: ["make", "all"], agent: null },
    ]);
    await last.print("done\n");
    last.exit(0);
    expect(await t.init.wait(pid)).toEqual({ code: 0, reason: "completed", kind: "done" });
    expect(t.journal.bodies("process.exited")).toMatchObject([{ result: "done" }]);
    await expectNothingLeft(t);
  });

  test.each([
    [
      { code: 3, signal: null },
      { code: 3, reason: "exit 3", kind: "fault" },
    ],
    [
      { code: null, signal: "SIGSEGV" },
      { code: 139, reason: "killed: SIGSEGV", kind: "killed" },
    ],
    [
      { code: 137, signal: null },
      { code: 137, reason: "killed: SIGKILL", kind: "killed" },
    ],
    [
      { code: 200, signal: null },
      { code: 200, reason: "exit 200", kind: "fault" },
    ],
    [
      { code: 255, signal: null },
      { code: 255, reason: "exit 255", kind: "fault" },
    ],
  ] as const)("that ends with %o", async (end, exit) => {
    const { t, programs, spawn } = bench();
    const pid = await spawn(["a"]);
    programs.last.end(end);
    expect(await t.init.wait(pid)).toEqual(exit);
  });

  test("that cannot be started after all is a fault with the host's words", async () => {
    const { t, programs, spawn } = bench();
    const pid = await spawn(["a"]);
    const error = new Fault({ code: "DRIVER", message: "EAGAIN on: a" });
    programs.last.end({ code: null, signal: null, error });
    expect(await t.init.wait(pid)).toMatchObject({
      code: 1,
      reason: "EAGAIN on: a",
      kind: "fault",
      err: error,
    });
  });

  test.each([
    ["nothing", []],
    ["no program", ["", "a"]],
    ["NUL", ["a", "b\0"]],
    ["too many words", Array<string>(LIMITS.commandWords + 1).fill("a")],
    ["too many bytes", ["a", "é".repeat(LIMITS.commandBytes / 2)]],
  ])("is INVALID with %s, before there is a process", async (_what, command) => {
    const { t, programs, spawn } = bench();
    const { sys } = await t.start();
    await expect(spawn(command)).rejects.toMatchObject({ code: "INVALID" });
    await expect(spawn(command, {}, sys)).rejects.toMatchObject({ code: "INVALID" });
    expect([programs.started, t.kernel.table.size]).toEqual([[], 1]);
  });

  test("is INVALID with an agent, and with a negative time", async () => {
    const { t, spawn } = bench();
    const agent = { manifest: { name: "x" } } as never;
    await expect(t.init.spawn("", agent, { command: ["a"] })).rejects.toMatchObject({ code: "INVALID" });
    await expect(spawn(["a"], { options: { timeoutMs: -1 } })).rejects.toMatchObject({ code: "INVALID" });
  });

  test("whose program is not there fails the spawn, and nothing is left", async () => {
    const { t, programs, spawn } = bench();
    programs.missing.add("nope");
    await expect(spawn(["nope"])).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "program not found: nope",
    });
    expect(programs.started).toEqual([]);
    expect(t.journal.kinds()).toEqual(["process.failed"]);
    await expectNothingLeft(t);
  });

  test("keeps both streams in its spool, in order of arrival, and the end of stdout as its result", async () => {
    const { t, programs, spools, spawn } = bench();
    const pid = await spawn(["a"]);
    const { last } = programs;
    const name = outputName(t.proc(pid).seed.uuid);
    await last.print("out\n");
    await last.print("err\n", "stderr");
    await last.print(`${"é".repeat(3_000)}\n`);
    last.exit(0);
    await t.proc(pid).done.promise;
    const kept = await spools.find(name)?.read(100_000, never);
    expect(text(kept ?? bytes(""))).toBe(`out\nerr\n${"é".repeat(3_000)}\n`);
    // 4,096 bytes from the end begin within a character
    expect(t.proc(pid).result).toBe("é".repeat(2_047));
  });
});

describe("signals to a native", () => {
  async function running(opts: SpawnOpts = {}, command = ["a"]) {
    const made = bench();
    const pid = await made.spawn(command, opts);
    return { ...made, pid, last: made.programs.last, wait: () => made.t.init.wait(pid) };
  }

  test("TERM ends it with 143", async () => {
    const { t, pid, last, wait } = await running();
    await t.init.kill(pid, 1);
    expect(await wait()).toEqual({ code: 143, reason: "killed: SIGTERM", kind: "killed" });
    expect(last.signals).toEqual(["SIGTERM"]);
    await expectNothingLeft(t);
  });

  test.each([
    [
      { code: 0, signal: null },
      { code: 0, reason: "completed", kind: "done" },
    ],
    [
      { code: 9, signal: null },
      { code: 9, reason: "exit 9", kind: "fault" },
    ],
    [
      { code: null, signal: "SIGABRT" },
      { code: 134, reason: "killed: SIGABRT", kind: "killed" },
    ],
  ] as const)("TERM that it handles leaves it its own end: %o", async (end, exit) => {
    const { t, programs, spawn } = bench();
    programs.stubborn.add("a");
    const pid = await spawn(["a"]);
    await t.init.kill(pid, 1);
    programs.last.end(end);
    expect(await t.init.wait(pid)).toEqual(exit);
    expect(t.journal.bodies("process.exited")).toMatchObject([exit]);
    await expectNothingLeft(t);
  });

  test("TERM that reaches it before it was started, and a deadline, outrank what is returned", async () => {
    const { t, programs, spawn } = bench();
    const early = await spawn(["a"]);
    await t.init.kill(early, 1);
    expect((await t.init.wait(early)).reason).toBe("killed: SIGTERM");
    programs.stubborn.add("a");
    const unborn = await spawn(["a"]);
    await t.init.kill(unborn, 1);
    programs.last.end({ code: null, signal: null, error: new Fault({ code: "CANCELLED", message: "no" }) });
    expect(await t.init.wait(unborn)).toEqual({ code: 143, reason: "killed: SIGTERM", kind: "killed" });
    const late = await spawn(["a"], { options: { timeoutMs: 1_000 } });
    await t.clock.advance(1_000);
    programs.last.exit(9);
    expect(await t.init.wait(late)).toMatchObject({ code: 1, reason: "timeout" });
    await expectNothingLeft(t);
  });

  test("TERM becomes KILL after 5 s, or after the grace that its sender gives", async () => {
    const { t, programs, spawn } = bench();
    programs.stubborn.add("a");
    for (const graceMs of [undefined, 30_000, 50]) {
      const pid = await spawn(["a"]);
      const { last } = programs;
      await t.kernel.deliver(t.proc(pid), 1, graceMs);
      await t.clock.advance((graceMs ?? LIMITS.nativeGraceMs) - 1);
      expect(last.signals).toEqual(["SIGTERM"]);
      await t.clock.advance(1);
      expect(last.signals).toEqual(["SIGTERM", "SIGKILL"]);
      expect((await t.init.wait(pid)).code).toBe(137);
    }
    await expectNothingLeft(t);
  });

  test("KILL ends it at once", async () => {
    const { t, programs, spawn } = bench();
    programs.stubborn.add("a");
    const pid = await spawn(["a"]);
    await t.init.kill(pid, 2);
    expect(await t.init.wait(pid)).toEqual({ code: 137, reason: "killed: SIGKILL", kind: "killed" });
    expect(programs.last.signals.at(-1)).toBe("SIGKILL");
    await expectNothingLeft(t);
  });

  test("INT is its own matter: what it makes of it is its exit", async () => {
    const { t, pid, last, wait } = await running();
    await t.init.kill(pid, 3);
    await t.init.kill(pid, 3);
    expect([last.signals, t.proc(pid).state, t.proc(pid).ending.verdict]).toEqual([
      ["SIGINT", "SIGINT"],
      "running",
      null,
    ]);
    last.end({ code: null, signal: "SIGINT" });
    expect(await wait()).toEqual({ code: 130, reason: "killed: SIGINT", kind: "killed" });
  });

  test("PAUSE stops it, RESUME continues it, and its deadline stands still meanwhile", async () => {
    const { t, pid, last, wait } = await running({ options: { timeoutMs: 1_000 } });
    await t.init.kill(pid, 4);
    expect(t.kernel.info(t.proc(pid)).activity).toBe("paused");
    await t.clock.advance(10_000);
    await t.init.kill(pid, 5);
    expect(last.signals).toEqual(["SIGSTOP", "SIGCONT"]);
    await t.clock.advance(999);
    expect(t.proc(pid).state).toBe("running");
    await t.clock.advance(1);
    expect(last.signals).toEqual(["SIGSTOP", "SIGCONT", "SIGTERM"]);
    expect(await wait()).toMatchObject({
      code: 1,
      reason: "timeout",
      kind: "done",
      err: { code: "TIMEOUT" },
    });
  });

  test.each([1, 3] as const)("%d to one that is stopped lets it go on, so that it hears", async (signal) => {
    const { t, programs, spawn } = bench();
    programs.stubborn.add("a");
    const pid = await spawn(["a"]);
    await t.init.kill(pid, 4);
    await t.init.kill(pid, signal);
    expect(programs.last.signals).toEqual(["SIGSTOP", signal === 1 ? "SIGTERM" : "SIGINT", "SIGCONT"]);
    await t.init.kill(pid, 2);
    await t.init.wait(pid);
  });

  test("the shorter of two deadlines counts", async () => {
    const { t, last } = await running({ timeoutMs: 500, options: { timeoutMs: 1_000 } });
    await t.clock.advance(500);
    expect(last.signals).toEqual(["SIGTERM"]);
  });

  test("it ends with its parent, if that is an agent", async () => {
    const { t, programs, spawn } = bench();
    const parent = await t.start();
    await spawn(["a"], {}, parent.sys);
    parent.end();
    await t.init.wait(parent.pid);
    await settle();
    expect(programs.last.signals).toEqual(["SIGTERM"]);
    await expectNothingLeft(t);
  });
});

describe("stdin and stdout of a native", () => {
  async function piped() {
    const made = bench();
    const parent = await made.t.start();
    const { sys, pid } = parent;
    return { ...made, parent, sys, inward: await sys.pipe(pid, pid), outward: await sys.pipe(pid, pid) };
  }

  test("fd 0 is its stdin to the end", async () => {
    const { sys, inward, programs, spawn } = await piped();
    await spawn(["cat"], { stdin: inward.readFd }, sys);
    const { last } = programs;
    expect(last.spec.stdin).toBe("pipe");
    await sys.write(inward.writeFd, bytes("one "));
    await sys.write(inward.writeFd, bytes("two"));
    await settle();
    expect([last.input, last.isInputEnded]).toEqual(["one two", false]);
    await sys.close(inward.writeFd);
    await settle();
    expect(last.isInputEnded).toBe(true);
    last.exit(0);
  });

  test("bytes are read to their end; without any, and without a pipe, there is no input", async () => {
    const { t, programs, spawn } = bench();
    await spawn(["cat"], { stdin: bytes("given") });
    await settle();
    expect([programs.last.input, programs.last.isInputEnded]).toEqual(["given", true]);
    await spawn(["cat"], { options: { stdin: "pipe" } });
    expect([programs.last.spec.stdin, programs.last.isInputEnded]).toEqual(["pipe", false]);
    for (const program of programs.started) program.exit(0);
    await expectNothingLeft(t);
  });

  test("who writes to a program that reads no more hears of it", async () => {
    const { sys, inward, programs, spawn } = await piped();
    await spawn(["head"], { stdin: inward.readFd }, sys);
    programs.last.isDeaf = true;
    await sys.write(inward.writeFd, bytes("x"));
    await settle();
    await expect(sys.write(inward.writeFd, bytes("y"))).rejects.toMatchObject({ message: "broken pipe" });
    programs.last.exit(0);
  });

  test("stdout goes to fd 1 no faster than it is read, and its end follows; stderr does not", async () => {
    const { t, sys, outward, programs, spawn } = await piped();
    const pid = await spawn(["yes"], { stdout: outward.writeFd }, sys);
    const { last } = programs;
    await last.print("warning", "stderr");
    await last.print("x".repeat(LIMITS.pipeBytes));
    let isOn = false;
    const held = last.print("y").then(() => {
      isOn = true;
    });
    await settle();
    expect(isOn).toBe(false);
    expect((await sys.read(outward.readFd, LIMITS.pipeBytes)).byteLength).toBe(LIMITS.pipeBytes);
    await held;
    last.exit(0);
    expect(text(await sys.read(outward.readFd, 10))).toBe("y");
    expect((await sys.read(outward.readFd, 10)).byteLength).toBe(0);
    expect((await t.init.wait(pid)).code).toBe(0);
  });

  test("with a spool that is full it waits for room; one that is killed waits no longer", async () => {
    const { t, spools, programs, spawn } = bench();
    const pid = await spawn(["yes"], { options: { id: "y", onSpoolFull: "block" } });
    const { uuid } = t.proc(pid).seed;
    const spool = spools.spools.get(`${uuid}.out`);
    if (spool === undefined) throw new Error("no spool");
    const space = Promise.withResolvers<void>();
    spool.room = () => space.promise;
    const passed: string[] = [];
    const first = programs.last.print("a").then(() => passed.push("a"));
    await settle();
    expect([passed, spool.onFull]).toEqual([[], "block"]);
    space.resolve();
    await first;
    spool.room = () => new Promise(() => {});
    const second = programs.last.print("b").then(() => passed.push("b"));
    await t.init.kill(pid, 2);
    await second;
    expect(passed).toEqual(["a", "b"]);
    expect((await t.init.wait(pid)).code).toBe(137);
  });

  test("what it says while it ends still reaches its reader", async () => {
    const { t, sys, outward, programs, spawn } = await piped();
    programs.stubborn.add("server");
    const pid = await spawn(["server"], { stdout: outward.writeFd }, sys);
    await t.init.kill(pid, 1);
    await programs.last.print("bye");
    programs.last.exit(0);
    expect(text(await sys.read(outward.readFd, 10))).toBe("bye");
    expect((await t.init.wait(pid)).code).toBe(0);
  });

  test("a reader that is gone is SIGPIPE; one that does not heed it is ended", async () => {
    const { t, sys, outward, programs, spawn } = await piped();
    programs.stubborn.add("yes");
    const pid = await spawn(["yes"], { stdout: outward.writeFd }, sys);
    await sys.close(outward.readFd);
    await programs.last.print("y\n");
    await programs.last.print("y\n");
    expect(programs.last.signals).toEqual(["SIGPIPE", "SIGTERM"]);
    await t.clock.advance(LIMITS.nativeGraceMs);
    expect(programs.last.signals.at(-1)).toBe("SIGKILL");
    expect((await t.init.wait(pid)).code).toBe(137);
  });

  test("a pipe that nobody reads holds no end up", async () => {
    const { t, sys, outward, programs, spawn } = await piped();
    const pid = await spawn(["yes"], { stdout: outward.writeFd }, sys);
    void programs.last.print("x".repeat(LIMITS.pipeBytes + 1));
    await settle();
    await t.init.kill(pid, 2);
    expect((await t.init.wait(pid)).code).toBe(137);
  });

  test("a file that acts on what it is given is asked through the gate", async () => {
    const { t, programs, spawn } = bench();
    const files = new ByteDevice();
    t.kernel.mount("/dev/bytes", files);
    const parent = await t.start();
    const out = await parent.sys.open("/dev/bytes/a", 1);
    await spawn(["a"], { stdout: out }, parent.sys);
    await programs.last.print("into the file");
    programs.last.exit(0);
    await settle(10);
    const fd = await parent.sys.open("/dev/bytes/a", 0);
    expect(text(await parent.sys.read(fd, 100))).toBe("into the file");
    expect(fd).toBeGreaterThan(asFd(3));
  });
});

describe("a native of an agent", () => {
  const effect = (argv: readonly string[], cwd = "/home/test") => ({
    kind: "exec",
    argv,
    cwd,
    certain: true,
  });

  test("passes the guard as a command would, before anything is there", async () => {
    const { t, programs, spawn } = bench();
    const { sys, pid } = await t.start();
    const child = await spawn(["npm", "test"], {}, sys);
    expect(t.permit.asked).toMatchObject([
      { subject: { pid }, request: { tool: "bash", effects: [effect(["npm", "test"])] } },
    ]);
    const calls = t.journal.kinds(pid).filter((kind) => kind.startsWith("call."));
    expect(calls).toEqual(["call.intent", "call.result"]);
    expect(t.proc(child).ppid).toBe(pid);
    programs.last.exit(0);
    expect((await sys.wait(child)).code).toBe(0);
  });

  test("that is refused does not come to be", async () => {
    const { t, programs, spawn } = bench();
    const { sys } = await t.start();
    for (const answer of [DENY, askWith(null)]) {
      t.permit.answer = () => answer;
      await expect(spawn(["rm", "-r", "a"], {}, sys)).rejects.toMatchObject({ code: "PERMISSION" });
    }
    expect([programs.started, t.kernel.table.size]).toEqual([[], 1]);
    t.permit.answer = () => ALLOW;
  });

  test("what changes the meaning of its words is shown with them", async () => {
    const { t, programs, spawn } = bench();
    const { sys } = await t.start({ env: { PATH: "/bin", LANG: "C", OLD: "1" }, cwd: "/desk" });
    const options = { env: { EDITOR: "vi" }, cwd: "/desk/sub" };
    await spawn(["git", "commit"], { env: { PATH: "/evil", LANG: "C" }, options }, sys);
    const argv = ["env", "-u", "OLD", "PATH=/evil", "EDITOR=vi", "git", "commit"];
    expect(t.permit.asked[0]?.request.effects).toEqual([effect(argv, "/desk/sub")]);
    await expect(spawn(["ls"], { options: { cwd: "/etc" } }, sys)).rejects.toMatchObject({
      code: "PERMISSION",
    });
    programs.last.exit(0);
  });

  test("is nothing to ask about when a person starts it", async () => {
    const { t, programs, spawn } = bench();
    await spawn(["npm", "test"]);
    expect(t.permit.asked).toEqual([]);
    programs.last.exit(0);
  });

  test("is refused when as many run as it may have", async () => {
    const { t, programs, spawn } = bench();
    const { sys } = await t.start();
    for (let n = 0; n < LIMITS.natives; n++) await spawn(["a"], {}, sys);
    await expect(spawn(["a"], {}, sys)).rejects.toMatchObject({ code: "BUDGET" });
    programs.last.exit(0);
    await settle();
    await spawn(["a"], {}, sys);
    for (const program of programs.started) program.exit(0);
  });

  test("as a supervised child passes the guard too, once, before the first starts", async () => {
    const { t, programs } = bench();
    const { sys, pid } = await t.start();
    const native = (id: string, ...command: string[]) => ({ id, start: { command } });
    const inner = { name: "inner", children: [native("c", "c")] };
    const spec = {
      name: "shop",
      children: [native("a", "a", "1"), { id: "b", start: { supervisor: inner } }],
    };
    t.permit.answer = () => DENY;
    await expect(sys.spawnSupervisor(spec)).rejects.toMatchObject({ code: "PERMISSION" });
    expect([programs.started, t.kernel.table.size]).toEqual([[], 1]);
    t.permit.answer = () => ALLOW;
    t.permit.asked.length = 0;
    await sys.spawnSupervisor(spec);
    expect(t.permit.asked).toMatchObject([
      { subject: { pid }, request: { effects: [effect(["a", "1"]), effect(["c"])] } },
    ]);
    expect(programs.started.map(({ spec: { argv } }) => argv)).toEqual([["a", "1"], ["c"]]);
    programs.started[0]?.exit(1);
    await t.clock.advance(10_000);
    expect(programs.started.length).toBe(3);
    expect(t.permit.asked.length).toBe(1);
  });
});
