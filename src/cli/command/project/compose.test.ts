/** The commands against a daemon that answers as the test says: screens byte for byte, Ctrl-C, exit codes. */
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProjectEventWire } from "../../../abi/compose/wire.ts";
import type { WireStreamLine } from "../../../abi/wire.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { CONFIGURE_LINES } from "../../run/configure-help.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";
import { parseComposeArgs } from "./compose.ts";

let dir: string;
let file: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-compose-"));
  file = join(dir, "my.yaml");
  writeFileSync(
    file,
    'name: notes\nservices: { collector: { command: [git, log, "${RANGE:-HEAD~20..}"] } }\n',
  );
});
afterAll(() => rmSync(dir, { recursive: true }));

const line = (payload: ProjectEventWire): WireStreamLine => ({
  type: payload.event === "log" ? "log" : "event",
  payload,
});
const SAMPLE: readonly ProjectEventWire[] = [
  { event: "starting", project: "notes", services: 2 },
  { event: "started", child: "collector-1", pid: 4 },
  { event: "waiting", child: "writer-1", on: "collector", condition: "completed" },
  { event: "up", project: "notes", pid: 3 },
  { event: "log", child: "collector-1", text: "3f2a1c0 fix parser" },
  { event: "exited", child: "collector-1", code: 0, reason: "completed" },
  { event: "started", child: "writer-1", pid: 5 },
  { event: "log", child: "writer-1", text: "[agent/5] reasoning step 1..." },
  { event: "exited", child: "writer-1", code: 0, reason: "completed" },
  { event: "done", project: "notes", tokens: 812, elapsed_ms: 4000, code: 0 },
];
const SCREEN = `\
[compose] notes: starting 2 services
[compose] collector-1: started (PID 4)
[compose] writer-1: waiting for collector (completed)
collector-1 | 3f2a1c0 fix parser
[compose] collector-1: exited(0)
[compose] writer-1: started (PID 5)
writer-1    | [agent/5] reasoning step 1...
[compose] writer-1: exited(0)
[compose] notes: done | tokens: 812 | elapsed: 4.0s
`;
/** What the folder brings is trusted, its compose file as well. */
const NOTHING = { trusted: true, session_only: false, main: null, declined: false, items: [], refused: [] };
const TRUSTED = { "trust.show": () => ({ root: dir, ...NOTHING }) };
const UP = { pid: 3, project: "notes", children: ["collector-1", "writer-1"], notices: [] as string[] };

const feed = (...events: readonly ProjectEventWire[]): Feed => new Feed().push(...events.map(line));
const ended = (events: readonly ProjectEventWire[], eof: object = { type: "eof" }): Feed =>
  feed(...events)
    .push(eof as WireStreamLine)
    .end();
const following = (events: readonly ProjectEventWire[], more: object = {}) =>
  new FakeDaemon({ ...TRUSTED, "compose.up": () => ({ ...UP, ...more }) }, ended(events));
const up = (flags: string, daemon: FakeDaemon) => crux(`compose -f ${file} up ${flags}`, { daemon });

describe("compose up", () => {
  test.each(MODE_FLAGS)("%s is %s", async (flags, mode) => {
    const { out, err, code, daemon } = await up(flags, following(SAMPLE));
    expect({ err, code, open: daemon.openConnections }).toEqual({ err: "", code: 0, open: 0 });
    if (mode === "default") expect(out).toBe(SCREEN);
    if (mode === "verbose") expect(out).toBe(SCREEN.replaceAll("exited(0)", "exited(0) | completed"));
    if (mode === "quiet") expect(out).toBe("3f2a1c0 fix parser\n[agent/5] reasoning step 1...\n");
    if (mode === "json")
      expect(
        out
          .trimEnd()
          .split("\n")
          .map((text) => JSON.parse(text)),
      ).toEqual(SAMPLE);
  });

  test("--json gives one event a line, keys in order", async () => {
    const restarting: ProjectEventWire = {
      event: "restarting",
      child: "w-1",
      delay_ms: 2000,
      restarts: 1,
      max: 5,
    };
    const { out } = await up("--json", following([restarting, SAMPLE.at(-1)!]));
    expect(out).toBe(
      '{"event": "restarting", "child": "w-1", "delay_ms": 2000, "restarts": 1, "max": 5}\n' +
        '{"event": "done", "project": "notes", "tokens": 812, "elapsed_ms": 4000, "code": 0}\n',
    );
  });

  test("sends the file filled in, its folder, and the environment of a run", async () => {
    const daemon = following(SAMPLE);
    const env = { RANGE: "v1..", KEY: "k", CRUX_IPC_TOKEN: "t" };
    await crux(`compose -f ${file} -p mine up writer --remove-orphans`, { daemon, env });
    expect(daemon.asked).toEqual([
      ["trust.show", { dir, compose: file, pending: true, diff: true }],
      [
        "compose.up",
        {
          file: { name: "notes", services: { collector: { command: ["git", "log", "v1.."] } } },
          dir,
          path: file,
          digest: hash("sha256", readFileSync(file)),
          project: "mine",
          services: ["writer"],
          remove_orphans: true,
          env: { RANGE: "v1..", KEY: "k" },
        },
      ],
    ]);
  });

  test.each<[code: number, end: ProjectEventWire]>([
    [7, { event: "done", project: "notes", tokens: 0, elapsed_ms: 1, code: 7 }],
    [3, { event: "failed", project: "notes", reason: "x", code: 3 }],
    [1, { event: "failed", project: "notes", reason: "x", code: 0 }],
    [0, { event: "stopped", project: "notes" }],
  ])("exits %i", async (code, end) => {
    expect((await up("", following([end]))).code).toBe(code);
  });

  test("-d returns once it is up, and quiet prints its pid alone", async () => {
    const events = SAMPLE.slice(0, 4);
    const { out, code, daemon } = await up("-d", following(events));
    expect(out).toBe(`${SCREEN.split("\n").slice(0, 3).join("\n")}\n[compose] notes: up (PID 3)\n`);
    expect({ code, open: daemon.openConnections }).toEqual({ code: 0, open: 0 });
    expect(daemon.asked[1]![1]).toMatchObject({ detach: true });
    expect((await up("-d -q", following(events))).out).toBe("3\n");
    const failed: ProjectEventWire = { event: "failed", project: "notes", reason: "x", code: 2 };
    expect(await up("-d -q", following([failed]))).toMatchObject({ out: "", code: 2 });
  });

  test("tells what is not enforced, and what it was too slow for, beside the screen", async () => {
    const daemon = new FakeDaemon(
      {
        ...TRUSTED,
        "compose.up": () => ({ ...UP, notices: ["budget.usd is not enforced yet; budget.tokens is"] }),
      },
      ended(SAMPLE, { type: "eof", payload: { dropped: 7 } }),
    );
    expect(await up("", daemon)).toMatchObject({
      out: SCREEN,
      err: "[compose] warning: budget.usd is not enforced yet; budget.tokens is\n[compose] 7 lines dropped\n",
    });
  });

  test("says beside the screen that a script answers, once, and how to get a model", async () => {
    const answered = SAMPLE.map((event) =>
      event.event === "started" ? { ...event, notice: "A script answers." } : event,
    );
    const { out, err } = await up("", following(answered));
    expect(out).toBe(SCREEN);
    expect(err).toBe(["A script answers.", ...CONFIGURE_LINES, ""].join("\n"));
    expect((await up("-q", following(answered))).err).toMatch(/^A script answers\.\n/);
    expect(await up("--json", following(answered))).toMatchObject({
      err: "",
      out: expect.stringContaining('"notice": "A script answers."'),
    });
  });

  test("a stream that breaks off is a daemon that is gone", async () => {
    for (const broken of [feed(...SAMPLE.slice(0, 3)).end(), ended(SAMPLE.slice(0, 3))]) {
      const { err, code } = await up("", new FakeDaemon({ ...TRUSTED, "compose.up": () => UP }, broken));
      expect(err).toContain("✗ [UNAVAILABLE] daemon closed the connection\n  → hint: ");
      expect(code).toBe(1);
    }
  });

  test("what the daemon refuses is the error, on stdout in JSON", async () => {
    const message = "services.writer.depends_on: cycle writer → collector → writer";
    const refusing = () =>
      new FakeDaemon({
        ...TRUSTED,
        "compose.up": () => {
          throw new WireFault({ code: "INVALID", message });
        },
      });
    expect(await up("", refusing())).toMatchObject({ out: "", err: `✗ [INVALID] ${message}\n`, code: 1 });
    expect(await up("--json", refusing())).toMatchObject({
      out: `{"ok": false, "error": {"code": "INVALID", "message": "${message}"}}\n`,
      err: "",
    });
  });
});

describe("Ctrl-C during compose up", () => {
  /** Runs `compose up` on events that the test feeds. */
  function start(events: Feed, answers: ConstructorParameters<typeof FakeDaemon>[0] = {}) {
    const daemon = new FakeDaemon({ ...TRUSTED, "compose.up": () => UP, ...answers }, events);
    const machine = aMachine({ daemon });
    return { daemon, ...machine, code: runCli(["compose", "-f", file, "up"], machine.host) };
  }
  const downs = ({ asked }: FakeDaemon) => asked.filter(([method]) => method === "compose.down");

  test("once is down: the screen goes on to its end, and the code is 130", async () => {
    const events = feed(...SAMPLE.slice(0, 2));
    const run = start(events, {
      "compose.down": () =>
        void events.push(line({ event: "stopped", project: "notes" }), { type: "eof" }).end(),
    });
    await run.stdout.shows("started (PID 4)");
    run.interrupt();
    expect(await run.code).toBe(130);
    expect(downs(run.daemon)).toEqual([["compose.down", { project: "notes" }]]);
    expect(run.stdout.text).toBe(`${SCREEN.split("\n").slice(0, 2).join("\n")}\n[compose] notes: stopped\n`);
    expect(run.stderr.text).toBe("[compose] notes: stopping, Ctrl-C again kills\n");
    expect(run.daemon.openConnections).toBe(0);
  });

  test("twice kills, without waiting for down, and leaves", async () => {
    const never = new Promise(() => {});
    const run = start(feed(...SAMPLE.slice(0, 2)), {
      "compose.down": (payload) => ((payload as { kill?: true }).kill === true ? undefined : never),
    });
    await run.stdout.shows("started (PID 4)");
    run.interrupt();
    await run.stderr.shows("stopping");
    run.interrupt();
    expect(await run.code).toBe(130);
    expect(downs(run.daemon)).toEqual([
      ["compose.down", { project: "notes" }],
      ["compose.down", { project: "notes", kill: true }],
    ]);
    expect(run.stderr.text).toBe("[compose] notes: stopping, Ctrl-C again kills\n[compose] notes: killing\n");
  });

  test("before the answer came waits for it, then is down", async () => {
    const answer = Promise.withResolvers<unknown>();
    const events = feed();
    const run = start(events, {
      "compose.up": () => answer.promise,
      "compose.down": () =>
        void events.push(line({ event: "stopped", project: "notes" }), { type: "eof" }).end(),
    });
    while (run.daemon.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    run.interrupt();
    answer.resolve(UP);
    expect(await run.code).toBe(130);
    expect(downs(run.daemon)).toHaveLength(1);
  });

  test("a project that ended by itself meanwhile is no error", async () => {
    const events = feed(...SAMPLE.slice(0, 2));
    const run = start(events, {
      "compose.down": () => {
        events.push(line(SAMPLE.at(-1)!), { type: "eof" }).end();
        throw new WireFault({ code: "NOT_FOUND", message: "no project notes is running" });
      },
    });
    await run.stdout.shows("started (PID 4)");
    run.interrupt();
    expect(await run.code).toBe(130);
    expect(run.stderr.text).not.toContain("✗");
  });
});

describe("compose down", () => {
  const daemon = () => new FakeDaemon({ "compose.down": () => undefined });

  test.each(MODE_FLAGS)("%s is %s", async (flags, mode) => {
    const { out, err, code } = await crux(`compose -p notes down ${flags}`, { daemon: daemon() });
    const shown = {
      default: "[compose] notes: stopped\n",
      verbose: "[compose] notes: stopped\n",
      quiet: "",
      json: '{"ok": true, "data": {"project": "notes"}}\n',
    };
    expect({ out, err, code }).toEqual({ out: shown[mode], err: "", code: 0 });
  });

  test("asks for the time it was given, else 10 s, of the file's project", async () => {
    const one = await crux(`compose -f ${file} down`, { daemon: daemon() });
    const two = await crux("compose -p x down --timeout 0", { daemon: daemon() });
    expect([one.daemon.asked, two.daemon.asked]).toEqual([
      [["compose.down", { project: "notes", timeout_ms: 10_000 }]],
      [["compose.down", { project: "x", timeout_ms: 0 }]],
    ]);
    expect(one.daemon.openConnections).toBe(0);
  });
});

describe("compose ps", () => {
  const replica = (more: object) => ({
    service: "collector",
    replica: 1,
    pid: 4,
    state: "dead",
    exit_code: 0,
    restarts: 0,
    tokens_used: 0,
    elapsed_ms: 100,
    ...more,
  });
  const rows = [
    replica({}),
    replica({
      service: "writer",
      pid: 5,
      state: "running",
      exit_code: null,
      tokens_used: 812,
      elapsed_ms: 4000,
    }),
    replica({ service: "last", pid: null, state: "waiting", exit_code: null }),
  ];
  const daemon = () => new FakeDaemon({ "compose.ps": () => ({ project: "notes", pid: 3, services: rows }) });
  const ps = (flags: string) => crux(`compose -p notes ps ${flags}`, { daemon: daemon() });

  test("says below the table why one does not run", async () => {
    const note = "not started: it is no longer in the compose file";
    const services = [...rows, replica({ service: "gone", replica: 2, pid: null, state: "skipped", note })];
    const held = new FakeDaemon({ "compose.ps": () => ({ project: "notes", pid: 3, services }) });
    const { out } = await crux("compose -p notes ps", { daemon: held });
    expect(out.trimEnd().split("\n").at(-1)).toBe(`gone-2: ${note}`);
  });

  test("of a project that has failed is the table of what became of it, and the reason on stderr", async () => {
    const services = [replica({ service: "db", state: "dead", exit_code: 3, note: "exited with 3" })];
    const message = "no project notes is running: it has failed: db-1 failed (exit code 3)";
    const wire = { code: "NOT_FOUND", message, details: { project: "notes", pid: 3, services } } as const;
    const ended = () =>
      new FakeDaemon({
        "compose.ps": () => {
          throw new WireFault(wire);
        },
      });
    const { out, err, code } = await crux("compose -p notes ps", { daemon: ended() });
    expect(out).toMatch(/^SERVICE .*\n─.*\ndb .* dead +3 .*\ndb-1: exited with 3\n$/);
    expect([err.split("\n")[0], code]).toEqual([`✗ [NOT_FOUND] ${message}`, 1]);
    const json = await crux("compose -p notes ps --json", { daemon: ended() });
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      1,
      { ok: false, error: { code: "NOT_FOUND", message }, data: wire.details },
    ]);
  });

  test("is the table; quiet the pids of what runs; JSON the object of the manual", async () => {
    expect((await ps("")).out).toMatch(/^SERVICE {14}N .*\n─.*\ncollector .*\nwriter .* 4\.0s\nlast .*\n$/);
    expect((await ps("-q")).out).toBe("5\n");
    const { out, code } = await ps("--json");
    expect(JSON.parse(out)).toEqual({ ok: true, data: { project: "notes", pid: 3, services: rows } });
    expect(out.replace(/\s+/g, " ")).toContain(
      '{ "service": "collector", "replica": 1, "pid": 4, "state": "dead", "exit_code": 0, "restarts": 0, "tokens_used": 0, "elapsed_ms": 100 }',
    );
    expect(code).toBe(0);
  });

  test("of a project that does not run tells how to start it", async () => {
    const none = new FakeDaemon({
      "compose.ps": () => {
        throw new WireFault({
          code: "NOT_FOUND",
          message: "no project notes is running",
          fact: { kind: "no_project" },
        });
      },
    });
    expect(await crux("compose -p notes ps", { daemon: none })).toMatchObject({
      out: "",
      err: "✗ [NOT_FOUND] no project notes is running\n  → hint: crux compose up starts it\n",
      code: 1,
    });
  });
});

describe("compose logs", () => {
  const daemon = () =>
    new FakeDaemon(
      { "compose.logs": () => ({ children: ["collector-1", "writer-1"] }) },
      ended(SAMPLE.filter(({ event }) => event === "log")),
    );

  test("merges what services wrote, with their names; quiet without; JSON as events", async () => {
    const shown = (flags: string) => crux(`compose -p notes logs ${flags}`, { daemon: daemon() });
    expect((await shown("")).out).toBe(
      "collector-1 | 3f2a1c0 fix parser\nwriter-1    | [agent/5] reasoning step 1...\n",
    );
    expect((await shown("-q")).out).toBe("3f2a1c0 fix parser\n[agent/5] reasoning step 1...\n");
    expect((await shown("--json")).out.split("\n")[0]).toBe(
      '{"event": "log", "child": "collector-1", "text": "3f2a1c0 fix parser"}',
    );
  });

  test("asks for services, a tail, and to follow", async () => {
    const plain = await crux("compose -p notes logs", { daemon: daemon() });
    const all = await crux("compose -p notes logs writer -f --tail 3", { daemon: daemon() });
    expect([...plain.daemon.asked, ...all.daemon.asked]).toEqual([
      ["compose.logs", { project: "notes", tail: 200 }],
      ["compose.logs", { project: "notes", tail: 3, services: ["writer"], follow: true }],
    ]);
    expect(all.daemon.openConnections).toBe(0);
  });

  test("a stream that breaks off is a daemon that is gone", async () => {
    const broken = new FakeDaemon({ "compose.logs": () => ({ children: [] }) }, feed().end());
    expect((await crux("compose -p notes logs", { daemon: broken })).err).toContain("[UNAVAILABLE]");
  });
});

describe("compose config", () => {
  const resolved = { name: "notes", services: { w: { intent: "a: ${b}", replicas: 1 } } };
  const daemon = (notices: string[] = []) =>
    new FakeDaemon({ "compose.config": () => ({ project: "notes", file: resolved, notices }) });
  const config = (flags: string) => crux(`compose -f ${file} config ${flags}`, { daemon: daemon(["hm"]) });

  test("prints the file the daemon has resolved; quiet nothing; JSON the object", async () => {
    const { out, err, code, daemon } = await config("");
    expect(out).toBe('name: notes\nservices:\n  w:\n    intent: "a: $${b}"\n    replicas: 1\n');
    expect({ err, code }).toEqual({ err: "[compose] warning: hm\n", code: 0 });
    expect(daemon.asked[0]![0]).toBe("compose.config");
    expect((await config("-q")).out).toBe("");
    expect(JSON.parse((await config("--json")).out)).toEqual({ ok: true, data: resolved });
  });
});

test.each([
  ["compose", "a verb is missing"],
  ["compose start", "unknown argument: start"],
  ["compose up -f x", "unknown flag: -f"],
  ["compose -p n ps x", "unknown argument: x"],
  ["compose -p n down x", "unknown argument: x"],
  ["compose -p n down --timeout soon", "--timeout needs a whole number"],
  ["compose config x", "unknown argument: x"],
  ["compose -p n logs --tail -1", "--tail needs a value"],
])("%s is INVALID and reaches no daemon", async (text, message) => {
  const { out, err, code, daemon } = await crux(text);
  expect(err).toContain(`✗ [INVALID] ${message}`);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

test("without a file says where it looked, and reaches no daemon", async () => {
  for (const verb of ["up", "down", "ps", "logs", "config"]) {
    const { err, code, daemon } = await crux(`compose ${verb}`);
    expect(err).toBe(
      "✗ [NOT_FOUND] no crux.compose.yaml or crux.compose.yml in /home/me/project\n" +
        "  → hint: crux compose -f FILE names one that is elsewhere\n",
    );
    expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
  }
});

test("compose --help, and with a verb", async () => {
  for (const text of ["compose --help", "compose up --help", "help compose"])
    expect((await crux(text)).out).toMatch(/^Run the services of a compose file/);
});

const parse = (line: string) => {
  const { flags, words } = parseComposeArgs(line.split(" ").filter(Boolean));
  return { words, ...Object.fromEntries(flags) };
};

test("parseComposeArgs() takes -f before the verb as the file, behind logs as --follow", () => {
  expect(parse("-f a.yaml -p notes logs writer -f --tail 3")).toEqual({
    words: ["logs", "writer"],
    file: "a.yaml",
    project: "notes",
    follow: true,
    tail: "3",
  });
  expect(parse("up --file a.yaml -p notes -d web --remove-orphans db")).toEqual({
    words: ["up", "web", "db"],
    file: "a.yaml",
    project: "notes",
    detach: true,
    "remove-orphans": true,
  });
  expect(parse("--json down --timeout 5 -q")).toEqual({
    words: ["down"],
    json: true,
    timeout: "5",
    quiet: true,
  });
  expect(parse("-f logs")).toEqual({ words: [], file: "logs" });
  expect(parse("-q")).toEqual({ words: [], quiet: true });
});

test.each([
  ["up -f a.yaml", "unknown flag: -f"],
  ["-d up", "unknown flag: -d"],
  ["ps --tail 3", "unknown flag: --tail"],
  ["-f", "-f needs a value"],
  ["start", "unknown argument: start"],
])("parseComposeArgs() refuses %s", (line, message) => {
  expect(() => parse(line)).toThrow(message);
});
