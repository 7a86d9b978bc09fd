/** What a person says of a process that is not in memory. */
import { describe, expect, test, vi } from "vitest";
import { COORDINATOR } from "../abi/child.ts";
import { asPid, asProcUuid, type Pid } from "../abi/ids.ts";
import { SIGNALS } from "../abi/process.ts";
import type { Begun, Program } from "../abi/program.ts";
import type { MemoryJournal } from "../kernel/testing/memory-journal.ts";
import {
  agentFile,
  bytes,
  NOTHING_LEFT,
  type TestKernel,
  testKernel,
} from "../kernel/testing/test-kernel.ts";
import { settle } from "../kernel/testing/virtual-clock.ts";

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

describe("what a session works with", () => {
  const server = (name: string, env: Record<string, string> = {}) =>
    ({
      name,
      config: { type: "stdio", command: name, args: [], env },
      required: false,
      isGiven: true,
    }) as const;

  /** A daemon whose sessions wait for messages, and what each life of them was started with. */
  function daemonOn(journal?: MemoryJournal) {
    const begun: Begun[] = [];
    const program: Program = async (sys, start) => {
      begun.push({ sys, start });
      for (;;) {
        const { seq, from, data } = await sys.recv({}, sys.ending);
        sys.beginRun({ seq, from, client: "", text: Buffer.from(data).toString() }, true);
        if (Buffer.from(data).toString() === "work") await new Promise(() => {});
        await sys.endRun("completed", { code: 0, reason: "completed", kind: "done" });
      }
    };
    return { t: testKernel({ program }, journal), begun };
  }

  async function aSession() {
    const { t, begun } = daemonOn();
    const agent = agentFile();
    const mcp = [server("old", { TOKEN: "t" }), server("both")];
    const pid = await t.init.spawn("", { ...agent, manifest: { ...agent.manifest, mcp } }, { session: true });
    await settle();
    return { t, begun, pid };
  }

  const lived = async ({ sys, start }: Begun) => ({
    prompt: (await sys.buildPrompt(start.ctxId)).systemPrompt,
    servers: start.mounts.map(({ name }) => name),
  });

  const ended = async (t: TestKernel, pid: Pid) => {
    await t.init.kill(pid, SIGNALS.SIGTERM);
    await t.init.wait(pid);
    await settle();
    // one timer looks after all sessions
    expect({ ...t.census(), sleeps: 0 }).toEqual(NOTHING_LEFT);
  };

  test("is changed from its next message on, and stays so under a later daemon", async () => {
    const { t, begun, pid } = await aSession();
    const { uuid } = t.proc(pid).seed;
    await t.kernel.sessions.change(pid, {
      dirs: ["/other"],
      servers: [server("new", { KEY: "secret-of-new" }), server("both")],
      systemPrompt: "be brief",
      agents: { helper: { prompt: "help" } },
      tools: ["Read", "bash"],
    });
    await settle();
    expect(t.proc(pid).seed.rights.tools).toEqual(["bash", "view"]);
    expect(begun).toHaveLength(2);
    expect(await lived(begun[1]!)).toEqual({ prompt: "be brief", servers: ["old", "new", "both"] });
    const { seed, roots } = t.proc(pid);
    expect([seed.uuid, roots, seed.agents]).toEqual([
      uuid,
      ["/home/test", "/other"],
      { helper: { prompt: "help" } },
    ]);
    expect(JSON.stringify(t.journal.records)).not.toContain("secret-of-new");
    await t.journal.sync();
    const next = daemonOn(t.journal);
    await next.t.kernel.recover();
    await next.t.kernel.sessions.awake(pid);
    await settle();
    // those with secrets were in memory alone
    expect(await lived(next.begun[0]!)).toEqual({ prompt: "be brief", servers: ["both"] });
    expect(next.t.proc(pid).roots).toEqual(["/home/test", "/other"]);
    // what it has lost it does not get back
    await next.t.kernel.sessions.change(pid, { tools: ["view", "write"] });
    await settle();
    expect(next.t.proc(pid).seed.rights.tools).toEqual(["view"]);
    await ended(next.t, pid);
  });

  test("stays what it was, but for what is changed", async () => {
    const { t, begun, pid } = await aSession();
    const before = await lived(begun[0]!);
    await t.kernel.sessions.change(pid, { dirs: ["/other"] });
    await settle();
    expect(await lived(begun[1]!)).toEqual(before);
    await t.kernel.sessions.change(pid, { servers: [server("only")], isStrict: true });
    await settle();
    expect((await lived(begun[2]!)).servers).toEqual(["old", "both", "only"]);
    expect(t.proc(pid).roots).toEqual(["/home/test", "/other"]);
    await ended(t, pid);
  });

  test("of an agent that has ended is that of a session from then on, whatever else is changed", async () => {
    const { t, begun } = daemonOn();
    const pid = await t.init.spawn("count", agentFile(), {});
    await settle();
    await t.init.kill(pid, SIGNALS.SIGKILL);
    await t.init.wait(pid);
    await t.journal.sync();
    await t.kernel.sessions.change(pid, {});
    await settle();
    expect([begun.length, t.proc(pid).seed.isSession, begun[1]?.start.session]).toMatchObject([2, true, {}]);
    await ended(t, pid);
  });

  test("is not changed while it works, or while another client is in it: CONFLICT, and nothing else happens", async () => {
    const { t, begun, pid } = await aSession();
    const watched = t.kernel.attach(pid, { interactive: false });
    const change = () => t.kernel.sessions.change(pid, { dirs: ["/other"], systemPrompt: "be brief" });
    await expect(change()).rejects.toMatchObject({ code: "CONFLICT" });
    watched.close();
    await t.init.send(pid, bytes("work"));
    await settle();
    // what it has already is no change
    await t.kernel.sessions.change(pid, { dirs: ["/home/test"], servers: [server("both")] });
    await expect(change()).rejects.toMatchObject({ code: "CONFLICT" });
    expect([begun.length, t.proc(pid).roots]).toEqual([1, ["/home/test"]]);
    await t.init.kill(pid, SIGNALS.SIGKILL);
  });

  test("gets folders while it works, each beside the others, and has them under a later daemon and in a fork", async () => {
    const { t, begun, pid } = await aSession();
    await t.init.send(pid, bytes("work"));
    await settle();
    const add = (dir: string) => t.kernel.sessions.change(pid, { dirs: [dir] });
    await Promise.all([add("/other"), add("/third"), add("/other")]);
    const all = ["/home/test", "/other", "/third"];
    expect([begun.length, t.proc(pid).roots, await t.kernel.sessions.ground(pid)]).toMatchObject([
      1,
      all,
      { dirs: all },
    ]);
    await t.journal.sync();
    const next = daemonOn(t.journal);
    await next.t.kernel.recover();
    await next.t.kernel.sessions.awake(pid);
    await settle();
    expect(next.t.proc(pid).roots).toEqual(all);
    await next.t.init.kill(pid, SIGNALS.SIGKILL);
    await t.init.kill(pid, SIGNALS.SIGKILL);
  });
});
