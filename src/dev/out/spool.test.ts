import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SpoolReader } from "../../kernel/ports/spools.ts";
import { hasProcfs } from "../host/procfs.ts";
import { tempFolder, until } from "../testing.ts";
import { DiskSpools, type SpoolLimits } from "./spool.ts";

const never = new AbortController().signal;
const DAY = 24 * 3600 * 1000;
const SMALL: SpoolLimits = {
  segmentBytes: 8,
  keptMs: DAY,
  keptPrograms: 3,
  keptProgramsInAll: 6,
  keptBytes: 1_000,
  aWhile: async () => {},
};

function spools(limits: Partial<SpoolLimits> = {}, dir = join(tempFolder(), "spools")) {
  const clock = { now: 1_700_000_000_000 };
  const open = () => new DiskSpools(dir, () => clock.now, { ...SMALL, ...limits });
  return { store: open(), dir, clock, open };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

async function rest(reader: SpoolReader | undefined, length = 100): Promise<string> {
  let all = "";
  for (;;) {
    const chunk = (await reader?.read(length, never)) ?? new Uint8Array();
    if (chunk.byteLength === 0) return all;
    expect(chunk.byteLength).toBeLessThanOrEqual(length);
    all += text(chunk);
  }
}

/** fds of this process on files below `dir`. */
function fdsOn(dir: string): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(dir)).length;
}

describe("DiskSpools", () => {
  it("gives a reader that keeps up what is in memory, and one that lags what is on the disk", async () => {
    const { store, dir } = spools({ segmentBytes: 1024 * 1024 });
    const spool = store.open("a.log", "drop");
    const [near, far] = [spool.reader(0), spool.reader(0)];
    const chunk = (n: number): Buffer => Buffer.alloc(60_000, 97 + n);
    for (let n = 0; n < 4; n++) {
      spool.write(chunk(n));
      if (n < 3) expect((await near.read(1 << 20, never)).byteLength).toBe(60_000);
    }
    // the file is gone: what is read now is not read from it
    rmSync(join(dir, "a.log.0"));
    expect(text(await near.read(1 << 20, never))).toBe(text(chunk(3)));
    expect(near.position).toBe(240_000);
    const lost = await far.read(4, AbortSignal.abort()).catch(() => "aborted");
    expect(lost).toBe("aborted");
    const late = spool.reader(130_000);
    expect(text(await late.read(4, never))).toBe("cccc");
    spool.end();
    expect((await near.read(1, never)).byteLength).toBe(0);
  });

  it("is for the user alone, and makes no file before the first byte", () => {
    const { store, dir } = spools();
    const spool = store.open("a.log", "drop");
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([]);
    spool.write(Buffer.from("x"));
    expect(statSync(join(dir, "a.log.0")).mode & 0o777).toBe(0o600);
    spool.end();
  });

  it("a reader gets what is there, waits for more, and hears of the end", async () => {
    const { store } = spools();
    const spool = store.open("a", "drop");
    const reader = spool.reader(0);
    const first = reader.read(2, never);
    spool.write(Buffer.from("abc"));
    expect(reader.available).toBe(3);
    expect(text(await first)).toBe("ab");
    expect(text(await reader.read(9, never))).toBe("c");
    expect(reader.available).toBe(0);
    const last = reader.read(9, never);
    spool.end();
    spool.end();
    expect(text(await last)).toBe("");
    expect(text(await reader.read(9, never))).toBe("");
  });

  it("a read that is given up rejects with the reason and loses nothing", async () => {
    const { store } = spools();
    const spool = store.open("a", "drop");
    const reader = spool.reader(0);
    const stop = new AbortController();
    const read = expect(reader.read(9, stop.signal)).rejects.toThrow("enough");
    stop.abort(new Error("enough"));
    await read;
    spool.write(Buffer.from("abc"));
    await expect(reader.read(9, stop.signal)).rejects.toThrow("enough");
    expect(text(await reader.read(9, never))).toBe("abc");
    spool.end();
  });

  it("each reader has its own place; one from behind the end waits there", async () => {
    const { store } = spools();
    const spool = store.open("a", "drop");
    spool.write(Buffer.from("0123"));
    const [all, tail, ahead] = [spool.reader(0), spool.reader(2), spool.reader(6)];
    spool.write(Buffer.from("456789"));
    spool.end();
    expect(await Promise.all([all, tail, ahead].map((each) => rest(each, 3)))).toEqual([
      "0123456789",
      "23456789",
      "6789",
    ]);
  });

  it("drop: forgets the oldest half at its limit, counts it, and a reader goes on with the oldest there is", async () => {
    const { store, dir } = spools();
    const spool = store.open("a", "drop");
    const slow = spool.reader(0);
    spool.write(Buffer.from("0123"));
    expect(text(await slow.read(2, never))).toBe("01");
    spool.write(Buffer.from("456789abcdef"));
    expect(spool.droppedBytes).toBe(0);
    spool.write(Buffer.from("gh"));
    expect([spool.bytes, spool.droppedBytes]).toEqual([18, 8]);
    spool.end();
    expect(await rest(slow)).toBe("89abcdefgh");
    expect(await rest(spool.reader(3))).toBe("89abcdefgh");
    expect(readdirSync(dir).sort()).toEqual(["a.1", "a.2"]);
  });

  it.each([
    ["drop", "55666"],
    ["block", "6"],
  ] as const)("%s: a file that is not needed any more becomes a later one", async (how, left) => {
    const { store, dir, open } = spools();
    const spool = store.open("a", how, { maxBytes: 8 });
    const [reader, files] = [spool.reader(0), new Set<number>()];
    for (let n = 0; n < 7; n++) {
      const words = String(n).repeat(3);
      spool.write(Buffer.from(words));
      let got = "";
      while (got.length < 3) got += text(await reader.read(3, never));
      expect(got).toBe(words);
      for (const file of readdirSync(dir)) files.add(statSync(join(dir, file)).ino);
    }
    expect(files.size).toBeLessThanOrEqual(3);
    // as after the sudden end of its daemon
    expect(await rest(open().past("a")?.reader(17))).toBe("5666");
    const far = spool.reader(20);
    spool.end();
    expect(await rest(far)).toBe("6");
    const kept = readdirSync(dir).sort();
    expect(kept).toEqual(how === "drop" ? ["a.4", "a.5"] : ["a.5"]);
    expect(kept.reduce((sum, file) => sum + statSync(join(dir, file)).size, 0)).toBe(left.length);
    expect(await rest(open().find("a"))).toBe(left);
  });

  it("a reading from a file that becomes a later one meanwhile is made again", async () => {
    const { store } = spools({ segmentBytes: 17 * 1024 * 1024 });
    const spool = store.open("a", "drop");
    const part = (n: number): Buffer => Buffer.alloc(17 * 1024 * 1024, 97 + n);
    for (const n of [0, 1]) spool.write(part(n));
    const reader = spool.reader(0);
    const reading = reader.read(4, never);
    spool.write(part(2));
    expect([text(await reading), reader.position]).toEqual(["bbbb", 17 * 1024 * 1024 + 4]);
    spool.end();
  });

  it("refuse: takes nothing beyond what is unread; reading makes room, on the disk too", async () => {
    const { store, dir } = spools();
    const spool = store.open("a", "refuse");
    spool.write(Buffer.from("0123456789abcdef"));
    const full = expect.objectContaining({ code: "UNAVAILABLE", message: "pipe spool full" });
    expect(() => spool.write(Buffer.from("g"))).toThrow(full);
    const [fast, slow] = [spool.reader(0), spool.reader(0)];
    expect(text(await fast.read(8, never))).toBe("01234567");
    expect(() => spool.write(Buffer.from("g"))).toThrow(full);
    expect(text(await slow.read(4, never))).toBe("0123");
    spool.write(Buffer.from("ghij"));
    expect(() => spool.write(Buffer.from("k"))).toThrow(full);
    slow.close();
    expect(text(await fast.read(1, never))).toBe("8");
    expect(readdirSync(dir).sort()).toEqual(["a.1", "a.2"]);
    spool.end();
    expect(await rest(fast)).toBe("9abcdefghij");
    expect([spool.bytes, spool.droppedBytes]).toEqual([20, 0]);
  });

  it("block: half of the limit unread is waited for, until all readers have read on, left, or the end", async () => {
    const { store } = spools();
    const spool = store.open("a", "block");
    spool.write(Buffer.from("0123456"));
    expect(spool.room()).toBeUndefined();
    spool.write(Buffer.from("789abcdefghijklmnop"));
    let hasRoom = false;
    const room = spool.room()?.then(() => {
      hasRoom = true;
    });
    const [fast, slow] = [spool.reader(0), spool.reader(0)];
    let all = "";
    while (all.length < 26) all += text(await fast.read(26, never));
    expect(all).toBe("0123456789abcdefghijklmnop");
    expect(hasRoom).toBe(false);
    slow.close();
    await room;
    expect(spool.room()).toBeUndefined();
    spool.write(Buffer.from("qrstuvwxyz"));
    const last = spool.room();
    spool.end();
    await last;
    expect(await rest(fast)).toBe("qrstuvwxyz");
    expect([spool.bytes, spool.droppedBytes]).toEqual([36, 0]);
  });

  it("block: a writer far ahead of a reader gives it a turn, and waits for nobody before the limit", async () => {
    const { store } = spools({ segmentBytes: 8 * 1024 * 1024 });
    const spool = store.open("a", "block");
    spool.write(Buffer.alloc(3 * 1024 * 1024));
    expect(spool.room()).toBeUndefined();
    const reader = spool.reader(0);
    const turn = spool.room();
    expect(turn).toBeInstanceOf(Promise);
    await turn;
    await reader.read(2 * 1024 * 1024, never);
    expect(spool.room()).toBeUndefined();
    spool.end();
  });

  it("a disk that takes no more is counted by drop and told by refuse; what comes later is whole", async () => {
    const { store, dir } = spools();
    const [drop, refuse] = [store.open("drop", "drop"), store.open("refuse", "refuse")];
    drop.write(Buffer.from("01234567"));
    refuse.write(Buffer.from("012345"));
    // where the next segment would be
    mkdirSync(join(dir, "drop.1"));
    mkdirSync(join(dir, "refuse.1"));
    drop.write(Buffer.from("lost"));
    expect([drop.bytes, drop.droppedBytes]).toEqual([8, 4]);
    expect(() => refuse.write(Buffer.from("67lost"))).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE" }),
    );
    expect(refuse.bytes).toBe(6);
    rmdirSync(join(dir, "drop.1"));
    rmdirSync(join(dir, "refuse.1"));
    drop.write(Buffer.from("89"));
    refuse.write(Buffer.from("6789"));
    for (const spool of [drop, refuse]) {
      spool.end();
      expect(await rest(spool.reader(0))).toBe("0123456789");
    }
  });

  it("block: what a full disk has not taken waits for it with its writer, and is in its place; the end counts it as dropped", async () => {
    const tries: (() => void)[] = [];
    const { store, dir } = spools({ aWhile: () => new Promise((resolve) => tries.push(resolve)) });
    const spool = store.open("block", "block", { maxBytes: 16 });
    mkdirSync(join(dir, "block.1"));
    spool.write(Buffer.from("0123456789"));
    let hasRoom = false;
    const reader = spool.reader(0);
    const room = spool.room()?.then(() => {
      hasRoom = true;
    });
    expect([spool.bytes, spool.droppedBytes, text(await reader.read(100, never))]).toEqual([
      8,
      0,
      "01234567",
    ]);
    tries.pop()?.();
    await until(() => tries.length > 0, "another try");
    expect(hasRoom).toBe(false);
    rmdirSync(join(dir, "block.1"));
    tries.pop()?.();
    await room;
    expect([spool.bytes, spool.droppedBytes, text(await reader.read(100, never))]).toEqual([10, 0, "89"]);
    for (const name of ["block.2", "block.2~"]) mkdirSync(join(dir, name));
    spool.write(Buffer.from("abcdefgh"));
    spool.end();
    expect([spool.bytes, spool.droppedBytes]).toEqual([16, 2]);
    expect(text(await reader.read(100, never))).toBe("abcdef");
  });

  it("find() reads one that is written now, and one that has ended, also of an earlier daemon", async () => {
    const { store, open } = spools();
    const spool = store.open("a.log", "drop");
    const early = store.find("a.log");
    spool.write(Buffer.from("0123456789abcdefgh"));
    spool.end();
    expect(await rest(early)).toBe("89abcdefgh");
    expect(await rest(store.find("a.log"), 3)).toBe("89abcdefgh");
    expect(await rest(open().find("a.log"))).toBe("89abcdefgh");
    expect(store.find("a")).toBeUndefined();
    store.open("silent", "drop").end();
    expect(await rest(store.find("silent"))).toBe("");
    expect(await rest(open().find("silent"))).toBe("");
  });

  it("past() has the positions from before, as far as they can be told, without the end of its daemon too", async () => {
    const { store, open, clock } = spools();
    const spool = store.open("a.log", "drop", { maxBytes: 8 });
    const behind = store.open("b.log", "refuse", { maxBytes: 8 });
    behind.write(Buffer.from("012345"));
    const reader = behind.reader(0);
    expect(text(await reader.read(4, never))).toBe("0123");
    spool.write(Buffer.from("0123456789"));
    const next = open();
    expect(next.past("a.log")?.bytes).toBe(10);
    expect(await rest(next.past("a.log")?.reader(0))).toBe("456789");
    expect(await rest(next.past("a.log")?.reader(7))).toBe("789");
    expect(await rest(next.past("a.log")?.reader(10))).toBe("");
    expect(next.past("b.log")).toBeUndefined();
    expect(next.past("b.log", 6)?.bytes).toBe(6);
    expect(await rest(next.past("b.log", 6)?.reader(5))).toBe("5");
    expect(store.past("a.log")).toBeUndefined();
    spool.end();
    expect(await rest(store.past("a.log")?.reader(5))).toBe("56789");
    clock.now += DAY + 1;
    expect(store.past("a.log")).toBeUndefined();
  });

  it("what has ended goes after a day, or when enough has ended after it", async () => {
    const { store, clock, dir, open } = spools({ keptBytes: 12 });
    const put = (name: string, bytes: string) => {
      const spool = store.open(name, "drop");
      spool.write(Buffer.from(bytes));
      spool.end();
      clock.now += 1_000;
    };
    for (const name of ["a", "b", "c", "d"]) put(name, "1");
    expect(readdirSync(dir).sort()).toEqual(["b.0", "c.0", "d.0"]);
    put("e", "12345678901");
    expect(readdirSync(dir).sort()).toEqual(["d.0", "e.0", "e.1"]);
    clock.now += DAY - 1_500;
    expect(store.find("d")).toBeUndefined();
    expect(readdirSync(dir).sort()).toEqual(["e.0", "e.1"]);
    const kept = (clock.now - DAY) / 1_000;
    for (const name of ["e.0", "e.1"]) utimesSync(join(dir, name), kept, kept + 1);
    expect(await rest(open().find("e"))).toBe("12345678901");
    clock.now += 2_000;
    expect(open().find("e")).toBeUndefined();
    expect(readdirSync(dir)).toEqual([]);
  });

  it("what has ended of one program counts once, and goes together", () => {
    const { store, dir, clock } = spools();
    for (const name of ["a", "b", "c", "d"]) {
      for (const kind of ["out", "err", "log"]) store.open(`${name}.${kind}`, "drop").end();
      clock.now += 1_000;
    }
    expect(
      readdirSync(dir)
        .map((file) => file[0])
        .join(""),
    ).toBe("bbbcccddd");
  });

  it("open() takes the place of what has ended; remove() takes it away and wakes its readers", async () => {
    const { store, dir, open } = spools();
    const old = store.open("a", "drop");
    old.write(Buffer.from("0123456789"));
    old.end();
    for (const each of [store, open()]) {
      const spool = each.open("a", "drop");
      expect(readdirSync(dir)).toEqual([]);
      spool.write(Buffer.from("new"));
      const reader = spool.reader(3);
      const waiting = reader.read(9, never);
      await spool.remove();
      expect(text(await waiting)).toBe("");
      expect(await rest(spool.reader(0))).toBe("");
      expect(readdirSync(dir)).toEqual([]);
      expect(each.find("a")).toBeUndefined();
      await spool.remove();
    }
    const young = store.open("a", "drop");
    young.write(Buffer.from("young"));
    await old.remove();
    expect(readdirSync(dir)).toEqual(["a.0"]);
    young.end();
    await old.remove();
    expect(await rest(store.find("a"))).toBe("young");
  });

  it("remove() after end() leaves no trace", async () => {
    const { store, dir } = spools();
    const spool = store.open("a", "drop");
    spool.write(Buffer.from("0123456789"));
    spool.end();
    await spool.remove();
    expect(readdirSync(dir)).toEqual([]);
    expect(store.find("a")).toBeUndefined();
  });

  it.runIf(hasProcfs)("holds no fd of what has ended, nor one for who does not read", async () => {
    const { store, dir } = spools();
    const spool = store.open("a", "drop");
    const reader = spool.reader(0);
    spool.write(Buffer.from("0123456789"));
    expect(fdsOn(dir)).toBe(2);
    spool.end();
    expect(fdsOn(dir)).toBe(0);
    await rest(reader);
    await store.find("a")?.read(1, never);
    expect(fdsOn(dir)).toBe(0);
  });

  it("a name is a file name", () => {
    const { store } = spools();
    for (const name of ["", "..", "../a", "a/b", ".a", "a\0"])
      expect(() => store.open(name, "drop")).toThrow("name");
    store.open("a", "drop");
    expect(() => store.open("a", "drop")).toThrow("in use");
  });

  it("files that are none of its own are left alone", () => {
    const { store, dir } = spools();
    writeFileSync(join(dir, "notes"), "");
    expect(store.find("notes")).toBeUndefined();
    expect(readdirSync(dir)).toEqual(["notes"]);
  });

  it("property: a reader sees each byte once and in order, and misses only whole segments that were dropped", async () => {
    const { store } = spools();
    const step = fc.oneof(
      fc.record({ write: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ read: fc.integer({ min: 1, max: 12 }) }),
    );
    let named = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const spool = store.open(`p${named++}`, "drop");
        const reader = spool.reader(0);
        let next = 0;
        let missed = 0;
        const see = (bytes: Uint8Array) => {
          if (bytes.byteLength === 0) return;
          missed += ((bytes[0] ?? 0) - next + 256) % 256;
          bytes.forEach((byte, i) => {
            expect(byte).toBe(((bytes[0] ?? 0) + i) % 256);
          });
          next = ((bytes.at(-1) ?? 0) + 1) % 256;
        };
        let written = 0;
        for (const each of steps) {
          if ("write" in each) {
            spool.write(Uint8Array.from({ length: each.write }, () => written++ % 256));
          } else if (reader.available > 0) see(await reader.read(each.read, never));
        }
        spool.end();
        for (let chunk = await reader.read(5, never); chunk.byteLength > 0; ) {
          see(chunk);
          chunk = await reader.read(5, never);
        }
        expect(next).toBe(written % 256);
        expect(missed).toBeLessThanOrEqual(spool.droppedBytes);
        expect(spool.bytes - spool.droppedBytes).toBeLessThanOrEqual(16);
        await spool.remove();
      }),
      { numRuns: 1_000 },
    );
  });

  it("one whose daemon died while there was a note is finished by the next daemon", async () => {
    const { store, open } = spools();
    const spool = store.open("a.log", "drop", { owner: "7" });
    spool.write(Buffer.from("0123456789"));
    spool.note("10");
    const next = open();
    expect(next.unfinished().map(({ name, note }) => [name, note])).toEqual([["a.log", "10"]]);
    next.unfinished()[0]?.finish(Buffer.from("rest"));
    expect(next.unfinished()).toEqual([]);
    for (const each of [next, open()]) expect(await rest(each.find("a.log"))).toBe("0123456789rest");
  });
});
