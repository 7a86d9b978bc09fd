/** What is removed for good after a summary must have been seen since. */
import { expect, test } from "vitest";
import type { ContextMove } from "../../abi/context.ts";
import type { Destroyed } from "../ports/permit.ts";
import { guardedBench } from "../testing/guarded.ts";

async function compacted(destroyed: Destroyed | null, layer: "full" | "micro" = "full") {
  const bench = await guardedBench({ permissionMode: "bypass" });
  const { sys, t, proc } = bench;
  t.permit.destroys = () => destroyed;
  const cid = proc.ctxId;
  const boundary = { layer, trigger: "auto", before: 9, after: 1 } as const;
  const move: ContextMove = { from: 0, keep: [], clears: [], tailFrom: 1, boundary };
  const result = async (name: string, text: string, isError = false) => {
    const block = { type: "tool_use", id: text, name: "bash", input: { command: name } } as const;
    await sys.appendMessage(cid, "assistant", "", [block]);
    await sys.appendToolResult(cid, text, text, isError);
  };
  await sys.appendMessage(cid, "user", "remove build");
  await bench.call();
  await sys.ctxMove(cid, layer === "full" ? { ...move, put: "<crux-note>build</crux-note>" } : move);
  return { ...bench, cid, result };
}

const BUILD = { targets: ["build"], isOpen: false };
const UNSEEN = { code: "CONFLICT", message: expect.stringContaining("not seen since compaction: build") };

test("a target is CONFLICT in every mode until it was named in a successful call, then it is judged", async () => {
  const { call, t, tool, result } = await compacted(BUILD);
  await expect(call()).rejects.toMatchObject(UNSEEN);
  await result("ls build", "no such file", true);
  await result("ls", "build-2 rebuild build.ts");
  await expect(call()).rejects.toMatchObject(UNSEEN);
  const judged = t.permit.asked.length;
  expect(tool.written).toHaveLength(1);
  await result("ls build", "a.o");
  await call();
  expect([tool.written.length, t.permit.asked.length > judged]).toEqual([2, true]);
});

test("a result and the user's words show it, too; texts of Crux do not", async () => {
  for (const text of ["./build: 3 files", "is build/ needed?"]) {
    const { call, sys, cid } = await compacted(BUILD);
    await sys.appendMessage(cid, "user", `<crux-note>${text}</crux-note>`);
    await expect(call()).rejects.toMatchObject(UNSEEN);
    await sys.appendMessage(cid, "user", text);
    await call();
  }
});

test("a call whose targets are not known is refused once", async () => {
  const { call } = await compacted({ targets: [], isOpen: true });
  await expect(call()).rejects.toMatchObject({ code: "CONFLICT" });
  await call();
});

test("nothing is refused where nothing is destroyed, nothing has left the view, or the summary was undone", async () => {
  await (await compacted(null)).call();
  await (await compacted(BUILD, "micro")).call();
  const { call, sys, cid } = await compacted(BUILD);
  await expect(call()).rejects.toMatchObject(UNSEEN);
  await sys.ctxUndo(cid, 1);
  await call();
});
