/** Limits in a kernel: what is refused, who is asked, what comes back. */
import { describe, expect, test } from "vitest";
import type { AgentManifest } from "../../abi/agent.ts";
import type { Budget } from "../../abi/budget.ts";
import { asFd, asPid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { wake } from "../../history/recover/wake.ts";
import { microUsd } from "../../lib/usd.ts";
import { addLabels } from "../labels/labelled.ts";
import type { BudgetPolicy, KernelPorts } from "../ports/kernel-ports.ts";
import {
  agentFile,
  bytes,
  type Started,
  type StartOptions,
  type TestKernel,
  testKernel,
} from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

/** Each call costs 60 tokens and half a dollar, and sets aside 100 and a dollar. */
function spending(t: TestKernel, usd: number | null = 0.5): void {
  t.model.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 0 }];
  t.model.script.plan = { reserve: { tokens: 100, usd: usd === null ? null : 1 } };
  t.model.script.charge = () => ({ tokens: 60, usd });
}

function kernel(policy: Partial<BudgetPolicy> = {}, ports: Partial<KernelPorts> = {}): TestKernel {
  const t = testKernel({ budget: () => ({ defaults: {}, windows: [], ...policy }), ...ports });
  spending(t);
  return t;
}

const PERSON = { principal: "user", client: "", uid: 1000 } as const;
const ask = ({ sys }: Pick<Started, "sys">): Promise<void> => sys.write(asFd(3), bytes("{}"));
const start = (t: TestKernel, budget: Budget, more: StartOptions = {}): Promise<Started> =>
  t.start({ budget, ...more });

/** Brought to its end, so that nothing is left. */
async function close(t: TestKernel): Promise<void> {
  await t.kernel.abandon("over");
}

test("what the user started says once that it has cost so much, also where an agent below it spends; nothing stops", async () => {
  const t = kernel({ reminderUsd: 1 });
  const top = await start(t, {});
  const below = await start(t, {}, { by: top.sys });
  const said = () => [top, below].map(({ proc }) => proc.logs?.kept.filter(({ level }) => level === "warn"));
  await ask(below);
  expect(said()).toEqual([[], []]);
  await ask(below);
  await ask(top);
  const words = "cost so far: $1.00 (costReminderUsd is $1); nothing is stopped";
  expect(said()).toMatchObject([[{ message: words }], []]);
  await close(t);
});

describe("a limit in money", () => {
  test("refuses the call that may pass it, names the limit and how to raise it", async () => {
    const t = kernel();
    const top = await start(t, { usd: 2 });
    await ask(top);
    await ask(top);
    await ask(top).catch((error: { details: unknown }) => {
      expect(error).toMatchObject({
        code: "BUDGET",
        fact: { kind: "limit_reached", pid: top.pid, unit: "usd", need: 2 },
      });
      expect(error.details).toEqual({
        account: top.pid,
        unit: "usd",
        limit: 2,
        used: 1,
        reserved: 0,
        asked: 1,
        retryable: false,
      });
    });
    expect(top.proc.seed.account.spent).toEqual({ tokens: 180, microUsd: microUsd(1.5), steps: 3 });
    await expect(ask(top)).rejects.toMatchObject({
      code: "BUDGET",
      details: { unit: "usd", used: 1.5, asked: 1 },
    });
    await close(t);
  });

  test("refuses a call whose price is not known", async () => {
    const t = kernel();
    spending(t, null);
    const [free, limited] = [await start(t, { tokens: 1_000 }), await start(t, { usd: 5 })];
    await ask(free);
    await expect(ask(limited)).rejects.toMatchObject({
      code: "BUDGET",
      message: expect.stringContaining("set models.<id>.price"),
    });
    await close(t);
  });

  test("is what is left of it in the next daemon, and no fork fills it again", async () => {
    const t = kernel();
    const top = await start(t, { usd: 3, steps: 9 }, { session: true });
    await top.sys.appendMessage(top.start.ctxId, "assistant", "one");
    await ask(top);
    await top.sys.appendMessage(top.start.ctxId, "assistant", "two");
    await t.init.kill(top.pid, SIGNALS.SIGPAUSE);
    const { pid } = await t.kernel.forks.fork(top.pid, {});
    await t.journal.sync();
    const next = testKernel({ uuid: t.kernel.ports.uuid }, t.journal);
    await next.kernel.recover();
    const back = await wake(next.kernel, top.pid, { paused: true });
    const forked = await wake(next.kernel, pid, { paused: true });
    for (const { seed } of [back, forked]) {
      expect(seed.account.limits).toEqual({ microUsd: 3_000_000, steps: 9 });
      expect(seed.account.spent).toEqual({ tokens: 60, microUsd: 500_000, steps: 1 });
    }
    expect(back.seed.account).not.toBe(forked.seed.account);
    await close(next);
    await close(t);
  });
});

describe("steps", () => {
  test("counts calls that were answered, of all below", async () => {
    const t = kernel();
    const top = await start(t, { steps: 2 });
    const child = await t.start({ by: top.sys });
    await ask(child);
    // a tenth is the parent's: the last step is not for a child
    await expect(ask(child)).rejects.toMatchObject({ details: { unit: "steps", account: top.pid } });
    await ask(top);
    await expect(ask(top)).rejects.toMatchObject({ details: { unit: "steps", limit: 2, used: 2 } });
    await close(t);
  });
});

describe("at the limit, with a person attached", () => {
  const asks = (t: TestKernel, pid: number) => t.proc(pid).halt.openAsks;

  test("one question for all who hit the account; yes raises it for all, and is kept", async () => {
    const t = kernel();
    const top = await start(t, { tokens: 300 }, { interactive: true });
    const events = t.kernel.attach(top.pid, { interactive: true });
    for (let i = 0; i < 4; i++) await ask(top);
    const child = await t.start({ by: top.sys });
    const calls = [ask(top), ask(child)];
    await settle(8);
    expect([asks(t, top.pid), asks(t, child.pid)].every((count) => count > 0)).toBe(true);
    const questions: string[] = [];
    const reading = (async () => {
      for await (const event of events) {
        if (event.event !== "ask") continue;
        questions.push(event.text);
        await t.kernel.answer(event.ask_id, "yes");
      }
    })();
    await Promise.all(calls);
    expect(questions).toEqual([expect.stringMatching(/^raise the limit of process 1 by \d+ tokens$/)]);
    expect(t.journal.bodies("acct.limit")).toHaveLength(1);
    expect([top.proc.seed.account.limit, top.proc.seed.account.spent.tokens]).toEqual([600, 360]);
    events.close();
    await reading;
    await close(t);
  });

  test("another amount counts in place of what is offered, with who gave it; what is none leaves the question", async () => {
    const t = kernel();
    const top = await start(t, { usd: 1 }, { interactive: true });
    const events = t.kernel.attach(top.pid, { interactive: true });
    await ask(top);
    const call = ask(top);
    for await (const event of events) {
      if (event.event !== "ask") continue;
      expect(event).toMatchObject({
        text: "raise the limit of process 1 by $1.00",
        detail: "budget exceeded: limit $1.00, used $0.50, reserved $0.00, asked $1.00",
        path: expect.stringMatching(/-1$/),
        amount: { unit: "usd", offered: "$1.00" },
      });
      const by = { principal: "user", client: "chat-1", uid: 1000 };
      for (const words of ["much", "0", "-2usd", "3 tokens"])
        await expect(t.kernel.answer(event.ask_id, "yes", words, { by })).rejects.toMatchObject({
          code: "INVALID",
        });
      await t.kernel.answer(event.ask_id, "yes", "+2.5usd", { by });
      // durable with the answer
      expect(t.journal.bodies("acct.limit")).toEqual([
        { budget: { microUsd: 3_500_000 }, by: "user, client chat-1, uid 1000", given: by },
      ]);
      break;
    }
    await call;
    expect(top.proc.seed.account.limits).toEqual({ microUsd: 3_500_000 });
    events.close();
    await close(t);
  });

  test("no ends it with BUDGET; who is not there is not asked", async () => {
    const t = kernel();
    const top = await start(t, { tokens: 100 }, { interactive: true });
    const events = t.kernel.attach(top.pid, { interactive: true });
    await ask(top);
    const call = ask(top);
    for await (const event of events)
      if (event.event === "ask") {
        await t.kernel.answer(event.ask_id, "no");
        break;
      }
    await expect(call).rejects.toMatchObject({ code: "BUDGET" });
    const alone = await start(t, { tokens: 100 });
    await ask(alone);
    await expect(ask(alone)).rejects.toMatchObject({ code: "BUDGET" });
    events.close();
    await close(t);
  });

  test("with budget.onLimit fail nobody is asked", async () => {
    const t = kernel({ onLimit: "fail" });
    const top = await start(t, { tokens: 100 }, { interactive: true });
    const events = t.kernel.attach(top.pid, { interactive: true });
    await ask(top);
    await expect(ask(top)).rejects.toMatchObject({ code: "BUDGET" });
    expect(top.sys.account().asks).toBeUndefined();
    events.close();
    await close(t);
  });
});

test("mayDoAside(): no limit of tokens, money, steps or time here or above, nothing labelled was read, somebody is there, and a model answers", async () => {
  const t = kernel();
  const attended = async (budget: Budget, more: StartOptions = {}, kernel = t) => {
    const top = await kernel.start({ budget, interactive: true, ...more });
    kernel.kernel.attach(top.pid, { interactive: true });
    return top;
  };
  const mayDoAside = async (budget: Budget, more: StartOptions = {}) =>
    (await attended(budget, more)).sys.mayDoAside();
  expect(await mayDoAside({ children: 3, depth: 2 })).toBe(true);
  for (const budget of [{ tokens: 9_000 }, { usd: 9 }, { steps: 9 }, { wallMs: 9_000 }]) {
    const top = await attended(budget);
    expect(top.sys.mayDoAside()).toBe(false);
    expect(await mayDoAside({}, { by: top.sys })).toBe(false);
  }
  expect(await mayDoAside({}, { timeoutMs: 9_000 })).toBe(false);
  expect((await start(t, {})).sys.mayDoAside()).toBe(false);
  const { proc, sys } = await attended({});
  expect(sys.mayDoAside()).toBe(true);
  addLabels(t.kernel, proc, [{ kind: "untrusted", source: "web", detail: "https://a.io" }]);
  expect(sys.mayDoAside()).toBe(false);
  await close(t);
  const limited = kernel({ windows: [{ unit: "microUsd", limit: 9, perMs: 60_000 }] });
  expect((await attended({}, {}, limited)).sys.mayDoAside()).toBe(false);
  await close(limited);
  const resolve = async () => ({ device: "/dev/llm/fake", model: "" });
  const mindless = kernel({}, { models: { resolve, isModel: (device) => device !== "/dev/llm/fake" } });
  expect((await attended({}, {}, mindless)).sys.mayDoAside()).toBe(false);
  await close(mindless);
});

describe("windows", () => {
  const windows = [{ unit: "tokens", limit: 150, perMs: 60_000 }] as const;

  test("bind all processes together, over daemons, and say when they are free", async () => {
    const t = kernel({ windows });
    await ask(await t.start());
    const other = await t.start();
    await expect(ask(other)).rejects.toMatchObject({
      code: "BUDGET",
      message: expect.stringMatching(/^budget exceeded for 1 minute: limit 150, used 60, .*free again at /),
      details: { account: 0, window: 60_000, resetsAt: expect.any(String) },
    });
    await t.journal.sync();
    const next = testKernel(
      { uuid: t.kernel.ports.uuid, budget: () => ({ defaults: {}, windows }) },
      t.journal,
    );
    spending(next);
    await next.kernel.recover();
    expect(next.kernel.root.seed.account.windows[0]?.spent(next.clock.now())).toBe(60);
    await close(next);
    await close(t);
  });

  test("with onWindow wait a process waits until it is free again", async () => {
    const t = kernel({ windows, onWindow: "wait" });
    const top = await t.start();
    await ask(top);
    let isDone = false;
    const call = ask(top).then(() => {
      isDone = true;
    });
    await settle(8);
    expect([isDone, top.proc.halt.openAsks]).toEqual([false, 1]);
    await t.clock.advance(62_000);
    await call;
    expect(isDone).toBe(true);
    await close(t);
  });
});

describe("wall time", () => {
  test("stands still while it is paused, and ends all below at its limit", async () => {
    const t = kernel();
    const top = await start(t, { wallMs: 1_000 });
    const child = await t.start({ by: top.sys });
    await t.clock.advance(600);
    for (const { pid } of [top, child]) await t.init.kill(pid, SIGNALS.SIGPAUSE);
    await t.clock.advance(5_000);
    for (const { pid } of [top, child]) await t.init.kill(pid, SIGNALS.SIGRESUME);
    await t.clock.advance(399);
    expect([top.proc.ending.verdict, child.proc.ending.verdict]).toEqual([null, null]);
    await t.clock.advance(1);
    expect(await top.proc.done.promise).toMatchObject(EXIT.budget);
    expect(await child.proc.done.promise).toMatchObject(EXIT.budget);
    await close(t);
  });
});

describe("spawning", () => {
  /** Until it is refused. */
  async function deeper(t: TestKernel, from: Started): Promise<{ levels: number; error: unknown }> {
    let at = from;
    for (let levels = 0; ; levels++) {
      try {
        at = await t.start({ by: at.sys });
      } catch (error) {
        return { levels, error };
      }
    }
  }

  test("agents below agents end at five levels, or where a limit says", async () => {
    const t = kernel();
    const { levels, error } = await deeper(t, await t.start());
    expect(levels).toBe(5);
    expect(error).toMatchObject({ code: "BUDGET", details: { unit: "depth", limit: 5, retryable: false } });
    expect((await deeper(t, await start(t, { depth: 2 }))).levels).toBe(2);
    await close(t);
  });

  test("a limit of depth of the top one stands in place of the usual one", async () => {
    const t = kernel();
    expect((await deeper(t, await start(t, { depth: 7 }))).levels).toBe(7);
    const top = await t.start();
    const { error } = await deeper(t, top);
    expect(error).toMatchObject({
      fact: { kind: "limit_reached", pid: top.pid, unit: "depth", need: 6 },
    });
    await t.kernel.budgets.set(top.pid, { set: { depth: 6 }, add: {}, by: PERSON });
    expect((await deeper(t, top)).levels).toBe(6);
    await close(t);
  });

  test("an agent file gives no more than is asked for, and no less than none", async () => {
    const { manifest } = agentFile();
    const file = (budget: NonNullable<AgentManifest["budget"]>, contextBudget = 0) =>
      agentFile({ manifest: { ...manifest, budget, contextBudget } });
    const t = kernel({ defaults: { usd: 5, tokens: 500 } });
    const limitsOf = async (more: StartOptions) => (await t.start(more)).proc.seed.account.limits;
    expect(await limitsOf({})).toEqual({ microUsd: 5_000_000, tokens: 500 });
    expect(await limitsOf({ agent: file({ usd: 50, depth: 1 }, 900) })).toEqual({
      microUsd: 5_000_000,
      tokens: 500,
      depth: 1,
    });
    expect(await limitsOf({ agent: file({ usd: 2 }, 100) })).toEqual({ microUsd: 2_000_000, tokens: 100 });
    // what a person asks for stands in place of the settings, and of tokens in that of the file
    const asked = { contextBudget: 700, budget: { usd: 9 } };
    expect(await limitsOf({ ...asked, agent: file({ usd: 7 }, 100) })).toEqual({
      microUsd: 7_000_000,
      tokens: 700,
    });
    const parent = await t.start({ budget: { usd: 1 } });
    const child = { by: parent.sys, agent: file({ usd: 8, steps: 3 }), budget: { steps: 9 } };
    expect(await limitsOf(child)).toEqual({ microUsd: 8_000_000, steps: 3 });
    await close(t);
  });

  test("agents.limits of the settings bound what runs at once where no account does", async () => {
    const t = kernel({ agents: { children: 1, kernel: 3 } });
    const top = await t.start();
    await t.start({ by: top.sys });
    const queued = async (sys: Syscalls): Promise<unknown> =>
      t.kernel.info(t.proc(await sys.spawn("it waits", null, {}))).queue;
    expect(await queued(top.sys)).toEqual({ place: 1, of: 1 });
    const other = await start(t, { concurrent: 5 });
    expect(await queued(other.sys)).toEqual({ place: 1, of: 1 });
    await close(t);
  });

  test("of one agent as many run at once as a limit says, and are started in all", async () => {
    const t = kernel();
    const top = await start(t, { concurrent: 2, children: 3 });
    const spawn = (): Promise<Started> => t.start({ by: top.sys });
    const [one] = [await spawn(), await spawn()];
    // the third waits for its turn, which comes with the end of another one
    const third = spawn();
    await settle(20);
    expect(t.kernel.info(t.proc(4)).queue).toEqual({ place: 1, of: 1 });
    one?.end();
    await third;
    await t.kernel.budgets.set(top.pid, { set: { concurrent: 9 }, add: {}, by: PERSON });
    await expect(spawn()).rejects.toMatchObject({ details: { unit: "children", limit: 3, used: 3 } });
    await t.kernel.budgets.set(top.pid, { set: {}, add: { children: 1 }, by: PERSON });
    await spawn();
    await close(t);
  });
});

describe("budgets.set()", () => {
  test("sets, adds to and takes away limits of one that runs and of one that has ended", async () => {
    const t = kernel();
    const top = await start(t, { tokens: 100 });
    await ask(top);
    const { budgets } = t.kernel;
    expect(await budgets.set(top.pid, { set: { usd: 2 }, add: { tokens: 50 }, by: PERSON })).toEqual({
      tokens: 150,
      microUsd: 2_000_000,
    });
    top.end();
    await t.init.wait(top.pid);
    expect(await budgets.set(top.pid, { set: { tokens: null }, add: {}, by: PERSON })).toEqual({
      microUsd: 2_000_000,
    });
    await t.journal.sync();
    const back = await wake(t.kernel, top.pid, { session: true, paused: true });
    expect(back.seed.account.limits).toEqual({ microUsd: 2_000_000 });
    expect(back.seed.account.spent).toMatchObject({ tokens: 60, microUsd: 500_000 });
    expect(t.journal.bodies("acct.limit").map(({ by }) => by)).toEqual(["user, uid 1000", "user, uid 1000"]);
    await close(t);
  });

  test("counts what was spent before a limit was set, also before the process came back", async () => {
    const t = kernel();
    const top = await start(t, {});
    await ask(top);
    top.end();
    await t.init.wait(top.pid);
    await t.journal.sync();
    const back = await wake(t.kernel, top.pid, { session: true, paused: true });
    expect(back.seed.account.spent).toMatchObject({ tokens: 60, microUsd: 500_000 });
    await close(t);
  });

  test("refuses pid 0, a process that never was, and adding to no limit", async () => {
    const t = kernel();
    const top = await t.start();
    const { budgets } = t.kernel;
    await expect(budgets.set(asPid(0), { set: { usd: 1 }, add: {}, by: PERSON })).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(budgets.set(asPid(99), { set: { usd: 1 }, add: {}, by: PERSON })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(budgets.set(top.pid, { set: {}, add: { usd: 1 }, by: PERSON })).rejects.toMatchObject({
      code: "INVALID",
    });
    await close(t);
  });
});

test("budgets.costs() shows cached and thinking tokens apart, and each call by itself", async () => {
  const t = kernel();
  const top = await t.start();
  const usage = {
    ...{ input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 25 },
    ...{ output_tokens: 20, reasoning_tokens: 8 },
  };
  t.model.script.charge = () => ({ tokens: 60, usd: null, model: "m", usage });
  for (let calls = 0; calls < 2; calls++) await ask(top);
  const parts = { tokens: 60, input: 15, cached: 25, output: 20, thinking: 8, microUsd: 0 };
  const { lines } = await t.kernel.budgets.costs("call", 0);
  expect(lines).toMatchObject([
    { ...parts, calls: 1, unpriced: 1 },
    { ...parts, calls: 1, unpriced: 1 },
  ]);
  for (const { key } of lines) expect(key).toMatch(/^1970.+Z 1\.\d+ m$/);
  const { lines: models } = await t.kernel.budgets.costs("model", 0);
  expect(models).toEqual([
    {
      key: "m",
      calls: 2,
      tokens: 120,
      input: 30,
      written: 10,
      cached: 50,
      output: 40,
      thinking: 16,
      microUsd: 0,
      unpriced: 2,
    },
  ]);
  expect(top.proc.used).toMatchObject({ cached: 50, thinking: 16 });
  await close(t);
});

test("budgets.costs() adds up the records of calls", async () => {
  const t = kernel();
  const top = await t.start();
  const child = await t.start({ by: top.sys });
  for (const each of [top, child, child]) await ask(each);
  const by = async (key: "pid" | "source" | "subtree" | "tool") =>
    (await t.kernel.budgets.costs(key, 0)).lines.map((line) => [
      line.key,
      line.calls,
      line.tokens,
      line.microUsd,
    ]);
  expect(await by("pid")).toEqual([
    [`${child.pid}`, 2, 120, 1_000_000],
    [`${top.pid}`, 1, 60, 500_000],
  ]);
  expect(await by("subtree")).toEqual([
    [`${top.pid}`, 3, 180, 1_500_000],
    [`${child.pid}`, 2, 120, 1_000_000],
  ]);
  expect(await by("source")).toEqual([
    ["agent", 2, 120, 1_000_000],
    ["person", 1, 60, 500_000],
  ]);
  expect(await by("tool")).toEqual([["fake", 3, 180, 1_500_000]]);
  await close(t);
});

test("budgets.list() and costs() of what has ended come from the journal, with all below it", async () => {
  const t = kernel();
  const top = await start(t, { usd: 5, children: 3 });
  const child = await t.start({ by: top.sys });
  const other = await t.start();
  for (const each of [top, child, child, other]) await ask(each);
  child.end();
  await top.sys.wait(child.pid);
  top.end();
  await t.init.wait(top.pid);
  expect(t.kernel.table.get(top.pid)).toBeUndefined();
  const { processes } = await t.kernel.budgets.list(top.pid);
  expect(processes).toMatchObject([
    {
      pid: top.pid,
      isLive: false,
      limits: { microUsd: 5_000_000, children: 3 },
      own: { tokens: 60, microUsd: 500_000 },
      spent: { tokens: 180, microUsd: 1_500_000 },
      children: 1,
      left: { tokens: null, microUsd: 3_500_000 },
    },
    { pid: child.pid, ppid: top.pid, own: { tokens: 120, microUsd: 1_000_000 }, left: { microUsd: null } },
  ]);
  const { lines } = await t.kernel.budgets.costs("pid", 0, top.pid);
  expect(lines.map(({ key }) => key)).toEqual([`${child.pid}`, `${top.pid}`]);
  await expect(t.kernel.budgets.list(asPid(99))).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(t.kernel.budgets.costs("pid", 0, asPid(99))).rejects.toMatchObject({ code: "NOT_FOUND" });
  await close(t);
});
