/** What a person says of a process that is not in memory. */
import { expect, test, vi } from "vitest";
import { COORDINATOR } from "../abi/child.ts";
import { asPid, asProcUuid } from "../abi/ids.ts";
import { agentFile, testKernel } from "../kernel/testing/test-kernel.ts";

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

test("list() leaves out no session that has not ended, however many have ended since", async () => {
  const t = testKernel();
  const made = (n: number) => {
    const own = { proc: asProcUuid(`s${n}`), pid: asPid(n), v: 1 };
    return {
      ...own,
      kind: "process.spawned" as const,
      body: { kind: "agent", isSession: true, cwd: "/work" },
    };
  };
  await t.journal.append([made(1)]);
  const rest = Array.from({ length: 1_001 }, (_, n) => made(n + 2));
  await t.journal.append(
    rest.flatMap((each) => [
      each,
      { ...each, kind: "process.exited" as const, body: { code: 0, reason: "completed" } },
    ]),
  );
  // as the journal on disk has it: no more rows than this, the newest first, unless only the living are asked for
  const rows = t.journal.rows.bind(t.journal);
  t.journal.rows = async (filter) => {
    const found = [...(await rows(filter))].sort((a, b) => b.pid - a.pid);
    return filter.live === true ? found : found.slice(0, 1_000);
  };
  const here = { cwd: "/work" };
  expect((await t.kernel.sessions.list(here)).map(({ pid }) => pid)).toEqual([1]);
  const all = await t.kernel.sessions.list({ ...here, all: true });
  expect([all.length, all.some(({ pid }) => pid === 1)]).toEqual([1_001, true]);
});

test("keepMode() tells those who follow a session where it is not what its client would have begun", async () => {
  const t = testKernel();
  const lead = await t.start({
    agent: agentFile({ manifest: { ...agentFile().manifest, name: COORDINATOR } }),
  });
  const other = await t.start();
  const logged = vi.fn();
  for (const { proc } of [lead, other])
    vi.spyOn(proc, "log").mockImplementation((...said) => logged(said[1]));
  const { sessions } = t.kernel;
  sessions.keepMode(lead.pid, true);
  sessions.keepMode(other.pid, false);
  expect(logged).not.toHaveBeenCalled();
  sessions.keepMode(lead.pid, false);
  sessions.keepMode(other.pid, true);
  expect(logged.mock.calls).toEqual([
    [expect.stringContaining("began as that of a coordinator")],
    [expect.stringContaining("began without a coordinator")],
  ]);
});
