/** compose.* over the socket, byte for byte, on a kernel that does what the test says. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProjectEvent, ProjectView } from "../../../../abi/compose/compose.ts";
import { SyscallError } from "../../../../abi/errors.ts";
import { asPid, PID_KERNEL } from "../../../../abi/ids.ts";
import type { Projects, ProjectUp } from "../../../../kernel/ports/projects.ts";
import { FakeSubscription, procInfo } from "../../testing/fake-kernel.ts";
import { type RawClient, ServerFixture, until } from "../../testing/fixture.ts";

class FakeProjects implements Projects {
  readonly calls: unknown[] = [];
  readonly ups: ProjectUp[] = [];
  events = new FakeSubscription<ProjectEvent>();
  readonly #view: ProjectView | undefined;

  constructor(view?: ProjectView) {
    this.#view = view;
  }

  async up(request: ProjectUp) {
    this.ups.push(request);
    return { pid: asPid(3), events: this.events };
  }
  async rejoin(name: string, pid: number, env: object) {
    this.calls.push(["rejoin", name, pid, env]);
    return this.events;
  }
  async down(name: string, timeoutMs: number): Promise<void> {
    this.view(name);
    this.calls.push(["down", name, timeoutMs]);
  }
  async kill(name: string): Promise<void> {
    this.calls.push(["kill", name]);
  }
  view(name: string): ProjectView {
    if (this.#view?.project === name) return this.#view;
    const message = `no project ${name}`;
    throw new SyscallError({ code: "NOT_FOUND", syscall: "Compose", pid: PID_KERNEL, message });
  }
  async logs(name: string, options: object) {
    this.calls.push(["logs", name, options]);
    return this.events;
  }
}

const replica = (service: string, more: object) => ({
  service,
  replica: 1,
  pid: asPid(4),
  state: "running" as const,
  exitCode: null,
  restarts: 0,
  tokensUsed: 0,
  elapsedMs: 99.9,
  ...more,
});
const VIEW: ProjectView = {
  project: "notes",
  pid: asPid(3),
  replicas: [
    replica("collector", { state: "dead", exitCode: 0 }),
    replica("writer", { replica: 2, pid: null, state: "waiting", tokensUsed: 7, restarts: 1 }),
  ],
};

let fixture: ServerFixture;
let client: RawClient;
let projects: FakeProjects;
let reaped: number[];
beforeEach(async () => {
  fixture = new ServerFixture();
  projects = new FakeProjects(VIEW);
  Object.assign(fixture.kernel, { projects });
  fixture.kernel.procs.push(procInfo(3, { kind: "supervisor" }));
  reaped = [];
  Object.assign(fixture.kernel.init, { reap: async (pid: number) => void reaped.push(pid) });
  await fixture.start();
  client = await fixture.connect();
});
afterEach(() => fixture.close());

const FILE = { services: { collector: { command: ["ls"] }, writer: { intent: "write", replicas: 2 } } };
const ask = (method: string, payload: object) => client.ask(JSON.stringify({ method, payload }));
const stream = async (method: string, payload: object, ...events: ProjectEvent[]): Promise<string> => {
  projects.events.push(...events);
  projects.events.end();
  client.send(`${JSON.stringify({ method, payload })}\n`);
  return client.rest();
};

describe("compose.config", () => {
  test("answers with the file and its defaults, in its own keys", async () => {
    const answer = JSON.parse(
      await ask("compose.config", { file: FILE, dir: "/desk/notes", project: "mine" }),
    );
    expect(answer).toMatchObject({
      ok: true,
      payload: {
        project: "mine",
        notices: [],
        file: {
          name: "mine",
          intensity: { max_restarts: 5, window_ms: 60_000 },
          services: { collector: { command: ["ls"], cwd: "/desk/notes", replicas: 1, restart: "temporary" } },
        },
      },
    });
  });

  test.each([
    [
      "services.w.depends_on: cycle w → w",
      { file: { services: { w: { intent: "x", depends_on: ["w"] } } }, dir: "/" },
    ],
    ["services.w.agnt: unknown key", { file: { services: { w: { agnt: "x" } } }, dir: "/" }],
    ["compose file: is empty", { file: null, dir: "/" }],
    ["payload.dir: must be absolute: desk", { file: FILE, dir: "desk" }],
    ["payload.fil: unknown key", { fil: FILE, file: FILE, dir: "/" }],
  ])("refuses: %s", async (message, payload) => {
    for (const method of ["compose.config", "compose.up"]) {
      const { ok, error } = JSON.parse(await ask(method, payload));
      expect({ ok, code: error.code, message: error.message }).toEqual({
        ok: false,
        code: "INVALID",
        message,
      });
    }
    expect(projects.ups).toEqual([]);
  });
});

test("compose.up of a request that is known follows what that has brought up, and brings up nothing", async () => {
  const keyed = { file: FILE, dir: "/desk/notes", project: "notes", env: { A: "b" }, idempotency_key: "k" };
  await stream("compose.up", keyed, { event: "stopped", project: "notes" });
  const [{ request }] = projects.ups as [ProjectUp];
  fixture.kernel.made.set(request?.id ?? "", { digest: request?.digest ?? "", pid: asPid(7), at: 0 });
  client = await fixture.connect();
  projects.events = new FakeSubscription();
  const text = await stream("compose.up", keyed, { event: "stopped", project: "notes" });
  expect(JSON.parse(text.split("\n")[0] ?? "")).toMatchObject({ ok: true, payload: { pid: 7 } });
  expect([projects.ups.length, projects.calls]).toEqual([1, [["rejoin", "notes", 7, { A: "b" }]]]);
});

test("compose.up is refused, with what to do, where the folder brings what is not trusted", async () => {
  let state = "new";
  const shown: string[] = [];
  const item = (path: string) => ({ path, state, kind: "instructions", digest: "", acts: [] });
  const show = async (dir: string) => {
    shown.push(dir);
    return { root: "/desk", items: ["AGENTS.md", "CLAUDE.md"].map(item) };
  };
  Object.assign(fixture.deps, { trust: { show } });
  const refused = JSON.parse(await ask("compose.up", { file: FILE, dir: "/desk/notes" }));
  expect(refused.error).toMatchObject({
    code: "PERMISSION",
    message: "/desk brings what you have not trusted: AGENTS.md, CLAUDE.md",
    fact: { kind: "untrusted", folder: "/desk" },
  });
  expect([projects.ups.length, shown]).toEqual([0, ["/desk/notes"]]);
  state = "trusted";
  await stream("compose.up", { file: FILE, dir: "/desk/notes" }, { event: "stopped", project: "notes" });
  expect(projects.ups).toHaveLength(1);
});

test("compose.up is refused from a file that is not trusted, or is not the one that was read", async () => {
  const digest = "ab".repeat(32);
  let file: object = { path: "notes/c.yaml", state: "changed", kind: "compose", digest, acts: [] };
  let refused: readonly object[] = [];
  const asked: unknown[] = [];
  const show = async (_dir: string, options: object) => {
    asked.push(options);
    return { root: "/desk", items: refused.length > 0 ? [] : [file], refused };
  };
  Object.assign(fixture.deps, { trust: { show } });
  const request = { file: FILE, dir: "/desk/notes", path: "/desk/notes/c.yaml", digest };
  const errorOf = async (payload: object) => JSON.parse(await ask("compose.up", payload)).error;
  expect(await errorOf(request)).toMatchObject({
    code: "PERMISSION",
    fact: { kind: "untrusted", folder: "/desk/notes/c.yaml" },
  });
  file = { ...file, state: "trusted" };
  expect(await errorOf({ ...request, digest: "cd".repeat(32) })).toMatchObject({
    code: "CONFLICT",
    message: "notes/c.yaml has changed since it was read",
  });
  refused = [{ path: "notes/c.yaml", why: "a link that leads out of the workspace" }];
  expect(await errorOf(request)).toMatchObject({
    code: "PERMISSION",
    message: "/desk/notes/c.yaml cannot be trusted: a link that leads out of the workspace",
  });
  refused = [];
  expect(projects.ups).toEqual([]);
  await stream("compose.up", request, { event: "stopped", project: "notes" });
  expect([projects.ups.length, asked.at(-1)]).toEqual([1, { compose: "/desk/notes/c.yaml" }]);
});

describe("compose.up", () => {
  const all: ProjectEvent[] = [
    { event: "starting", project: "notes", services: 2 },
    { event: "started", child: "collector-1", pid: asPid(4) },
    { event: "waiting", child: "writer-1", on: "collector", condition: "completed" },
    { event: "up", project: "notes", pid: asPid(3) },
    { event: "log", child: "collector-1", text: "3f2a1c0 fix parser" },
    { event: "exited", child: "collector-1", code: 0, reason: "completed" },
    { event: "restarting", child: "writer-1", delayMs: 2000.7, restarts: 1, max: 5 },
    { event: "skipped", child: "writer-2", reason: "collector failed" },
    { event: "done", project: "notes", tokens: 812, elapsedMs: 4000.9, code: 0 },
  ];
  const HEAD =
    '{"ok":true,"payload":{"pid":3,"project":"notes","children":["collector-1","writer-1","writer-2"],"notices":[]}}\n';

  test("hands all to the kernel and follows to the end", async () => {
    const payload = {
      file: FILE,
      dir: "/desk/notes",
      services: ["writer"],
      remove_orphans: true,
      env: { KEY: "k" },
    };
    expect(await stream("compose.up", payload, ...all)).toBe(`${HEAD}\
{"type":"event","payload":{"event":"starting","project":"notes","services":2}}
{"type":"event","payload":{"event":"started","child":"collector-1","pid":4}}
{"type":"event","payload":{"event":"waiting","child":"writer-1","on":"collector","condition":"completed"}}
{"type":"event","payload":{"event":"up","project":"notes","pid":3}}
{"type":"log","payload":{"event":"log","child":"collector-1","text":"3f2a1c0 fix parser"}}
{"type":"event","payload":{"event":"exited","child":"collector-1","code":0,"reason":"completed"}}
{"type":"event","payload":{"event":"restarting","child":"writer-1","delay_ms":2000,"restarts":1,"max":5}}
{"type":"event","payload":{"event":"skipped","child":"writer-2","reason":"collector failed"}}
{"type":"event","payload":{"event":"done","project":"notes","tokens":812,"elapsed_ms":4000,"code":0}}
{"type":"eof"}
`);
    const [up] = projects.ups;
    expect(up).toMatchObject({ services: ["writer"], removeOrphans: true, env: { KEY: "k" } });
    expect(up!.project.services.map(({ name }) => name)).toEqual(["collector", "writer"]);
    expect(projects.events.closed).toBe(true);
    expect(reaped).toEqual([3]);
  });

  test("one that another client has reaped is no error", async () => {
    Object.assign(fixture.kernel.init, {
      reap: () =>
        Promise.reject(
          new SyscallError({ code: "NOT_FOUND", syscall: "Reap", pid: PID_KERNEL, message: "gone" }),
        ),
    });
    await stream("compose.up", { file: FILE, dir: "/desk/notes" }, ...all);
    expect(fixture.logged).toEqual([]);
  });

  test("an unknown agent is NOT_FOUND with its path, before anything starts", async () => {
    const file = { services: { w: { intent: "x", agent: "missing" } } };
    const error = { code: "NOT_FOUND", message: "services.w.agent: agent not found: missing" };
    expect(JSON.parse(await ask("compose.up", { file, dir: "/desk", env: { A: "b" } })).error).toEqual(error);
    expect(fixture.loaded).toEqual([["missing", "/desk", { A: "b" }]]);
    expect(JSON.parse(await ask("compose.config", { file, dir: "/desk" })).error).toEqual(error);
    expect(projects.ups).toEqual([]);
  });

  test("detached, it ends after up, and only the watching ends", async () => {
    const text = await stream("compose.up", { file: FILE, dir: "/desk/notes", detach: true }, ...all);
    expect(text.split("\n").slice(-3)).toEqual([
      '{"type":"event","payload":{"event":"up","project":"notes","pid":3}}',
      '{"type":"eof"}',
      "",
    ]);
    expect(projects.events.closed).toBe(true);
    expect([projects.calls, reaped]).toEqual([[], []]);
    expect(projects.ups[0]).toMatchObject({ services: [], removeOrphans: false, env: { FROM: "daemon" } });
  });

  test("detached, a project that ends before it is up ends the stream too", async () => {
    const failed: ProjectEvent = { event: "failed", project: "notes", reason: "x", code: 3 };
    expect(await stream("compose.up", { file: FILE, dir: "/", detach: true }, failed)).toContain(
      '{"type":"event","payload":{"event":"failed","project":"notes","reason":"x","code":3}}\n{"type":"eof"}\n',
    );
  });

  test("takes a budget in money, and tells what a slow client has missed", async () => {
    projects.events = new FakeSubscription<ProjectEvent>(2);
    const file = { ...FILE, budget: { usd: 1 } };
    const text = await stream("compose.up", { file, dir: "/desk/notes" }, ...all);
    expect(text).toContain('"notices":[]');
    expect(text).toContain('{"type":"eof","payload":{"dropped":7}}\n');
  });

  test("tells what a person must read of a process first", async () => {
    fixture.kernel.notice = "A script answers.";
    expect(await stream("compose.up", { file: FILE, dir: "/desk/notes" }, ...all)).toContain(
      '{"event":"started","child":"collector-1","pid":4,"notice":"A script answers."}',
    );
  });

  test("a client that goes away ends nothing but its watching", async () => {
    client.send(`${JSON.stringify({ method: "compose.up", payload: { file: FILE, dir: "/desk/notes" } })}\n`);
    await client.line();
    client.socket.destroy();
    await until(() => projects.events.closed);
    expect(projects.calls).toEqual([]);
  });
});

test("compose.down: in time, or at once; NOT_FOUND leaves the connection usable", async () => {
  expect(await ask("compose.down", { project: "notes" })).toBe('{"ok":true}\n');
  expect(await ask("compose.down", { project: "notes", timeout_ms: 5 })).toBe('{"ok":true}\n');
  expect(await ask("compose.down", { project: "notes", kill: true })).toBe('{"ok":true}\n');
  expect(projects.calls).toEqual([
    ["down", "notes", 10_000],
    ["down", "notes", 5],
    ["kill", "notes"],
  ]);
  for (const method of ["compose.down", "compose.ps", "compose.logs"])
    expect(JSON.parse(await ask(method, { project: "other" })).error).toMatchObject({
      code: "NOT_FOUND",
      message: "no project other",
    });
});

test("compose.ps of a project that has ended is NOT_FOUND", async () => {
  fixture.kernel.procs = [procInfo(3, { kind: "supervisor", state: "zombie" })];
  expect(JSON.parse(await ask("compose.ps", { project: "notes" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "no project notes is running",
    hint: "crux compose up starts it, crux compose logs shows what it wrote",
  });
});

test("compose.ps of a project that has failed is NOT_FOUND, with the reason and its services", async () => {
  fixture.kernel.procs = [];
  Object.assign(fixture.kernel, {
    projects: new FakeProjects({ ...VIEW, failure: "writer-2 failed (exit code 3)" }),
  });
  expect(JSON.parse(await ask("compose.ps", { project: "notes" })).error).toMatchObject({
    code: "NOT_FOUND",
    message: "no project notes is running: it has failed: writer-2 failed (exit code 3)",
    details: { pid: 3, services: [{ service: "collector" }, { service: "writer", state: "waiting" }] },
  });
});

test("compose.ps has the keys of the manual, in order", async () => {
  expect(await ask("compose.ps", { project: "notes" })).toBe(
    '{"ok":true,"payload":{"project":"notes","pid":3,"services":[' +
      '{"service":"collector","replica":1,"pid":4,"state":"dead","exit_code":0,"restarts":0,"tokens_used":0,"elapsed_ms":99},' +
      '{"service":"writer","replica":2,"pid":null,"state":"waiting","exit_code":null,"restarts":1,"tokens_used":7,"elapsed_ms":99}]}}\n',
  );
});

describe("compose.logs", () => {
  const events: ProjectEvent[] = [
    { event: "started", child: "writer-2", pid: asPid(5) },
    { event: "log", child: "writer-2", text: "hm" },
  ];

  test("sends logs alone, then eof", async () => {
    expect(await stream("compose.logs", { project: "notes" }, ...events)).toBe(`\
{"ok":true,"payload":{"children":["collector-1","writer-2"]}}
{"type":"log","payload":{"event":"log","child":"writer-2","text":"hm"}}
{"type":"eof"}
`);
    expect(projects.calls).toEqual([["logs", "notes", { services: [], tail: 200, follow: false }]]);
    expect(projects.events.closed).toBe(true);
  });

  test("of the services asked for", async () => {
    const payload = { project: "notes", services: ["writer"], tail: 3, follow: true };
    expect(await stream("compose.logs", payload)).toContain('{"children":["writer-2"]}');
    expect(projects.calls).toEqual([["logs", "notes", { services: ["writer"], tail: 3, follow: true }]]);
  });
});
