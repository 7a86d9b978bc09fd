import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asPid, asProcUuid, type Pid } from "../../abi/ids.ts";
import { findNative, type NativeAnswer } from "../../abi/native/native-record.ts";
import { EXIT } from "../../abi/process.ts";
import type { Native } from "../../kernel/ports/natives.ts";
import { outputName } from "../../kernel/ports/spools.ts";
import { keptInMemory } from "../kept-in-memory.ts";
import { DiskSpools } from "../out/spool.ts";
import { askJson, callerIn, openAndRead, tempFolder } from "../testing.ts";
import { nativeDevice } from "./device.ts";

const OF_TWELVE = asProcUuid("0b4f3c1e-0000-4000-8000-00000000000c");
const NOW = { timeout_ms: 0 };

/** A program of process 7 with pid 12, whose output and end the test writes; time passes when it is told to. */
function stage() {
  const spools = new DiskSpools(join(tempFolder(), "spools"));
  const log = spools.open(outputName(OF_TWELVE), "drop");
  const told = Promise.withResolvers<number>();
  const native = {
    ...{ id: "it", pid: asPid(12), uuid: OF_TWELVE, ppid: asPid(7), command: ["cat", "-n"], cwd: "/w" },
    ...{ startedAt: 0, isPty: true, ids: {}, osPid: 5, output: {}, log, usage: null },
    ...{ begun: Promise.resolve(), told: told.promise },
    end: null as Native["end"],
    input: { bytes: 0, queuedBytes: 0, isOpen: true },
    typed: [] as string[],
    sizes: [] as object[],
    write: async (data: Uint8Array) => void native.typed.push(Buffer.from(data).toString()),
    endInput: () => void native.typed.push("EOF"),
    resize: (size: object) => void native.sizes.push(size),
  };
  const live = new Map<Pid, Native>([[native.pid, native]]);
  const notes: string[] = [];
  const reaped: Pid[] = [];
  const sleepers: { ms: number; wake(): void }[] = [];
  const device = nativeDevice({
    spools,
    natives: () => ({ list: () => [...live.values()], of: (pid) => live.get(pid) }),
    notify: async (_pid, text) => notes.push(text) > 0,
    reap: async (pid) => void reaped.push(pid),
    clock: {
      sleep: (ms, signal) =>
        new Promise((wake, reject) => {
          if (ms === 0) return wake();
          sleepers.push({ ms, wake });
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        }),
    },
  });
  const begun = (ms: number) => expect.poll(() => sleepers.some((each) => each.ms === ms)).toBe(true);
  const caller = callerIn("/w", { kept: keptInMemory() });
  const ask = (request: object, by = caller) => askJson<NativeAnswer>(device, "/12", request, by);
  return {
    ...{ device, caller, native, log, live, notes, reaped, ask },
    print: (text: string) => log.write(Buffer.from(text)),
    watch: (tell?: string) => ask({ op: "watch", ...(tell === undefined ? {} : { tell }), wait: NOW }),
    end: () => {
      log.end();
      native.end = { exit: { ...EXIT.completed, reason: "exit 0" }, endedAt: 1, elapsedMs: 1 };
      told.resolve(1);
    },
    begun,
    /** Once a wait of so many ms has begun, it is over. */
    passed: async (ms: number) => {
      await begun(ms);
      for (const sleeper of sleepers.filter((each) => each.ms === ms)) sleeper.wake();
    },
  };
}

describe("/dev/native/<pid>", () => {
  it("reads from where its caller stopped, as a terminal shows it, or from anywhere", async () => {
    const s = stage();
    s.print("one\r\n\x1b[1mtwo\x1b[0m 10%\rtwo 99%");
    expect(await s.watch()).toMatchObject({ state: "running", output: "one\ntwo 99%", woken_by: "timeout" });
    s.print("\n> ");
    expect(await s.ask({ op: "read", wait: NOW })).toMatchObject({ output: "\n> ", dropped_bytes: 0 });
    expect(await s.ask({ op: "read", wait: NOW })).toMatchObject({ output: "" });
    expect((await s.ask({ op: "read", offset: 0, wait: NOW })).output).toBe("one\ntwo 99%\n> ");
    expect((await s.ask({ op: "read", offset: -2, wait: NOW })).output).toBe("> ");
    expect(await openAndRead(s.device, "", s.caller)).toContain('"id":"it"');
  });

  it("waits for a match, for quiet after something, for the end, or for its time", async () => {
    const s = stage();
    await s.watch();
    const matched = s.ask({ op: "read", wait: { until: "^re+ady$", timeout_ms: 9_000 } });
    s.print("not re");
    s.print("ady\nready\nmore");
    expect(await matched).toMatchObject({ woken_by: "match" });
    const quiet = s.ask({ op: "read", wait: { quiet_ms: 400, timeout_ms: 8_000 } });
    s.print("then");
    await s.passed(400);
    expect(await quiet).toMatchObject({ woken_by: "quiet" });
    const late = s.ask({ op: "read", wait: { quiet_ms: 300, timeout_ms: 7_000 } });
    await s.passed(7_000);
    expect(await late).toMatchObject({ woken_by: "timeout", output: "" });
    const over = s.ask({ op: "read", wait: { timeout_ms: 6_000 } });
    await s.begun(6_000);
    s.print("bye");
    s.end();
    expect(await over).toMatchObject({ woken_by: "end", state: "exited", exit_code: 0, output: "bye" });
    expect([s.notes, s.reaped]).toEqual([[], [12]]);
  });

  it("a pattern must be one, and one that would take hours is refused", async () => {
    const s = stage();
    const until = (pattern: string) => s.ask({ op: "read", wait: { until: pattern, timeout_ms: 5_000 } });
    await s.watch();
    await expect(until("(")).rejects.toThrow("not a regular expression");
    s.print(`${"a".repeat(60)}!`);
    await expect(until("^(a+)+$")).rejects.toThrow("the pattern takes too long");
  });

  it("types, and matches only what comes then; it returns what was unread too", async () => {
    const s = stage();
    await s.watch();
    s.print("> old\n> ");
    const typed = s.ask({ op: "write", data: "1\n", eof: true, wait: { until: "> $", timeout_ms: 9_000 } });
    await expect.poll(() => s.native.typed).toEqual(["1\n", "EOF"]);
    s.print("1\nnew\n> ");
    expect(await typed).toMatchObject({ output: "> old\n> 1\nnew\n> ", woken_by: "match" });
    const file = await s.device.open("/12", 2, s.caller);
    expect(
      await file.plan?.(Buffer.from(JSON.stringify({ op: "write", data: "", wait: NOW }))),
    ).toMatchObject({
      effects: [{ kind: "exec", argv: ["cat", "-n"], cwd: "/w", certain: true }],
      effectClass: "once",
    });
    await s.ask({ op: "resize", cols: 100, rows: 30 });
    expect(s.native.sizes).toEqual([{ cols: 100, rows: 30 }]);
    s.native.input.queuedBytes = 1024 * 1024;
    await expect(s.ask({ op: "write", data: "x", wait: NOW })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("returns early from a flood, whose middle is left out", async () => {
    const s = stage();
    for (let n = 0; n < 80; n++) s.print(`${"x".repeat(65_535)}\n`);
    const answer = await s.ask({ op: "watch", wait: { until: "never", timeout_ms: 9_000 } });
    expect(answer.woken_by).toBe("limit");
    expect(answer.total_bytes).toBe(80 * 65_536);
    expect([answer.next_offset < answer.total_bytes, answer.output.length < 300_000]).toEqual([true, true]);
  });

  it("an end and a match that nobody reads are noted, once", async () => {
    const s = stage();
    await s.watch("^error");
    s.print("fine\nerror: a\n");
    await expect
      .poll(() => s.notes)
      .toEqual(["it (process 12) has printed what you wait for. process_read shows it."]);
    s.print("error: b\n");
    s.end();
    await expect.poll(() => s.notes.at(-1)).toContain("it (process 12) has ended: exit 0");
    expect([s.notes.length, s.reaped]).toEqual([2, [12]]);
    expect(await s.ask({ op: "read", wait: NOW })).toMatchObject({ output: "fine\nerror: a\nerror: b\n" });
    await expect(s.ask({ op: "write", data: "x", wait: NOW })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("after a restart it is lost, and what it printed is read on", async () => {
    const s = stage();
    s.print("read");
    await s.watch();
    s.print(" unread");
    s.log.end();
    s.live.clear();
    expect(await s.ask({ op: "read", wait: NOW })).toMatchObject({ state: "lost", output: " unread" });
    expect(findNative(s.caller.kept?.entries(), "it")?.pid).toBe(12);
  });

  it("is only for whoever started it", async () => {
    const s = stage();
    await s.watch();
    const other = callerIn("/w", { pid: asPid(8), uuid: asProcUuid("0b4f3c1e-0000-4000-8000-00000000000b") });
    for (const op of ["watch", "read"])
      await expect(s.ask({ op, wait: NOW }, other)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
