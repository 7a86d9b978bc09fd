/** Paused agents across daemons: what the next one brings back, and what it does not. */

import { describe, expect, test } from "vitest";
import { factOf, messageOf } from "../../abi/errors.ts";
import { asCallId, asPgid, asPid, asProcUuid, type Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Begun } from "../../abi/program.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { fakeTrees, treeNamed } from "../../kernel/testing/fake-trees.ts";
import type { MemoryJournal } from "../../kernel/testing/memory-journal.ts";
import { ALLOW, askWith, DENY } from "../../kernel/testing/scripted-permit.ts";
import {
  agentFile,
  bytes,
  NOTHING_LEFT,
  type Started,
  type TestKernel,
  testKernel,
  text,
} from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { wake } from "./wake.ts";

const PAUSE = 4;
const RESUME = 5;

/** Too many words for a record: it runs, and does not come back. */
const UNKEPT = { systemPrompt: "x".repeat(900_001) };

let generation = 0;

/** The next daemon on the same journal; names that are random in truth differ from those of the one before. */
function daemonOn(journal: MemoryJournal, ports: Partial<KernelPorts> = {}): TestKernel {
  generation++;
  let named = 0;
  const name = () => `${generation}`.padStart(4, "0") + `${++named}`.padStart(12, "0");
  return testKernel({ nonce: name, uuid: () => asProcUuid(`00000000-${name()}`), ...ports }, journal);
}

/** The daemon dies, with all that it had only noted, and the next one starts. */
async function afterCrash(t: TestKernel, ports: Partial<KernelPorts> = {}) {
  t.journal.crash();
  const next = daemonOn(t.journal, ports);
  const { lost, restored } = await next.kernel.recover();
  return { next, lost, pids: restored.map(({ pid }) => pid) };
}

/** What its program gets when the process goes on. */
async function goOn(next: TestKernel, pid: Pid): Promise<Begun> {
  const made = Promise.withResolvers<Begun>();
  next.programs.set(next.proc(pid).seed.intent, (sys, start) => {
    made.resolve({ sys, start });
    return new Promise((resolve) => sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
  });
  await next.init.kill(pid, RESUME);
  return made.promise;
}

async function pausedChild(t: TestKernel, opts: Parameters<TestKernel["start"]>[0] = {}): Promise<Started> {
  const started = await t.start(opts);
  await t.init.kill(started.pid, PAUSE);
  return started;
}

describe("a paused agent comes back", () => {
  test("as it was: identity, rights, limits, and nothing of it runs", async () => {
    const t = testKernel();
    const agent = agentFile({ systemPrompt: "You help.", allowedDevices: ["/dev/fs"], maxSteps: 7 });
    const { pid, proc } = await t.start({
      agent,
      cwd: "/desk",
      permissionMode: "accept_edits",
      model: "m1",
      contextBudget: 500,
    });
    await t.clock.advance(40);
    await t.init.kill(pid, PAUSE);
    const before = t.kernel.info(proc);
    const { next, lost, pids } = await afterCrash(t);
    expect([lost, pids]).toEqual([[], [pid]]);
    const back = next.proc(pid);
    expect(next.kernel.info(back)).toEqual({
      ...before,
      ctxId: back.ctxId,
      state: "running",
      activity: "paused",
    });
    const { uuid, roots, mode, maxSteps, account, onParentExit, scratch } = proc.seed;
    expect(back.seed).toMatchObject({ uuid, roots, mode, maxSteps, onParentExit, scratch });
    expect(back.seed.account.view()).toEqual(account.view());
    expect(back.seed.agent?.manifest).toEqual(agent.manifest);
    await back.past.recall();
    expect(next.kernel.contexts.prompt(back.ctxId).systemPrompt).toBe("You help.");
    expect(next.model.live).toBe(0);
    expect(t.journal.bodies("process.recovered")).toEqual([{ epoch: 1 }]);
    expect(next.kernel.active()).toBe(1);
  });

  test("with its context: what was replaced, the prompt it set, and not what was another's", async () => {
    const t = testKernel();
    const { sys, start } = await t.start();
    const { ctxId } = start;
    const blocks = [{ type: "text", text: "said" } as const];
    await sys.appendMessage(ctxId, "assistant", "said", blocks);
    await sys.appendToolResult(ctxId, "t1", "result", true);
    await sys.ctxWrite(ctxId, 1, bytes('{"role":"user","content":"another intent"}'));
    await sys.setSystemPrompt(ctxId, "Be brief.");
    await sys.appendMessage(await sys.ctxAlloc(4), "user", "aside");
    await t.init.kill(start.pid, PAUSE);
    const { next } = await afterCrash(t);
    const back = next.proc(start.pid);
    await back.past.recall();
    expect(next.kernel.contexts.prompt(back.ctxId)).toEqual({
      systemPrompt: "Be brief.",
      messages: [
        { role: "user", content: "another intent" },
        { role: "assistant", content: "said", blocks },
        { role: "tool", content: "result", tool_call_id: "t1", is_error: true },
      ],
    });
    expect([back.result, back.contexts.size]).toEqual(["said", 1]);
  });

  test("with the pictures of the user: of its intent, of what it has read, and of what waits", async () => {
    const t = testKernel();
    const picture = (data: string) => [{ type: "image", media_type: "image/gif", data } as const];
    const [first, second, third] = [picture("AAAA"), picture("BBBB"), picture("CCCC")];
    const begun = Promise.withResolvers<Begun>();
    const intent = "look\n[image 1: gif, 1 KB]";
    t.programs.set(intent, (sys, start) => {
      begun.resolve({ sys, start });
      return new Promise((resolve) => sys.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
    });
    const pid = await t.init.spawn("look", null, { media: first });
    const { sys, start } = await begun.promise;
    for (const media of [second, third]) await t.init.send(pid, bytes("see"), undefined, { media });
    const { data, media } = await sys.recv();
    await sys.appendMessage(start.ctxId, "user", text(data), undefined, media);
    await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const { sys: mine, start: again } = await goOn(next, pid);
    expect((await mine.buildPrompt(again.ctxId)).messages).toEqual([
      { role: "user", content: intent, media: first },
      { role: "user", content: "see\n[image 1: gif, 1 KB]", media: second },
    ]);
    expect((await mine.recv()).media).toEqual(third);
  });

  test("with its place: the last checkpoint, what was added, and what began since; durable without waiting", async () => {
    const t = testKernel();
    const tool = new MessageDevice("edit");
    t.kernel.mount("/bin/edit", tool);
    const { pid, sys } = await t.start();
    const fd = await sys.open("/bin/edit", 2);
    sys.checkpoint({ turn: 1 });
    sys.addToCheckpoint("forgotten");
    sys.checkpoint({ turn: 2 });
    await sys.write(fd, bytes("{}"));
    sys.addToCheckpoint({ call: 0 });
    await t.init.kill(pid, PAUSE);
    sys.addToCheckpoint({ call: 1 });
    await settle();
    const { next } = await afterCrash(t);
    const { start: again } = await goOn(next, pid);
    expect(again.restored).toEqual({
      state: { turn: 2 },
      since: [{ kind: "effect" }, { kind: "part", part: { call: 0 } }, { kind: "part", part: { call: 1 } }],
    });
  });

  test("with its messages, in order, once each; later ones have higher numbers", async () => {
    const t = testKernel();
    const { pid, sys, start } = await t.start();
    for (const words of ["read", "one", "two"]) await t.init.send(pid, bytes(words));
    await sys.recv();
    await sys.appendMessage(start.ctxId, "user", "read");
    // taken by a program that had no time to make anything of it
    await sys.recv();
    await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    await next.init.send(pid, bytes("three"));
    const { sys: mine } = await goOn(next, pid);
    const got = [];
    while (mine.hasMail()) got.push(await mine.recv());
    expect(got.map(({ seq, data }) => [seq, text(data)])).toEqual([
      [2, "one"],
      [3, "two"],
      [4, "three"],
    ]);
  });

  test("with its groups, under their numbers; new ones get others", async () => {
    const t = testKernel();
    const [one, other] = [await t.start({ group: "team" }), await t.start({ group: "team" })];
    const unnamed = await one.sys.joinGroup(one.pid, asPgid(0));
    const left = await other.sys.joinGroup(other.pid, "gone");
    await other.sys.leaveGroup(other.pid, left);
    for (const { pid } of [one, other]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    expect(await next.init.getProcGroup("team")).toEqual([one.pid, other.pid]);
    expect(await next.init.getProcGroup(unnamed)).toEqual([one.pid]);
    await expect(next.init.getProcGroup("gone")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await next.init.joinGroup(one.pid, "new")).toBeGreaterThan(left - 1);
    expect(next.kernel.table.sees(one.pid, other.pid)).toBe(true);
  });

  test("with its log", async () => {
    const t = testKernel();
    const { pid, sys } = await t.start();
    sys.log("info", "hello");
    await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const said = [];
    for await (const piece of await next.kernel.logs(pid, { tail: 10, follow: false }))
      if ("entry" in piece) said.push(piece.entry.message);
    expect(said).toEqual(["hello", expect.stringContaining("brought back by a new daemon, paused")]);
  });

  test("with the grants of its session, also those a descendant was given", async () => {
    const t = testKernel();
    const tool = new MessageDevice("edit");
    t.kernel.mount("/bin/edit", tool);
    t.permit.answer = () => askWith("edit(/desk/**)");
    tool.script.effects = [{ kind: "write", path: "/desk/a", change: "modify" }];
    const top = await t.start({ interactive: true });
    const events = t.kernel.attach(top.pid, { interactive: true });
    const child = await t.start({ by: top.sys });
    const written = child.sys.open("/bin/edit", 2).then((fd) => child.sys.write(fd, bytes("{}")));
    for await (const event of events) {
      if (event.event !== "ask") continue;
      await t.kernel.answer(event.ask_id, "always");
      break;
    }
    await written;
    for (const { pid } of [top, child]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const [parent, below] = [next.proc(top.pid), next.proc(child.pid)];
    await below.past.recall();
    for (const proc of [parent, below]) expect(next.kernel.grants.of(proc).allow).toEqual(["edit(/desk/**)"]);
    expect(below.seed.session).toBe(parent.seed.session);
    expect(parent.seed.session.canAsk).toBe(false);
  });

  test("with the question that was open: the same call asks under the same id, another under another", async () => {
    const t = testKernel();
    const write = (change: "modify" | "delete") => [{ kind: "write", path: "/desk/a", change } as const];
    const tool = new MessageDevice("edit");
    t.kernel.mount("/bin/edit", tool);
    t.permit.answer = () => askWith(null);
    tool.script.effects = write("modify");
    const top = await t.start({ interactive: true });
    t.kernel.attach(top.pid, { interactive: true });
    void top.sys.open("/bin/edit", 2).then((fd) => top.sys.write(fd, bytes("{}")).catch(() => {}));
    await settle(6);
    const [open] = t.journal.bodies("permit.ask") as { requestId: string }[];
    await t.init.kill(top.pid, PAUSE);
    const { next } = await afterCrash(t);
    next.kernel.mount("/bin/edit", tool);
    next.permit.answer = () => askWith(null);
    expect(next.kernel.asks.canAsk(next.proc(top.pid))).toBe(true);
    await expect(next.kernel.answer(open!.requestId, "yes")).rejects.toMatchObject({ code: "NOT_FOUND" });
    const events = next.kernel.attach(top.pid, { interactive: true });
    const { sys } = await goOn(next, top.pid);
    tool.script.effects = write("delete");
    void sys.open("/bin/edit", 2).then((fd) => sys.write(fd, bytes("{}")).catch(() => {}));
    await settle(6);
    tool.script.effects = write("modify");
    void sys.open("/bin/edit", 2).then((fd) => sys.write(fd, bytes("{}")).catch(() => {}));
    const ids: string[] = [];
    for await (const event of events) {
      if (event.event === "ask") ids.push(event.ask_id);
      if (ids.length === 2) break;
    }
    expect(ids).toEqual([expect.not.stringMatching(open!.requestId), open!.requestId]);
    await next.kernel.answer(open!.requestId, "yes");
    await settle(4);
    expect(tool.written).toEqual(["{}"]);
  });

  test("with what its session was denied, also as a descendant sees it", async () => {
    const t = testKernel();
    const tool = new MessageDevice("edit");
    t.kernel.mount("/bin/edit", tool);
    t.permit.answer = () => DENY;
    tool.script.effects = [{ kind: "write", path: "/desk/a", change: "modify" }];
    const top = await t.start();
    const child = await t.start({ by: top.sys });
    const fd = await child.sys.open("/bin/edit", 2);
    for (let n = 0; n < 2; n++) await child.sys.write(fd, bytes("{}")).catch(() => {});
    for (const { pid } of [top, child]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const below = next.proc(child.pid);
    await below.past.recall();
    expect(below.seed.session.denials.state).toEqual({ inARow: { edit: 2 }, total: 2 });
  });

  test("with what is left of its time", async () => {
    const t = testKernel();
    const { pid } = await t.start({ timeoutMs: 1_000 });
    await t.clock.advance(900);
    await t.init.kill(pid, PAUSE);
    await t.clock.advance(5_000);
    const { next } = await afterCrash(t);
    await next.clock.advance(5_000);
    await goOn(next, pid);
    await next.clock.advance(99);
    expect(next.proc(pid).state).toBe("running");
    await next.clock.advance(1);
    expect((await next.init.wait(pid)).reason).toBe("timeout");
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("again and again", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t);
    let at = t;
    for (let n = 0; n < 3; n++) {
      const { next, pids } = await afterCrash(at);
      expect(pids).toEqual([pid]);
      await goOn(next, pid);
      await next.init.kill(pid, PAUSE);
      at = next;
    }
    expect(t.journal.bodies("process.recovered")).toHaveLength(3);
  });

  test("and is ended like any other", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t);
    const { next } = await afterCrash(t);
    await next.init.kill(pid, 1);
    expect(await next.init.wait(pid)).toEqual(EXIT.sigterm);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });
});

describe("what a process that came back needs to go on", () => {
  const SECRET = "s3cret";

  test("is not in the journal: neither its environment nor that of its servers", async () => {
    const t = testKernel();
    const servers = [
      { type: "stdio", command: "server", args: ["--token", SECRET], env: { TOKEN: SECRET } },
      { type: "http", url: `http://127.0.0.1/${SECRET}`, headers: { authorization: SECRET } },
    ] as const;
    const agent = agentFile();
    const mcp = servers.map((config, n) => ({ name: `s${n}`, config, required: false }));
    await t.start({
      agent: { ...agent, manifest: { ...agent.manifest, mcp } },
      env: { ANTHROPIC_API_KEY: SECRET },
    });
    expect(JSON.stringify(t.journal.records)).not.toContain(SECRET);
    expect(t.journal.bodies("process.state")).toMatchObject([{ servers: ["s0", "s1"] }]);
  });

  test("is its client's environment, and its model opens with it, as fd 3", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t, { env: { KEY: "old" } });
    const { next } = await afterCrash(t, { env: { KEY: "daemon", MORE: "1" } });
    const seen: unknown[] = [];
    next.model.script.open = async ({ env }) => void seen.push(env.KEY, env.MORE, env.CRUX_SCRATCH);
    next.kernel.lendEnv(pid, { KEY: "lent", CRUX_SCRATCH: "/elsewhere" });
    const { sys, start } = await goOn(next, pid);
    expect(seen).toEqual(["lent", undefined, next.proc(pid).seed.scratch]);
    expect([start.modelFd, next.model.live]).toEqual([3, 1]);
    expect(next.proc(pid).fds.list()).toMatchObject([{ fd: 3, path: "/dev/llm/fake" }]);
    next.kernel.lendEnv(pid, { KEY: "late" });
    expect(next.proc(pid).seed.env.KEY).toBe("lent");
    await sys.close(start.modelFd);
  });

  test("is the daemon's environment where no client lends its own", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t, { env: { KEY: "old" } });
    const { next } = await afterCrash(t, { env: { KEY: "daemon" } });
    await goOn(next, pid);
    expect(next.proc(pid).seed.env.KEY).toBe("daemon");
  });

  test("and does not get pauses it again, durably; the next time may do", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t);
    const { next } = await afterCrash(t);
    next.model.script.open = () => Promise.reject(new Error("no key"));
    await next.init.kill(pid, RESUME);
    await settle();
    expect(next.kernel.info(next.proc(pid))).toMatchObject({ state: "running", activity: "paused" });
    expect(t.journal.bodies("process.log").at(-1)).toMatchObject({
      level: "error",
      message: expect.stringMatching(/no key/),
      fact: { kind: "paused", pid: 1 },
    });
    await t.journal.sync();
    const again = await afterCrash(next);
    expect(again.pids).toEqual([pid]);
    await goOn(again.next, pid);
    expect(again.next.model.live).toBe(1);
  });

  test("is not asked of its driver when that is not set up", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t, { model: "m1" });
    const wishes: string[] = [];
    const resolve: KernelPorts["models"]["resolve"] = async ({ model }) => {
      wishes.push(model);
      throw new Error("the model driver fake is not set up");
    };
    const { next } = await afterCrash(t, { models: { resolve } });
    await next.init.kill(pid, RESUME);
    await settle();
    expect([wishes, next.model.live]).toEqual([["fake/m1"], 0]);
    expect(next.proc(pid).isPaused).toBe(true);
  });

  test("are its servers, as its agent file has them now, and no others", async () => {
    const t = testKernel();
    const server = (name: string) => {
      const config = { type: "stdio", command: name, args: [], env: {} } as const;
      return { name, config, required: false };
    };
    const agent = agentFile();
    const with_ = (...names: string[]) => ({
      ...agent,
      manifest: { ...agent.manifest, mcp: names.map(server) },
    });
    const { pid } = await pausedChild(t, { agent: with_("one", "two") });
    const { next } = await afterCrash(t);
    next.agents.set("tester", with_("two", "three"));
    const { start } = await goOn(next, pid);
    expect(start.mounts).toEqual([{ name: "two", path: `/mnt/mcp/${pid}-two` }]);
    expect(next.permit.asked).toEqual([]);
    await next.init.kill(pid, 1);
    await next.init.wait(pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("are the servers that its client gave, but not those with secrets, which it is told of", async () => {
    const t = testKernel();
    const agent = agentFile();
    const server = (name: string, env: Record<string, string> = {}) =>
      ({
        name,
        config: { type: "stdio", command: name, args: [], env },
        required: false,
        isGiven: true,
      }) as const;
    const mcp = [server("plain"), server("keyed", { TOKEN: SECRET })];
    const { pid } = await pausedChild(t, { agent: { ...agent, manifest: { ...agent.manifest, mcp } } });
    expect(JSON.stringify(t.journal.records)).not.toContain(SECRET);
    expect(await t.kernel.sessions.ground(pid)).toEqual({
      dirs: ["/home/test"],
      servers: ["plain", "keyed"],
    });
    const { next } = await afterCrash(t);
    // neither is one of the agent file, whatever that has now
    next.agents.set("tester", { ...agent, manifest: { ...agent.manifest, mcp: [server("keyed")] } });
    const { start } = await goOn(next, pid);
    expect(start.mounts).toEqual([{ name: "plain", path: `/mnt/mcp/${pid}-plain` }]);
    expect(await next.kernel.sessions.ground(pid)).toMatchObject({ servers: ["plain"] });
    const message = expect.stringMatching(/MCP server keyed is gone .* its variable TOKEN$/);
    expect(next.journal.bodies("process.log")).toContainEqual(expect.objectContaining({ message }));
    await next.init.kill(pid, 1);
    await next.init.wait(pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("are its servers only if they are permitted now, for one that no person started", async () => {
    const t = testKernel();
    const parent = await t.start(UNKEPT);
    const agent = agentFile();
    const server = (command: string) => {
      const config = { type: "stdio", command, args: [], env: {} } as const;
      const mcp = [{ name: "one", config, required: true }];
      return { ...agent, manifest: { ...agent.manifest, mcp } };
    };
    const { pid } = await pausedChild(t, { by: parent.sys, agent: server("mine") });
    const { next } = await afterCrash(t);
    next.agents.set("tester", server("another"));
    next.permit.answer = () => DENY;
    await next.init.kill(pid, RESUME);
    await settle();
    expect([!next.proc(pid).isPaused, next.kernel.listMounts()]).toEqual([false, []]);
    expect(next.permit.asked).toMatchObject([
      { subject: { pid }, request: { tool: "mount", effects: [{ kind: "exec", argv: ["another"] }] } },
    ]);
    next.permit.answer = () => ALLOW;
    const { start } = await goOn(next, pid);
    expect(start.mounts).toEqual([{ name: "one", path: `/mnt/mcp/${pid}-one` }]);
    await next.init.kill(pid, 1);
    await next.init.wait(pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });
});

describe("a fork of what an agent had started", () => {
  test("is asked about its servers like its origin, and so is a fork of it: no person has chosen them", async () => {
    const t = testKernel();
    const parent = await t.start();
    const agent = agentFile();
    const config = { type: "stdio", command: "mine", args: [], env: {} } as const;
    const linked = {
      ...agent,
      manifest: { ...agent.manifest, mcp: [{ name: "one", config, required: true }] },
    };
    const child = await t.start({ by: parent.sys, agent: linked });
    const chosen = await t.start({ agent: linked });
    for (const { sys, start } of [child, chosen]) await sys.appendMessage(start.ctxId, "assistant", "said");
    const fork = await t.kernel.forks.fork(child.pid, {});
    const again = await t.kernel.forks.fork(fork.pid, {});
    const ofPersons = await t.kernel.forks.fork(chosen.pid, {});
    t.agents.set("tester", linked);
    t.permit.answer = () => DENY;
    t.permit.asked.length = 0;
    for (const { pid } of [fork, again, ofPersons]) await wake(t.kernel, pid);
    await settle(10);
    expect(t.permit.asked.map(({ subject: { pid }, request: { tool } }) => [pid, tool])).toEqual([
      [fork.pid, "mount"],
      [again.pid, "mount"],
    ]);
    expect([fork, again, ofPersons].map(({ pid }) => !t.proc(pid).isPaused)).toEqual([false, false, true]);
  });
});

describe("families", () => {
  test("a child and its parent come back as such", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys, onParentExit: "terminate" });
    for (const { pid } of [parent, child]) await t.init.kill(pid, PAUSE);
    const { next, pids } = await afterCrash(t);
    expect(pids).toEqual([parent.pid, child.pid]);
    expect(next.proc(child.pid).ppid).toBe(parent.pid);
    expect(next.kernel.table.childrenOf(parent.pid)).toEqual([next.proc(child.pid)]);
    await next.init.kill(parent.pid, 2);
    await next.init.wait(parent.pid);
    await next.init.kill(child.pid, 1);
    await next.init.wait(child.pid);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("a child whose parent is lost goes to pid 0, unless it ends with its parent", async () => {
    const t = testKernel();
    const parent = await t.start(UNKEPT);
    const [orphan, bound] = [
      await pausedChild(t, { by: parent.sys }),
      await pausedChild(t, { by: parent.sys, onParentExit: "terminate" }),
    ];
    const { next, lost, pids } = await afterCrash(t);
    expect([lost, pids]).toEqual([[parent.pid, bound.pid], [orphan.pid]]);
    expect(next.proc(orphan.pid).ppid).toBe(0);
  });

  test("an orphan has no more rights than it had", async () => {
    const t = testKernel();
    const parent = await t.start({
      ...UNKEPT,
      agent: agentFile({ allowedDevices: ["/dev/fs"] }),
      cwd: "/desk",
      permissionMode: "default",
    });
    const child = await pausedChild(t, { by: parent.sys });
    const { next } = await afterCrash(t);
    const { mode, roots, rights, cwd } = next.proc(child.pid).seed;
    expect({ mode, roots, rights, cwd }).toEqual({
      mode: "default",
      roots: ["/desk"],
      rights: child.proc.seed.rights,
      cwd: "/desk",
    });
    expect(rights).toMatchObject({ mode: "default", devices: ["/dev/fs"] });
  });
});

describe("what was spent", () => {
  /** A model that costs what it is asked for. */
  function spending(t: TestKernel): void {
    t.model.script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 0 }];
    t.model.script.plan = { reserve: { tokens: 100, usd: null } };
    t.model.script.charge = () => ({ tokens: 60, usd: null });
  }
  const ask = ({ sys, start }: Begun) => sys.write(start.modelFd, bytes("{}"));

  test("is spent: by the process, and of every limit it drew on", async () => {
    const t = testKernel();
    spending(t);
    const parent = await t.start({ contextBudget: 1_000 });
    const child = await t.start({ by: parent.sys, contextBudget: 500 });
    for (const process of [parent, child, child]) await ask(process);
    for (const { pid } of [parent, child]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    expect([next.proc(parent.pid).used.tokens, next.proc(child.pid).used.tokens]).toEqual([60, 120]);
    expect(next.proc(parent.pid).seed.account.view()).toEqual({ limit: 1_000, used: 180, reserved: 0 });
    expect(next.proc(child.pid).seed.account.view()).toEqual({ limit: 500, used: 120, reserved: 0 });
  });

  test("in money is known before a history is read, with what those below had spent that have ended", async () => {
    const t = testKernel();
    spending(t);
    t.model.script.charge = () => ({ tokens: 60, usd: 0.25 });
    const parent = await t.start();
    const [child, ended] = [await t.start({ by: parent.sys }), await t.start({ by: parent.sys })];
    for (const process of [parent, child, ended]) await ask(process);
    ended.end();
    await parent.sys.wait(ended.pid);
    for (const { pid } of [parent, child]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const paid = (of: TestKernel) =>
      [parent, child].map(({ pid }) => [
        of.proc(pid).used.microUsd,
        of.proc(pid).seed.account.spent.microUsd,
      ]);
    expect([next.proc(child.pid).past.isUnread, paid(next)]).toEqual([
      true,
      [
        [250_000, 750_000],
        [250_000, 250_000],
      ],
    ]);
    const before = paid(next);
    await goOn(next, child.pid);
    expect([next.proc(child.pid).past.isUnread, paid(next)]).toEqual([false, before]);
  });

  test("by its origin is not spent by a fork", async () => {
    const t = testKernel();
    spending(t);
    t.model.script.charge = () => ({ tokens: 60, usd: 0.25 });
    const origin = await t.start();
    await ask(origin);
    await origin.sys.appendMessage(origin.start.ctxId, "assistant", "said");
    const fork = await t.kernel.forks.fork(origin.pid, {});
    await wake(t.kernel, fork.pid);
    const { tokens, microUsd } = t.proc(fork.pid).used;
    expect([tokens, microUsd]).toEqual([0, 0]);
  });

  test("of the limit of a parent that is lost binds its children together, as before", async () => {
    const t = testKernel();
    spending(t);
    const parent = await t.start({ ...UNKEPT, contextBudget: 400 });
    const [one, other, ended] = [
      await t.start({ by: parent.sys }),
      await t.start({ by: parent.sys, contextBudget: 300 }),
      await t.start({ by: parent.sys }),
    ];
    for (const process of [parent, one, other, ended]) await ask(process);
    ended.end();
    await t.init.wait(ended.pid);
    for (const { pid } of [one, other]) await t.init.kill(pid, PAUSE);
    const { next, pids } = await afterCrash(t);
    expect(pids).toEqual([one.pid, other.pid]);
    const left = () => [one, other].map(({ pid }) => next.proc(pid).seed.account.remaining());
    // of what is left to a parent a tenth is its own
    expect(left()).toEqual([144, 144]);
    spending(next);
    await ask(await goOn(next, one.pid));
    expect(left()).toEqual([90, 90]);
    // and the daemon after that one knows it, too
    for (const { pid } of [one, other]) await next.init.kill(pid, PAUSE);
    const again = await afterCrash(next);
    expect(again.next.proc(other.pid).seed.account.remaining()).toBe(90);
  });

  test("is all that was set aside for a request whose answer nobody had; once", async () => {
    const t = testKernel();
    spending(t);
    t.model.script.act = () => new Promise(() => {});
    const parent = await t.start({ contextBudget: 1_000 });
    const child = await t.start({ by: parent.sys });
    void ask(child).catch(() => {});
    await settle();
    for (const { pid } of [parent, child]) await t.init.kill(pid, PAUSE);
    const { next } = await afterCrash(t);
    const used = (kernel: TestKernel) =>
      [parent, child].map(({ pid }) => [
        kernel.proc(pid).used.tokens,
        kernel.proc(pid).seed.account.view().used,
      ]);
    expect(used(next)).toEqual([
      [0, 100],
      [100, 100],
    ]);
    expect(t.journal.bodies("call.unknown")).toEqual([{ cost: { tokens: 100, usd: null }, estimated: true }]);
    expect(used((await afterCrash(next)).next)).toEqual(used(next));
  });
});

describe("a process does not come back", () => {
  async function lostOf(t: TestKernel): Promise<readonly Pid[]> {
    await t.journal.sync();
    const { lost, next } = await afterCrash(t);
    expect(next.census()).toEqual(NOTHING_LEFT);
    return lost;
  }

  test("but to its end, that was told to end", async () => {
    const t = testKernel();
    const { pid } = await t.start({ stubborn: true });
    await t.init.kill(pid, 1);
    const { next, pids } = await afterCrash(t);
    expect(pids).toEqual([pid]);
    expect(await next.init.wait(pid)).toEqual(EXIT.sigterm);
    expect(next.census()).toEqual(NOTHING_LEFT);
  });

  test("to its end, that has not read its input to the end", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t, { stdin: bytes("data") });
    const { next, pids } = await afterCrash(t);
    expect(pids).toEqual([pid]);
    await next.init.kill(pid, RESUME);
    expect(await next.init.wait(pid)).toMatchObject({ code: 137, reason: "lost" });
    expect(next.census()).toEqual(NOTHING_LEFT);
    expect(t.journal.bodies("process.log").at(-2)).toMatchObject({
      message: "lost: it had not read its input to the end",
    });
  });

  test("but does once it has read it", async () => {
    const t = testKernel();
    const { pid, sys, start } = await t.start({ stdin: bytes("data") });
    await sys.close(start.input!);
    sys.checkpoint({ turn: 0 });
    await t.init.kill(pid, PAUSE);
    const { next, pids } = await afterCrash(t);
    expect(pids).toEqual([pid]);
    expect((await goOn(next, pid)).start.input).toBeNull();
  });

  test.each([
    [
      "a record of another version",
      { kind: "ctx.record", v: 2, body: {} },
      /its history cannot be read, .* record \d+ \(ctx.record\) has version 2/,
    ],
    [
      "a record that was too large",
      { kind: "ctx.record", v: 1, body: { omitted: "too large" } },
      /was not kept: too large/,
    ],
    [
      "a context that is full",
      { kind: "ctx.record", v: 1, body: { role: "user", content: "x".repeat(900_001) } },
      /at most 900000/,
    ],
  ] as const)("with %s: it stays paused and says why, and others go on", async (_what, record, reason) => {
    const t = testKernel();
    const [{ pid, proc }, well] = [await pausedChild(t), await pausedChild(t)];
    await t.journal.append([{ proc: proc.seed.uuid, pid, ...record }]);
    const { next, lost, pids } = await afterCrash(t);
    expect([lost, pids]).toEqual([[], [pid, well.pid]]);
    // who lets it go on hears it; with a whole tree it is in its log
    for (const goesOn of [() => next.init.kill(pid, RESUME), () => next.kernel.resume(pid)]) {
      const refused: unknown = await goesOn().catch((error: unknown) => error);
      expect(factOf(refused)).toEqual({ kind: "damaged", pid });
      expect(refused).toMatchObject({ code: "CONFLICT" });
      expect(messageOf(refused)).toMatch(/cannot be resumed: its history cannot be read: ./);
      expect(next.proc(pid).isPaused).toBe(true);
    }
    await next.kernel.signalTree(pid, RESUME);
    await settle(6);
    expect(next.proc(pid).isPaused).toBe(true);
    const said = t.journal.bodies("process.log").at(-1);
    expect(said).toMatchObject({ message: expect.stringMatching(reason), fact: { kind: "damaged", pid } });
    await goOn(next, well.pid);
    expect(next.model.live).toBe(1);
  });

  test("of an older program, that kept too little of it", async () => {
    const t = testKernel();
    const own = { proc: asProcUuid("p9"), pid: asPid(9), v: 1 };
    await t.journal.append([
      { ...own, kind: "process.spawned", body: { ppid: 0, kind: "agent", intent: "x" } },
      { ...own, kind: "signal", body: { signal: 4, disposition: "default", paused: true } },
    ]);
    expect(await lostOf(t)).toEqual([9]);
  });

  test("whose system prompt is too long for a record; it runs all the same", async () => {
    const t = testKernel();
    const { pid } = await pausedChild(t, UNKEPT);
    expect(await lostOf(t)).toEqual([pid]);
  });

  test("because the disk refuses: then the daemon does not start", async () => {
    const t = testKernel();
    await pausedChild(t);
    t.journal.refused.add("process.recovered");
    await expect(afterCrash(t)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test("recover() records the calls without a result of those that come back, too", async () => {
  const t = testKernel();
  const tool = new MessageDevice("edit");
  t.kernel.mount("/bin/edit", tool);
  tool.script.act = () => new Promise(() => {});
  const { pid, sys } = await t.start();
  void sys.write(await sys.open("/bin/edit", 2), bytes("{}")).catch(() => {});
  await settle();
  await t.init.kill(pid, PAUSE);
  const [open] = await t.journal.openCalls();
  await afterCrash(t);
  expect(t.journal.bodies("process.log").at(-1)?.message).toBe(
    "brought back by a new daemon, paused; 1 call has an unknown outcome: edit; check before repeating",
  );
  const unknown = t.journal.records.filter(({ kind }) => kind === "call.unknown");
  expect(unknown).toMatchObject([{ pid, call: asCallId(open!.call!) }]);
  expect(await t.journal.openCalls()).toEqual([]);
});

test("the agents of the command line are those of all below, also in the next daemon; no process gives others", async () => {
  const given = { scout: { prompt: "Look ahead." } };
  const sought: unknown[] = [];
  const ports: Partial<KernelPorts> = {
    loadAgent: async (name, { agents }) => {
      sought.push([name, agents]);
      return agentFile();
    },
  };
  const t = daemonOn(testKernel().journal, ports);
  const { pid, sys } = await t.start({ agents: given });
  t.programs.set(
    "work",
    (own) => new Promise((resolve) => own.ending.addEventListener("abort", () => resolve(EXIT.unexpected))),
  );
  const child = await sys.spawn("work", "scout", { agents: { scout: { prompt: "other" } } });
  await t.init.kill(child, PAUSE);
  await t.init.kill(pid, PAUSE);
  await t.journal.sync();
  const { next, pids } = await afterCrash(t, ports);
  expect(pids).toEqual([pid, child]);
  const { sys: again } = await goOn(next, child);
  await again.spawn("look", "scout");
  expect(sought).toEqual([
    ["scout", given],
    ["scout", given],
  ]);
});

test("an agent whose worktree is gone fails and says so, its parent is told, and nobody can resume it: nothing runs in the checkout", async () => {
  let isThere = true;
  const tree = treeNamed("a");
  const ports = { worktrees: fakeTrees({ isKept: async () => isThere }) };
  const t = daemonOn(testKernel().journal, ports);
  const other = await t.start({ cwd: "/w" });
  const child = { call: "c", title: "look", isBackground: true } as const;
  const { pid, sys } = await t.start({ by: other.sys, cwd: "/w", worktree: "a", child });
  const { pid: below } = await t.start({ by: sys, onParentExit: "terminate" });
  await t.init.kill(other.pid, PAUSE);
  await t.journal.sync();
  isThere = false;
  const { next, lost } = await afterCrash(t, ports);
  let ran = 0;
  for (const each of [pid, below])
    next.programs.set(next.proc(each).seed.intent, async () => {
      ran++;
      return EXIT.completed;
    });
  const { sys: parent } = await goOn(next, other.pid);
  const notice = new TextDecoder().decode((await parent.recv({})).data);
  expect(notice).toContain('<status>failed</status><summary>Agent "look" failed: recovery_failed</summary>');
  expect(notice).toContain(`<result>[NOT_FOUND] its worktree is gone: ${tree.path}</result>`);
  await settle();
  await next.journal.sync();
  const ends = next.journal.records.filter(({ kind }) => kind === "process.exited");
  expect([lost, ends.map((record) => record.pid).sort()]).toEqual([[], [pid, below].sort()]);
  for (const { body } of ends) expect(body).toMatchObject({ code: 1, reason: "recovery_failed" });
  expect([ran, (await parent.wait(pid)).kind]).toEqual([0, "fault"]);
  await expect(wake(next.kernel, pid)).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringContaining(`its worktree is gone: ${tree.path}`),
  });
  isThere = true;
  expect((await wake(next.kernel, pid)).seed.cwd).toBe(tree.path);
});
