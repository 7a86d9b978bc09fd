import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ExecChild, ExecSpec } from "../../kernel/ports/host.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { tempFolder, until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { sweepOrphans } from "./orphans.ts";
import { childrenOf, descendantsOf, findProcess, sendSignal } from "./procfs.ts";
import { bashSpec, commandOf, isolationsHere, naming, newTag, running, TRIES_TO_WRITE } from "./testing.ts";

const never = new AbortController().signal;
let exec: HostProcesses;

function start(script: string, fields: Partial<ExecSpec> = {}): { child: ExecChild; out(): string } {
  const { spec, out } = bashSpec(script, fields);
  return { child: exec.run(spec, never), out };
}

/** Prints what it hears, and ends by itself only when it is told to. */
const LISTENS =
  "trap 'echo int' INT; trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.01; done";

const namespaces = isolationsHere().flatMap((isolation) =>
  isolation.wrapper === undefined ? [] : [{ isolation, kind: isolation.wrapper.kind }],
);

describe.each(namespaces)("a program in a namespace, by $kind", ({ isolation, kind }) => {
  const pipesDir = join(tmpdir(), `crux-namespace-${kind}-${process.pid}`);
  beforeAll(() => {
    exec = new HostProcesses({ kernelId: "k-namespace", epoch: 1, pipesDir, isolation: () => isolation });
  });
  afterAll(() => exec.close());

  it("that died of a signal is told so, although it is told to end while the wrapper puts things away", async () => {
    for (let turns = 0; turns < 40; turns++) {
      const { child, out } = start("echo ready; exec sleep 60");
      await until(() => out() !== "", "it is ready");
      child.signal("SIGPIPE");
      for (let turn = 0; turn < turns * 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      await child.kill();
      expect(await child.exited).toEqual({ code: null, signal: "SIGPIPE" });
    }
  });

  it("sees and signals no process but its own", async () => {
    const bystander = start("sleep 60");
    const script = `kill -0 ${process.pid} || kill -0 ${bystander.child.osPid} || echo alone; ps -e -o pid= | wc -l`;
    const { child, out } = start(script);
    await child.exited;
    expect(out().split("\n")).toContain("alone");
    // the first process, bash, ps and wc
    expect(Number(out().trim().split("\n").at(-1))).toBeLessThanOrEqual(4);
    await bystander.child.kill();
  });

  it.runIf(process.getuid?.() === 0)(
    "can write no file of the kernel's in /proc and /sys for writing",
    async () => {
      const { child, out } = start(
        `${shellWord(process.execPath)} -e ${shellWord(TRIES_TO_WRITE)} /proc /sys; echo over`,
      );
      await child.exited;
      // root opens what has no mode to be written as well; there is nothing to write there
      const isWritable = (path: string) =>
        ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o222) !== 0;
      const [opened, over] = [out().split("\n").slice(0, -2), out().split("\n").at(-2)];
      const others = opened.filter((path) => !/^\/proc\/\d+\//.test(path));
      expect([over, others.length > 0, others.filter(isWritable)]).toEqual(["over", true, []]);
    },
  );

  it("gives what a program leaves behind its time, whatever the PATH", async () => {
    const [set, heard] = ["set", "heard"].map((name) => join(tempFolder(), name));
    const script = `{ trap 'echo term > ${heard}; exit' TERM; echo > ${set}; while :; do :; done; } &
      until [ -e ${set} ]; do :; done`;
    const { child } = start("", { argv: ["/bin/bash", "-c", script], env: { PATH: "" } });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(readFileSync(heard ?? "", "utf8")).toBe("term\n");
  });

  it("has a group that holds nobody of whom its life depends", async () => {
    const { child } = start("trap 'sleep 0.05; exit 4' TERM; kill 0");
    expect(await child.exited).toEqual({ code: 4, signal: null });
  });

  it("has its orphans reaped", async () => {
    const script = `for i in 1 2 3 4 5; do (sleep 0.01 &) ; done
      while [ "$(grep -ls '^State:.Z' /proc/[0-9]*/status | wc -l)" != 0 ]; do sleep 0.01; done; sleep 0.1
      grep -ls '^State:.Z' /proc/[0-9]*/status | wc -l`;
    const { child, out } = start(script);
    await child.exited;
    expect(out()).toBe("0\n");
  });

  it("hears INT as often as it is sent, and goes on", async () => {
    const { child, out } = start(LISTENS);
    await until(() => out().includes("ready"), "it is ready");
    for (const times of [1, 2]) {
      expect(child.signal("SIGINT")).toBe(true);
      await until(() => out().split("int\n").length > times, "it has heard INT");
    }
    await child.kill();
    expect(await child.exited).toEqual({ code: 5, signal: null });
    expect(out().split("int\n").length).toBe(3);
  });

  it("has time to end after TERM, also in a session of its own", async () => {
    const { child, out } = start(
      `setsid bash -c "${LISTENS}" & trap 'wait; echo all; exit 6' TERM; wait; wait`,
    );
    await until(() => out().includes("ready"), "it is ready");
    await child.kill();
    expect(await child.exited).toEqual({ code: 6, signal: null });
    expect(out()).toContain("term\n");
    expect(out()).toContain("all\n");
  });

  it("is stopped and continued with all it started", async () => {
    const tag = newTag();
    const count = join(tempFolder(), "count");
    const counts = `while :; do echo >> ${count}; sleep 0.005; done`;
    const { child } = start(`setsid bash -c '${counts}' ${tag} & ${counts}`);
    const lines = () => readFileSync(count, "utf8").length;
    const counting = () => running("bash").filter((pid) => commandOf(pid).includes(tag));
    const isStill = (pid: number) =>
      [pid, ...childrenOf(pid)].every((each) => findProcess(each)?.isStopped !== false);
    await until(() => running(`bash -c ${counts} ${tag}`).length > 0 && lines() > 2, "both count");
    child.signal("SIGSTOP");
    await until(() => counting().every(isStill), "they stand still");
    const stopped = lines();
    // as long as a program takes from its start to its end
    await start("sleep 0.03").child.exited;
    expect(lines()).toBe(stopped);
    child.signal("SIGCONT");
    await until(() => lines() > stopped, "they go on");
    await child.kill();
    expect(naming(tag)).toEqual([]);
  });

  it("is stopped with all it started, also while it starts more", async () => {
    const storm = "for n in 1 2 3 4 5 6 7 8 9; do setsid sleep 60 & sleep 0.002; done";
    for (let round = 0; round < 20; round++) {
      const { child } = start(`for i in 1 2 3 4 5 6; do (${storm}) & done; wait`);
      const inside = () => childrenOf(child.osPid ?? 0).flatMap(descendantsOf);
      await until(() => inside().length > 20, "many run, and more are on their way");
      child.signal("SIGSTOP");
      await until(() => inside().every((pid) => findProcess(pid)?.isStopped !== false), "they stand still");
      await child.kill();
    }
  });

  it("what it leaves behind may say its last into a file, and hears TERM before it goes", async () => {
    const folder = tempFolder();
    const { child, out } = start(
      `exec > >(sleep 0.03; cat > ${folder}/said)
       (trap 'echo bye > ${folder}/bye; exit' TERM; while :; do sleep 0.01; done) > /dev/null 2>&1 &
       echo last`,
    );
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(out()).toBe("");
    expect(readFileSync(join(folder, "said"), "utf8")).toBe("last\n");
    expect(readFileSync(join(folder, "bye"), "utf8")).toBe("bye\n");
  });

  it("tells the signal that ended its setup, which was killed for it", async () => {
    const leader = spawn("/bin/sh", ["-c", "sleep 60; :"], { detached: true, stdio: "ignore" });
    const ended = once(leader, "exit");
    const job = isolation.job(leader.pid ?? 0, "X=y");
    await until(() => childrenOf(leader.pid ?? 0).length === 1, "it has a first process");
    job.signal("SIGTERM");
    await ended;
    expect(job.endOf({ code: 137, signal: null })).toEqual({ code: null, signal: "SIGTERM" });
    expect(job.endOf({ code: 0, signal: null })).toEqual({ code: 0, signal: null });
  });

  it("tells a signal's status as it is, unless the signal came from here", async () => {
    expect(await start("exit 143").child.exited).toEqual({ code: 143, signal: null });
    const { child, out } = start("echo ready; exec sleep 60");
    await until(() => out() !== "", "it is ready");
    await child.kill();
    expect(await child.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  it.each(["the wrapper", "the first process", "the program"])(
    "is over with all it started when %s is killed",
    async (who) => {
      const tag = newTag();
      const escapes = `(setsid bash -c 'trap "" TERM HUP INT; exec -a ${tag} sleep 60' &)`;
      const { child } = start(`${escapes}; exec -a ${tag} sleep 60`);
      await until(() => running(`${tag} 60`).length === 2, "both are there");
      const outer = child.osPid ?? 0;
      const [first = 0] = childrenOf(outer);
      const program = running(`${tag} 60`).find((pid) => findProcess(pid)?.ppid === first) ?? 0;
      sendSignal(
        { "the wrapper": outer, "the first process": first, "the program": program }[who] ?? 0,
        "SIGKILL",
      );
      const { code, signal } = await child.exited;
      expect(code ?? signal).toBe(who === "the wrapper" ? "SIGKILL" : 137);
      expect(naming(tag)).toEqual([]);
    },
  );

  it("begins only when the daemon answers: one that died meanwhile would not take it along", async () => {
    const file = join(tempFolder(), "begun");
    const [program = "", ...args] = isolation.wrap({ program: "/usr/bin/touch", args: [file], cwd: "/" });
    const start = async (answer: (question: Duplex) => void) => {
      const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
      const ended = once(child, "exit");
      const question = child.stdio[3] as Duplex;
      await once(question, "data");
      expect(existsSync(file)).toBe(false);
      answer(question);
      return (await ended)[0] as number;
    };
    expect([await start((question) => question.destroy()), existsSync(file)]).toEqual([125, false]);
    expect([await start((question) => question.end("\n")), existsSync(file)]).toEqual([0, true]);
  });

  it("is gone with a daemon that is killed while it starts programs without end", async () => {
    const url = (file: string) => JSON.stringify(import.meta.resolve(file));
    const tag = newTag();
    const code = `const { HostProcesses } = await import(${url("./exec.ts")});
      const made = new HostProcesses({ kernelId: "k-storm", epoch: 1 });
      const spec = { argv: ["bash", "-c", "exec -a ${tag} sleep 60"], cwd: "/", env: { PATH: process.env.PATH },
        owner: "test", onOutput() {} };
      for (;;) {
        made.run(spec, new AbortController().signal);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }`;
    for (let round = 0; round < 5; round++) {
      const daemon = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
      await until(() => running(`${tag} 60`).length >= 3 + round, "some run, and more are on their way");
      daemon.kill("SIGKILL");
      await until(() => naming(tag).every((pid) => pid === daemon.pid), "all are gone");
    }
  });

  it("inherits nothing but its streams", async () => {
    const { child, out } = start(
      "ls -l /proc/$$/fd 2>/dev/null | grep -c socket; [ -e /proc/$$/fd/3 ] || echo none",
    );
    await child.exited;
    expect(out()).toBe("0\nnone\n");
  });

  it("is found at the next boot if it was never bound to its daemon", async () => {
    const tag = newTag();
    const script = `(setsid bash -c 'exec -a ${tag} sleep 60' &); exec -a ${tag} sleep 60`;
    const launch = { program: "/bin/bash", args: ["-c", script], cwd: "/" };
    const [program, ...args] = isolation.wrap(launch).filter((word) => word !== "--die-with-parent");
    const env = { PATH: process.env.PATH, CRUX_OWNER: `${tag}:1` };
    const left = spawn(program ?? "", args, { detached: true, stdio: "ignore", env });
    await until(() => running(`${tag} 60`).length === 2, "both are there");
    expect(await sweepOrphans({ kernelId: tag, epoch: 2 })).toBeGreaterThan(0);
    await until(() => naming(tag).length === 0 && left.signalCode !== null, "all are gone");
  });
});
