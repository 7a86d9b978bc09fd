/** Members of a compose project: who is one, what that is good for, and what it is not. */
import { describe, expect, test } from "vitest";
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";
import { O_RDWR } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { codeOf } from "../../abi/errors.ts";
import { asFd, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { addLabels } from "../../kernel/labels/labelled.ts";
import { Daemon } from "../../kernel/testing/daemons.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { ALLOW, askWith, DENY } from "../../kernel/testing/scripted-permit.ts";
import { bytes, text } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";

/** An agent whose intent is its name. */
function service(name: string, more: Partial<ComposeService> = {}): ComposeService {
  return {
    name,
    program: { kind: "agent", agent: "none", intent: name },
    maxSteps: 0,
    timeoutMs: 0,
    cwd: "/desk/shop",
    env: {},
    budgetTokens: 0,
    dependsOn: {},
    restart: "permanent",
    replicas: 1,
    shutdownMs: 5_000,
    ...more,
  };
}

function shop(names: string, more: Partial<ComposeProject> = {}): ComposeProject {
  return {
    name: "shop",
    budgetTokens: 0,
    intensity: { maxRestarts: 9, windowMs: 60_000 },
    backoff: { initialMs: 100, factor: 1, maxMs: 100, jitter: 0 },
    services: [...names].map((name) => service(name)),
    pipes: [],
    messages: true,
    ...more,
  };
}

const web: Label = { kind: "untrusted", source: "web", detail: "https://e.io" };

class Bench {
  daemon = new Daemon();
  file: ComposeProject = shop("ab");

  async up(project: ComposeProject, removeOrphans = false): Promise<Pid> {
    this.file = project;
    this.daemon.workers.add(..."abcdefgh");
    const source = {
      path: `/desk/${project.name}/crux.compose.yaml`,
      dir: `/desk/${project.name}`,
      name: "",
    };
    const request = { project, services: [], removeOrphans, env: {}, source };
    const { pid, events } = await this.t.kernel.projects.up(request);
    events.close();
    await settle(6);
    return pid;
  }

  async die(): Promise<void> {
    await this.t.journal.sync();
    this.daemon = await this.daemon.next(0, { loadProject: async () => this.file });
    await this.t.clock.advance(100);
    await settle(6);
  }

  get t() {
    return this.daemon.t;
  }

  pid(name: string): Pid {
    return this.daemon.workers.pid(name);
  }

  sys(name: string): Syscalls {
    return this.daemon.workers.sys(name);
  }

  /** The names by which it finds others, as its own list has them. */
  async seenBy(sys: Syscalls): Promise<string> {
    const others = (await sys.listProcs()).filter(({ pid }) => pid !== sys.getPid());
    return others.flatMap(({ member }) => (member === undefined ? [] : [member.service])).join(" ");
  }

  /** By a tool that declares what `send` declares, where the policy allows what the gate says of members alone. */
  async tool(from: string, effect: Effect, to: Pid): Promise<string> {
    const device = new MessageDevice("send");
    const path = `/bin/send-${this.#tools++}`;
    this.t.kernel.mount(path, device);
    this.t.permit.answer = (_, { effects }) =>
      effects.every((each) => each.kind !== "message" || each.member !== undefined) ? ALLOW : askWith(null);
    device.script.effects = [effect];
    device.script.act = async (_, { sys }) => void (await sys.send(to, bytes("hi")));
    return this.attempt(async () => {
      const sys = this.sys(from);
      await sys.write(await sys.open(path, O_RDWR), bytes("{}"));
    });
  }
  #tools = 0;

  async attempt(act: () => Promise<unknown>): Promise<string> {
    return act().then(
      () => "sent",
      (error: unknown) => codeOf(error) ?? String(error),
    );
  }

  send(from: Syscalls, to: Pid): Promise<string> {
    return this.attempt(() => from.send(to, bytes("hi")));
  }
}

describe("members of one project", () => {
  test("see one another, by service, and write to one another", async () => {
    const bench = new Bench();
    await bench.up(shop("abc"));
    expect(await bench.seenBy(bench.sys("a"))).toBe("b c");
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("sent");
    const { data, from } = await bench.sys("b").recv();
    expect([text(data), from]).toEqual(["hi", bench.pid("a")]);
  });

  test.each([["b"], ["b-1"], ["PID"]])("the gate knows a member by any of its names (%s)", async (to) => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const b = bench.pid("b");
    const effect: Effect = { kind: "message", to: to === "PID" ? String(b) : to };
    expect(await bench.tool("a", effect, b)).toBe("sent");
    expect(bench.t.permit.asked.at(-1)?.request.effects).toEqual([
      { ...effect, member: ["b", "b-1", String(b)] },
    ]);
  });

  test("carry what they have read from one to the other", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    addLabels(bench.t.kernel, bench.t.proc(bench.pid("a")), [web]);
    await bench.send(bench.sys("a"), bench.pid("b"));
    await bench.sys("b").recv();
    expect(bench.t.proc(bench.pid("b")).labels).toEqual([web]);
  });

  test("carry it along a pipe of theirs too, whether they may write to one another or not", async () => {
    const bench = new Bench();
    await bench.up(shop("ab", { messages: false, pipes: [{ from: "a", to: "b", stream: "result" }] }));
    addLabels(bench.t.kernel, bench.t.proc(bench.pid("a")), [web]);
    await bench.sys("a").write(asFd(1), bytes("what the page says"));
    expect(bench.t.proc(bench.pid("b")).labels).toEqual([]);
    expect(text(await bench.sys("b").read(asFd(0), 100))).toBe("what the page says");
    expect(bench.t.proc(bench.pid("b")).labels).toEqual([web]);
  });

  test("do not look into one another, and do not control one another", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const [a, b] = [bench.sys("a"), bench.pid("b")];
    bench.t.proc(b).conclude("what came of it");
    const row = (await a.listProcs()).find(({ pid }) => pid === b);
    expect(row).toMatchObject({ intent: "", result: "", allowedDevices: [], exit: null });
    for (const act of [() => a.kill(b, 1), () => a.signal(b, 4), () => a.wait(b), () => a.reap(b)])
      expect(await bench.attempt(act)).toBe("PERMISSION");
    expect(await bench.attempt(() => a.joinGroup(b, "g"))).toBe("PERMISSION");
    expect(await bench.attempt(() => a.pipe(bench.pid("a"), b))).toBe("PERMISSION");
    const view = bench.t.kernel.view();
    expect([view.find(bench.pid("a"), b), view.list(bench.pid("a")).some(({ pid }) => pid === b)]).toEqual([
      undefined,
      false,
    ]);
    await bench.t.init.joinGroup(b, "own");
    expect(await bench.attempt(() => a.getProcGroup("own"))).toBe("NOT_FOUND");
    expect(bench.t.proc(b).isLive).toBe(true);
  });

  test("are told the names of the other agents after their instructions, and nothing where there are none", async () => {
    const bench = new Bench();
    const native = service("d", { program: { kind: "native", command: ["d"] } });
    await bench.up(shop("", { services: [service("a"), service("b", { replicas: 2 }), native] }));
    const prompt = (name: string): string =>
      bench.t.kernel.contexts.prompt(bench.t.proc(bench.pid(name)).ctxId).systemPrompt;
    expect(prompt("a")).toBe(
      "You are `a` of the compose project shop. The tool `send` takes a message to its other agents by name: b-1, b-2.",
    );
    await bench.up(shop("c", { name: "other" }));
    expect(prompt("c")).toBe("");
  });
});

describe("nobody makes itself a member", () => {
  test("a child of a member, a stranger and a member of another project are none", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    await bench.up(shop("c", { name: "other" }));
    const b = bench.pid("b");
    const child = await bench.t.start({ by: bench.sys("a") });
    const stranger = await bench.t.start();
    for (const sys of [child.sys, stranger.sys, bench.sys("c")]) {
      expect(await bench.send(sys, b)).toBe("PERMISSION");
      expect(await bench.seenBy(sys)).toBe("");
    }
    expect(await bench.send(bench.sys("b"), child.pid)).toBe("PERMISSION");
    // a child asks its parent
    expect(await bench.send(child.sys, bench.pid("a"))).toBe("sent");
  });

  test("a process that a person hangs below the supervisor, or that has the group of a service, is none", async () => {
    const bench = new Bench();
    const project = await bench.up(shop("", { services: [service("a", { group: "team" }), service("b")] }));
    const hung = await bench.t.start({ parentPid: project });
    const mate = await bench.t.start({ group: "team" });
    expect(bench.t.kernel.projects.memberOf(hung.proc)).toBeUndefined();
    expect(await bench.send(hung.sys, bench.pid("b"))).toBe("PERMISSION");
    expect(await bench.send(bench.sys("b"), hung.pid)).toBe("PERMISSION");
    expect(await bench.send(mate.sys, bench.pid("b"))).toBe("PERMISSION");
    expect(bench.t.kernel.projects.memberOf(mate.proc)).toBeUndefined();
  });

  test("a supervisor of a process's own, by the name of the project, makes no members", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    bench.daemon.workers.add("a-1", "x", "y");
    const maker = await bench.t.start();
    await maker.sys.spawnSupervisor({
      name: "shop",
      children: [
        { id: "x", start: { intent: "x" } },
        { id: "y", start: { intent: "y" } },
      ],
    });
    expect(await bench.send(bench.sys("x"), bench.pid("b"))).toBe("PERMISSION");
    expect(await bench.send(bench.sys("x"), bench.pid("y"))).toBe("PERMISSION");
  });

  test("what a caller says of the receiver counts for nothing", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const stranger = await bench.t.start();
    const forged: Effect = { kind: "message", to: String(stranger.pid), member: ["b", "b-1"] };
    expect(await bench.tool("a", forged, stranger.pid)).toBe("PERMISSION");
    expect(bench.t.permit.asked.at(-1)?.request.effects).toEqual([
      { kind: "message", to: String(stranger.pid), isStranger: true },
    ]);
  });

  test("a signal to a member is asked about as before", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const effect: Effect = { kind: "message", to: "b", signal: "SIGTERM", member: ["b"] };
    expect(await bench.tool("a", effect, bench.pid("b"))).toBe("PERMISSION");
  });

  test("what was permitted for one member goes to no other, nor to a child of its own", async () => {
    const bench = new Bench();
    await bench.up(shop("abc"));
    const child = await bench.t.start({ by: bench.sys("a") });
    for (const pid of [bench.pid("c"), child.pid])
      expect(await bench.tool("a", { kind: "message", to: "b" }, pid)).toBe("CONFLICT");
  });

  test("what was permitted for another goes to no member", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const child = await bench.t.start({ by: bench.sys("a") });
    bench.t.permit.answer = () => ALLOW;
    const device = new MessageDevice("send");
    bench.t.kernel.mount("/bin/tell", device);
    device.script.effects = [{ kind: "message", to: String(child.pid) }];
    device.script.act = async (_, { sys }) => void (await sys.send(bench.pid("b"), bytes("hi")));
    const sys = bench.sys("a");
    const fd = await sys.open("/bin/tell", O_RDWR);
    expect(await bench.attempt(() => sys.write(fd, bytes("{}")))).toBe("CONFLICT");
  });

  test("a name that several have is nobody's, and the gate asks", async () => {
    const bench = new Bench();
    await bench.up(shop("", { services: [service("a"), service("b", { replicas: 2 })] }));
    expect(await bench.tool("a", { kind: "message", to: "b" }, bench.pid("b"))).toBe("PERMISSION");
  });

  test("a rule stops what no tool declares, too", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    bench.t.permit.answer = () => DENY;
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("PERMISSION");
    const names = ["b", "b-1", String(bench.pid("b"))];
    const effects = [{ kind: "message", to: String(bench.pid("b")), member: names }];
    expect(bench.t.permit.asked.at(-1)?.request).toEqual({ tool: "send", effects });
    bench.t.permit.answer = () => askWith(null);
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("PERMISSION");
  });
});

test("a program of the project is no member: it neither sees nor is seen", async () => {
  const bench = new Bench();
  const native = service("d", { program: { kind: "native", command: ["d"] } });
  await bench.up(shop("", { services: [service("a"), native] }));
  const d = bench.t.kernel.projects.view("shop").replicas.find(({ service: name }) => name === "d")
    ?.pid as Pid;
  expect(await bench.send(bench.sys("a"), d)).toBe("PERMISSION");
  expect(await bench.seenBy(bench.sys("a"))).toBe("");
  expect(await bench.send(bench.t.kernel.handle(bench.t.proc(d), null), bench.pid("a"))).toBe("PERMISSION");
});

describe("messages: false", () => {
  test("members neither see nor reach one another; they know that they are members", async () => {
    const bench = new Bench();
    await bench.up(shop("ab", { messages: false }));
    expect(await bench.seenBy(bench.sys("a"))).toBe("");
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("PERMISSION");
    const own = (await bench.sys("a").listProcs()).find(({ pid }) => pid === bench.pid("a"));
    expect(own?.member).toMatchObject({ project: "shop", service: "a", replica: 1, mayWrite: false });
    expect(bench.t.kernel.contexts.prompt(bench.t.proc(bench.pid("a")).ctxId).systemPrompt).toBe("");
  });

  test("holds at once for those that run when the project is brought up again, and ends so, too", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const [a, b] = [bench.sys("a"), bench.pid("b")];
    await bench.up(shop("ab", { messages: false }));
    expect([bench.pid("b"), await bench.send(a, b)]).toEqual([b, "PERMISSION"]);
    await bench.up(shop("ab"));
    expect([bench.pid("b"), await bench.send(a, b)]).toEqual([b, "sent"]);
  });
});

describe("over time", () => {
  test("a service that is started again is a member again, and its old pid is not", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    const old = bench.pid("b");
    await bench.daemon.workers.end("b");
    expect(await bench.send(bench.sys("a"), old)).toBe("NOT_FOUND");
    expect(await bench.seenBy(bench.sys("a"))).toBe("");
    await bench.t.clock.advance(100);
    await settle(6);
    expect(bench.pid("b")).not.toBe(old);
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("sent");
    expect(await bench.send(bench.sys("b"), bench.pid("a"))).toBe("sent");
  });

  test("one that is being shut down is a member no more, nor is any once the project ends", async () => {
    const bench = new Bench();
    await bench.up(shop("abc"));
    const [a, b, c] = [bench.sys("a"), bench.sys("b"), bench.sys("c")];
    const [pidA, pidB, pidC] = [bench.pid("a"), bench.pid("b"), bench.pid("c")];
    for (const name of "abc") bench.daemon.workers.stubborn.add(name);
    const changing = bench.t.kernel.projects.up({
      project: shop("ab"),
      services: [],
      removeOrphans: true,
      env: {},
    });
    await settle(6);
    expect(await bench.send(c, pidA)).toMatch(/NOT_FOUND|PERMISSION|CANCELLED/);
    expect(await bench.send(a, pidC)).toBe("NOT_FOUND");
    expect(await bench.send(a, pidB)).toBe("sent");
    await bench.t.clock.advance(60_000);
    (await changing).events.close();
    const down = bench.t.kernel.projects.down("shop", 10_000);
    await settle(6);
    expect(await bench.send(b, pidA)).toMatch(/NOT_FOUND|PERMISSION|CANCELLED/);
    await bench.t.clock.advance(60_000);
    await down;
  });

  test.each([
    [true, true, "sent"],
    [false, false, "PERMISSION"],
    // nobody brought it up so
    [false, true, "PERMISSION"],
    // the file does not let them any more
    [true, false, "PERMISSION"],
  ])("after a crash (brought up with %s, the file now says %s): %s", async (was, is, comes) => {
    const bench = new Bench();
    await bench.up(shop("ab", { messages: was }));
    bench.file = shop("ab", { messages: is });
    await bench.die();
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe(comes);
    const stranger = await bench.t.start();
    expect(await bench.send(stranger.sys, bench.pid("b"))).toBe("PERMISSION");
  });

  test("after a crash a change of the key that was acknowledged holds", async () => {
    const bench = new Bench();
    await bench.up(shop("ab"));
    await bench.up(shop("ab", { messages: false }));
    bench.file = shop("ab");
    await bench.die();
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("PERMISSION");
    await bench.up(shop("ab"));
    await bench.die();
    expect(await bench.send(bench.sys("a"), bench.pid("b"))).toBe("sent");
  });
});
