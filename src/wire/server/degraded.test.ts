/** A disk that takes nothing: what a client wants kept is refused before any of it is done, what it looks at is answered. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { METHODS, type MethodName } from "../../abi/methods/methods.ts";
import { EXIT, type ExitStatus, SIGNALS } from "../../abi/process.ts";
import { bytes, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import type { MethodAnswer, RequestContext } from "./handler.ts";
import { HANDLERS } from "./handlers.ts";
import { Repeats } from "./repeats.ts";
import { ServerFixture } from "./testing/fixture.ts";

const FILE = { name: "notes", services: { a: { command: ["a"] } } };
const UP = { file: FILE, dir: "/desk" };
const RESTS = 1;
const ENDED = 2;
const LIVE = 3;
const PAUSED = 4;
const SUPERVISOR = 5;
const ENV = { KEY: "value" };
const MCP = { type: "stdio", command: "server", args: [], env: {} };

/** Each with what makes it write. */
const WRITES: Partial<Record<MethodName, readonly object[]>> = {
  spawn: [{ intent: "more" }],
  "process.signal": [
    { pid: LIVE, signal: SIGNALS.SIGPAUSE },
    { pid: PAUSED, signal: SIGNALS.SIGRESUME, env: ENV },
    { pid: LIVE, signal: SIGNALS.SIGPAUSE, tree: true },
    { pid: RESTS, signal: SIGNALS.SIGTERM },
    { pid: RESTS, signal: SIGNALS.SIGRESUME },
  ],
  "process.resume": [{ pid: PAUSED, env: ENV }, { pid: ENDED }, { pid: RESTS }],
  "process.fork": [{ pid: LIVE }, { pid: ENDED, text: "go", wake: true }],
  "process.rewind": [{ pid: ENDED }, { pid: ENDED, files: true, force: true }],
  "process.mode": [
    { pid: LIVE, mode: "plan" },
    { pid: RESTS, mode: "plan" },
  ],
  "grant.remove": [{ id: "g_1" }],
  "label.clear": [{ pid: LIVE, which: "web" }],
  "context.compact": [{ pid: LIVE }, { pid: RESTS }],
  "context.undo": [{ pid: LIVE }, { pid: RESTS }],
  "context.clear": [{ pid: LIVE }],
  "context.memory": [{ pid: LIVE, on: false }],
  "context.snip": [{ pid: LIVE, messages: [1] }],
  "context.pin": [{ pid: LIVE, text: "mine" }],
  "context.unpin": [{ pid: LIVE, message: 1 }],
  "process.note": [
    { pid: LIVE, text: "mine" },
    { pid: RESTS, text: "mine" },
  ],
  "process.renice": [
    { pid: LIVE, weight: 20 },
    { pid: RESTS, weight: 20 },
  ],
  "process.background": [{ pid: LIVE }],
  "process.model": [
    { pid: LIVE, model: "fake" },
    { pid: RESTS, model: "fake" },
  ],
  "group.signal": [{ group: "team", signal: SIGNALS.SIGPAUSE }],
  "group.join": [{ pid: LIVE, group: "other" }],
  "group.leave": [{ pid: LIVE, group: "team" }],
  "mail.send": [
    { pid: LIVE, text: "hello" },
    { pid: RESTS, text: "hello" },
  ],
  "session.open": [{ pid: RESTS }, { pid: ENDED }],
  "session.change": [{ pid: RESTS, dirs: ["/home/ana/shop"] }],
  "grant.add": [
    { pid: LIVE, deny: ["bash"] },
    { pid: RESTS, allow: ["bash"] },
  ],
  "session.say": [
    { pid: LIVE, text: "hello" },
    { pid: RESTS, text: "hello" },
  ],
  "session.aside": [{ pid: LIVE, text: "and?" }],
  "session.withdraw": [{ pid: LIVE, seq: 1 }],
  "session.describe": [
    { pid: LIVE, title: "new" },
    { pid: RESTS, kept: true },
  ],
  "supervisor.start_child": [{ pid: SUPERVISOR, child: "a" }],
  "supervisor.restart_child": [{ pid: SUPERVISOR, child: "a" }],
  "compose.up": [UP, { ...UP, project: "other" }],
  "mcp.mount": [{ path: "/mnt/mcp/x", config: MCP }],
  "ask.answer": [{ ask_id: "open", answer: "yes" }],
  "budget.set": [
    { pid: LIVE, set: { tokens: 5 } },
    { pid: RESTS, set: { tokens: 5 } },
  ],
};

/** Each answers, and leaves no record. */
const READS: Partial<Record<MethodName, readonly object[]>> = {
  ping: [{}],
  auth: [{ cookie: "c" }],
  "auto_mode.config": [{}],
  list_procs: [{}],
  attach_debug: [{ pid: LIVE }],
  "process.list": [{}],
  "process.ended": [{}, { tree: ENDED }],
  "process.attach": [{ pid: LIVE }],
  "process.logs": [{ pid: LIVE }, { pid: ENDED }, { pid: RESTS }],
  "process.steps": [{ pid: LIVE }, { pid: ENDED }, { pid: RESTS }],
  "process.rewind": [{ pid: ENDED, files: true, dry_run: true }],
  "process.replay": [{ pid: ENDED }],
  "process.records": [{ pid: ENDED }],
  "process.mode": [{ pid: LIVE }, { pid: ENDED }, { pid: RESTS }],
  "grant.list": [{}, { pid: LIVE }, { pid: RESTS }],
  "label.list": [{ pid: LIVE }],
  "process.note": [{ pid: LIVE }, { pid: ENDED }, { pid: RESTS }],
  "group.list": [{}],
  "session.list": [{ all: true }],
  "session.open": [{ pid: LIVE }],
  "session.history": [{ pid: LIVE }, { pid: RESTS }],
  "context.stat": [{ pid: LIVE }, { pid: ENDED }, { pid: RESTS }],
  "compose.config": [UP],
  "compose.ps": [{ project: "notes" }],
  "compose.logs": [{ project: "notes", follow: false }],
  "mcp.list": [{}],
  "budget.get": [{}, { pid: LIVE }],
  "cost.get": [{}],
  "job.list": [{}, { pid: LIVE }],
  "kernel.metrics": [{}],
  "kernel.status": [{}],
};

/** What ends something acts whatever the disk does; what asks the journal as a whole is tested with it. */
const OTHERS: readonly MethodName[] = [
  ...(["kill", "compose.down", "supervisor.stop_child", "mcp.unmount", "shutdown"] as const),
  "process.wait",
  ...(["job.output", "task.list"] as const),
  ...(["session.serve_files", "session.answer_file"] as const),
  ...([
    "agents.check",
    "skills.check",
    "memory.list",
    "settings.list",
    "settings.set",
    "credential.list",
    "credential.set",
    "credential.remove",
    "file.list",
    "file.read",
  ] as const),
  ...(["model.list", "model.resolve"] as const),
  ...(["trust.list", "trust.show", "trust.add", "trust.decline", "trust.remove"] as const),
  ...(["journal.check", "journal.verify", "journal.roots", "journal.read", "journal.collect"] as const),
];

const FULL = {
  state: "degraded",
  reason: "journal_full",
  path: "/state/journal.db",
  freeBytes: 0,
  needBytes: 4096,
} as const;

let t: TestKernel;
let call: RequestContext;
let fixture: ServerFixture;
let ended: AbortController;

/** One that rests and one that has ended; one that waits with mail, one that is paused, a supervisor, a project. */
beforeEach(async () => {
  const before = testKernel();
  const [rests, gone] = [await before.start({ session: true }), await before.start()];
  await gone.sys.appendMessage(gone.start.ctxId, "assistant", "done");
  gone.end();
  await before.init.wait(gone.pid);
  expect([rests.pid, gone.pid]).toEqual([RESTS, ENDED]);
  await before.journal.sync();
  let names = 0;
  const uuid = () => asProcUuid(`00000000-0000-4000-9000-${String(++names).padStart(12, "0")}`);
  t = testKernel({ uuid }, before.journal);
  await t.kernel.recover();
  await t.start({ session: true, group: "team" });
  await t.init.send(asPid(LIVE), bytes("first"));
  await t.start();
  await t.init.signal(asPid(PAUSED), SIGNALS.SIGPAUSE);
  t.programs.set("a", ({ ending }) => untilEnd(ending));
  await t.init.spawnSupervisor({ name: "shop", children: [{ id: "a", start: { intent: "a" } }] });
  await settle(6);
  expect(t.kernel.supervisor(asPid(SUPERVISOR)).view().children).toMatchObject([{ state: "running" }]);
  fixture = new ServerFixture();
  ended = new AbortController();
  const { deps, clock } = fixture;
  const signals = { ended: ended.signal, gone: ended.signal };
  const loopLag = { longestMs: () => 0 } as unknown as RequestContext["loopLag"];
  const principal = { kind: "user", isProven: true, uid: null } as const;
  const repeats = new Repeats();
  const who = { principal, client: "", prove: () => "user", claimName: () => {} };
  call = { kernel: t.kernel, deps, clock, connections: 1, uptimeMs: 0, loopLag, repeats, ...who, ...signals };
  await do_("compose.up", UP);
  await settle(6);
  t.journal.state = FULL;
});
afterEach(async () => {
  t.journal.state = { state: "well" };
  ended.abort();
  await t.kernel.abandon("over");
  await fixture.close();
});

function untilEnd(signal: AbortSignal): Promise<ExitStatus> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(EXIT.unexpected)));
}

async function do_(method: MethodName, params: object): Promise<unknown> {
  const handler = HANDLERS[method] as (
    params: object,
    call: RequestContext,
  ) => Promise<MethodAnswer<MethodName>>;
  return (await handler(params, call)).payload;
}

/** What is known of it all: nothing of that may change. */
const picture = () => ({
  records: t.journal.kinds(),
  processes: [...t.kernel.table.all()].map(({ pid, state, isPaused, mailbox, seed }) => ({
    ...{ pid, state, isPaused, mail: mailbox?.size ?? 0, env: seed.env },
  })),
  mounts: t.kernel.listMounts(),
  sleeps: t.clock.pending,
});

test("every method is of one kind", () => {
  const told = new Set<string>([...Object.keys(WRITES), ...Object.keys(READS), ...OTHERS]);
  expect([...told].sort()).toEqual(Object.keys(METHODS).sort());
});

const each = (table: typeof WRITES) =>
  Object.entries(table).flatMap(([method, all]) =>
    all.map((params) => [method, params] as [MethodName, object]),
  );

test.each(each(WRITES))("%s %j is refused before anything happened", async (method, params) => {
  const before = picture();
  await expect(do_(method, params)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/journal_full: .*\/state\/journal\.db.*; nothing was begun$/),
    fact: { kind: "disk", reason: "journal_full", path: "/state/journal.db" },
  });
  await settle(6);
  expect(picture()).toEqual(before);
});

const full = () => Promise.reject(new Fault({ code: "UNAVAILABLE", message: "the disk is full" }));

test.each(each(READS))("%s %j answers", async (method, params) => {
  t.journal.sync = full;
  const before = t.journal.kinds();
  await do_(method, params);
  await settle(6);
  expect(t.journal.kinds()).toEqual(before);
});

test("what ends a process acts, and says what could not be recorded", async () => {
  t.journal.sync = full;
  await expect(do_("kill", { pid: PAUSED, signal: SIGNALS.SIGKILL })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("the signal was delivered, but it could not be recorded"),
  });
  await settle(6);
  expect(t.proc(PAUSED).ending.verdict).toMatchObject(EXIT.sigkill);
});
