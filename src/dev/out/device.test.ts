import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asCallId, asPid } from "../../abi/ids.ts";
import { deviceContract } from "../contract.ts";
import { actOf, callerIn, openAndRead, tempFolder, uuidA, uuidB } from "../testing.ts";
import { outDevice } from "./device.ts";
import { type OutputLimits, OutputStore } from "./output-store.ts";
import { ScratchStore } from "./scratch.ts";

const caller = callerIn("/");
const other = callerIn("/", { uuid: uuidB });
const noAgents = { words: async () => undefined };

function store(limits?: OutputLimits): {
  store: OutputStore;
  root: string;
  put(name: string, text: string): void;
} {
  const root = join(tempFolder(), "outputs");
  const made = new OutputStore(root, limits);
  const put = (name: string, text: string) => {
    const output = made.openOutput(uuidA, asCallId(name));
    output.write(Buffer.from(text));
    output.end();
  };
  return { store: made, root, put };
}

deviceContract("/var/out", async () => {
  const { store: made, put } = store();
  put("c_1", "all of it");
  return {
    device: outDevice(made, noAgents),
    caller,
    readable: { subpath: "/c_1", content: "all of it" },
    writable: { subpath: "/c_2", bytes: "a result" },
    refused: [
      { subpath: "/c_9", flags: 0, code: "NOT_FOUND" },
      { subpath: "/.c_1", flags: 0, code: "NOT_FOUND" },
      { subpath: "/a/b", flags: 0, code: "NOT_FOUND" },
      { subpath: "/c_1", flags: 2, code: "INVALID" },
      { subpath: "", flags: 1, code: "PERMISSION" },
    ],
  };
});

describe("/var/out", () => {
  it("a process sees its own outputs and no other's", async () => {
    const { store: made, put } = store();
    const device = outDevice(made, noAgents);
    put("c_1", "mine");
    expect(JSON.parse(await openAndRead(device, "", caller))).toEqual([{ name: "c_1", size: 4 }]);
    expect(await openAndRead(device, "", other)).toBe("[]");
    await expect(openAndRead(device, "/c_1", other)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("opening never asks: it is the caller's own state", async () => {
    expect(await outDevice(store().store, noAgents).openEffects?.("/c_1", 1, caller)).toEqual([
      { kind: "state", path: "/var/out/c_1" },
    ]);
  });

  it("a result is there once it is closed; cut short, it never was", async () => {
    const { store: made, root } = store();
    const device = outDevice(made, noAgents);
    const whole = await device.open("/c_1", 1, caller);
    await whole.write(Buffer.from("all of it"), actOf());
    await expect(openAndRead(device, "/c_1", caller)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await whole.close();
    expect(await openAndRead(device, "/c_1", caller)).toBe("all of it");
    const cut = await device.open("/c_2", 1, caller);
    await cut.write(Buffer.from("half"), actOf());
    await expect(cut.write(Buffer.from("rest"), actOf(AbortSignal.abort()))).rejects.toThrow();
    await cut.close();
    expect(readdirSync(join(root, uuidA))).toEqual(["c_1"]);
  });

  it("of two outputs of one call the longer stays", async () => {
    const { store: made, put } = store();
    const device = outDevice(made, noAgents);
    const save = async (text: string) => {
      const file = await device.open("/c_1", 1, caller);
      await file.write(Buffer.from(text), actOf());
      await file.close();
    };
    put("c_1", "the raw output");
    await save("shortened");
    expect(await openAndRead(device, "/c_1", caller)).toBe("the raw output");
    await save("the raw output and more");
    expect(await openAndRead(device, "/c_1", caller)).toBe("the raw output and more");
  });
});

describe("/var/out/<agent>", () => {
  const AGENT = "/agent-0123456789ab";
  const said: string[] = [];
  const labels = [{ kind: "untrusted", source: "web:a.example" }] as never;
  const agents = {
    words: async (viewer: number) =>
      viewer === caller.pid
        ? {
            labels,
            async *pieces() {
              yield* said;
            },
          }
        : undefined,
  };
  const made = () => outDevice(store().store, agents, 10);

  it("has what an agent had said when it was opened, with the sources of it", async () => {
    const device = made();
    said.splice(0, said.length, "one\n", "two\n");
    const file = await device.open(AGENT, 0, caller);
    expect(file.carried).toEqual({ labels });
    expect(await openAndRead(device, AGENT, caller)).toBe("one\ntwo\n");
    expect((await device.stat?.(AGENT, caller))?.size).toBe(8);
    expect(await openAndRead(device, "", caller)).toBe("[]");
  });

  it.each([
    [["0123456789"], "0123456789"],
    [["0123456789a"], "01234\n[1 bytes are left out]\n6789a"],
    [["012", "3456", "7", "89a", "bcd"], "01234\n[4 bytes are left out]\n9abcd"],
    [["01234", "56789", "abcde"], "01234\n[5 bytes are left out]\nabcde"],
  ])("of %j both ends are shown", async (pieces, shown) => {
    const device = made();
    said.splice(0, said.length, ...pieces);
    expect(await openAndRead(device, AGENT, caller)).toBe(shown);
    expect((await device.stat?.(AGENT, caller))?.size).toBe(10);
  });

  it("is no file for others, and nobody writes it", async () => {
    const device = made();
    const stranger = callerIn("/", { uuid: uuidB, pid: asPid(99) });
    await expect(openAndRead(device, AGENT, stranger)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(device.stat?.(AGENT, stranger)).rejects.toMatchObject({ code: "NOT_FOUND" });
    for (const flags of [1, 2] as const)
      await expect(device.open(AGENT, flags, caller)).rejects.toMatchObject({ code: "PERMISSION" });
  });
});

describe("OutputStore", () => {
  it("openOutput() gives a second output of a call a name of its own", () => {
    const { store: made, root } = store();
    const files = [1, 2].map(() => made.openOutput(uuidA, asCallId("c_1")));
    expect(files.map(({ path }) => path)).toEqual(["/var/out/c_1", "/var/out/c_1-2"]);
    for (const file of files) file.end();
    expect(statSync(join(root, uuidA)).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, uuidA, "c_1")).mode & 0o777).toBe(0o600);
  });

  it("openOutput() and remove() take no name that leaves the folder", async () => {
    const { store: made } = store();
    for (const name of ["../x", "a/b", "", ".", ".x"])
      expect(() => made.openOutput(uuidA, asCallId(name))).toThrow("output not found");
    await expect(made.remove("../.." as typeof uuidA)).rejects.toThrow("output not found");
  });

  it("a file keeps its limit and counts what it dropped", () => {
    const { store: made, root } = store({ fileBytes: 10, processBytes: 100 });
    const output = made.openOutput(uuidA, asCallId("c_1"));
    output.write(Buffer.from("12345678"));
    output.write(Buffer.from("90abc"));
    output.write(Buffer.from("d"));
    output.end();
    output.write(Buffer.from("late"));
    expect([output.bytes, output.droppedBytes]).toEqual([10, 8]);
    expect(readFileSync(join(root, uuidA, "c_1"), "utf8")).toBe("1234567890");
  });

  it("a process keeps its limit: the oldest go, never one that is being written", () => {
    const { store: made, put } = store({ fileBytes: 10, processBytes: 25 });
    const live = made.openOutput(uuidA, asCallId("live"));
    live.write(Buffer.from("12345"));
    for (const name of ["a", "b"]) put(name, "1234567890");
    put("c", "12345");
    expect(made.list(uuidA).map(({ name }) => name)).toEqual(["live", "b", "c"]);
    live.write(Buffer.from("67890"));
    live.end();
    expect(made.list(uuidA).map(({ name }) => name)).toEqual(["live", "b", "c"]);
    put("d", "1");
    expect(made.list(uuidA).map(({ name }) => name)).toEqual(["b", "c", "d"]);
  });

  it("keeps few processes in mind, however many there were, and forgets no file, nor one that is written", () => {
    const { store: made, put } = store();
    put("c_1", "first");
    const open = made.openOutput(uuidB, asCallId("c_2"));
    open.write(Buffer.from("still "));
    for (let n = 0; n < 600; n++)
      made.list(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}` as typeof uuidA);
    expect(made.size).toBe(256);
    open.write(Buffer.from("written"));
    expect(made.list(uuidB)).toEqual([{ name: "c_2", size: 13 }]);
    open.end();
    expect(made.list(uuidA)).toEqual([{ name: "c_1", size: 5 }]);
    put("c_1", "again");
    expect(made.list(uuidA).map(({ name }) => name)).toEqual(["c_1", "c_1-2"]);
  });

  it("a later daemon finds what an earlier one kept, without what it did not finish", async () => {
    const { store: made, root, put } = store();
    put("c_1", "kept");
    made.openWhole(uuidA, "c_2").write(Buffer.from("half"));
    const later = new OutputStore(root);
    expect(later.list(uuidA)).toEqual([{ name: "c_1", size: 4 }]);
    expect(readdirSync(join(root, uuidA))).toEqual(["c_1"]);
    await later.remove(uuidA);
    await later.remove(uuidA);
    expect(existsSync(join(root, uuidA))).toBe(false);
    expect(later.list(uuidA)).toEqual([]);
  });
});

describe("ScratchStore", () => {
  it("removeEmpty() takes away what its process put nothing into", async () => {
    const scratch = new ScratchStore(join(tempFolder(), "scratch"));
    const [used, unused] = [scratch.scratchDir(uuidA), scratch.scratchDir(uuidB)];
    writeFileSync(join(used, "a"), "");
    for (const uuid of [uuidA, uuidB, uuidB]) await scratch.removeEmpty(uuid);
    expect([existsSync(used), existsSync(unused)]).toEqual([true, false]);
  });

  it("scratchDir() makes a private folder for each process; remove() takes it away", async () => {
    const scratch = new ScratchStore(join(tempFolder(), "scratch"));
    const folder = scratch.scratchDir(uuidA);
    expect(scratch.scratchDir(uuidA)).toBe(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    writeFileSync(join(folder, "a"), "");
    await scratch.remove(uuidA);
    expect(existsSync(folder)).toBe(false);
    expect(() => scratch.scratchDir("../x" as typeof uuidA)).toThrow("uuid");
  });
});
