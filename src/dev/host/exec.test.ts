import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { codeOf } from "../../abi/errors.ts";
import { tempFolder, until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import type { Isolation } from "./job.ts";
import { ownerMark, sweepOrphans } from "./orphans.ts";
import { hasProcfs } from "./procfs.ts";
import {
  bashSpec,
  isolationsHere,
  naming,
  newTag,
  openDescriptors,
  openedSince,
  running,
} from "./testing.ts";

const never = new AbortController().signal;
const opened: HostProcesses[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((made) => made.close()));
});

describe.each(isolationsHere())("HostProcesses, $ownership $wrapper.kind", (isolation) => {
  function host(): HostProcesses {
    const pipesDir = join(tempFolder(), "pipes");
    const made = new HostProcesses({ kernelId: "k-test", epoch: 3, pipesDir, isolation: () => isolation });
    opened.push(made);
    return made;
  }

  it("run() gives output, exit code, and the environment as given with the owner's mark", async () => {
    const { spec, out } = bashSpec('echo "$LANG $CRUX_OWNER ${HOME-unset} $PWD"; pwd; exit 7', {
      cwd: "/usr",
    });
    const made = host();
    const child = made.run(spec, never);
    expect(made.live).toBe(1);
    expect(await child.exited).toEqual({ code: 7, signal: null });
    expect(out()).toBe(`C ${ownerMark({ kernelId: "k-test", epoch: 3 })} unset /usr\n/usr\n`);
    expect(made.live).toBe(0);
    expect(made.ownership).toBe(isolation.ownership);
  });

  it("arguments arrive as they are, whatever is in them", async () => {
    const words = ["", "a b", "$HOME", "'", "*", "-c", "--", "\n", "\\", "ü"];
    const { spec, out } = bashSpec("");
    const child = host().run({ ...spec, argv: ["printf", "<%s>", ...words] }, never);
    expect((await child.exited).code).toBe(0);
    expect(out()).toBe(words.map((word) => `<${word}>`).join(""));
  });

  it("run() tells the streams apart, or merges them in the order of the program's writes", async () => {
    const script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done";
    const apart = { stdout: "", stderr: "" };
    const { spec } = bashSpec(script, {
      onOutput: (stream, chunk) => {
        apart[stream] += chunk.toString();
      },
    });
    await host().run(spec, never).exited;
    expect(apart).toEqual({ stdout: "out 1\nout 2\nout 3\n", stderr: "err 1\nerr 2\nerr 3\n" });
    const merged = bashSpec(script, { isMerged: true });
    await host().run(merged.spec, never).exited;
    expect(merged.out()).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
  });

  it("chunks of output stay as they are when more is printed", async () => {
    const chunks: Buffer[] = [];
    const { spec } = bashSpec("echo one; read go; echo two", {
      stdin: "pipe",
      onOutput: (_, chunk) => {
        chunks.push(chunk);
        if (chunks.length === 1) void child.write(Buffer.from("\n"));
      },
    });
    const child = host().run(spec, never);
    await child.exited;
    expect(chunks.map(String)).toEqual(["one\n", "two\n"]);
  });

  it("what it prints to can be opened again by name, as anywhere", async () => {
    const script = "echo out > /dev/stdout; echo err > /dev/stderr; [ -p /dev/stdout ] && echo pipe";
    const { spec, out } = bashSpec(script, { isMerged: true });
    expect(await host().run(spec, never).exited).toEqual({ code: 0, signal: null });
    expect(out()).toBe("out\nerr\npipe\n");
  });

  it.runIf(hasProcfs)("no fd is left of programs that ran, failed, or could not be started", async () => {
    const made = host();
    await made.run(bashSpec("true").spec, never).exited;
    const before = openDescriptors();
    const wishes = [
      { stdin: "pipe" },
      { isMerged: true },
      { argv: ["bash", "-c", "a\0b"] },
      { argv: ["nope"] },
    ] as const;
    for (const fields of wishes)
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          const child = made.run(bashSpec("echo", fields).spec, never);
          child.endInput();
          await child.exited;
        }),
      );
    await until(() => openedSince(before).length === 0, "all are closed");
  });

  it("a program that dies by a signal of its own says nothing that it did not print", async () => {
    const { spec, out } = bashSpec("echo before; kill -KILL $$");
    const { code, signal } = await host().run(spec, never).exited;
    expect(code ?? signal).toBe(isolation.ownership === "namespace" ? 137 : "SIGKILL");
    expect(out()).toBe("before\n");
  });

  it("run() and find() of a program or in a folder that is not there are NOT_FOUND", async () => {
    for (const fields of [
      { argv: ["no-such-program"] },
      { argv: ["/no/such"] },
      { cwd: "/no/such/folder" },
    ]) {
      const { spec } = bashSpec("", fields);
      expect(codeOf((await host().run(spec, never).exited).error)).toBe("NOT_FOUND");
      expect(() => host().find(spec)).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    }
  });

  it("find() names the program, by PATH and below the folder", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "tool"), "#!/bin/sh\n", { mode: 0o755 });
    const env = { PATH: "/usr/bin:/bin" };
    expect(host().find({ argv: ["env"], cwd: "/", env })).toBe("/usr/bin/env");
    expect(host().find({ argv: ["./tool"], cwd: folder, env })).toBe(join(folder, "tool"));
  });

  it("run() of a file that is no program ends with PERMISSION", async () => {
    const file = join(tempFolder(), "text");
    writeFileSync(file, "x", { mode: 0o600 });
    const end = await host().run(bashSpec("", { argv: [file] }).spec, never).exited;
    expect(codeOf(end.error)).toBe("PERMISSION");
  });

  it("run() with an argument the host cannot take ends with an error, not an exception", async () => {
    const end = await host().run(bashSpec("", { argv: ["bash", "-c", "a\0b"] }).spec, never).exited;
    expect(end.error).toBeInstanceOf(Error);
  });

  it("run() with an aborted signal, and after close(), starts nothing", async () => {
    const made = host();
    const end = await made.run(bashSpec("true").spec, AbortSignal.abort()).exited;
    expect(codeOf(end.error)).toBe("CANCELLED");
    await made.close();
    expect(codeOf((await made.run(bashSpec("true").spec, never).exited).error)).toBe("UNAVAILABLE");
  });

  it("write() reaches stdin; after the end of the program it fails", async () => {
    const { spec, out } = bashSpec("cat", { stdin: "pipe" });
    const child = host().run(spec, never);
    await child.write("two ");
    await child.write("words");
    child.endInput();
    expect((await child.exited).code).toBe(0);
    expect(out()).toBe("two words");
    await expect(child.write("late")).rejects.toMatchObject({ code: "DRIVER" });
  });

  it("bash that is fed does not take itself for a login shell", async () => {
    const home = tempFolder();
    writeFileSync(join(home, ".bashrc"), "echo read the start-up file");
    for (const SHLVL of [undefined, "0", "3"]) {
      const env = { PATH: process.env.PATH ?? "", HOME: home, ...(SHLVL === undefined ? {} : { SHLVL }) };
      const { spec, out } = bashSpec("", { argv: ["bash", "-c", "cat"], stdin: "pipe", env });
      const child = host().run(spec, never);
      child.endInput();
      await child.exited;
      expect(out()).toBe("");
    }
  });

  it("an abort ends it with TERM, and a program that ignores it with KILL", async () => {
    const stop = new AbortController();
    const { spec, out } = bashSpec("trap '' TERM; echo ready; while :; do sleep 0.05; done", { graceMs: 50 });
    const child = host().run(spec, stop.signal);
    await until(() => out().includes("ready"), "the program is ready");
    stop.abort();
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("a program that handles TERM may end by itself within its grace", async () => {
    const { spec, out } = bashSpec("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
    const child = host().run(spec, never);
    await until(() => out().includes("ready"), "the program is ready");
    await child.kill();
    expect((await child.exited).code).toBe(3);
    expect(out()).toContain("bye");
  });

  it("an end that comes at once leaves no program behind", async () => {
    for (const graceMs of [0, 50]) {
      const tag = newTag();
      const child = host().run(bashSpec(`trap '' TERM; exec -a ${tag} sleep 60`, { graceMs }).spec, never);
      await child.kill();
      expect((await child.exited).code).toBeNull();
      expect(naming(tag)).toEqual([]);
    }
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
    await host().run(bashSpec("true").spec, signal).exited;
    expect(added).toEqual(["add", "remove"]);
  });

  it.runIf(hasProcfs)("kill() ends descendants that left the group", async () => {
    const tag = newTag();
    const script = `setsid bash -c 'trap "" TERM; while :; do sleep 1; done' ${tag} & sleep 60`;
    const child = host().run(bashSpec(script, { graceMs: 50 }).spec, never);
    await until(() => naming(tag).length > 0, "the grandchild is there");
    await child.kill();
    expect(naming(tag)).toEqual([]);
  });

  it.runIf(hasProcfs)("a child without the mark is ended as long as its parents are known", async () => {
    const tag = newTag();
    const script = `env -i setsid bash -c 'while :; do sleep 1; done' ${tag} & sleep 60`;
    const child = host().run(bashSpec(script, { graceMs: 50 }).spec, never);
    await until(
      () => running(`bash -c while :; do sleep 1; done ${tag}`).length > 0,
      "the grandchild is there",
    );
    await child.kill();
    expect(naming(tag)).toEqual([]);
  });

  it.runIf(hasProcfs)("what a program leaves in the background ends when it exits", async () => {
    const tag = newTag();
    const script = `(exec -a ${tag} sleep 60) & (setsid bash -c 'exec -a ${tag} sleep 60' >/dev/null 2>&1 &) ;
      while [ "$(grep -lsz ^${tag} /proc/[0-9]*/cmdline | wc -l)" != 2 ]; do sleep 0.01; done; echo done`;
    const { spec, out } = bashSpec(script);
    expect(await host().run(spec, never).exited).toEqual({ code: 0, signal: null });
    expect(out()).toBe("done\n");
    expect(naming(tag)).toEqual([]);
  });

  it("the last output of a pipeline that outlives the shell for a moment is not lost", async () => {
    const { spec, out } = bashSpec("(sleep 0.03; echo late) & echo early");
    await host().run(spec, never).exited;
    expect(out()).toBe("early\nlate\n");
  });

  it("output never follows exited", async () => {
    let isOver = false;
    let late = 0;
    const { spec } = bashSpec("yes & sleep 0.05; exit 0", {
      onOutput: () => {
        late += isOver ? 1 : 0;
      },
    });
    await host().run(spec, never).exited;
    isOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    expect(late).toBe(0);
  });

  it("signal() reaches the program and what it started; SIGSTOP holds it, kill() ends it all the same", async () => {
    const { spec, out } = bashSpec(
      "trap 'echo int' INT; trap 'echo term; exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    );
    const child = host().run(spec, never);
    await until(() => out().includes("ready"), "the program is ready");
    expect(child.signal("SIGINT")).toBe(true);
    await until(() => out().includes("int"), "it has heard SIGINT");
    expect(child.signal("SIGSTOP")).toBe(true);
    await child.kill();
    expect(await child.exited).toEqual({ code: 5, signal: null });
    expect(child.signal("SIGINT")).toBe(false);
    expect(out()).toContain("term");
  });

  it("who takes output may hold the program, and loses none of it", async () => {
    const gate = Promise.withResolvers<void>();
    let taken = 0;
    const made = host();
    const { spec } = bashSpec("head -c 3000000 /dev/zero; echo told >&2", {
      onOutput: (stream, chunk) => {
        taken += stream === "stdout" ? chunk.byteLength : 0;
        return stream === "stdout" ? gate.promise : gate.resolve();
      },
    });
    const child = made.run(spec, never);
    await until(() => taken > 0, "the first chunk has come");
    // far less than it has to say: the rest waits in the program
    expect(taken).toBeLessThan(1_000_000);
    expect(made.live).toBe(1);
    gate.resolve();
    expect((await child.exited).code).toBe(0);
    expect(taken).toBe(3_000_000);
  });

  it("output that is held when the program has ended is waited for, and kill() waits no longer", async () => {
    const gate = Promise.withResolvers<void>();
    let isOver = false;
    const tag = newTag();
    const { spec } = bashSpec(`echo said; : ${tag}`, { onOutput: () => gate.promise });
    const made = host();
    const patient = made.run(spec, never);
    void patient.exited.then(() => {
      isOver = true;
    });
    await until(() => naming(tag).length === 0, "the program has ended");
    // the end of one that began and ended later has been noticed, so that of the first has been too
    await made.run(bashSpec("true").spec, never).exited;
    expect(isOver).toBe(false);
    gate.resolve();
    await patient.exited;

    const stuck = made.run({ ...spec, onOutput: () => new Promise(() => {}) }, never);
    await until(() => naming(tag).length === 0, "the program has ended");
    await stuck.kill();
    expect((await stuck.exited).error).toBeUndefined();
  });

  it.runIf(hasProcfs && isolation.ownership !== "group")(
    "a child dies with a daemon that is killed",
    async () => {
      const tag = newTag();
      const kernelId = newTag();
      const daemon = startDaemon(
        isolation,
        kernelId,
        `(setsid bash -c 'exec -a ${tag} sleep 60' &); exec -a ${tag} sleep 60`,
      );
      await until(() => running(`${tag} 60`).length === 2, "both are there");
      daemon.kill("SIGKILL");
      const left = isolation.ownership === "namespace" ? 0 : 1;
      await until(() => naming(tag).length === left, "they die");
      // without a namespace, what the program started is left to the next boot
      expect(await sweepOrphans({ kernelId, epoch: 2 })).toBe(left);
      expect(naming(tag)).toEqual([]);
    },
  );

  it("close() ends all and leaves none", async () => {
    const made = host();
    const children = Array.from({ length: 3 }, () =>
      made.run(bashSpec("sleep 60", { graceMs: 50 }).spec, never),
    );
    await made.close();
    expect(made.live).toBe(0);
    for (const { exited } of children) expect((await exited).signal).toBe("SIGTERM");
  });
});

describe("HostProcesses over sockets, where no pipes are to be had", () => {
  const exec = new HostProcesses({ kernelId: "k-sockets", epoch: 1 });
  afterAll(() => exec.close());

  it("run() tells the streams apart or merges them, and feeds the program", async () => {
    const told: string[] = [];
    const { spec } = bashSpec("cat; echo err >&2", {
      stdin: "pipe",
      onOutput: (stream, chunk) => void told.push(`${stream} ${chunk}`),
    });
    for (const isMerged of [false, true]) {
      const child = exec.run({ ...spec, isMerged }, never);
      await child.write("in\n");
      child.endInput();
      expect((await child.exited).code).toBe(0);
    }
    expect(told.sort()).toEqual(["stderr err\n", "stdout err\n", "stdout in\n", "stdout in\n"]);
  });
});

/** A process, as a daemon would be, with one child that runs `script`; nobody else sweeps what bears its name. */
function startDaemon({ ownership, wrapper }: Isolation, kernelId: string, script: string) {
  const url = (file: string) => JSON.stringify(import.meta.resolve(file));
  const code = `const { HostProcesses } = await import(${url("./exec.ts")});
    const { isolationsHere } = await import(${url("./testing.ts")});
    const isolation = isolationsHere().find(
      (each) => each.ownership === ${JSON.stringify(ownership)} && each.wrapper?.kind === ${JSON.stringify(wrapper?.kind)});
    const spec = { argv: ["bash", "-c", ${JSON.stringify(script)}], cwd: "/", env: { PATH: process.env.PATH },
      owner: "test", onOutput() {} };
    await new HostProcesses({ kernelId: ${JSON.stringify(kernelId)}, epoch: 1, isolation: () => isolation }).run(spec, new AbortController().signal).exited;`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
}
