import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TEAM } from "../../abi/child.ts";
import { DriverError } from "../../abi/errors.ts";
import { FORK } from "../../abi/fork.ts";
import { asPid, asProcUuid, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { Block } from "../../abi/llm.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { keptOf, keptValues } from "../../kernel/process/kept-values.ts";
import { checkMember, teamOf } from "../../kernel/process/team.ts";
import { agentsIntents } from "../../kernel/process/users-words.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { askWith, DENY } from "../../kernel/testing/scripted-permit.ts";
import { agentFile, type Started, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { readContents, readHistory } from "../recover/history-reader.ts";
import { wake } from "../recover/wake.ts";

const call = (id: string): Block => ({ type: "tool_use", id, name: "bash", input: {} }) as unknown as Block;

/** One step as the loop tells it: the reply, its calls, the results, and that it is over. */
async function step({ sys, start }: Started, n: number, calls: readonly string[] = []): Promise<void> {
  const { ctxId } = start;
  const kept = { reply: n };
  if (calls.length > 0) sys.checkpoint({ v: 1, kept });
  await sys.appendMessage(ctxId, "assistant", `reply ${n}`, calls.map(call));
  for (const id of calls) await sys.appendToolResult(ctxId, id, `result of ${id}`);
  if (calls.length > 0) sys.checkpoint({ v: 1, kept: null });
}

const uuidOf = async (k: TestKernel, pid: Pid): Promise<ProcUuid> =>
  (await k.journal.processOf(pid)) as ProcUuid;

async function messagesOf(k: TestKernel, uuid: ProcUuid, atMost?: number): Promise<readonly unknown[]> {
  const history = await readHistory(k.journal, uuid, atMost);
  return (await readContents(k.journal, history)).messages;
}

describe("fork()", () => {
  it("adds at most five records, whatever the length of the history, and copies none of it", async () => {
    const k = testKernel();
    const worker = await k.start();
    for (let n = 1; n <= 1_000; n++) await step(worker, n, [`c${n}`]);
    await k.journal.sync();
    const before = k.journal.records.length;
    const made = await k.kernel.forks.fork(worker.pid, { message: "go on" });
    const added = k.journal.records.slice(before);
    expect(added.map(({ kind }) => kind)).toEqual([
      "process.forked",
      "process.spawned",
      "process.state",
      "mail.put",
    ]);
    expect(new Set(added.map(({ proc }) => proc))).toEqual(new Set([made.uuid]));
    expect(added[0]?.body).toEqual({ from: worker.proc.seed.uuid, at: made.at });
    expect(made.step).toBe(1_000);
    expect(JSON.stringify(added)).not.toContain("reply 1");
    const uuid = asProcUuid("11111111-2222-4333-8444-555555555555");
    expect(await k.kernel.forks.fork(worker.pid, { uuid })).toMatchObject({ uuid });
    for (const taken of [uuid, worker.proc.seed.uuid])
      await expect(k.kernel.forks.fork(worker.pid, { uuid: taken })).rejects.toMatchObject({
        code: "CONFLICT",
      });
    worker.end();
  });

  it("remembers what the other knew at that step, and no more: for random histories, and forks of forks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        async (steps, first, second) => {
          const k = testKernel();
          const worker = await k.start();
          const { sys } = worker;
          const { ctxId } = worker.start;
          const known: unknown[][] = [[...(await sys.buildPrompt(ctxId)).messages]];
          for (const [n, names] of steps.entries()) {
            await step(
              worker,
              n + 1,
              [...new Set(names)].map((name) => `${name}${n}`),
            );
            known.push([...(await sys.buildPrompt(ctxId)).messages]);
            if (n % 2 === 0) await sys.appendMessage(ctxId, "user", `and ${n}`);
          }
          const at = first % known.length;
          const fork = await k.kernel.forks.fork(worker.pid, { at: { step: at } });
          expect(await messagesOf(k, fork.uuid)).toEqual(known[at]);
          const earlier = second % (at + 1);
          const again = await k.kernel.forks.fork(fork.pid, { at: { step: earlier } });
          expect(await messagesOf(k, again.uuid)).toEqual(known[earlier]);
          worker.end();
        },
      ),
      { numRuns: 30 },
    );
  });

  it("keeps the notes of its agent", async () => {
    const k = testKernel();
    const agent = agentFile();
    const worker = await k.start({ agent: { ...agent, manifest: { ...agent.manifest, memory: "user" } } });
    await step(worker, 1);
    const { uuid } = await k.kernel.forks.fork(worker.pid, {});
    const [spawned] = await k.journal.ofKind(uuid, "process.spawned");
    expect(spawned?.body).toMatchObject({
      rights: { notes: { scope: "user", folder: "tester", tools: [] } },
    });
    worker.end();
  });

  it("never has more rights than the other: mode, devices, roots, limits", async () => {
    const mode = fc.constantFrom<PermissionMode>(...PERMISSION_MODES);
    const devices = fc.option(fc.subarray(["/dev/fs", "/dev/shell", "/dev/fs/home", "/mnt/mcp/x"]));
    await fc.assert(
      fc.asyncProperty(
        mode,
        devices,
        fc.nat(5_000),
        fc.nat(5_000),
        async (permissionMode, allowed, own, above) => {
          const k = testKernel();
          const parent = await k.start({ contextBudget: above, permissionMode });
          const agent = agentFile({ allowedDevices: allowed });
          const child = await k.start({ by: parent.sys, agent, contextBudget: own });
          await step(child, 1);
          const { uuid } = await k.kernel.forks.fork(child.pid, {});
          const [was] = await k.journal.ofKind(child.proc.seed.uuid, "process.spawned");
          const [is] = await k.journal.ofKind(uuid, "process.spawned");
          const [before, after] = [was?.body, is?.body] as Record<string, unknown>[];
          for (const key of ["mode", "rights", "budget", "accounts", "cwd", "maxSteps", "agent"])
            expect(after?.[key]).toEqual(before?.[key]);
          const [state] = await k.journal.ofKind(uuid, "process.state");
          const { roots = [] } = (state?.body ?? {}) as { roots?: readonly string[] };
          expect(roots).not.toEqual([]);
          expect(roots.every((root) => child.proc.seed.roots.includes(root))).toBe(true);
          child.end();
          parent.end();
        },
      ),
      { numRuns: 40 },
    );
  });

  it("of a child spends from the account of the child's parent, also when that has ended and after a fork of it", async () => {
    const k = testKernel();
    const parent = await k.start({ contextBudget: 5_000 });
    const child = await k.start({ by: parent.sys, child: { call: "c1", title: "t" } });
    await step(child, 1);
    const first = await k.kernel.forks.fork(child.pid, {});
    const paidFrom = async (pid: Pid) =>
      (await wake(k.kernel, pid)).seed.account.chain().map(({ owner, limit }) => [owner?.pid, limit]);
    const above = [
      [parent.pid, 5_000],
      [0, 0],
    ];
    expect(await paidFrom(first.pid)).toEqual([[first.pid, 0], ...above]);
    child.end();
    parent.end();
    await k.init.wait(parent.pid);
    const second = await k.kernel.forks.fork(first.pid, {});
    expect(await paidFrom(second.pid)).toEqual([[second.pid, 0], ...above]);
  });

  it("counts as the user's words none of what agents wrote: the task of a child, and those above a fork", async () => {
    const k = testKernel();
    const parent = await k.start({ interactive: true });
    parent.proc.seed.session.approvers.expect(k.clock.mono());
    await step(parent, 1);
    const child = await k.start({ by: parent.sys, agent: agentFile(), child: { call: "c1", title: "t" } });
    await step(child, 1);
    // a fork by a model goes on with the conversation of the child, and so with its task
    child.sys.offerFork({ prefix: { environment: "", reminder: "", tools: [] }, reply: [call("c2")] });
    const split = await k.start({ by: child.sys, child: { call: "c2", title: "t" }, fork: { label: FORK } });
    await step(split, 1);
    const [task, directive] = [child.proc.seed.intent, split.proc.seed.intent];
    const ofChild = await k.kernel.forks.fork(child.pid, {});
    const ofSplit = await k.kernel.forks.fork(split.pid, {});
    const again = await k.kernel.forks.fork(ofSplit.pid, {});
    const ofParent = await k.kernel.forks.fork(parent.pid, {});
    for (const each of [child, split, parent]) each.end();
    await k.init.wait(parent.pid);
    const tasks = async ({ pid }: { pid: Pid }) =>
      [...agentsIntents(k.kernel, await wake(k.kernel, pid))].sort();
    expect(await tasks(ofChild)).toEqual([task]);
    expect(await tasks(ofSplit)).toEqual([task, directive]);
    expect(await tasks(again)).toEqual([task, directive]);
    expect(await tasks(ofParent)).toEqual([]);
  });

  it("has no mail, groups, children or answers of the other; its answers are its own", async () => {
    const k = testKernel();
    const worker = await k.start({ group: "team" });
    await k.init.send(worker.pid, Buffer.from("for you alone"));
    const by = { principal: "user", client: "", uid: null };
    await k.kernel.grants.add(worker.proc, { behavior: "allow", rule: "bash(*)", scope: "session", by });
    await step(worker, 1);
    const fork = await k.kernel.forks.fork(worker.pid, {});
    const kinds = k.journal.records.filter(({ proc }) => proc === fork.uuid).map(({ kind }) => kind);
    expect(kinds).toEqual(["process.forked", "process.spawned", "process.state"]);
    const [state] = await k.journal.ofKind(fork.uuid, "process.state");
    expect(state?.body).toMatchObject({ session: { proc: fork.uuid, pid: fork.pid }, isSession: true });
    const [spawned] = await k.journal.ofKind(fork.uuid, "process.spawned");
    expect(spawned?.body).toMatchObject({ ppid: 0, isSession: true });
    expect(k.kernel.table.get(fork.pid)).toBeUndefined();
    worker.end();
  });

  it("leads no team, whatever the other leads: that keeps its members; other values are as they were", async () => {
    const k = testKernel();
    const lead = await k.start();
    const values = keptValues(k.kernel, lead.proc);
    values.set(TEAM, { name: "crew", description: "", createdAt: 0 });
    values.set("todo", ["one"]);
    await lead.sys.joinGroup(lead.pid, "crew");
    await step(lead, 1);
    await k.journal.sync();
    const made = await k.kernel.forks.fork(lead.pid, {});
    await wake(k.kernel, made.pid);
    const fork = k.proc(made.pid);
    expect([...keptOf(fork)]).toEqual([["todo", ["one"]]]);
    expect([teamOf(k.kernel, fork), teamOf(k.kernel, lead.proc)?.name]).toEqual([null, "crew"]);
    const member = { call: "c", title: "t", name: "ada", team: "crew", isBackground: true } as const;
    expect(() => checkMember(k.kernel, fork, member)).toThrow("no team crew is led by");
    expect(() => checkMember(k.kernel, lead.proc, member)).not.toThrow();
    lead.end();
  });

  it("touches no file where the policy denies it, or could not say", async () => {
    const k = testKernel();
    const files = new MessageDevice("fs");
    files.script.open = async () => {
      throw new DriverError({ op: "Open", code: "NOT_FOUND", message: "nothing is there" });
    };
    k.kernel.mount("/dev/fs", files);
    const worker = await k.start();
    await step(worker, 1);
    const { uuid, cwd } = worker.proc.seed;
    const body = { path: `${cwd}/a`, before: "absent", after: "sha256:00" };
    await k.journal.append([{ proc: uuid, pid: worker.pid, kind: "snapshot", v: 1, body }]);
    worker.end();
    await k.init.wait(worker.pid);
    const rewind = () =>
      k.kernel.forks.rewind(worker.pid, { at: { step: 0 }, files: true, force: true, dryRun: false });
    k.permit.answer = () => DENY;
    await expect(rewind()).rejects.toMatchObject({ code: "PERMISSION" });
    const failed = { kind: "error", detail: "the policy failed" } as const;
    k.permit.answer = () => ({ behavior: "ask", message: "the policy failed", always: null, reason: failed });
    await expect(rewind()).rejects.toMatchObject({ code: "PERMISSION" });
    k.permit.answer = () => askWith(null);
    expect((await rewind()).fork).not.toBeNull();
  });

  it("one without a person that is told what to do runs so, and wakes with its message", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1, ["c1"]);
    const heard = Promise.withResolvers<string>();
    k.programs.set(worker.start.intent, async (sys, { ctxId, restored }) => {
      const { messages } = await sys.buildPrompt(ctxId);
      const { data } = await sys.recv({ timeoutMs: 0 });
      heard.resolve(`${messages.length} ${restored === null} ${Buffer.from(data).toString()}`);
      return { code: 0, reason: "completed", kind: "done" };
    });
    const fork = await k.kernel.forks.fork(worker.pid, { message: "the other way", wake: true });
    expect(await heard.promise).toBe("3 false the other way");
    const [spawned] = await k.journal.ofKind(fork.uuid, "process.spawned");
    expect(spawned?.body).not.toHaveProperty("isSession");
    worker.end();
  });

  it("of one that has ended, and of its fork", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1);
    worker.end();
    await k.init.wait(worker.pid);
    const fork = await k.kernel.forks.fork(worker.pid, {});
    const again = await k.kernel.forks.fork(fork.pid, {});
    expect(again).toMatchObject({ step: 1, from: fork.from, at: fork.at });
    const uuid = await uuidOf(k, again.pid);
    expect(await messagesOf(k, uuid)).toMatchObject([{ role: "user" }, { content: "reply 1" }]);
  });

  it("inside a call is INVALID and names the steps beside it; outside the history NOT_FOUND", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1, ["c1"]);
    await step(worker, 2, ["c2", "d2"]);
    const { pid } = worker;
    const [one, two] = (await k.kernel.forks.steps(pid, 2)) as readonly { seq: number }[] as readonly [
      { seq: number },
      { seq: number },
    ];
    const { forks } = k.kernel;
    await expect(forks.fork(pid, { at: { seq: two.seq - 1 } })).rejects.toMatchObject({
      code: "INVALID",
      hint: `nearest: step 1 (seq:${one.seq}), step 2 (seq:${two.seq})`,
    });
    expect(await forks.fork(pid, { at: { seq: one.seq } })).toMatchObject({ step: 1, at: one.seq });
    for (const at of [{ seq: 0 }, { seq: 1 }])
      await expect(forks.fork(pid, { at })).rejects.toMatchObject({ code: "INVALID" });
    for (const at of [{ seq: 1_000 }, { step: 3 }])
      await expect(forks.fork(pid, { at })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(forks.fork(asPid(99), {})).rejects.toMatchObject({ code: "NOT_FOUND" });
    worker.end();
  });

  it("a step that is not over is no place to begin: the last complete one is", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1, ["c1"]);
    worker.sys.checkpoint({ v: 1, kept: { reply: 2 } });
    expect(await k.kernel.forks.fork(worker.pid, {})).toMatchObject({ step: 1 });
    await worker.sys.appendMessage(worker.start.ctxId, "assistant", "", [call("c2")]);
    expect(await k.kernel.forks.fork(worker.pid, {})).toMatchObject({ step: 1 });
    worker.end();
  });

  it("of a damaged history is CONFLICT, and says who tells more", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1);
    await k.journal.sync();
    k.journal.damaged.set(worker.proc.seed.uuid, 3);
    await expect(k.kernel.forks.fork(worker.pid, {})).rejects.toMatchObject({
      code: "CONFLICT",
      fact: { kind: "damaged", pid: expect.any(Number) },
    });
    worker.end();
  });

  it("a disk that refuses leaves nothing of it", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1);
    k.journal.refused.add("process.state");
    const before = (await k.journal.rows({})).length;
    await expect(k.kernel.forks.fork(worker.pid, {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect((await k.journal.rows({})).length).toBe(before);
    worker.end();
  });

  it("an empty message and a too long one are INVALID", async () => {
    const k = testKernel();
    const worker = await k.start();
    await step(worker, 1);
    for (const message of [" ", "x".repeat(256 * 1024 + 1)])
      await expect(k.kernel.forks.fork(worker.pid, { message })).rejects.toMatchObject({ code: "INVALID" });
    worker.end();
  });
});

describe("steps()", () => {
  it("tells first words or the tools, what was changed and run, and begins with step 0", async () => {
    const k = testKernel();
    const worker = await k.start();
    const { sys } = worker;
    const { ctxId } = worker.start;
    const own = { proc: worker.proc.seed.uuid, pid: worker.pid, v: 1 };
    worker.sys.checkpoint({ v: 1, kept: { reply: 1 } });
    k.journal.note([
      {
        ...own,
        kind: "call.intent",
        call: "c_1" as never,
        body: { effects: [{ kind: "exec", argv: ["make"] }] },
      },
      { ...own, kind: "snapshot", body: { path: "/w/a", before: "absent", after: "sha256:1" } },
      { ...own, kind: "call.result", call: "c_1" as never, body: { ok: true } },
    ]);
    await sys.appendMessage(ctxId, "assistant", "", [call("c1")]);
    await sys.appendToolResult(ctxId, "c1", "done");
    worker.sys.checkpoint({ v: 1, kept: null });
    await sys.appendMessage(ctxId, "user", "and then?");
    await sys.appendMessage(ctxId, "assistant", "Now\nall is  done");
    const steps = await k.kernel.forks.steps(worker.pid, 10);
    const shown = steps.map(({ step, words, asked, files, commands }) => ({
      step,
      words,
      asked,
      files,
      commands,
    }));
    expect(shown).toEqual([
      { step: 0, words: "", asked: [], files: [], commands: 0 },
      { step: 1, words: "bash", asked: [], files: ["/w/a"], commands: 1 },
      { step: 2, words: "Now all is done", asked: ["and then?"], files: [], commands: 0 },
    ]);
    expect(await k.kernel.forks.steps(worker.pid, 1)).toHaveLength(1);
    worker.end();
  });
});
