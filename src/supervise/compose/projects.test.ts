import { describe, expect, test } from "vitest";
import type { ComposePipe, ComposeProject, ComposeService, ProjectEvent } from "../../abi/compose/compose.ts";
import { Fault } from "../../abi/errors.ts";
import { asFd, type Pid } from "../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../abi/process.ts";
import type { Begun } from "../../abi/program.ts";
import type { ProjectUp } from "../../kernel/ports/projects.ts";
import type { Subscription } from "../../kernel/ports/subscription.ts";
import { type FakeProgram, FakePrograms } from "../../kernel/testing/fake-programs.ts";
import { hold } from "../../kernel/testing/hold.ts";
import { MemorySpools } from "../../kernel/testing/memory-spools.ts";
import { agentFile, NOTHING_LEFT, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { CRASH, Workers } from "../testing.ts";

type Wish = Partial<ComposeService> & { readonly after?: ComposeService["dependsOn"] };

/** An agent whose intent is its name. */
function service(name: string, { after = {}, ...more }: Wish = {}): ComposeService {
  return {
    name,
    program: { kind: "agent", agent: "none", intent: name },
    maxSteps: 0,
    timeoutMs: 0,
    cwd: "/desk/notes",
    env: {},
    budgetTokens: 0,
    dependsOn: after,
    restart: "temporary",
    replicas: 1,
    shutdownMs: 5_000,
    ...more,
  };
}

/** A program of the host with its name. */
function command(name: string, more: Wish = {}): ComposeService {
  return service(name, { program: { kind: "native", command: [name] }, ...more });
}

function notes(services: readonly ComposeService[], more: Partial<ComposeProject> = {}): ComposeProject {
  return {
    name: "notes",
    budgetTokens: 0,
    intensity: { maxRestarts: 5, windowMs: 60_000 },
    backoff: { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0 },
    services,
    pipes: [],
    messages: true,
    ...more,
  };
}

const pipe = (from: string, to: string): ComposePipe => ({ from, to, stream: "result" });

class Bench {
  readonly spools = new MemorySpools();
  readonly programs = new FakePrograms();
  readonly t: TestKernel;
  readonly workers: Workers;
  readonly events: ProjectEvent[] = [];
  #reading: Promise<void> = Promise.resolve();

  constructor() {
    this.t = testKernel({ spools: this.spools, exec: this.programs });
    this.workers = new Workers(this.t);
  }

  get projects() {
    return this.t.kernel.projects;
  }

  /** Follows it, and lets all come to pass that needs no time. */
  async up(project: ComposeProject, more: Partial<ProjectUp> = {}): Promise<Pid> {
    for (const { program } of project.services)
      if (program.kind === "agent") this.workers.add(program.intent);
    const request = { project, services: [], removeOrphans: false, env: {}, ...more };
    const { pid, events } = await this.projects.up(request);
    this.#reading = this.#read(events);
    await settle(6);
    return pid;
  }

  /** What was told since the last look, as words. */
  told(): string[] {
    return this.events.splice(0).map(wordsOf);
  }

  /** The events have ended. */
  async over(): Promise<void> {
    await this.#reading;
  }

  async expectNothingLeft(): Promise<void> {
    await this.t.clock.advance(60_000);
    await settle();
    expect(this.t.census()).toEqual(NOTHING_LEFT);
    // a program's output is kept for `logs`
    const pipes = [...this.spools.spools.keys()].filter((name) => name.startsWith("pipe-"));
    expect([this.t.kernel.supervisors.size, pipes, this.programs.live]).toEqual([0, [], 0]);
  }

  /** The newest run of a program, by its first word. */
  program(name: string): FakeProgram {
    const found = this.programs.started.findLast(({ spec }) => spec.argv[0] === name);
    if (found === undefined) throw new Error(`${name} was not started`);
    return found;
  }

  async #read(events: Subscription<ProjectEvent>): Promise<void> {
    for await (const event of events) this.events.push(event);
  }
}

function wordsOf(event: ProjectEvent): string {
  switch (event.event) {
    case "starting":
      return `starting ${event.services}`;
    case "started":
      return `${event.child} started`;
    case "waiting":
      return `${event.child} waits for ${event.on} (${event.condition})`;
    case "log":
      return `${event.child} | ${event.text}`;
    case "exited":
      return `${event.child} exited(${event.code})`;
    case "restarting":
      return `${event.child} restarting in ${event.delayMs} (${event.restarts}/${event.max})`;
    case "skipped":
      return `${event.child} skipped (${event.reason})`;
    case "failed":
      return `failed (${event.reason}) ${event.code}`;
    case "done":
      return `done ${event.code}`;
    case "up":
    case "stopped":
      return event.event;
  }
}

const COMPLETED = { collector: "completed" } as const;

describe("up()", () => {
  test("tells it in order: started, waiting, up, exited, started, done", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    const pid = await bench.up(notes([service("collector"), service("writer", { after: COMPLETED })]));
    expect(bench.told()).toEqual([
      "starting 2",
      "collector-1 started",
      "writer-1 waits for collector (completed)",
      "up",
    ]);
    expect(t.kernel.info(t.proc(pid))).toMatchObject({ kind: "supervisor", name: "compose:notes" });
    hold(t.proc(workers.pid("collector")).seed.account, 812, 0)?.settle(812);
    await workers.end("collector");
    expect(bench.told()).toEqual(["collector-1 exited(0)", "writer-1 started"]);
    await t.clock.advance(4_000);
    await workers.end("writer");
    await bench.over();
    expect(bench.events).toEqual([
      { event: "exited", child: "writer-1", code: 0, reason: "completed" },
      { event: "done", project: "notes", tokens: 812, elapsedMs: 4_000, code: 0 },
    ]);
    await bench.expectNothingLeft();
  });

  test("starts in parallel what is free, and each of the others when its time has come", async () => {
    const bench = new Bench();
    const { workers } = bench;
    await bench.up(
      notes([
        service("e", { after: { c: "completed", d: "started" } }),
        service("d", { after: { b: "ready" } }),
        service("c", { after: { a: "completed" } }),
        service("b", { ready: { kind: "step", timeoutMs: 60_000 } }),
        service("a"),
      ]),
    );
    expect(workers.told()).toBe("+a +b");
    expect(bench.told()).toEqual([
      "starting 5",
      "a-1 started",
      "b-1 started",
      "c-1 waits for a (completed)",
      "d-1 waits for b (ready)",
      "e-1 waits for c (completed)",
      "up",
    ]);
    workers.sys("b").onStep(1);
    await settle();
    expect(workers.told()).toBe("");
    workers.sys("b").onStep(2);
    await settle();
    expect(workers.told()).toBe("+d");
    await workers.end("a");
    expect(workers.told()).toBe("-a +c");
    await workers.end("c");
    expect(workers.told()).toBe("-c +e");
    expect(bench.told()).toEqual([
      "b-1 | [agent/3] reasoning step 1...",
      "b-1 | [agent/3] reasoning step 2...",
      "d-1 started",
      "a-1 exited(0)",
      "c-1 started",
      "c-1 exited(0)",
      "e-1 started",
    ]);
    await bench.projects.down("notes", 10_000);
    expect(workers.told()).toBe("-e -d -b");
    await bench.expectNothingLeft();
  });

  test("five services come up in order, survive a kill, go down leaving nothing", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    const chain = ["store", "index", "search", "web", "proxy"];
    const services = chain.map((name, at) => {
      const [needed = ""] = chain.slice(at - 1, at);
      return service(name, { restart: "permanent", after: at === 0 ? {} : { [needed]: "started" } });
    });
    const pid = await bench.up(notes(services));
    expect(workers.told()).toBe("+store +index +search +web +proxy");
    const killed = workers.pid("search");
    await t.init.kill(killed, 2);
    await settle(6);
    expect(bench.projects.view("notes").replicas.map(({ state }) => state)).toEqual([
      "running",
      "running",
      "restarting",
      "running",
      "running",
    ]);
    await t.clock.advance(1_000);
    expect(workers.alive).toEqual([...chain].sort());
    expect(workers.pid("search")).not.toBe(killed);
    expect(bench.told().slice(-3)).toEqual([
      "search-1 exited(137)",
      "search-1 restarting in 1000 (1/5)",
      "search-1 started",
    ]);
    workers.told();
    await bench.projects.down("notes", 10_000);
    expect(workers.told()).toBe("-proxy -web -search -index -store");
    await bench.over();
    expect(bench.told().at(-1)).toBe("stopped");
    expect(t.kernel.table.get(pid)).toBeUndefined();
    expect(t.kernel.table.size).toBe(0);
    await bench.expectNothingLeft();
  });

  test("a dependency that fails leaves its dependants skipped, and theirs", async () => {
    const bench = new Bench();
    const { workers } = bench;
    await bench.up(
      notes([
        service("collector"),
        service("writer", { after: COMPLETED }),
        service("mailer", { after: { writer: "started" } }),
        service("clock"),
      ]),
    );
    bench.told();
    await workers.end("collector", { ...CRASH, code: 3 });
    expect(bench.told()).toEqual([
      "collector-1 | [agent/2] error: boom",
      "collector-1 exited(3)",
      "writer-1 skipped (collector failed)",
      "mailer-1 skipped (writer skipped)",
    ]);
    expect(bench.projects.view("notes").replicas).toMatchObject([
      { service: "collector", replica: 1, state: "dead", exitCode: 3, note: CRASH.reason },
      { service: "writer", state: "skipped", pid: null, exitCode: null, note: "collector failed" },
      { service: "mailer", state: "skipped", note: "writer skipped" },
      { service: "clock", state: "running", exitCode: null },
    ]);
    expect(bench.projects.view("notes").failure).toBeUndefined();
    await workers.end("clock", { ...CRASH, code: 4 });
    await bench.over();
    expect(bench.projects.view("notes").failure).toBe("collector-1 failed (exit code 3)");
    expect(bench.told().at(-1)).toBe("done 3");
    await bench.expectNothingLeft();
  });

  test("one that cannot start has failed: why is told", async () => {
    const bench = new Bench();
    const ghost = service("collector", { program: { kind: "agent", agent: "ghost", intent: "x" } });
    await bench.up(notes([ghost, service("writer", { after: COMPLETED })]));
    await bench.over();
    expect(bench.told()).toEqual([
      "starting 2",
      "collector-1 | could not start: agent not found: ghost",
      "collector-1 exited(1)",
      "writer-1 skipped (collector failed)",
      "done 1",
    ]);
    await bench.expectNothingLeft();
  });

  test("a restart is no failure: what waits, waits on", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    await bench.up(
      notes([service("collector", { restart: "transient" }), service("writer", { after: COMPLETED })]),
    );
    await workers.end("collector", CRASH);
    await t.clock.advance(1_000);
    bench.told();
    await workers.end("collector");
    expect(bench.told()).toEqual(["collector-1 exited(0)", "writer-1 started"]);
    await workers.end("writer");
    await bench.over();
    expect(bench.told()).toEqual(["writer-1 exited(0)", "done 0"]);
    await bench.expectNothingLeft();
  });

  test("an agent is ready when its first step is done, also if it was its last", async () => {
    const bench = new Bench();
    const ready = { kind: "step", timeoutMs: 60_000 } as const;
    await bench.up(notes([service("a", { ready }), service("b", { after: { a: "ready" } })]));
    expect(bench.workers.told()).toBe("+a");
    await bench.workers.end("a");
    expect(bench.workers.told()).toBe("-a +b");
    await bench.projects.down("notes", 0);
    await bench.expectNothingLeft();
  });

  test("one that is not ready in time has failed and goes on; its dependants are skipped", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    const ready = { kind: "step", timeoutMs: 60_000 } as const;
    await bench.up(notes([service("a", { ready }), service("b", { after: { a: "ready" } })]));
    bench.told();
    await t.clock.advance(60_000);
    expect(bench.told()).toEqual(["a-1 | not ready after 60s", "b-1 skipped (a not ready in time)"]);
    expect(workers.alive).toEqual(["a"]);
    await workers.end("a");
    await bench.over();
    expect(bench.told().at(-1)).toBe("done 1");
    await bench.expectNothingLeft();
  });

  test("replicas: each with its number; a dependant waits for all of them", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    const seen: string[] = [];
    const contexts: Begun[] = [];
    workers.add("b");
    t.programs.set("a", async (sys, start) => {
      contexts.push({ sys, start });
      seen.push(t.proc(start.pid).seed.env.CRUX_REPLICA ?? "");
      await new Promise((resolve) => sys.ending.addEventListener("abort", resolve));
      return EXIT.completed;
    });
    const { events } = await bench.projects.up({
      project: notes([service("a", { replicas: 3 }), service("b", { after: { a: "started" } })]),
      services: [],
      removeOrphans: false,
      env: { KEY: "secret" },
    });
    await settle(6);
    expect(seen).toEqual(["1", "2", "3"]);
    expect(workers.alive).toEqual(["b"]);
    expect(t.proc(workers.pid("b")).seed.env).toMatchObject({ KEY: "secret", CRUX_REPLICA: "1" });
    expect(bench.projects.view("notes").replicas.map((r) => `${r.service} ${r.replica}`)).toEqual([
      "a 1",
      "a 2",
      "a 3",
      "b 1",
    ]);
    expect(JSON.stringify(t.journal.records)).not.toContain("secret");
    events.close();
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("budgets: a replica's within the project's; a group is joined; each works as if the person had started it", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    t.agents.set("scribe", agentFile({ contextBudget: 70 }));
    await bench.up(
      notes(
        [
          service("a", { budgetTokens: 60, group: "authors", permissionMode: "accept_edits" }),
          service("b", {
            group: "authors",
            cwd: "/desk/other",
            program: { kind: "agent", agent: "scribe", intent: "b" },
          }),
        ],
        { budgetTokens: 100 },
      ),
    );
    const [a, b] = [t.proc(workers.pid("a")), t.proc(workers.pid("b"))];
    expect([a.seed.mode, b.seed.mode]).toEqual(["accept_edits", "default"]);
    expect([a.seed.roots, b.seed.roots]).toEqual([["/desk/notes"], ["/desk/other"]]);
    expect(await t.init.getProcGroup("authors")).toEqual([a.pid, b.pid]);
    hold(a.seed.account, 60)?.settle(60);
    expect([a.seed.account.remaining(), b.seed.account.remaining()]).toEqual([0, 40]);
    expect(b.seed.account.view().limit).toBe(70);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("only the services asked for, and what they depend on", async () => {
    const bench = new Bench();
    const all = notes([
      service("collector"),
      service("writer", { after: { collector: "started" } }),
      service("other"),
    ]);
    await bench.up(all, { services: ["writer"] });
    expect(bench.workers.alive).toEqual(["collector", "writer"]);
    const unknown = bench.projects.up({ project: all, services: ["nobody"], removeOrphans: false, env: {} });
    await expect(unknown).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "no such service: nobody. Services here: collector, writer, other",
    });
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("beyond its intensity it fails, with the reason and the first code", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    workers.sick.set("a", { ...CRASH, code: 7 });
    const intensity = { maxRestarts: 2, windowMs: 60_000 };
    await bench.up(notes([service("a", { restart: "permanent" }), service("b")], { intensity }));
    await t.clock.advance(10_000);
    await bench.over();
    expect(bench.told().filter((words) => !words.includes("|"))).toEqual([
      "starting 2",
      "a-1 started",
      "b-1 started",
      "up",
      "a-1 exited(7)",
      "a-1 restarting in 1000 (1/2)",
      "a-1 started",
      "a-1 exited(7)",
      "a-1 restarting in 2000 (2/2)",
      "a-1 started",
      "a-1 exited(7)",
      "b-1 exited(143)",
      "failed (restart intensity exceeded: a-1) 7",
    ]);
    expect(bench.projects.view("notes").failure).toBe("restart intensity exceeded: a-1");
    await bench.expectNothingLeft();
  });
});

describe("down() and kill()", () => {
  test("during a wait for a restart, down ends at once", async () => {
    const bench = new Bench();
    await bench.up(
      notes([service("a", { restart: "permanent" }), service("b", { after: { a: "completed" } })]),
    );
    await bench.workers.end("a", CRASH);
    await bench.projects.down("notes", 10_000);
    expect(bench.t.clock.pending).toBe(0);
    expect(bench.projects.view("notes").replicas.map(({ state }) => state)).toEqual(["dead", "stopped"]);
    expect(bench.projects.view("notes").failure).toBeUndefined();
    await bench.expectNothingLeft();
  });

  test("while one is not ready yet: nothing waits for it any more", async () => {
    const bench = new Bench();
    const ready = { kind: "step", timeoutMs: 60_000 } as const;
    await bench.up(notes([service("a", { ready }), service("b", { after: { a: "ready" } })]));
    expect(bench.t.clock.pending).toBe(1);
    await bench.projects.down("notes", 10_000);
    expect(bench.t.clock.pending).toBe(0);
    await bench.expectNothingLeft();
  });

  test("what is not gone in time is killed", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    workers.stubborn.add("a").add("b");
    await bench.up(notes([service("a", { shutdownMs: 60_000 }), service("b", { shutdownMs: 60_000 })]));
    const pids = [workers.pid("a"), workers.pid("b")];
    const down = bench.projects.down("notes", 3_000);
    await t.clock.advance(2_999);
    expect(pids.map((pid) => t.proc(pid).state)).toEqual(["running", "running"]);
    await t.clock.advance(1);
    expect(pids.map((pid) => t.proc(pid).exit?.code)).toEqual([137, 137]);
    await workers.end("a");
    await workers.end("b");
    await down;
    await bench.over();
    expect(bench.told().at(-1)).toBe("stopped");
    await bench.expectNothingLeft();
  });

  test("a kill leaves no child, and is told as a stop", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    workers.stubborn.add("a");
    await bench.up(notes([service("a", { replicas: 1 }), service("b")]));
    const killed = bench.projects.kill("notes");
    await settle();
    expect([...t.kernel.table.all()].filter((proc) => proc.isLive)).toEqual([]);
    await workers.end("a");
    await killed;
    await bench.over();
    expect(bench.told().at(-1)).toBe("stopped");
    expect(t.kernel.table.size).toBe(0);
    await bench.expectNothingLeft();
  });

  test("the same when somebody kills its supervisor", async () => {
    const bench = new Bench();
    const { t, workers } = bench;
    const pid = await bench.up(notes([service("a"), service("b", { restart: "permanent" })]));
    await t.init.kill(pid, 2);
    await settle(6);
    expect(workers.alive).toEqual([]);
    await bench.over();
    await bench.expectNothingLeft();
  });

  test("the kernel's end is the project's", async () => {
    const bench = new Bench();
    await bench.up(notes([service("a", { restart: "permanent" }), service("b", { restart: "permanent" })]));
    const closing = bench.t.kernel.shutdown(1_000);
    await bench.t.clock.advance(5_000);
    await closing;
    await bench.over();
    expect(bench.told().at(-1)).toBe("stopped");
    expect(bench.t.census()).toEqual(NOTHING_LEFT);
  });

  test("of what does not run, and what never did: NOT_FOUND", async () => {
    const { projects } = new Bench();
    await expect(projects.down("notes", 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(projects.kill("notes")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(projects.logs("notes", { services: [], tail: 1, follow: false })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    expect(() => projects.view("notes")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  });
});

describe("pipes", () => {
  /** Reads its input to the end, as the loop of an agent does. */
  async function readAll({ sys, start }: Begun): Promise<string> {
    const chunks: Uint8Array[] = [];
    for (;;) {
      const chunk = await sys.read(start.input ?? asFd(0), 65_536);
      if (chunk.byteLength === 0) return Buffer.concat(chunks).toString();
      chunks.push(chunk);
    }
  }

  function reading(bench: Bench, name: string): string[] {
    const read: string[] = [];
    bench.workers.acts.set(name, async (sys, start) => {
      read.push(await readAll({ sys, start }));
    });
    return read;
  }

  const saying = (bench: Bench, name: string, result: string): void => {
    bench.workers.acts.set(name, async (sys) => sys.setResult(result));
  };

  test("an agent's result reaches the reader, which was there before", async () => {
    const bench = new Bench();
    saying(bench, "collector", "one commit");
    const read = reading(bench, "writer");
    await bench.up(
      notes([service("collector"), service("writer")], { pipes: [pipe("collector", "writer")] }),
    );
    expect(read).toEqual([]);
    await bench.workers.end("collector");
    expect(read).toEqual(["one commit"]);
    await bench.workers.end("writer");
    await bench.over();
    await bench.expectNothingLeft();
  });

  test("dependencies and pipes do not lock each other: what was said before is kept", async () => {
    const bench = new Bench();
    saying(bench, "collector", "one commit");
    const read = reading(bench, "writer");
    const services = [service("collector"), service("writer", { after: COMPLETED })];
    await bench.up(notes(services, { pipes: [pipe("collector", "writer")] }));
    await bench.workers.end("collector");
    expect(read).toEqual(["one commit"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("several writers merge, each write whole; the end comes with the last of them, restarts counted", async () => {
    const bench = new Bench();
    saying(bench, "a", "from a\n");
    saying(bench, "b", "from b\n");
    const read = reading(bench, "reader");
    const services = [service("a"), service("b", { restart: "transient" }), service("reader")];
    await bench.up(notes(services, { pipes: [pipe("a", "reader"), pipe("b", "reader")] }));
    await bench.workers.end("b", CRASH);
    await bench.workers.end("a");
    expect(read).toEqual([]);
    await bench.t.clock.advance(1_000);
    await bench.workers.end("b");
    expect(read).toHaveLength(1);
    expect(read[0]?.split("\n").sort()).toEqual(["", "from a", "from b", "from b"].sort());
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("a writer that is skipped, or not there, has ended", async () => {
    const bench = new Bench();
    const read = reading(bench, "reader");
    const services = [
      service("a"),
      service("b", { after: { a: "completed" } }),
      service("reader"),
      service("c"),
    ];
    const pipes = [pipe("b", "reader"), pipe("c", "reader")];
    await bench.up(notes(services, { pipes }), { services: ["b", "reader"] });
    expect(read).toEqual([]);
    await bench.workers.end("a", CRASH);
    expect(read).toEqual([""]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("a reader that is restarted reads again from the beginning", async () => {
    const bench = new Bench();
    saying(bench, "a", "all of it");
    const read = reading(bench, "reader");
    const services = [service("a"), service("reader", { restart: "transient" })];
    await bench.up(notes(services, { pipes: [pipe("a", "reader")] }));
    await bench.workers.end("a");
    await bench.workers.end("reader", CRASH);
    await bench.t.clock.advance(1_000);
    expect(read).toEqual(["all of it", "all of it"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("whoever writes to a reader that is gone hears of it", async () => {
    const bench = new Bench();
    saying(bench, "a", "too late");
    await bench.up(notes([service("a"), service("reader")], { pipes: [pipe("a", "reader")] }));
    await bench.workers.end("reader");
    bench.told();
    await bench.workers.end("a");
    expect(bench.told()[0]).toBe("a-1 | [agent/2] its result did not reach its reader: [DRIVER] broken pipe");
    await bench.over();
    await bench.expectNothingLeft();
  });

  test("a writer that was done, and is started again by hand, has nobody who reads it", async () => {
    const bench = new Bench();
    saying(bench, "a", "once more");
    const read = reading(bench, "reader");
    const pid = await bench.up(notes([service("a"), service("reader")], { pipes: [pipe("a", "reader")] }));
    await bench.workers.end("a");
    await bench.t.kernel.supervisor(pid).startChild("a-1");
    bench.told();
    await bench.workers.end("a");
    expect(bench.told()[0]).toMatch(/its result did not reach its reader: \[DRIVER\] broken pipe$/);
    expect(read).toEqual(["once more"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("no disk for a pipe: the error is told, and nothing was started", async () => {
    const bench = new Bench();
    bench.spools.open = () => {
      throw new Fault({ code: "UNAVAILABLE", message: "the disk is full" });
    };
    const up = bench.up(notes([service("a"), service("b")], { pipes: [pipe("a", "b")] }));
    await expect(up).rejects.toMatchObject({ code: "UNAVAILABLE", message: "the disk is full" });
    expect(bench.workers.alive).toEqual([]);
    await bench.expectNothingLeft();
  });
});

describe("programs of the host", () => {
  const stdout = (from: string, to: string): ComposePipe => ({ from, to, stream: "stdout" });

  test("what they print is told by lines, both streams, before their exit; the rest of a line too", async () => {
    const bench = new Bench();
    const env = { LANG: "C" };
    await bench.up(notes([command("git", { env, cwd: "/desk/repo" })]), { env: { HOME: "/home/ada" } });
    const git = bench.program("git");
    expect(git.spec).toMatchObject({ cwd: "/desk/repo", stdin: "ignore" });
    expect(git.spec.env).toMatchObject({ LANG: "C", HOME: "/home/ada", CRUX_REPLICA: "1" });
    bench.told();
    await git.print("one\r\ntw");
    await git.print("wrong\n", "stderr");
    await git.print("o\nthree");
    git.exit(0);
    await settle(6);
    expect(bench.told()).toEqual([
      "git-1 | one",
      "git-1 | wrong",
      "git-1 | two",
      "git-1 | three",
      "git-1 exited(0)",
      "done 0",
    ]);
    await bench.expectNothingLeft();
  });

  test("are ready when a line of their stdout matches, in whatever pieces it comes", async () => {
    const bench = new Bench();
    const ready = { kind: "stdout", pattern: "^listening on \\d+$", timeoutMs: 60_000 } as const;
    await bench.up(notes([command("server", { ready }), service("client", { after: { server: "ready" } })]));
    const server = bench.program("server");
    await server.print("listening on 80\n", "stderr");
    await server.print("not listening on 80\nlisten");
    await settle();
    expect(bench.workers.alive).toEqual([]);
    await server.print("ing on 80\n");
    await settle();
    expect(bench.workers.alive).toEqual(["client"]);
    expect(bench.t.clock.pending).toBe(0);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("that complete without being ready have failed who waits for that", async () => {
    const bench = new Bench();
    const ready = { kind: "stdout", pattern: "up", timeoutMs: 60_000 } as const;
    await bench.up(notes([command("server", { ready }), service("client", { after: { server: "ready" } })]));
    bench.program("server").exit(0);
    await bench.over();
    expect(bench.told().slice(-3)).toEqual([
      "server-1 exited(0)",
      "client-1 skipped (server completed without being ready)",
      "done 0",
    ]);
    await bench.expectNothingLeft();
  });

  test("that are not there have failed", async () => {
    const bench = new Bench();
    bench.programs.missing.add("git");
    await bench.up(notes([command("git"), service("writer", { after: { git: "completed" } })]));
    await bench.over();
    expect(bench.told().slice(-4)).toEqual([
      "git-1 | could not start: program not found: git",
      "git-1 exited(1)",
      "writer-1 skipped (git failed)",
      "done 1",
    ]);
    await bench.expectNothingLeft();
  });

  test("a pipe: stdout to the stdin of another, and to an agent; stderr by its name", async () => {
    const bench = new Bench();
    const read: string[] = [];
    bench.workers.acts.set("writer", async (sys, { input }) => {
      for (let chunk = ""; chunk !== "end"; ) {
        const data = await sys.read(input ?? asFd(0), 65_536);
        chunk = data.byteLength === 0 ? "end" : Buffer.from(data).toString();
        read.push(chunk);
      }
    });
    const pipes = [
      stdout("git", "sort"),
      stdout("git", "writer"),
      { ...stdout("git", "wc"), stream: "stderr" },
    ] as const;
    await bench.up(notes([command("git"), command("sort"), command("wc"), service("writer")], { pipes }));
    const git = bench.program("git");
    await git.print("b\n");
    await git.print("bad\n", "stderr");
    await git.print("a\n");
    await settle();
    expect([bench.program("sort").input, bench.program("wc").input]).toEqual(["b\na\n", "bad\n"]);
    expect(bench.program("sort").isInputEnded).toBe(false);
    git.exit(0);
    await settle(6);
    expect([bench.program("sort").isInputEnded, bench.program("wc").isInputEnded]).toEqual([true, true]);
    expect([read.slice(0, -1).join(""), read.at(-1)]).toEqual(["b\na\n", "end"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("of lines that come at once no more are told than are kept; each is looked at for the ready pattern", async () => {
    const bench = new Bench();
    const ready = { kind: "stdout", pattern: "^up$", timeoutMs: 60_000 } as const;
    await bench.up(notes([command("yes", { ready }), service("after", { after: { yes: "ready" } })]));
    bench.told();
    await bench.program("yes").print(`up\n${"y\n".repeat(30_000)}`);
    await settle(6);
    const logs = await bench.projects.logs("notes", { services: ["yes"], tail: 5_000, follow: false });
    const lines: string[] = [];
    for await (const event of logs) lines.push(wordsOf(event));
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      1_000,
      "yes-1 | (29002 lines left out)",
      "yes-1 | y",
    ]);
    expect(bench.workers.alive).toEqual(["after"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("a pipe that is too full fails its writer", async () => {
    const bench = new Bench();
    await bench.up(
      notes([command("yes"), command("head", { after: { yes: "completed" } })], {
        pipes: [stdout("yes", "head")],
      }),
    );
    const yes = bench.program("yes");
    const spool = [...bench.spools.spools.values()][0];
    if (spool !== undefined)
      spool.write = () => {
        throw new Fault({ code: "UNAVAILABLE", message: "pipe spool full" });
      };
    await yes.print("y\n");
    await bench.over();
    expect(
      bench
        .told()
        .filter((words) => !words.includes("|"))
        .slice(-3),
    ).toEqual(["yes-1 exited(143)", "head-1 skipped (yes failed)", "done 143"]);
    await bench.expectNothingLeft();
  });

  test("a pipe that is too full is its writer's failure, also when it heeds the SIGPIPE", async () => {
    const bench = new Bench();
    bench.programs.stubborn.add("yes");
    const services = [command("yes"), command("head", { after: { yes: "completed" } })];
    await bench.up(notes(services, { pipes: [stdout("yes", "head")] }));
    const yes = bench.program("yes");
    const spool = [...bench.spools.spools.values()][0];
    if (spool !== undefined)
      spool.write = () => {
        throw new Fault({ code: "UNAVAILABLE", message: "pipe spool full" });
      };
    await yes.print("y\n");
    yes.end({ code: null, signal: "SIGPIPE" });
    await bench.over();
    const told = bench.told();
    expect(told).toContain("yes-1 | pipe spool full: nobody has read what it wrote");
    expect(told.at(-1)).toBe("done 141");
    await bench.expectNothingLeft();
  });

  test("a run that does not come to be leaves its pipe to the next one", async () => {
    const bench = new Bench();
    const reader = service("reader", {
      program: { kind: "agent", agent: "ghost", intent: "reader" },
      restart: "permanent",
    });
    await bench.up(notes([command("git"), reader], { pipes: [stdout("git", "reader")] }));
    const [spool] = [...bench.spools.spools.values()];
    await bench.t.clock.advance(1_000);
    expect(bench.t.logs).toEqual([]);
    expect(spool?.readers).toBe(0);
    bench.t.agents.set("ghost", agentFile());
    await bench.t.clock.advance(2_000);
    await settle(6);
    expect([bench.workers.alive, spool?.readers]).toEqual([["reader"], 1]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("a pipe that is taken out of the file is gone when nobody reads it any more", async () => {
    const bench = new Bench();
    const services = [command("git"), service("writer"), command("wc")];
    const pipes = [stdout("git", "writer")];
    const open = () => [...bench.spools.spools.keys()].filter((name) => name.startsWith("pipe-")).length;
    await bench.up(notes(services, { pipes }));
    await bench.up(notes(services));
    expect(open()).toBe(0);
    await bench.up(notes(services, { pipes }));
    // its reader goes on as it was started
    await bench.up(notes(services), { services: ["wc"] });
    expect(open()).toBe(1);
    await bench.workers.end("writer");
    expect(open()).toBe(0);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("one whose reader is gone is told by SIGPIPE; that is nobody's failure, and no reason to start again", async () => {
    const bench = new Bench();
    const yes = command("yes", { restart: "transient" });
    bench.programs.stubborn.add("yes");
    await bench.up(notes([yes, command("head")], { pipes: [stdout("yes", "head")] }));
    bench.program("head").exit(0);
    await settle(6);
    const program = bench.program("yes");
    void program.print("y\n");
    await settle();
    expect(program.signals[0]).toBe("SIGPIPE");
    program.end({ code: null, signal: "SIGPIPE" });
    await bench.over();
    expect(bench.told().slice(-2)).toEqual(["yes-1 exited(141)", "done 0"]);
    await bench.expectNothingLeft();
  });

  test("a transient one that the host kills is started again; one that a person ends is not", async () => {
    const bench = new Bench();
    const { t } = bench;
    await bench.up(notes([command("a", { restart: "transient" }), command("b", { restart: "transient" })]));
    bench.program("a").end({ code: null, signal: "SIGSEGV" });
    await t.init.kill(bench.projects.view("notes").replicas[1]?.pid as Pid, 3);
    bench.program("b").end({ code: null, signal: "SIGINT" });
    await t.clock.advance(1_000);
    expect(bench.projects.view("notes").replicas).toMatchObject([
      { service: "a", state: "running", restarts: 1 },
      { service: "b", state: "dead", exitCode: 130 },
    ]);
    await bench.projects.kill("notes");
    await bench.expectNothingLeft();
  });
});

describe("up() of a project that runs", () => {
  const services = [
    service("a", { restart: "permanent" }),
    service("b", { restart: "permanent", after: { a: "started" } }),
  ];

  test("unchanged services stay, changed ones are replaced, missing ones stay unless they are to go", async () => {
    const bench = new Bench();
    const { workers } = bench;
    const pid = await bench.up(notes([...services, service("c", { restart: "permanent" })]));
    const before = { a: workers.pid("a"), b: workers.pid("b"), c: workers.pid("c") };
    const changed = [
      service("d"),
      services[0] as ComposeService,
      { ...(services[1] as ComposeService), maxSteps: 3 },
    ];
    bench.told();
    expect(await bench.up(notes(changed))).toBe(pid);
    expect(workers.pid("a")).toBe(before.a);
    expect(workers.pid("b")).not.toBe(before.b);
    expect(workers.pid("c")).toBe(before.c);
    expect(bench.t.proc(workers.pid("b")).seed.maxSteps).toBe(3);
    expect(workers.alive).toEqual(["a", "b", "c", "d"]);
    const shown = bench.projects.view("notes").replicas.map(({ service: name }) => name);
    expect(shown).toEqual(["a", "c", "d", "b"]);
    await bench.up(notes(changed), { removeOrphans: true });
    expect(workers.alive).toEqual(["a", "b", "d"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("the same file again: nobody is touched; who has failed or was stopped starts, who has completed does not", async () => {
    const bench = new Bench();
    const { workers, t } = bench;
    const more = [...services, service("once"), service("weak"), service("off")];
    const pid = await bench.up(notes(more));
    await workers.end("once");
    await workers.end("weak", CRASH);
    await t.kernel.supervisor(pid).stopChild("off-1");
    workers.told();
    bench.told();
    await bench.up(notes(more.map((one) => ({ ...one }))));
    expect(workers.told().split(" ").sort()).toEqual(["+off", "+weak"]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("one that failed, and was started again by hand, has not failed for who comes later", async () => {
    const bench = new Bench();
    const { workers, t } = bench;
    const before = [...services, service("job")];
    const pid = await bench.up(notes(before));
    await workers.end("job", CRASH);
    await t.kernel.supervisor(pid).startChild("job-1");
    bench.told();
    await bench.up(notes([...before, service("after", { after: { job: "completed" } })]));
    expect(bench.told()).toContain("after-1 waits for job (completed)");
    await workers.end("job");
    expect(workers.alive).toContain("after");
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("who goes while others take their time is not started any more", async () => {
    const bench = new Bench();
    const { workers } = bench;
    workers.stubborn.add("slow");
    const stays = [service("job"), service("other", { restart: "permanent" })];
    const goes = [service("slow"), service("late", { after: { job: "completed" } })];
    await bench.up(notes([...stays, ...goes]));
    const request = { project: notes(stays), services: [], removeOrphans: true, env: {} };
    const changed = bench.projects.up(request);
    await settle();
    await workers.end("job");
    await bench.t.clock.advance(5_000);
    await workers.end("slow");
    (await changed).events.close();
    expect([workers.alive, bench.projects.view("notes").replicas.length]).toEqual([["other"], 2]);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("who gives up while it goes down does not bring it up again", async () => {
    const bench = new Bench();
    bench.workers.stubborn.add("a");
    await bench.up(notes([service("a")]));
    const down = bench.projects.down("notes", 60_000);
    await settle();
    const gone = new AbortController();
    const request = { project: notes([service("a")]), services: [], removeOrphans: false, env: {} };
    const cancelled = [1, 2].map(() =>
      expect(bench.projects.up(request, gone.signal)).rejects.toMatchObject({ code: "CANCELLED" }),
    );
    await settle();
    gone.abort();
    await Promise.all(cancelled);
    await bench.workers.end("a");
    await down;
    expect(bench.workers.alive).toEqual([]);
    await bench.expectNothingLeft();
  });

  test("when it ends meanwhile: CONFLICT, and nothing of the new file is left", async () => {
    const bench = new Bench();
    bench.workers.stubborn.add("slow");
    await bench.up(notes([...services, service("slow")]));
    const project = notes([...services, service("x"), service("y")], { pipes: [pipe("x", "y")] });
    const changed = bench.projects.up({ project, services: [], removeOrphans: true, env: {} });
    changed.catch(() => {});
    await settle();
    const killed = bench.projects.kill("notes");
    await bench.workers.end("slow");
    await expect(changed).rejects.toMatchObject({
      code: "CONFLICT",
      message: "project notes has ended meanwhile; bring it up again",
    });
    await killed;
    await bench.expectNothingLeft();
  });

  test("a pipe is not entered in the middle: where its writer starts again, so does its reader", async () => {
    const bench = new Bench();
    const { workers } = bench;
    const piped = [service("a"), service("b"), service("reader"), service("other", { restart: "permanent" })];
    const pipes = [pipe("a", "reader"), pipe("b", "reader")];
    await bench.up(notes(piped, { pipes }));
    await workers.end("b");
    await workers.end("a", CRASH);
    const before = workers.pid("reader");
    workers.told();
    await bench.up(notes(piped, { pipes }));
    expect(workers.told()).toBe("-reader +a +b +reader");
    expect(workers.pid("reader")).not.toBe(before);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("while it goes down: a new one, once the old one is gone", async () => {
    const bench = new Bench();
    const first = await bench.up(notes(services));
    const down = bench.projects.down("notes", 10_000);
    const second = await bench.up(notes(services));
    await down;
    expect(second).not.toBe(first);
    expect(bench.workers.alive).toEqual(["a", "b"]);
    expect(bench.projects.view("notes").pid).toBe(second);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });

  test("many at once are one after another", async () => {
    const bench = new Bench();
    const ups = Array.from({ length: 5 }, (_, at) =>
      bench.projects.up({
        project: notes([...services, service("c", { maxSteps: at + 1, restart: "permanent" })]),
        services: [],
        removeOrphans: false,
        env: {},
      }),
    );
    bench.workers.add("a", "b", "c");
    const pids = (await Promise.all(ups)).map(({ pid }) => pid);
    await settle(6);
    expect(new Set(pids).size).toBe(1);
    expect(bench.workers.alive).toEqual(["a", "b", "c"]);
    expect(bench.t.proc(bench.workers.pid("c")).seed.maxSteps).toBe(5);
    await bench.projects.down("notes", 10_000);
    await bench.expectNothingLeft();
  });
});

describe("logs()", () => {
  const say = (bench: Bench, name: string, words: string): void => bench.workers.sys(name).log("info", words);

  const read = async (events: Subscription<ProjectEvent>): Promise<string[]> =>
    (await Array.fromAsync(events)).map(wordsOf);

  test("the newest lines of each, merged in order, then what comes until the end", async () => {
    const bench = new Bench();
    await bench.up(notes([service("a"), service("b")]));
    for (const [name, words] of [
      ["a", "1"],
      ["a", "2"],
      ["b", "3"],
      ["a", "4"],
    ] as const) {
      say(bench, name, words);
      await settle();
    }
    const past = await bench.projects.logs("notes", { services: [], tail: 2, follow: false });
    expect(await read(past)).toEqual(["a-1 | [agent/2] 2", "b-1 | [agent/3] 3", "a-1 | [agent/2] 4"]);
    const live = await bench.projects.logs("notes", { services: ["b"], tail: 0, follow: true });
    say(bench, "a", "5");
    say(bench, "b", "6");
    await bench.projects.down("notes", 10_000);
    expect((await read(live)).slice(0, 1)).toEqual(["b-1 | [agent/3] 6"]);
    await bench.expectNothingLeft();
  });

  test("also of one that is over, with its view; the last 32 are remembered", async () => {
    const bench = new Bench();
    for (let n = 0; n < 33; n++) {
      const { project, ...rest } = {
        project: notes([service("a")], { name: `p${n}` }),
        services: [],
        removeOrphans: false,
        env: {},
      };
      bench.workers.add("a");
      await bench.projects.up({ project, ...rest });
      await settle(6);
      say(bench, "a", `line ${n}`);
      await bench.workers.end("a", CRASH);
    }
    expect(() => bench.projects.view("p0")).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    expect(bench.projects.view("p32").replicas).toMatchObject([
      { service: "a", replica: 1, state: "dead", exitCode: 1, restarts: 0 },
    ]);
    const lines = await read(await bench.projects.logs("p32", { services: ["a"], tail: 200, follow: true }));
    expect(lines[0]).toMatch(/^a-1 \| \[agent\/\d+\] line 32$/);
    const unknown = bench.projects.logs("p32", { services: ["b"], tail: 200, follow: true });
    await expect(unknown).rejects.toMatchObject({ code: "NOT_FOUND" });
    await bench.expectNothingLeft();
  });

  test("a client that does not read loses lines, never the end", async () => {
    const bench = new Bench();
    bench.workers.add("a");
    const request = { project: notes([service("a")]), services: [], removeOrphans: false, env: {} };
    const { events } = await bench.projects.up(request);
    await settle();
    for (let n = 0; n < 3_000; n++) {
      say(bench, "a", String(n));
      if (n % 100 === 0) await settle();
    }
    await bench.workers.end("a");
    const told = await read(events);
    expect(events.dropped).toBeGreaterThan(1_900);
    expect([told[0], told.includes("up"), told.at(-1)]).toEqual(["starting 1", true, "done 0"]);
    await bench.expectNothingLeft();
  });
});

test("a restart spends what is left of the budget", async () => {
  const bench = new Bench();
  const { t, workers } = bench;
  await bench.up(notes([service("a", { restart: "permanent", budgetTokens: 50 })]));
  hold(t.proc(workers.pid("a")).seed.account, 20)?.settle(20);
  await workers.end("a", CRASH);
  await t.clock.advance(1_000);
  expect(workers.sys("a").account()).toEqual({ limit: 50, used: 20, reserved: 0 });
  expect(bench.projects.view("notes").replicas).toMatchObject([{ restarts: 1, tokensUsed: 20 }]);
  const over: ExitStatus = EXIT.budget;
  await workers.end("a", over);
  await bench.over();
  expect(bench.told().at(-1)).toBe("failed (a-1: budget_exceeded) 2");
  await bench.expectNothingLeft();
});

describe("rejoin()", () => {
  const request = { id: "i".repeat(40), digest: "d" };
  const change = { id: "j".repeat(40), digest: "e" };
  const heard = async (events: Subscription<ProjectEvent>) => {
    const seen: ProjectEvent[] = [];
    for await (const event of events) if (event.event !== "log") seen.push(event);
    return seen.map(({ event }) => event);
  };

  test("follows what a request has brought up or changed, to its end, and what has ended tells that", async () => {
    const b = new Bench();
    b.t.journal.now = b.t.clock.now();
    const pid = await b.up(notes([service("a")]), { request });
    await b.up(notes([service("a"), service("b")]), { request: change });
    const { find } = b.t.kernel.requests;
    expect(await find(request.id)).toEqual({ digest: "d", pid, at: expect.any(Number) });
    expect(await find(change.id)).toEqual({ digest: "e", pid, at: expect.any(Number) });
    const events = await b.projects.rejoin("notes", pid, {});
    await b.projects.kill("notes");
    expect(await heard(events)).toEqual(["up", "exited", "exited", "stopped"]);
    expect(await heard(await b.projects.rejoin("notes", pid, {}))).toEqual(["stopped"]);
    // a daemon that was not there
    const later = testKernel({}, b.t.journal);
    expect(await heard(await later.kernel.projects.rejoin("notes", pid, {}))).toEqual(["stopped"]);
  });

  test("tells the code of the first service that failed, by the journal alone", async () => {
    const b = new Bench();
    const pid = await b.up(notes([service("a")]));
    await b.workers.end("a", CRASH);
    await b.over();
    const [end] = await Array.fromAsync(
      await testKernel({}, b.t.journal).kernel.projects.rejoin("notes", pid, {}),
    );
    expect(end).toMatchObject({ event: "done", code: CRASH.code });
  });

  test("CONFLICT for one that has not ended, and is not here", async () => {
    const b = new Bench();
    const pid = await b.up(notes([service("a")]));
    await b.t.journal.sync();
    const later = testKernel({}, b.t.journal);
    await expect(later.kernel.projects.rejoin("notes", pid, {})).rejects.toMatchObject({ code: "CONFLICT" });
    await b.projects.kill("notes");
  });
});
