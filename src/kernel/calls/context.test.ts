import { describe, expect, test } from "vitest";
import type { ContextError } from "../../abi/errors.ts";
import { asCtxId } from "../../abi/ids.ts";
import { contextFacet, viewsOf } from "../context/facet.ts";
import { headOf, numbersOf } from "../context/view.ts";
import type { RecordBody } from "../facts/facet.ts";
import { LIMITS } from "../limits.ts";
import type { JournalRecord } from "../ports/journal.ts";
import { guardedBench } from "../testing/guarded.ts";
import { bytes, NOTHING_LEFT, testKernel, text } from "../testing/test-kernel.ts";

const MESSAGE = bytes('{"role":"user","content":"x"}');

describe("a context", () => {
  test("of another process is PERMISSION, one that is not there NOT_FOUND", async () => {
    const t = testKernel();
    const [a, b] = [await t.start(), await t.start()];
    for (const [cid, code] of [
      [a.start.ctxId, "PERMISSION"],
      [asCtxId(99), "NOT_FOUND"],
    ] as const) {
      const calls = [
        () => b.sys.ctxRead(cid, 0, 0),
        () => b.sys.ctxWrite(cid, 0, MESSAGE),
        () => b.sys.ctxFree(cid),
        () => b.sys.setSystemPrompt(cid, "x"),
        () => b.sys.appendMessage(cid, "user", "x"),
        () => b.sys.appendToolResult(cid, "t", "x"),
        () => b.sys.buildPrompt(cid),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code, cid });
    }
    expect((await a.sys.buildPrompt(a.start.ctxId)).messages).toHaveLength(1);
  });

  test("may be looked at by pid 0, and not changed", async () => {
    const t = testKernel();
    const { end, pid, start } = await t.start();
    expect(text(await t.init.ctxRead(start.ctxId, 0, 0))).toContain("work 1");
    await expect(t.init.ctxFree(start.ctxId)).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(t.init.ctxWrite(start.ctxId, 0, MESSAGE)).rejects.toMatchObject({ code: "PERMISSION" });
    end();
    await t.init.wait(pid);
    expect(t.logs).toEqual([]);
  });

  test("that has moved lets no file count as seen as it is, the process's own contexts do not", async () => {
    const t = testKernel();
    const { sys, pid, start } = await t.start();
    const { seen } = t.proc(pid);
    const own = await sys.ctxAlloc(4);
    const boundary = { layer: "drop", trigger: "auto", before: 900, after: 20 } as const;
    const epochs: number[] = [];
    for (const cid of [own, start.ctxId]) {
      await sys.appendMessage(cid, "user", "more");
      const head = await sys.ctxMove(cid, { from: 0, keep: [], clears: [], tailFrom: 2, boundary });
      epochs.push(seen.epoch);
      await sys.ctxUndo(cid, head).catch(() => undefined);
      epochs.push(seen.epoch);
    }
    expect(epochs).toEqual([0, 0, 1, 2]);
  });

  test("that is shown less of is told to those who follow the process, its own contexts are not", async () => {
    const t = testKernel();
    const { sys, pid, end, start } = await t.start();
    const events = t.kernel.attach(pid, { interactive: false });
    const own = await sys.ctxAlloc(4);
    const boundary = { layer: "drop", trigger: "auto", before: 900, after: 20 } as const;
    for (const cid of [own, start.ctxId]) {
      await sys.appendMessage(cid, "user", "more");
      await sys.ctxMove(cid, { from: 0, keep: [], clears: [], tailFrom: 2, boundary });
    }
    end();
    const told = (await Array.fromAsync(events)).filter(({ event }) => event === "context.moved");
    expect(told).toEqual([{ event: "context.moved", pid, ...boundary }]);
  });

  test("made by a process is freed with it; its first it keeps to its end", async () => {
    const t = testKernel();
    const { sys, pid, end, start } = await t.start();
    const [kept, freed] = [await sys.ctxAlloc(4), await sys.ctxAlloc(4)];
    await sys.ctxWrite(kept, 0, MESSAGE);
    await sys.ctxFree(freed);
    await expect(sys.ctxFree(freed)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(sys.ctxFree(start.ctxId)).rejects.toMatchObject({ code: "PERMISSION" });
    end();
    await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("beyond the limit of one process is UNAVAILABLE", async () => {
    const t = testKernel();
    const { sys } = await t.start();
    for (let n = 1; n < LIMITS.contexts; n++) await sys.ctxAlloc(1);
    await expect(sys.ctxAlloc(1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(sys.ctxAlloc(0)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("a program under /bin", () => {
  test("that declared it may use contexts, but not change the conversation", async () => {
    const bench = await guardedBench();
    const { ctxId } = bench.proc;
    const codes: unknown[] = [];
    bench.acts(async (sys) => {
      const cid = await sys.ctxAlloc(1);
      for (const call of [
        sys.ctxWrite(cid, 0, MESSAGE),
        sys.ctxWrite(ctxId, 0, MESSAGE),
        sys.ctxFree(ctxId),
        sys.ctxFree(cid),
      ])
        codes.push(await call.then(() => "done").catch((error: ContextError) => error.code));
    });
    await expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION" });
    bench.tool.script.effects = [{ kind: "state", path: "/proc/self/contexts" }];
    await bench.call();
    expect(codes).toEqual(["done", "PERMISSION", "PERMISSION", "done"]);
  });
});

describe("the journal", () => {
  test("has every message, what it replaces, and which context it is in", async () => {
    const t = testKernel();
    const { sys, start } = await t.start();
    const { ctxId } = start;
    const blocks = [{ type: "text", text: "hi" }] as const;
    await sys.appendMessage(ctxId, "assistant", "hi", blocks);
    await sys.appendToolResult(ctxId, "t1", "done", true);
    await sys.ctxWrite(ctxId, 1, MESSAGE);
    const other = await sys.ctxAlloc(1);
    await sys.ctxWrite(other, 0, MESSAGE);
    await expect(sys.ctxWrite(other, 0, MESSAGE)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(t.journal.bodies("ctx.record")).toEqual([
      { role: "assistant", content: "hi", blocks },
      { role: "tool", content: "done", tool_call_id: "t1", is_error: true },
      { role: "user", content: "x", replaces: 1 },
      { role: "user", content: "x", cid: other },
    ]);
  });
});

describe("a thousand appends and moves at once", () => {
  const boundary = { layer: "full", trigger: "auto", before: 900, after: 20 } as const;
  const folded = (records: readonly JournalRecord[]) =>
    records.reduce((now, { kind, body, proc, seq }) => {
      const place = { proc, seq, at: 0, isFork: false };
      return contextFacet.folds[kind]?.(now, body as RecordBody, place) ?? now;
    }, contextFacet.init());
  const shownBy = (records: readonly JournalRecord[]): string => {
    const views = viewsOf(folded(records));
    return numbersOf(views, headOf(views)).join();
  };

  test("leave each record once, in the order of the view, and the journal has the view that is shown", async () => {
    const t = testKernel();
    const { sys, start, proc } = await t.start();
    const cid = start.ctxId;
    const moved: unknown[] = [];
    const move = async (i: number) => {
      const { head: from, records } = await sys.ctxView(cid);
      const put = i % 3 === 0 ? { put: `summary ${i}` } : {};
      const wish = { from, keep: [], clears: [], tailFrom: Math.max(1, records - (i % 5)), ...put, boundary };
      await sys.ctxMove(cid, wish).then(
        () => moved.push("moved"),
        (error: ContextError) => moved.push(error.code),
      );
    };
    const acts = Array.from({ length: 1_000 }, (_, i) =>
      i % 4 === 3 ? move(i) : sys.appendMessage(cid, "user", `m${i}`),
    );
    await Promise.all(acts);
    expect(new Set(moved)).toEqual(new Set(["moved", "CONFLICT"]));
    await t.journal.sync();
    const own = t.journal.records.filter(({ proc: of }) => of === proc.seed.uuid);
    const said = own.flatMap(({ kind, body }) =>
      kind === "ctx.record" ? [(body as { content: string }).content] : [],
    );
    expect(said).toHaveLength(750);
    expect(said.toSorted()).toEqual(
      Array.from({ length: 1_000 }, (_, i) => `m${i}`)
        .filter((_, i) => i % 4 !== 3)
        .toSorted(),
    );
    const { numbers } = await sys.ctxView(cid);
    expect(shownBy(own)).toBe(numbers.join());
  });

  test("whichever record is the last on the disk, the view is the one before a change or after it", async () => {
    const t = testKernel();
    const { sys, start, proc } = await t.start();
    const cid = start.ctxId;
    const shown = new Set(["", (await sys.ctxView(cid)).numbers.join()]);
    for (let i = 0; i < 60; i++) {
      const { head: from, records, view } = await sys.ctxView(cid);
      if (i % 3 !== 2) await sys.appendMessage(cid, "user", `m${i}`);
      else if (i % 9 === 8) await sys.ctxUndo(cid, from);
      else
        await sys.ctxMove(cid, {
          from,
          keep: view.keep,
          clears: [],
          tailFrom: records,
          put: `s${i}`,
          boundary,
        });
      shown.add((await sys.ctxView(cid)).numbers.join());
    }
    await t.journal.sync();
    const own = t.journal.records.filter(({ proc: of }) => of === proc.seed.uuid);
    for (let last = 0; last <= own.length; last++) expect(shown).toContain(shownBy(own.slice(0, last)));
    expect(shown.size).toBeGreaterThan(50);
  });

  test.each(["micro", "full", "partial", "snip", "drop", "clear"] as const)(
    "%s and its undoing change rights, mode and budget in nothing, since they record the view alone",
    async (layer) => {
      const t = testKernel();
      const { sys, start, proc } = await t.start({ permissionMode: "plan", contextBudget: 5_000 });
      const cid = start.ctxId;
      for (let i = 0; i < 4; i++) await sys.appendMessage(cid, "user", `m${i}`);
      await t.journal.sync();
      const before = t.journal.records.length;
      const may = () => JSON.stringify([proc.seed.rights, proc.mode, proc.seed.account.view()]);
      const was = may();
      await sys.ctxMove(cid, {
        from: 0,
        keep: [],
        clears: [],
        tailFrom: 3,
        boundary: { ...boundary, layer },
      });
      await sys.ctxUndo(cid, 1);
      await t.journal.sync();
      expect(t.journal.records.slice(before).map(({ kind }) => kind)).toEqual(["ctx.move", "ctx.move"]);
      expect(may()).toBe(was);
    },
  );
});
