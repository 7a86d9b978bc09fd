/** Compose projects across daemons: order, what their file says now, and what nobody may get more of. */

import { describe, expect, test } from "vitest";
import type { ComposeProject, ComposeService } from "../../abi/compose/compose.ts";
import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { ProjectUp } from "../../kernel/ports/projects.ts";
import { Daemon } from "../../kernel/testing/daemons.ts";
import { FakePrograms } from "../../kernel/testing/fake-programs.ts";
import { hold } from "../../kernel/testing/hold.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";

type Wish = Partial<ComposeService> & { readonly after?: ComposeService["dependsOn"] };

/** An agent whose intent is its name. */
function service(name: string, { after = {}, ...more }: Wish = {}): ComposeService {
  return {
    name,
    program: { kind: "agent", agent: "none", intent: name },
    maxSteps: 0,
    timeoutMs: 0,
    cwd: "/desk/shop",
    env: {},
    budgetTokens: 0,
    dependsOn: after,
    restart: "permanent",
    replicas: 1,
    shutdownMs: 5_000,
    ...more,
  };
}

function shop(services: readonly ComposeService[], more: Partial<ComposeProject> = {}): ComposeProject {
  return {
    name: "shop",
    budgetTokens: 0,
    intensity: { maxRestarts: 9, windowMs: 60_000 },
    backoff: { initialMs: 100, factor: 1, maxMs: 100, jitter: 0 },
    services,
    pipes: [],
    messages: true,
    ...more,
  };
}

const SOURCE = { path: "/desk/shop/crux.compose.yaml", dir: "/desk/shop", name: "" };

class Bench {
  daemon = new Daemon();
  /** What the compose file says when it is read again. */
  file: () => ComposeProject = () => {
    throw new Fault({ code: "INVALID", message: "it is gone" });
  };

  async up(project: ComposeProject, more: Partial<ProjectUp> = {}): Promise<Pid> {
    this.file = () => project;
    this.daemon.workers.add(..."abcdefgh");
    const request = { project, services: [], removeOrphans: false, env: {}, source: SOURCE, ...more };
    const { pid, events } = await this.daemon.t.kernel.projects.up(request);
    events.close();
    await settle(6);
    return pid;
  }

  async die(goneMs = 0): Promise<void> {
    this.daemon = await this.daemon.next(goneMs, {
      loadProject: async () => this.file(),
      env: { FROM: "daemon" },
    });
  }

  get states(): string {
    const { replicas } = this.daemon.t.kernel.projects.view("shop");
    return replicas.map(({ service: name, state }) => `${name} ${state}`).join(", ");
  }

  notes(): readonly (string | undefined)[] {
    return this.daemon.t.kernel.projects.view("shop").replicas.map(({ note }) => note);
  }

  async down(pid: Pid): Promise<void> {
    await this.daemon.t.kernel.projects.down("shop", 10_000);
    await this.daemon.expectNothingLeft(pid);
  }
}

describe("a project comes back", () => {
  test("in the order of its dependencies, not before they are ready again", async () => {
    const bench = new Bench();
    const pid = await bench.up(
      shop([
        service("c", { after: { b: "started" } }),
        service("b", { after: { a: "ready", d: "completed" } }),
        service("a", { ready: { kind: "step", timeoutMs: 60_000 } }),
        service("d", { restart: "temporary" }),
      ]),
    );
    bench.daemon.workers.sys("a").onStep(2);
    await bench.daemon.workers.end("d");
    await bench.daemon.t.journal.sync();
    expect(bench.states).toBe("a running, d dead, b running, c running");
    await bench.die();
    expect(bench.states).toBe("a restarting, d dead, b restarting, c restarting");
    await bench.daemon.t.clock.advance(100);
    expect(bench.daemon.workers.told()).toBe("+a");
    expect(bench.states).toBe("a running, d dead, b waiting, c waiting");
    bench.daemon.workers.sys("a").onStep(2);
    await settle(6);
    expect(bench.daemon.workers.told()).toBe("+b +c");
    expect(bench.states).toBe("a running, d dead, b running, c running");
    await bench.down(pid);
  });

  test("one that waited waits again; one that was dropped leaves those that had what they need", async () => {
    const bench = new Bench();
    const pid = await bench.up(
      shop([
        service("a", { restart: "temporary" }),
        service("b", { after: { a: "started" } }),
        service("c", { after: { b: "completed" } }),
      ]),
    );
    await bench.die();
    expect(bench.states).toBe("a dead, b restarting, c waiting");
    await bench.daemon.t.clock.advance(100);
    expect(bench.daemon.workers.told()).toBe("+b");
    expect(bench.states).toBe("a dead, b running, c waiting");
    await bench.down(pid);
  });

  test("ends as it would have, when nothing of it is to run again", async () => {
    const bench = new Bench();
    const pid = await bench.up(shop([service("a", { restart: "temporary" })]));
    await bench.die();
    await settle(6);
    expect(bench.daemon.t.proc(pid).exit).toEqual(EXIT.completed);
    expect(bench.daemon.workers.told()).toBe("");
    await bench.daemon.expectNothingLeft(pid);
  });

  test("a service whose definition differs is not started, nor what needs it; up starts it as it is now", async () => {
    const bench = new Bench();
    const before = shop([service("a"), service("b", { after: { a: "started" } }), service("c")]);
    const pid = await bench.up(before);
    const wider = shop([
      service("a", { budgetTokens: 1_000_000, permissionMode: "bypass" }),
      service("b", { after: { a: "started" } }),
      service("c"),
    ]);
    bench.file = () => wider;
    await bench.die();
    await bench.daemon.t.clock.advance(100);
    expect(bench.states).toBe("a skipped, b skipped, c running");
    expect(bench.daemon.workers.told()).toBe("+c");
    expect(bench.notes()[0]).toMatch(/^not started: its definition, or a variable in it, differs/);
    const [child] = bench.daemon.t.kernel.supervisor(pid).view().children;
    await expect(bench.daemon.t.kernel.supervisor(pid).startChild(child?.id ?? "")).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await bench.up(wider);
    expect(bench.states).toBe("c running, a running, b running");
    expect(bench.notes()).toEqual([undefined, undefined, undefined]);
    await bench.down(pid);
  });

  test.each<[string, () => ComposeProject, string]>([
    [
      "is gone",
      () => {
        throw new Fault({ code: "INVALID", message: "it is gone" });
      },
      "/desk/shop/crux.compose.yaml: it is gone",
    ],
    ["is of another project", () => ({ ...shop([]), name: "other" }), "it is now of a project other"],
  ])("whose file %s starts nothing and says why", async (_what, file, why) => {
    const bench = new Bench();
    const pid = await bench.up(shop([service("a"), service("b")]));
    bench.file = file;
    await bench.die();
    await bench.daemon.t.clock.advance(1_000);
    expect(bench.daemon.workers.told()).toBe("");
    expect(bench.daemon.t.proc(pid).exit?.code).toBe(0);
    const logs = await bench.daemon.t.kernel.projects.logs("shop", {
      services: ["a"],
      tail: 5,
      follow: false,
    });
    const lines = [];
    for await (const event of logs) lines.push(event.event === "log" ? event.text : "");
    expect(lines.join("\n")).toContain(why);
    await bench.daemon.expectNothingLeft(pid);
  });

  test("one brought up by a client that did not say where its file is starts nothing either", async () => {
    const bench = new Bench();
    const { source: _none, ...request } = {
      project: shop([service("a")]),
      services: [],
      removeOrphans: false,
      env: {},
      source: SOURCE,
    };
    bench.daemon.workers.add("a");
    const { pid, events } = await bench.daemon.t.kernel.projects.up(request);
    events.close();
    await bench.die();
    await bench.daemon.t.clock.advance(1_000);
    expect(bench.daemon.workers.told()).toBe("");
    await bench.daemon.expectNothingLeft(pid);
  });

  test("its budget and those of its services are what is left of them, whatever the file says now", async () => {
    const bench = new Bench();
    const project = shop([service("a", { budgetTokens: 100 })], { budgetTokens: 1_000 });
    const pid = await bench.up(project);
    const { seed } = bench.daemon.t.proc(bench.daemon.workers.pid("a"));
    hold(seed.account, 60)?.settle(60);
    for (const account of seed.account.limited()) {
      const { used } = account.view();
      account.onUse?.(account.spent);
      if (account.owner !== null)
        bench.daemon.t.journal.note([{ ...account.owner, kind: "acct.settle", v: 1, body: { used } }]);
    }
    await bench.daemon.t.journal.sync();
    bench.file = () => ({ ...project, budgetTokens: 1_000_000 });
    await bench.die();
    await bench.daemon.t.clock.advance(100);
    const again = bench.daemon.t.proc(bench.daemon.workers.pid("a")).seed.account;
    expect(again.limited().map((account) => account.view())).toEqual([
      { limit: 100, used: 60, reserved: 0 },
      { limit: 1_000, used: 60, reserved: 0 },
    ]);
    await bench.down(pid);
  });

  test("keeps no value of an environment; the daemon's serves until a person brings it up again", async () => {
    const programs = new FakePrograms();
    const bench = new Bench();
    bench.daemon = new Daemon(undefined, { exec: programs });
    const native = service("a", { program: { kind: "native", command: ["a"] }, env: { TOKEN: "hidden-1" } });
    const pid = await bench.up(shop([native]), { env: { KEY: "hidden-2" } });
    expect(JSON.stringify(bench.daemon.t.journal.records)).not.toContain("hidden");
    const next = new FakePrograms();
    bench.daemon = await bench.daemon.next(0, {
      exec: next,
      loadProject: async () => shop([native]),
      env: { FROM: "daemon" },
    });
    await bench.daemon.t.clock.advance(100);
    expect(next.last.spec.env).toMatchObject({ FROM: "daemon", TOKEN: "hidden-1" });
    await bench.up(shop([native]), { env: { KEY: "hidden-3" } });
    expect(next.started).toHaveLength(1);
    await bench.daemon.t.kernel.supervisor(pid).restartChild("a-1");
    expect(next.last.spec.env).toMatchObject({ KEY: "hidden-3" });
    expect(JSON.stringify(bench.daemon.t.journal.records)).not.toContain("hidden");
    await bench.down(pid);
  });

  test("what a change made of it comes back, and what was brought down does not", async () => {
    const bench = new Bench();
    const pid = await bench.up(shop([service("a"), service("b")]));
    await bench.up(shop([service("a"), service("c")]), { removeOrphans: true });
    expect(bench.states).toBe("a running, c running");
    await bench.die();
    await bench.daemon.t.clock.advance(100);
    expect(bench.states).toBe("a running, c running");
    await bench.daemon.t.kernel.projects.down("shop", 1_000);
    await bench.die();
    expect(() => bench.daemon.t.kernel.projects.view("shop")).toThrow(/no project shop/);
    expect(bench.daemon.t.kernel.table.get(pid)).toBeUndefined();
  });
});
