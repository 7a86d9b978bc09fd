import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Pid } from "../../abi/ids.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { bytes, type TestKernel, testKernel, text } from "../../kernel/testing/test-kernel.ts";
import { DiskSpools } from "../out/spool.ts";
import { commandEnvironment } from "../shell/environment.ts";
import { tempFolder, until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { findLibc } from "./libc.ts";
import { findProcess } from "./procfs.ts";
import { commandOf, isolationsHere, naming, newTag, running } from "./testing.ts";

const never = new AbortController().signal;

describe.each(isolationsHere())("natives of a kernel, $ownership", (isolation) => {
  function bench(spools = join(tempFolder(), "spools")) {
    const exec = new HostProcesses({
      kernelId: "k-native",
      epoch: 1,
      pipesDir: join(tempFolder(), "pipes"),
      isolation: () => isolation,
    });
    onTestFinished(() => exec.close());
    const t = testKernel({
      exec,
      spools: new DiskSpools(spools),
      commandEnv: (owner, extra) => commandEnvironment(owner, extra, "/run/crux.sock"),
      home: "/",
      env: { PATH: process.env.PATH ?? "" },
    });
    const bash = (script: string, opts: SpawnOpts = {}): Promise<Pid> =>
      t.init.spawn("", null, { ...opts, command: ["bash", "-c", script] });
    return { t, exec, bash };
  }

  async function outputOf({ kernel, init }: TestKernel, pid: Pid): Promise<string> {
    const { uuid } = kernel.table.get(pid)?.seed ?? {};
    await init.wait(pid);
    const reader = kernel.ports.spools.find(`${uuid}.log`);
    const parts: Uint8Array[] = [];
    for (;;) {
      const part = (await reader?.read(65_536, never)) ?? bytes("");
      if (part.byteLength === 0) return text(Buffer.concat(parts));
      parts.push(part);
    }
  }

  it("run with the environment of a command, and leave output, result and code", async () => {
    const { t, exec, bash } = bench();
    const pid = await bash("echo $CRUX_PID $A; echo err >&2; pwd; exit 3", {
      cwd: "/usr",
      options: { env: { A: "one" } },
    });
    expect((await outputOf(t, pid)).split("\n").sort()).toEqual(["", "/usr", `${pid} one`, "err"]);
    expect(t.journal.bodies("process.exited")).toMatchObject([
      { code: 3, reason: "exit 3", kind: "fault", result: `${pid} one\n/usr` },
    ]);
    expect(exec.live).toBe(0);
  });

  it.runIf(findLibc() !== undefined)(
    "that write much get as far ahead as a larger pipe lets them, while their readers are behind",
    async () => {
      const { t, bash } = bench();
      const file = join(tempFolder(), "written");
      // read up to the half of its spool, and a reading more
      const options = { id: "much", onSpoolFull: "block", spoolBytes: 2_560 * 1024 } as const;
      const pid = await bash(`head -c 2252800 /dev/zero; echo > ${file}; exec sleep 600`, { options });
      await until(() => existsSync(file), "all is written");
      await t.init.kill(pid, 2);
      expect((await t.init.wait(pid)).code).toBe(137);
    },
  );

  it("are not made of what is not there", async () => {
    const { t, bash } = bench();
    const nothing = t.init.spawn("", null, { command: ["no-such-program"] });
    await expect(nothing).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(bash("true", { cwd: "/no/such" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("stop and go on with all they started; TERM to one that is stopped lets it end by itself", async () => {
    const { t, bash } = bench();
    const file = join(tempFolder(), "count");
    const pid = await bash(`trap 'echo bye; exit 0' TERM; while :; do echo >> ${file}; sleep 0.005; done`);
    const lines = () => readFileSync(file, { encoding: "utf8", flag: "a+" }).length;
    await until(() => lines() > 1, "it counts");
    await t.init.kill(pid, 4);
    const counting = () => running("bash").filter((each) => commandOf(each).includes(file));
    await until(() => counting().every((each) => findProcess(each)?.isStopped), "it stands still");
    const stopped = lines();
    // as long as a program takes from its start to its end
    await t.init.wait(await bash("sleep 0.04"));
    expect(lines()).toBe(stopped);
    await t.init.kill(pid, 5);
    await until(() => lines() > stopped + 2, "it goes on");
    await t.init.kill(pid, 4);
    const output = outputOf(t, pid);
    await t.init.kill(pid, 1);
    expect(await output).toContain("bye\n");
    expect(t.journal.bodies("process.exited").at(-1)).toMatchObject({ code: 0, reason: "completed" });
  });

  it("that use more processors than their limit stand still until the time for it has passed", async () => {
    const { t, bash } = bench();
    const tag = newTag();
    const options = { id: "busy", cpuCores: 0.5 };
    const pid = await bash(`exec -a ${tag} bash -c 'while :; do :; done'`, { options });
    const used = () => t.kernel.natives.of(pid)?.usage?.cpuMs ?? 0;
    await until(() => used() >= 200 && running(tag).length === 1, "it has used something");
    await t.clock.advance(100);
    const isStill = () => running(tag).every((each) => findProcess(each)?.isStopped);
    await until(isStill, "it stands still");
    expect(t.proc(pid).isPaused).toBe(false);
    await t.clock.advance(10_000);
    await until(() => !isStill(), "it goes on");
    await t.init.kill(pid, 1);
    expect((await t.init.wait(pid)).code).toBe(143);
  });

  it("decide themselves what INT means", async () => {
    const { t, bash } = bench();
    const tag = newTag();
    const heeds = await bash(`exec -a ${tag} sleep 60`);
    const handles = await bash(`trap 'exit 4' INT; (exec -a ${tag} sleep 61); while :; do sleep 0.01; done`);
    await until(() => running(tag).length === 2, "both run");
    for (const pid of [heeds, handles]) await t.init.kill(pid, 3);
    expect(await t.init.wait(heeds)).toEqual({ code: 130, reason: "killed: SIGINT", kind: "killed" });
    expect(await t.init.wait(handles)).toMatchObject({ code: 4, reason: "exit 4" });
  });

  it("KILL ends one that heeds nothing, with all that fled from it", async () => {
    const { t, exec, bash } = bench();
    const tag = newTag();
    const stubborn = "trap '' TERM INT HUP";
    const pid = await bash(
      `${stubborn}; (setsid bash -c "${stubborn}; exec -a ${tag} sleep 60" &); exec -a ${tag} sleep 60`,
    );
    await until(() => running(tag).length === 2, "both run");
    await t.init.kill(pid, 2);
    expect(await t.init.wait(pid)).toMatchObject({ code: 137 });
    await until(() => exec.live === 0, "the host's processes are gone");
    expect(naming(tag)).toEqual([]);
  });

  it("are piped together: nothing is lost, and nobody runs ahead", async () => {
    const { t, bash } = bench();
    const { sys, pid } = await t.start();
    const first = await sys.pipe(pid, pid);
    const second = await sys.pipe(pid, pid);
    const [seq, sum] = [
      await sys.spawn("", null, { command: ["seq", "1", "100000"], stdout: first.writeFd }),
      await sys.spawn("", null, { command: ["wc", "-l"], stdin: first.readFd, stdout: second.writeFd }),
    ];
    expect(text(await sys.read(second.readFd, 100)).trim()).toBe("100000");
    expect([(await sys.wait(seq)).code, (await sys.wait(sum)).code]).toEqual([0, 0]);
    expect(await outputOf(t, await bash("cat", { stdin: bytes("given") }))).toBe("given");
  });

  it("are not written to once they, and all that they have started, have closed their stdin", async () => {
    const { t, bash } = bench();
    const [last, deaf, late] = ["last", "deaf", "late"].map((name) => join(tempFolder(), name));
    const start = async (id: string, script: string) => {
      const pid = await bash(script, { options: { id, stdin: "pipe" } });
      const native = t.kernel.natives.of(pid);
      await native?.begun;
      return native;
    };
    const reader = `read a; exec <&-; echo > ${deaf}; exec sleep 600`;
    const first = await start("first", `bash -c '${reader}' <&0 & exec <&-; echo > ${last}; wait`);
    await until(() => existsSync(last ?? ""), "another reads");
    await first?.write(bytes("one\n"));
    await until(() => existsSync(deaf ?? ""), "the last reader has closed it");
    const broken = { code: "DRIVER", message: "broken pipe" };
    await expect(first?.write(bytes("two\n"))).rejects.toMatchObject(broken);
    expect(first?.input).toMatchObject({ bytes: 4, isOpen: false });
    const second = await start(
      "second",
      `until [ -e ${late} ]; do sleep 0.01; done; exec <&-; exec sleep 600`,
    );
    const waiting = expect(second?.write(new Uint8Array(4 << 20))).rejects.toMatchObject(broken);
    writeFileSync(late ?? "", "");
    await waiting;
    for (const { pid } of t.kernel.natives.list()) {
      await t.init.kill(pid, 2);
      await t.init.wait(pid);
    }
  });

  it("end by SIGPIPE when nobody reads them any more", async () => {
    const { t } = bench();
    const { sys, pid } = await t.start();
    const pipe = await sys.pipe(pid, pid);
    const yes = await sys.spawn("", null, { command: ["yes"], stdout: pipe.writeFd });
    expect(text(await sys.read(pipe.readFd, 4))).toBe("y\ny\n");
    await sys.close(pipe.readFd);
    expect(await sys.wait(yes)).toEqual({ code: 141, reason: "killed: SIGPIPE", kind: "killed" });
  });

  it("time out: TERM, and the reason is the time", async () => {
    const { t, bash } = bench();
    const pid = await bash("exec sleep 60", { options: { timeoutMs: 1_000 } });
    const osPid = () => naming("sleep 60").find((each) => findProcess(each) !== undefined);
    await until(() => osPid() !== undefined, "it runs");
    await t.clock.advance(1_000);
    expect(await t.init.wait(pid)).toMatchObject({ code: 1, reason: "timeout", kind: "done" });
  });
});
