import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import { tempFolder, until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { sweepOrphans } from "./orphans.ts";
import { parentDeathPrefix } from "./parent-death.ts";
import { findProcess, hasProcfs } from "./procfs.ts";

const never = new AbortController().signal;
const opened: HostProcesses[] = [];

function host(): HostProcesses {
  const made = new HostProcesses({ kernelId: "k-test", epoch: 3 });
  opened.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((made) => made.close()));
});

function bash(script: string, fields: Partial<ExecSpec> = {}): { spec: ExecSpec; out(): string } {
  const chunks: string[] = [];
  const spec: ExecSpec = {
    argv: ["bash", "--norc", "-c", script],
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", LANG: "C" },
    owner: "test",
    onOutput: (_stream, chunk) => chunks.push(chunk.toString("utf8")),
    ...fields,
  };
  return { spec, out: () => chunks.join("") };
}

/** The pids that a script wrote one to a line. */
function pidsIn(file: string): number[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
}

const isGone = (pid: number) => findProcess(pid) === undefined;

describe("HostProcesses", () => {
  it("run() gives output, exit code, and the environment as given with the owner's mark", async () => {
    const { spec, out } = bash('echo "$LANG $CRUX_OWNER ${HOME-unset}"; exit 7');
    const made = host();
    const child = made.run(spec, never);
    expect(made.live).toBe(1);
    expect(await child.exited).toEqual({ code: 7, signal: null });
    expect(out()).toBe("C k-test:3 unset\n");
    expect(made.live).toBe(0);
  });

  it("run() of a program or in a folder that is not there ends with NOT_FOUND", async () => {
    for (const fields of [{ argv: ["no-such-program"] }, { cwd: "/no/such/folder" }]) {
      const end = await host().run(bash("", fields).spec, never).exited;
      expect(codeOf(end.error)).toBe("NOT_FOUND");
    }
  });

  it("run() of a file that is no program ends with PERMISSION", async () => {
    const file = join(tempFolder(), "text");
    writeFileSync(file, "x", { mode: 0o600 });
    const end = await host().run(bash("", { argv: [file] }).spec, never).exited;
    expect(codeOf(end.error)).toBe("PERMISSION");
  });

  it("run() with an argument the host cannot take ends with an error, not an exception", async () => {
    const end = await host().run(bash("", { argv: ["bash", "-c", "a\0b"] }).spec, never).exited;
    expect(end.error).toBeInstanceOf(Error);
  });

  it("run() with an aborted signal, and after close(), starts nothing", async () => {
    const made = host();
    const end = await made.run(bash("true").spec, AbortSignal.abort()).exited;
    expect(codeOf(end.error)).toBe("CANCELLED");
    await made.close();
    expect(codeOf((await made.run(bash("true").spec, never).exited).error)).toBe("UNAVAILABLE");
  });

  it("write() reaches stdin; after the end of the program it fails", async () => {
    const { spec, out } = bash("cat", { stdin: "pipe" });
    const child = host().run(spec, never);
    await child.write("two ");
    await child.write("words");
    child.endInput();
    expect((await child.exited).code).toBe(0);
    expect(out()).toBe("two words");
    await expect(child.write("late")).rejects.toMatchObject({ code: "DRIVER" });
  });

  it("an abort ends the group with TERM, and a program that ignores it with KILL", async () => {
    const stop = new AbortController();
    const { spec, out } = bash("trap '' TERM; echo ready; while :; do sleep 0.05; done", { graceMs: 50 });
    const child = host().run(spec, stop.signal);
    await until(() => out().includes("ready"), "the program is ready");
    stop.abort();
    expect((await child.exited).signal).toBe("SIGKILL");
  });

  it("a program that handles TERM may end by itself within its grace", async () => {
    const { spec, out } = bash("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    const child = host().run(spec, never);
    await until(() => out().includes("ready"), "the program is ready");
    await child.kill();
    expect((await child.exited).code).toBe(3);
    expect(out()).toContain("bye");
  });

  it("the listener on the signal goes with the program", async () => {
    const added: string[] = [];
    const signal = new AbortController().signal;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      added.push("add");
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      added.push("remove");
      removeEventListener.apply(signal, args);
    };
    await host().run(bash("true").spec, signal).exited;
    expect(added).toEqual(["add", "remove"]);
  });

  it.runIf(hasProcfs)("kill() ends descendants that left the group", async () => {
    const file = join(tempFolder(), "pids");
    const script = `setsid bash -c 'echo $$ >> ${file}; trap "" TERM; while :; do sleep 1; done' & sleep 60`;
    const child = host().run(bash(script, { graceMs: 50 }).spec, never);
    await until(() => pidsIn(file).length === 1, "the grandchild is there");
    const [pid = 0] = pidsIn(file);
    expect(isGone(pid)).toBe(false);
    await child.kill();
    expect(isGone(pid)).toBe(true);
  });

  it.runIf(hasProcfs)("a child without the mark is found as long as its parents are known", async () => {
    const file = join(tempFolder(), "pids");
    const script = `env -i setsid bash -c 'echo $$ >> ${file}; while :; do sleep 1; done' & sleep 60`;
    const child = host().run(bash(script, { graceMs: 50 }).spec, never);
    await until(() => pidsIn(file).length === 1, "the grandchild is there");
    await child.kill();
    expect(isGone(pidsIn(file)[0] ?? 0)).toBe(true);
  });

  it.runIf(hasProcfs)("what a program leaves in the background ends when it exits", async () => {
    const file = join(tempFolder(), "pids");
    const job = `echo $BASHPID >> ${file}; while :; do sleep 1; done`;
    const script = `(${job}) & (setsid bash -c 'echo $$ >> ${file}; sleep 60' >/dev/null 2>&1 &) ;
      while [ "$(wc -l < ${file})" != 2 ]; do sleep 0.01; done 2>/dev/null; echo done`;
    const { spec, out } = bash(script);
    expect(await host().run(spec, never).exited).toEqual({ code: 0, signal: null });
    expect(out()).toBe("done\n");
    expect(pidsIn(file).length).toBe(2);
    expect(pidsIn(file).filter((pid) => !isGone(pid))).toEqual([]);
  });

  it("the last output of a pipeline that outlives the shell for a moment is not lost", async () => {
    const { spec, out } = bash("(sleep 0.03; echo late) & echo early");
    await host().run(spec, never).exited;
    expect(out()).toBe("early\nlate\n");
  });

  it("output never follows exited", async () => {
    let isOver = false;
    let late = 0;
    const { spec } = bash("yes & sleep 0.05; exit 0", { onOutput: () => (late += isOver ? 1 : 0) });
    await host().run(spec, never).exited;
    isOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    expect(late).toBe(0);
  });

  it.runIf(hasProcfs && parentDeathPrefix().length > 0)(
    "a child dies with a daemon that is killed",
    async () => {
      const file = join(tempFolder(), "pids");
      const code = `const { HostProcesses } = await import(${JSON.stringify(import.meta.resolve("./exec.ts"))});
      const spec = { argv: ["bash", "-c", "sleep 60 & echo $$ > ${file}; wait"], cwd: "/", env: { PATH: process.env.PATH },
        owner: "test", onOutput() {} };
      await new HostProcesses({ kernelId: "k-dead", epoch: 1 }).run(spec, new AbortController().signal).exited;`;
      const daemon = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
      await until(() => pidsIn(file).length === 1, "the child is there");
      daemon.kill("SIGKILL");
      const [pid = 0] = pidsIn(file);
      await until(() => isGone(pid), "the child dies");
      // its own child is left to the next boot
      expect(await sweepOrphans("k-dead", 2)).toBe(1);
    },
  );

  it("close() ends all and leaves none", async () => {
    const made = host();
    const children = Array.from({ length: 3 }, () => made.run(bash("sleep 60", { graceMs: 50 }).spec, never));
    await made.close();
    expect(made.live).toBe(0);
    for (const { exited } of children) expect((await exited).signal).toBe("SIGTERM");
  });
});
