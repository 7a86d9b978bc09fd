/** Files as they were: the real gate, tools and device of host files over a journal in memory, so that each write can be seen. */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { O_RDWR, O_WRONLY } from "../src/abi/device.ts";
import type { FsRequest } from "../src/abi/ops/fs.ts";
import { EXIT } from "../src/abi/process.ts";
import type { ProgramStart } from "../src/abi/program.ts";
import { fsDevice } from "../src/dev/fs/device.ts";
import { HostProcesses } from "../src/dev/host/exec.ts";
import { realPath } from "../src/dev/host/real-path.ts";
import { probeCalls } from "../src/history/fork/probe.ts";
import { Memory } from "../src/history/replay/memory.ts";
import type { RewindRequest } from "../src/kernel/ports/forks.ts";
import { MemoryJournal } from "../src/kernel/testing/memory-journal.ts";
import { DENY } from "../src/kernel/testing/scripted-permit.ts";
import { type Started, type TestKernel, testKernel } from "../src/kernel/testing/test-kernel.ts";
import { toolDevice } from "../src/tool/device.ts";
import { edit } from "../src/tool/edit/edit.ts";
import { view } from "../src/tool/view/view.ts";
import { write as writeTool } from "../src/tool/write/write.ts";

const exec = new HostProcesses({ kernelId: "k-rewind", epoch: 1 });
const parent = realpathSync(mkdtempSync(join(tmpdir(), "crux-rewind-")));
afterAll(async () => {
  await exec.close();
  rmSync(parent, { recursive: true, force: true });
});

/** Counts what a write costs. */
class CountingJournal extends MemoryJournal {
  appends = 0;
  readonly blobs: string[] = [];
  override append(...args: Parameters<MemoryJournal["append"]>): ReturnType<MemoryJournal["append"]> {
    if (args[0].length > 0) this.appends++;
    return super.append(...args);
  }
  override async putBlob(bytes: Uint8Array): Promise<string> {
    const digest = await super.putBlob(bytes);
    this.blobs.push(digest);
    return digest;
  }
}

let k: TestKernel;
let journal: CountingJournal;
let root: string;
let worker: Started;

const path = (name: string): string => join(root, name);
const put = (name: string, content: string, mode = 0o644): void => {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), content);
  chmodSync(path(name), mode);
};
const get = (name: string): string => readFileSync(path(name), "utf8");
const modeOf = (name: string): number => statSync(path(name)).mode & 0o7777;

async function ask(name: string, request: FsRequest, by = worker): Promise<void> {
  const fd = await by.sys.open(`/dev/fs${path(name)}`, O_RDWR);
  try {
    await by.sys.write(fd, Buffer.from(JSON.stringify(request)));
  } finally {
    await by.sys.close(fd);
  }
}
const write = (name: string, content: string, by = worker): Promise<void> =>
  ask(name, { op: "write", content, mkdirs: true }, by);

async function tool(name: string, args: object): Promise<void> {
  const fd = await worker.sys.open(`/bin/${name}`, O_RDWR);
  try {
    await worker.sys.write(fd, Buffer.from(JSON.stringify(args)));
    await worker.sys.read(fd, 65_536);
  } finally {
    await worker.sys.close(fd);
  }
}

/** A step is over. */
const step = (words = "done", by = worker): Promise<void> =>
  by.sys.appendMessage(by.start.ctxId, "assistant", words);

async function end(by = worker): Promise<void> {
  by.end();
  await k.init.wait(by.pid);
}

const rewind = (at: number, more: Partial<RewindRequest> = {}, by = worker) =>
  k.kernel.forks.rewind(by.pid, { at: { step: at }, files: true, dryRun: false, force: false, ...more });
const deeds = (files: readonly { path: string; deed: string }[]): Record<string, string> =>
  Object.fromEntries(files.map(({ path: of, deed }) => [of.slice(root.length + 1), deed]));

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(parent, "w-")));
  journal = new CountingJournal();
  k = testKernel({ realPath }, journal);
  k.kernel.mount("/dev/fs", fsDevice({ exec, realPath, env: process.env, isSecret: () => false }));
  k.kernel.mount("/bin", toolDevice([edit, view, writeTool], { now: () => 0 }));
  worker = await k.start({ cwd: root });
});

describe("rewind --files", () => {
  it("bytes and mode are back: edited, made, removed, moved, in new directories, through links", async () => {
    put("edited.sh", "one\ntwo\n", 0o755);
    put("removed.txt", "was here\n", 0o600);
    put("moved", "on its way\n", 0o640);
    put("target", "real\n", 0o604);
    put("empty", "");
    symlinkSync("target", path("link"));
    await write("early", "before the point");
    await step();
    await write("edited.sh", "one\nthree\n");
    await write("edited.sh", "four\n");
    await write("made/deep/new.txt", "a\nb\n");
    await ask("removed.txt", { op: "remove" });
    await ask("moved", { op: "rename", to: path("elsewhere") });
    await write("link", "through the link\n");
    await ask("dir", { op: "mkdir" });
    await write("dir/file", "x");
    await write("empty", "not any more");
    await step();
    await end();
    const done = await rewind(1);
    expect(deeds(done.files)).toEqual({
      "edited.sh": "restored",
      "made/deep/new.txt": "removed",
      "removed.txt": "recreated",
      moved: "recreated",
      elsewhere: "removed",
      target: "restored",
      dir: "removed",
      "dir/file": "removed",
      empty: "restored",
    });
    expect([get("edited.sh"), modeOf("edited.sh")]).toEqual(["one\ntwo\n", 0o755]);
    expect([get("removed.txt"), modeOf("removed.txt")]).toEqual(["was here\n", 0o600]);
    expect([get("moved"), modeOf("moved")]).toEqual(["on its way\n", 0o640]);
    expect([get("target"), modeOf("target")]).toEqual(["real\n", 0o604]);
    expect(lstatSync(path("link")).isSymbolicLink()).toBe(true);
    expect([get("empty"), get("early")]).toEqual(["", "before the point"]);
    expect(readdirSync(root).sort()).toEqual([
      "early",
      "edited.sh",
      "empty",
      "link",
      "moved",
      "removed.txt",
      "target",
    ]);
    const edited = done.files.find(({ path: of }) => of === path("edited.sh"));
    expect(edited).toMatchObject({ insertions: 2, deletions: 1 });
    expect(done.fork).toMatchObject({ step: 1 });
  });

  it("goes back to the end of any step, also inside a run, and forward again: a rewind can be taken back", async () => {
    put("a", "0");
    for (let n = 1; n <= 5; n++) {
      await write("a", String(n));
      await write(`file-${n}`, "new");
      await step(`step ${n}`);
    }
    await end();
    await rewind(2);
    expect([get("a"), existsSync(path("file-3"))]).toEqual(["2", false]);
    const back = await rewind(5);
    expect([get("a"), get("file-5")]).toEqual(["5", "new"]);
    expect(deeds(back.files)).toMatchObject({ a: "restored", "file-3": "recreated" });
    await rewind(0);
    expect([get("a"), readdirSync(root)]).toEqual(["0", ["a"]]);
    expect(deeds((await rewind(0)).files)).toMatchObject({ a: "unchanged", "file-1": "unchanged" });
  });

  it("tools are covered: they cannot forget", async () => {
    put("src.ts", "const a = 1;\n");
    await step();
    await tool("view", { file_path: path("src.ts") });
    await tool("edit", { file_path: path("src.ts"), old_string: "a = 1", new_string: "a = 2" });
    await tool("write", { file_path: path("new/b.ts"), content: "export {};\n" });
    await step();
    await end();
    const calls = new Set(journal.records.filter(({ kind }) => kind === "snapshot").map(({ call }) => call));
    const intents = journal.records.filter(({ kind }) => kind === "call.intent").map(({ call }) => call);
    expect([...calls].every((call) => call !== undefined && intents.includes(call))).toBe(true);
    await rewind(1);
    expect([get("src.ts"), readdirSync(root)]).toEqual(["const a = 1;\n", ["src.ts"]]);
  });

  it("plain bytes written to a file are covered, and so is one with several names", async () => {
    put("plain", "old");
    put("twin", "both");
    linkSync(path("twin"), path("other-name"));
    await step();
    const fd = await worker.sys.open(`/dev/fs${path("plain")}`, O_WRONLY);
    await worker.sys.write(fd, Buffer.from("new bytes"));
    await worker.sys.close(fd);
    await write("twin", "changed");
    await end();
    expect([get("plain"), get("other-name")]).toEqual(["new bytes", "changed"]);
    await rewind(1);
    expect([get("plain"), get("other-name")]).toEqual(["old", "both"]);
    expect(statSync(path("twin")).nlink).toBe(2);
  });

  it("a file that somebody else changed since: nothing is touched, all such are named; force puts them back", async () => {
    put("a", "a");
    put("b", "b");
    await write("gone", "made by the agent");
    await step();
    await write("a", "agent's a");
    await write("b", "agent's b");
    await write("gone", "changed by the agent");
    await write("new", "made by the agent");
    await end();
    writeFileSync(path("b"), "person's b");
    writeFileSync(path("new"), "person's");
    rmSync(path("gone"));
    const forks = (await journal.rows({})).length;
    const refused = await rewind(1);
    expect(refused.conflicts).toEqual([path("b"), path("gone"), path("new")]);
    expect(refused.fork).toBeNull();
    // the word of a file is what became of it
    const left = { deed: "kept", insertions: 0, deletions: 0 };
    const changed = { ...left, reason: "changed by somebody else since" };
    expect(refused.files.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
      { ...left, path: path("a"), reason: "left as it is, because of the conflict" },
      ...["b", "gone", "new"].map((name) => ({ ...changed, path: path(name) })),
    ]);
    expect([get("a"), get("b"), get("new")]).toEqual(["agent's a", "person's b", "person's"]);
    expect((await journal.rows({})).length).toBe(forks);
    const done = await rewind(1, { force: true });
    expect([get("a"), get("b"), get("gone")]).toEqual(["a", "b", "made by the agent"]);
    expect(existsSync(path("new"))).toBe(false);
    expect(done.fork).not.toBeNull();
    // and what the person had there is not lost either
    const blobs = journal.records.filter(
      ({ kind, body }) => kind === "snapshot" && (body as { rewind?: true }).rewind,
    );
    const kept = blobs
      .map(({ body }) => (body as { blob?: string }).blob)
      .filter((blob) => blob !== undefined);
    const texts = await Promise.all(
      kept.map(async (blob) => Buffer.from(await journal.getBlob(blob)).toString()),
    );
    expect(texts).toContain("person's b");
  });

  it("what a person changed between two changes of the agent is not thrown away unasked", async () => {
    put("a", "1");
    await step();
    await write("a", "agent 1");
    writeFileSync(path("a"), "person");
    await write("a", "agent 2");
    await end();
    expect((await rewind(1)).conflicts).toEqual([path("a")]);
    expect(get("a")).toBe("agent 2");
  });

  it("a dry run says the same and touches nothing, not even the journal", async () => {
    put("a", "a");
    await step();
    await write("a", "b");
    await write("made", "");
    await end();
    await journal.sync();
    const records = journal.records.length;
    const dry = await rewind(1, { dryRun: true });
    expect([get("a"), existsSync(path("made")), dry.fork]).toEqual(["b", true, null]);
    expect(journal.records.length).toBe(records);
    const done = await rewind(1);
    expect(done.files).toEqual(dry.files);
  });

  it("a file over 64 MB is kept, and reported; the others are put back", async () => {
    put("big", "");
    truncateSync(path("big"), 64 * 1024 * 1024 + 1);
    put("small", "s");
    await step();
    await write("big", "small now");
    await write("small", "t");
    await end();
    const { files, conflicts } = await rewind(1);
    expect(conflicts).toEqual([]);
    expect(files).toMatchObject([
      { deed: "kept", reason: expect.stringContaining("64 MiB") },
      { deed: "restored" },
    ]);
    expect([get("big"), get("small")]).toEqual(["small now", "s"]);
  });

  it("nothing outside the directories of the process is touched, by force neither, nor through a link", async () => {
    const outside = realpathSync(mkdtempSync(join(parent, "out-")));
    writeFileSync(join(outside, "f"), "outside");
    put("sub/f", "inside");
    await step();
    await write(`../${outside.slice(parent.length + 1)}/f`, "agent");
    await write("sub/f", "agent");
    await end();
    rmSync(path("sub"), { recursive: true });
    symlinkSync(outside, path("sub"));
    const { files } = await rewind(1, { force: true });
    expect(files.map(({ deed }) => deed)).toEqual(["kept", "kept"]);
    expect(readFileSync(join(outside, "f"), "utf8")).toBe("agent");
  });

  it("a rule that denies is stronger than the person's order, before anything is touched", async () => {
    put("a", "a");
    await step();
    await write("a", "b");
    await end();
    k.permit.answer = () => DENY;
    await expect(rewind(1)).rejects.toMatchObject({ code: "PERMISSION" });
    expect(get("a")).toBe("b");
  });

  it("a process that runs is CONFLICT and says what to do", async () => {
    await write("a", "b");
    await step();
    await expect(rewind(0)).rejects.toMatchObject({
      code: "CONFLICT",
      fact: { kind: "running", pid: expect.any(Number) },
    });
    expect(get("a")).toBe("b");
    await end();
  });

  it("a directory that somebody put something into stays", async () => {
    await step();
    await write("made/a", "a");
    await end();
    put("made/mine", "person's");
    expect(deeds((await rewind(1)).files)).toEqual({ "made/a": "removed" });
    expect(readdirSync(path("made"))).toEqual(["mine"]);
  });

  it("a fork goes back beyond the step it began at", async () => {
    put("a", "0");
    await step();
    await write("a", "1");
    await step();
    await end();
    const fork = await k.kernel.forks.fork(worker.pid, {});
    await k.kernel.forks.rewind(fork.pid, { at: { step: 1 }, files: true, dryRun: false, force: false });
    expect(get("a")).toBe("0");
  });

  it("is cut off in the middle: each file is old or new, and a second one ends what the first began", async () => {
    for (const name of ["a", "b", "c"]) put(name, `${name} was`);
    await step();
    for (const name of ["a", "b", "c"]) await write(name, `${name} is`);
    await end();
    await journal.sync();
    const { length } = journal.records;
    const append = journal.append.bind(journal);
    journal.append = async (...args) => {
      if (journal.records.length > length + 1) throw new Error("the daemon dies");
      return append(...args);
    };
    await expect(rewind(1)).rejects.toThrow();
    expect(["a", "b", "c"].map(get)).toEqual(["a was", "b was", "c is"]);
    journal.append = append;
    expect((await rewind(1)).conflicts).toEqual([]);
    expect(["a", "b", "c"].map(get)).toEqual(["a was", "b was", "c was"]);
  });

  it("whatever is written, removed and moved, every step can be had again", async () => {
    const name = fc.constantFrom("a", "b", "d/c");
    const act = fc.oneof(
      fc.record({ op: fc.constant("write" as const), name, content: fc.string({ maxLength: 8 }) }),
      fc.record({ op: fc.constant("remove" as const), name }),
      fc.record({ op: fc.constant("rename" as const), name, to: name }),
    );
    const look = (): Record<string, string> =>
      Object.fromEntries(["a", "b", "d/c"].filter((of) => existsSync(path(of))).map((of) => [of, get(of)]));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(act, { maxLength: 3 }), { maxLength: 4 }),
        fc.nat(),
        async (steps, to) => {
          root = realpathSync(mkdtempSync(join(parent, "p-")));
          worker = await k.start({ cwd: root });
          const states = [look()];
          for (const acts of steps) {
            for (const { op, name: of, ...more } of acts) {
              const request =
                op === "rename"
                  ? { op, to: path((more as { to: string }).to) }
                  : { op, ...more, mkdirs: true };
              const plain = op === "remove" ? { op } : request;
              await ask(of, plain as FsRequest).catch(() => {});
            }
            await step();
            states.push(look());
          }
          await end();
          const at = to % states.length;
          const { conflicts } = await rewind(at);
          expect(conflicts).toEqual([]);
          expect(look()).toEqual(states[at]);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("what is kept before a write", () => {
  it("costs one record more, and one blob where something is replaced; equal content costs nothing", async () => {
    put("a", "a");
    await write("warm", "up");
    const cost = async (act: () => Promise<void>): Promise<[number, number]> => {
      const [appends, blobs] = [journal.appends, journal.blobs.length];
      await act();
      return [journal.appends - appends, journal.blobs.length - blobs];
    };
    // the intent of the call is one of them
    expect(await cost(() => write("a", "b"))).toEqual([2, 1]);
    expect(await cost(() => write("made", "new"))).toEqual([2, 0]);
    expect(await cost(() => write("a", "b"))).toEqual([1, 0]);
    await end();
  });

  it("is synced before the file is touched: a disk that refuses leaves the file as it is", async () => {
    put("a", "a");
    journal.refused.add("snapshot");
    await expect(write("a", "b")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([get("a"), readdirSync(root)]).toEqual(["a", ["a"]]);
    await end();
  });

  it("is true also when two agents write the same file at once", async () => {
    put("a", "0");
    const other = await k.start({ cwd: root });
    await step();
    await step("done", other);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => write("a", `${n + 1}`, n % 2 === 0 ? worker : other)),
    );
    const chain = journal.records
      .filter(({ kind }) => kind === "snapshot")
      .map(({ body }) => body as { before: string; after: string });
    expect(chain).toHaveLength(20);
    for (const [n, { before }] of chain.entries()) if (n > 0) expect(before).toBe(chain[n - 1]?.after);
    await end();
    await end(other);
    expect((await rewind(1)).conflicts).toEqual([path("a")]);
  });

  it("nothing is kept of what a person's client writes", async () => {
    const fd = await k.init.open(`/dev/fs${path("a")}`, O_RDWR);
    await k.init.write(fd, Buffer.from(JSON.stringify({ op: "write", content: "x" })));
    await k.init.close(fd);
    expect(journal.kinds()).not.toContain("snapshot");
    await end();
  });
});

describe("probeCalls()", () => {
  it("a call without a result: by what lies there now", async () => {
    put("a", "old");
    await write("a", "new");
    await write("a", "newer");
    await end();
    const [first] = journal.records.filter(({ kind, body }) => {
      return kind === "call.intent" && (body as { class: string }).class === "probe";
    });
    if (first === undefined) throw new Error("no intent");
    const probe = async () => (await probeCalls(k.kernel, [first])).get(first);
    expect(await probe()).toBeUndefined();
    writeFileSync(path("a"), "new");
    expect(await probe()).toBe("done");
    writeFileSync(path("a"), "old");
    expect(await probe()).toBe("not_done");
    // it declared another file, of which nothing is on record
    const effects = [{ kind: "write", change: "modify", path: path("b"), real: path("b") }];
    const both = { ...first, body: { ...(first.body as object), effects } };
    expect(await probeCalls(k.kernel, [both])).toEqual(new Map([[both, "not_done"]]));
    writeFileSync(path("a"), "new");
    expect(await probeCalls(k.kernel, [both])).toEqual(new Map());
  });

  it("a file system that hangs keeps no daemon from starting", async () => {
    await write("a", "new");
    const intent = journal.records.find(({ kind }) => kind === "call.intent");
    if (intent === undefined) throw new Error("no intent");
    await end();
    const next = testKernel({ realPath }, journal);
    const device = fsDevice({ exec, realPath, env: process.env, isSecret: () => false });
    const opened = Promise.withResolvers<void>();
    next.kernel.mount("/dev/fs", {
      ...device,
      open: () => {
        opened.resolve();
        return new Promise(() => {});
      },
    });
    const probing = probeCalls(next.kernel, [intent]);
    await opened.promise;
    await next.clock.advance(5_000);
    expect(await probing).toEqual(new Map());
  });
});

describe("a daemon that dies while a file is written", () => {
  /** What the next one has, of a journal that ends with the record of this kind. */
  async function afterDeath(last: "call.intent" | "snapshot") {
    const at = journal.records.findLastIndex(({ kind }) => kind === last);
    const left = new MemoryJournal();
    await left.append(journal.records.slice(0, at + 1));
    const next = testKernel({ realPath }, left);
    next.kernel.mount("/dev/fs", fsDevice({ exec, realPath, env: process.env, isSecret: () => false }));
    const begun = Promise.withResolvers<ProgramStart>();
    Object.assign(next.kernel.ports, {
      program: async (_: unknown, start: ProgramStart) => {
        begun.resolve(start);
        return EXIT.completed;
      },
    });
    await next.kernel.recover();
    const { restored } = await begun.promise;
    await next.journal.sync();
    const ended = left.records.find(({ kind, call }) => {
      return (kind === "call.result" || kind === "call.unknown") && call === left.records[at]?.call;
    });
    const memory = new Memory();
    for (const record of left.records) if (record.proc === left.records[at]?.proc) memory.take(record);
    return { restored, ended, memory, log: left.bodies("process.log").map(({ message }) => message) };
  }

  const args = { file_path: "a", content: "new" };
  const probed = (outcome: string) => ({
    kind: "probed",
    probed: { outcome, tool: "write", input: JSON.stringify(args) },
  });
  beforeEach(async () => {
    worker.sys.checkpoint({ turn: 1 });
    await tool("write", args);
    await journal.sync();
  });

  it.each([
    ["done", () => {}, { kind: "call.result", body: { ok: true, probed: "done" } }],
    ["not_done", () => rmSync(path("a")), { kind: "call.result", body: { ok: false, code: "CANCELLED" } }],
  ] as const)(
    "%s: is recorded, told to the program, and the same for a replay",
    async (outcome, prepare, record) => {
      prepare();
      const { restored, ended, memory, log } = await afterDeath("snapshot");
      expect(ended).toMatchObject(record);
      expect(restored).toEqual({ state: { turn: 1 }, since: [{ kind: "effect" }, probed(outcome)] });
      expect(memory.restored).toEqual(restored);
      expect(log.join()).not.toContain("unknown outcome");
      await end();
    },
  );

  it.each([
    ["another content", "snapshot", () => writeFileSync(path("a"), "other")],
    ["no record of the file", "call.intent", () => rmSync(path("a"))],
  ] as const)("%s: unknown, and a person reads which call", async (_name, last, prepare) => {
    prepare();
    const { restored, ended, log } = await afterDeath(last);
    expect(ended).toMatchObject({ kind: "call.unknown" });
    expect(restored).toEqual({ state: { turn: 1 }, since: [{ kind: "effect" }] });
    expect(log.join()).toContain("1 call has an unknown outcome: write");
    await end();
  });
});
