import { describe, expect, test } from "vitest";
import { Redactor } from "../../lib/redact/redact.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { type GuardedBench, guardedBench, modify } from "../testing/guarded.ts";
import { ALLOW, askWith, DENY } from "../testing/scripted-permit.ts";
import { bytes } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";
import type { AskDecision } from "./describe.ts";

const RULE = "edit(/desk/**)";

async function asking(
  always: string | null = RULE,
  interactive = true,
  ports: Partial<KernelPorts> = {},
): Promise<GuardedBench> {
  const bench = await guardedBench({ interactive }, ports);
  bench.t.permit.answer = ({ grants }) =>
    always !== null && grants.includes(always) ? ALLOW : askWith(always);
  return bench;
}

/** The id of the question that is open. */
async function asked({
  events,
}: GuardedBench): Promise<{ askId: string; options: readonly string[]; text: string; detail?: string }> {
  for await (const event of events) if (event.event === "ask") return { askId: event.ask_id, ...event };
  throw new Error("nothing was asked");
}

describe("a question", () => {
  test("answered yes: acts this once", async () => {
    const bench = await asking();
    const call = bench.call();
    const { askId, options, text } = await asked(bench);
    expect([options, text]).toEqual([["yes", "no", "always"], "edit: modify /desk/a"]);
    expect(bench.tool.written).toEqual([]);
    await bench.t.kernel.answer(askId, "yes");
    await call;
    expect(bench.tool.written).toEqual(["{}"]);
    expect(bench.t.journal.kinds(1)).toEqual([
      "process.spawned",
      "process.state",
      "permit.ask",
      "permit.answer",
      "call.intent",
      "call.result",
    ]);
    expect(bench.proc.seed.session.grants.size).toBe(0);
    const [ask] = bench.t.journal.bodies("permit.ask");
    expect(ask).toMatchObject({
      requestId: askId,
      tool: "edit",
      path: expect.stringMatching(/-1$/),
      always: RULE,
    });
    expect(bench.t.journal.bodies("permit.answer")).toMatchObject([
      {
        requestId: askId,
        digest: (ask as { digest: string }).digest,
        answer: "yes",
        by: { principal: "user" },
      },
    ]);
  });

  test.each([
    ["", "Permission denied by user"],
    ["use the other file", "Permission denied by user: use the other file"],
  ])("answered no, with the words %j", async (words, message) => {
    const bench = await asking();
    const call = expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION", message });
    await bench.t.kernel.answer((await asked(bench)).askId, "no", words);
    await call;
    expect(bench.tool.written).toEqual([]);
    expect(bench.t.journal.kinds()).not.toContain("call.intent");
  });

  test("answered always: the grant is journalled, then serves the whole session", async () => {
    const bench = await asking();
    const call = bench.call();
    await bench.t.kernel.answer((await asked(bench)).askId, "always");
    await call;
    expect(bench.t.journal.bodies("grant.add")).toMatchObject([
      { rule: RULE, scope: "session", behavior: "allow", requestId: expect.stringMatching(/^a_/) },
    ]);
    await bench.call();
    const child = await bench.t.start({ by: bench.sys });
    await child.sys.write(await child.sys.open("/bin/edit", 2), bytes("child"));
    expect(bench.tool.written).toEqual(["{}", "{}", "child"]);
    expect(bench.t.journal.bodies("permit.ask")).toHaveLength(1);
    const other = await bench.t.start();
    await expect(other.sys.write(await other.sys.open("/bin/edit", 2), bytes("x"))).rejects.toMatchObject({
      code: "PERMISSION",
    });
  });

  test("answered always, and the journal refuses: no grant, no act, and it can be answered again", async () => {
    const bench = await asking();
    bench.t.journal.refused.add("grant.add");
    const call = expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION" });
    const { askId } = await asked(bench);
    await expect(bench.t.kernel.answer(askId, "always")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([bench.proc.seed.session.grants.size, bench.tool.written]).toEqual([0, []]);
    await bench.t.kernel.answer(askId, "no");
    await call;
  });

  test("answered always with a narrower rule: that one is granted; a wider one is INVALID", async () => {
    const bench = await asking();
    const call = bench.call();
    const { askId } = await asked(bench);
    for (const rule of ["edit", "edit(/**)", "edit(/desk/../etc/**)", "bash(*)"])
      await expect(bench.t.kernel.answer(askId, "always", "", { rule })).rejects.toMatchObject({
        code: "INVALID",
      });
    await bench.t.kernel.answer(askId, "always", "", { rule: "edit(/desk/src/**)" });
    await call;
    expect(bench.t.journal.bodies("grant.add")).toMatchObject([{ rule: "edit(/desk/src/**)" }]);
  });

  test.each(["localSettings", "projectSettings", "userSettings"] as const)(
    "answered always for %s: written there, and no grant",
    async (destination) => {
      const applied: unknown[] = [];
      const settings = {
        apply: async (update: unknown, cwd: string) => {
          applied.push([update, cwd]);
          return { file: "/f" };
        },
      };
      const bench = await asking(RULE, true, { settings });
      const call = bench.call();
      const { askId } = await asked(bench);
      expect(await bench.t.kernel.answer(askId, "always", "", { destination })).toBe("");
      await call;
      const update = { type: "addRules", destination, behavior: "allow", rules: [RULE] };
      expect(applied).toEqual([[update, bench.proc.seed.cwd]]);
      expect(bench.t.journal.bodies("grant.add")).toEqual([]);
      expect(bench.t.journal.bodies("permit.answer")).toMatchObject([
        { answer: "always", destination, rule: RULE },
      ]);
    },
  );

  test("answered always for a file that allows nothing yet: written there, and held for the session", async () => {
    const settings = { apply: async () => ({ file: "/f", note: "/f allows nothing yet" }) };
    const bench = await asking(RULE, true, { settings });
    const call = bench.call();
    const { askId } = await asked(bench);
    expect(await bench.t.kernel.answer(askId, "always", "", { destination: "localSettings" })).toBe(
      "/f allows nothing yet; the rule holds for this session",
    );
    await call;
    expect(bench.t.journal.bodies("grant.add")).toMatchObject([{ rule: RULE, scope: "session" }]);
  });

  test("answered always for settings that cannot be written: it holds for the session, and says so", async () => {
    const settings = { apply: () => Promise.reject(new Error("read-only file system")) };
    const bench = await asking(RULE, true, { settings });
    const call = bench.call();
    const { askId } = await asked(bench);
    expect(await bench.t.kernel.answer(askId, "always", "", { destination: "userSettings" })).toBe(
      "userSettings could not be written: read-only file system; the rule holds for this session",
    );
    await call;
    expect(bench.t.journal.bodies("grant.add")).toMatchObject([{ rule: RULE, scope: "session" }]);
  });

  test("of a hard ask offers no rule, whatever the policy suggests", async () => {
    const bench = await asking();
    bench.t.permit.answer = () => ({ ...(askWith(RULE) as AskDecision), isHard: true });
    const call = bench.call();
    const { askId, options } = await asked(bench);
    expect(options).toEqual(["yes", "no"]);
    await expect(bench.t.kernel.answer(askId, "always")).rejects.toMatchObject({ code: "INVALID" });
    await bench.t.kernel.answer(askId, "yes");
    await call;
  });

  test("answered with other arguments: they are planned and decided anew, the old decision holds for nothing", async () => {
    const bench = await asking(null);
    const call = expect(bench.call()).rejects.toMatchObject({ code: "PERMISSION" });
    const { askId } = await asked(bench);
    bench.t.permit.answer = () => DENY;
    await bench.t.kernel.answer(askId, "yes", "", { input: { command: "rm -rf /" } });
    await call;
    expect(bench.tool.written).toEqual([]);
  });

  test("answered with other arguments that are allowed: those are what is done and journalled", async () => {
    const bench = await asking(null);
    const call = bench.call();
    const { askId } = await asked(bench);
    bench.t.permit.answer = () => ALLOW;
    await bench.t.kernel.answer(askId, "yes", "", { input: { command: "ls" } });
    await call;
    expect(bench.tool.written).toEqual(['{"command":"ls"}']);
    expect(bench.t.journal.bodies("call.intent")).toMatchObject([{ input: '{"command":"ls"}' }]);
  });

  test("answered yes, and denied by a rule that came meanwhile: denied", async () => {
    const bench = await asking(null);
    const call = expect(bench.call()).rejects.toMatchObject({ message: "Permission denied: rule test" });
    const { askId } = await asked(bench);
    bench.t.permit.answer = () => DENY;
    await bench.t.kernel.answer(askId, "yes");
    await call;
    expect(bench.tool.written).toEqual([]);
  });

  test("answered yes for a path that leads elsewhere by then: CONFLICT", async () => {
    let real = "/desk/a";
    const bench = await asking(null, true, { realPath: (path) => (path === "/desk/a" ? real : path) });
    const call = expect(bench.call()).rejects.toMatchObject({ code: "CONFLICT" });
    const { askId } = await asked(bench);
    real = "/etc/hosts";
    await bench.t.kernel.answer(askId, "yes");
    await call;
    expect(bench.tool.written).toEqual([]);
  });

  test("without a rule to suggest has no always", async () => {
    const bench = await asking(null);
    const call = bench.call();
    const { askId, options } = await asked(bench);
    expect(options).toEqual(["yes", "no"]);
    await expect(bench.t.kernel.answer(askId, "always")).rejects.toMatchObject({ code: "INVALID" });
    await bench.t.kernel.answer(askId, "yes");
    await call;
  });

  test("abandoned by its client is denied, in the words for nobody there", async () => {
    const bench = await asking();
    const call = expect(bench.call()).rejects.toMatchObject({
      code: "PERMISSION",
      message: expect.stringContaining("no person is attached who could answer"),
    });
    await asked(bench);
    bench.events.close();
    await bench.t.clock.advance(LIMITS.detachedAskMs);
    await call;
    expect(bench.tool.written).toEqual([]);
  });

  test("is taken back when the fd is closed or the process ends", async () => {
    const bench = await asking();
    const call = expect(bench.call()).rejects.toMatchObject({ code: "CANCELLED" });
    const { askId } = await asked(bench);
    await bench.sys.close(bench.fd);
    await call;
    await expect(bench.t.kernel.answer(askId, "yes")).rejects.toMatchObject({ code: "CONFLICT" });
    const fd = await bench.sys.open("/bin/edit", 2);
    const second = expect(bench.sys.write(fd, bytes("x"))).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await bench.t.init.kill(bench.pid, 1);
    await second;
    expect(bench.tool.written).toEqual([]);
  });
});

describe("with nobody to ask", () => {
  test("is denied, with the narrowest flag that the policy knows, and told at the end of the run", async () => {
    const bench = await asking(RULE, false);
    const remedy = { rules: ["edit(//desk/a)"] };
    bench.t.permit.ways = [remedy, { mode: "bypass" }];
    const refused = {
      tool: "edit",
      what: "modify /desk/a",
      reason: "may it?",
      remedy,
    };
    for (let n = 0; n < 2; n++)
      await expect(bench.call()).rejects.toMatchObject({
        code: "PERMISSION",
        message:
          "Permission denied: may it?. It needs approval in default mode, and nobody is attached to approve it. It is allowed by the rule edit(//desk/a)",
        details: { refused, isUnattended: true },
      });
    expect(bench.t.journal.kinds()).not.toContain("permit.ask");
    expect(bench.proc.refusals.told()).toEqual({ denied: [refused] });
  });

  test("names no flag where none would do, nor one that holds a secret", async () => {
    const redactor = new Redactor(new Uint8Array(32));
    redactor.learn(["planted-0815"]);
    const bench = await asking(null, false, { redactor });
    for (const ways of [[], [{ rules: ["bash(x planted-0815)"] }]]) {
      bench.t.permit.ways = ways;
      const error = await bench.call().catch((e: Error) => e);
      expect(String(error)).toContain("Only the user can allow it, when asked");
      expect(String(error)).not.toContain("planted");
    }
  });
});

describe("prepare()", () => {
  test("runs before a person is asked, and what it finds spares the question", async () => {
    const bench = await asking();
    bench.tool.script.plan = { prepare: () => Promise.reject(new Error("old text not found")) };
    await expect(bench.call()).rejects.toMatchObject({ message: "old text not found" });
    expect(bench.t.journal.kinds()).not.toContain("permit.ask");
  });

  test("may read what the call reads unasked, and write nothing", async () => {
    const bench = await asking();
    bench.t.permit.answer = (_, { effects }) =>
      effects.every(({ kind }) => kind === "read") ? ALLOW : askWith(RULE);
    const read = { kind: "read", path: "/desk/a" } as const;
    bench.tool.script.effects = [read, modify("/desk/a")];
    const tried: string[] = [];
    bench.tool.script.plan = {
      prepare: async (sys) => {
        bench.files.script.effects = [read];
        const fd = await sys.open("/dev/fs", 2);
        await sys.write(fd, bytes("look"));
        bench.files.script.effects = [modify("/desk/a")];
        await sys.write(fd, bytes("change")).catch((error: { code: string }) => tried.push(error.code));
        await sys.close(fd);
        return { tool: "edit", operation: "edit file: a", params: {}, diff: "7 -seen" };
      },
    };
    const call = bench.call();
    const question = await asked(bench);
    expect(question).toMatchObject({ text: "edit file: a", detail: "7 -seen" });
    await bench.t.kernel.answer(question.askId, "yes");
    await call;
    expect([bench.files.written, tried]).toEqual([["look"], ["PERMISSION"]]);
  });

  test("does not run where the reading itself is the question", async () => {
    const bench = await asking();
    bench.tool.script.effects = [{ kind: "read", path: "/etc/passwd" }, modify("/desk/a")];
    let looked = false;
    bench.tool.script.plan = {
      prepare: async () => {
        looked = true;
        return undefined;
      },
    };
    const call = bench.call();
    const { askId } = await asked(bench);
    expect(looked).toBe(false);
    await bench.t.kernel.answer(askId, "yes");
    await call;
  });

  test("does not run for what is allowed anyway", async () => {
    const bench = await guardedBench();
    bench.tool.script.plan = { prepare: () => Promise.reject(new Error("no")) };
    await bench.call();
  });
});

describe("a policy that throws", () => {
  test("is a question without an always", async () => {
    const bench = await asking();
    bench.t.permit.answer = () => {
      throw new Error("bad rule");
    };
    const call = bench.call();
    const { askId, options } = await asked(bench);
    expect(options).toEqual(["yes", "no"]);
    await bench.t.kernel.answer(askId, "yes");
    await call;
    expect(new Set(bench.t.logs)).toEqual(new Set(["error: permit: bad rule"]));
  });

  test("is a no when nobody can be asked", async () => {
    const bench = await asking(RULE, false);
    bench.t.permit.answer = () => {
      throw new Error("bad rule");
    };
    await expect(bench.call()).rejects.toMatchObject({
      code: "PERMISSION",
      message: expect.stringContaining("the policy failed: bad rule"),
    });
  });
});

test("pid 0 is not asked", async () => {
  const bench = await guardedBench();
  const { init, permit } = bench.t;
  await init.write(await init.open("/bin/edit", 2), bytes("x"));
  expect([permit.asked, bench.tool.written]).toEqual([[], ["x"]]);
});

test("the policy is told where commands are looked for", async () => {
  const bench = await guardedBench({ env: { PATH: "bin:/desk/bin::/usr/bin" } });
  await bench.call();
  expect(bench.t.permit.asked[0]?.subject.programs).toEqual(["/desk/bin", "/usr/bin"]);
});
