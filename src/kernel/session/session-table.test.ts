/** What a person says of a process that is not in memory. */
import { expect, test } from "vitest";
import { testKernel } from "../testing/test-kernel.ts";

async function ended() {
  const t = testKernel();
  const { pid, proc, end } = await t.start();
  end();
  await t.init.wait(pid);
  await t.journal.sync();
  return { t, pid, uuid: proc.seed.uuid };
}

test("describe() of one that goes on at that moment is said once", async () => {
  const { t, pid, uuid } = await ended();
  const append = t.journal.append.bind(t.journal);
  let isFirst = true;
  t.journal.append = async (drafts, options) => {
    if (isFirst)
      await append([{ proc: uuid, pid, kind: "process.log", v: 1, body: { message: "meanwhile" } }]);
    isFirst = false;
    return append(drafts, options);
  };
  await t.kernel.sessions.describe(pid, { title: "mine" });
  expect(t.journal.bodies("process.described")).toEqual([{ title: "mine" }]);
});

test("describe() of one whose history goes at that moment says nothing of it: NOT_FOUND", async () => {
  const { t, pid } = await ended();
  const { processOf, append } = t.journal;
  t.journal.append = async (drafts, options) => {
    t.journal.processOf = async () => undefined;
    // an empty history ends with no record
    const found = options?.expect === undefined ? {} : { expect: options.expect + 1 };
    return append.call(t.journal, drafts, found);
  };
  await expect(t.kernel.sessions.describe(pid, { kept: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
  t.journal.processOf = processOf;
  expect(t.journal.bodies("process.described")).toEqual([]);
});
