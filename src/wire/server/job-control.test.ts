/** Processes, groups, mail, mounts and metrics over the socket, byte for byte. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ended } from "../../abi/child.ts";
import type { ProcessEvent } from "../../abi/events.ts";
import { asPgid, asPid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import type { LogPiece } from "../../kernel/ports/subscription.ts";
import { FakeSubscription, procInfo } from "./testing/fake-kernel.ts";
import { type RawClient, ServerFixture, until } from "./testing/fixture.ts";

let fixture: ServerFixture;
let client: RawClient;
beforeEach(async () => {
  fixture = await new ServerFixture().start();
  client = await fixture.connect();
});
afterEach(() => fixture.close());

const ask = (method: string, payload?: object) => client.ask(JSON.stringify({ method, payload }));
const answered = (payload?: object) => `${JSON.stringify({ ok: true, payload })}\n`;
const refused = (code: string, message: string) =>
  expect.stringContaining(`{"ok":false,"error":{"code":"${code}","message":${JSON.stringify(message)}`);
const { SIGPAUSE, SIGRESUME } = SIGNALS;

describe("process.list", () => {
  it("has what top shows after the documented keys, and long texts cut between characters", async () => {
    const long = `${"x".repeat(159)}😀 and more`;
    fixture.kernel.procs = [
      procInfo(1, { name: "reviewer", model: "sonnet", threads: 2, coroutines: 1, result: long }),
    ];
    const { payload } = JSON.parse(await ask("process.list"));
    const [row] = payload.processes;
    expect(Object.keys(row).slice(-6)).toEqual(["result", "exit", "name", "model", "threads", "coroutines"]);
    expect(row).toMatchObject({ pid: 1, name: "reviewer", model: "sonnet", threads: 2, coroutines: 1 });
    expect(row.result).toBe(`${"x".repeat(159)}\ufffd…`);
    expect(row.intent).toBe("分析代码");
  });
});

describe("process.signal", () => {
  beforeEach(() => {
    fixture.kernel.procs = [procInfo(1), procInfo(2, { ppid: asPid(1) }), procInfo(3, { ppid: asPid(2) })];
  });

  it("names the process it reached, also one that ignores the signal, and none that has ended", async () => {
    expect(await ask("process.signal", { pid: 1, signal: SIGPAUSE })).toBe(answered({ pids: [1] }));
    fixture.kernel.disposition = "ignored";
    expect(await ask("process.signal", { pid: 1, signal: SIGPAUSE })).toBe(answered({ pids: [1] }));
    fixture.kernel.procs = [procInfo(1, { state: "zombie", exit: EXIT.completed })];
    expect(await ask("process.signal", { pid: 1, signal: SIGPAUSE })).toBe(answered({ pids: [] }));
    expect(fixture.kernel.killed).toEqual(Array(3).fill([1, SIGPAUSE]));
  });

  it("with tree names all that were reached", async () => {
    expect(await ask("process.signal", { pid: 1, signal: SIGPAUSE, tree: true })).toBe(
      answered({ pids: [1, 2] }),
    );
    expect(fixture.kernel.calls).toEqual([`signalTree 1 ${SIGPAUSE}`]);
  });

  it("lends the client's environment before RESUME, to all below with tree, and with nothing else", async () => {
    const env = { KEY: "k" };
    await ask("process.signal", { pid: 2, signal: SIGRESUME, env });
    expect(fixture.kernel.calls).toEqual(['lendEnv 2 {"KEY":"k"}']);
    fixture.kernel.calls.length = 0;
    await ask("process.signal", { pid: 1, signal: SIGRESUME, tree: true, env });
    expect(fixture.kernel.calls).toEqual([
      ...[1, 2, 3].map((pid) => `lendEnv ${pid} {"KEY":"k"}`),
      `signalTree 1 ${SIGRESUME}`,
    ]);
    fixture.kernel.calls.length = 0;
    await ask("process.signal", { pid: 1, signal: SIGPAUSE, env });
    expect(fixture.kernel.calls).toEqual([]);
  });

  it("refuses what is no signal, and a pid that is not there", async () => {
    for (const signal of [0, 6])
      expect(await ask("process.signal", { pid: 1, signal })).toEqual(
        refused("INVALID", `signal must be 1 to 5: ${signal}`),
      );
    expect(await ask("process.signal", { pid: 9, signal: 1 })).toEqual(
      refused("NOT_FOUND", "process not found: 9"),
    );
  });
});

describe("process.attach", () => {
  const pid = asPid(1);
  const step: ProcessEvent = { event: "step", pid, step: 2, total: 10 };
  const complete: ProcessEvent = {
    event: "complete",
    pid,
    result: "done",
    exit: EXIT.completed,
    tokensUsed: 5,
    elapsedMs: 1200.5,
  };
  const question: ProcessEvent = {
    event: "ask",
    pid,
    ask_id: "a1",
    text: "bash: ls",
    options: ["yes", "no"],
  };

  it("sends the lines of a spawn stream to the end, questions to those who answer", async () => {
    const play = async (payload: object) => {
      const other = await fixture.connect();
      const events = new FakeSubscription<ProcessEvent>();
      fixture.kernel.attached.set(pid, events);
      events.push(step, question, complete);
      events.end();
      other.send(`${JSON.stringify({ method: "process.attach", payload })}\n`);
      const text = await other.rest();
      expect(events.closed).toBe(true);
      return text;
    };
    const head = '{"ok":true}\n{"type":"progress","payload":{"event":"step","pid":1,"step":2,"total":10}}\n';
    const last = '{"event":"complete","pid":1,"result":"done","exit_code":0,"tokens_used":5';
    expect(await play({ pid: 1 })).toBe(`${head}{"type":"complete","payload":${last}}}\n`);
    expect(await play({ pid: 1, interactive: true })).toBe(
      `${head}{"type":"progress","payload":{"event":"ask","pid":1,"ask_id":"a1","text":"bash: ls","options":["yes","no"]}}
{"type":"complete","payload":${last},"elapsed_ms":1200}}\n`,
    );
    expect(fixture.kernel.calls).toEqual(["awake 1 {}", "attach 1 false", "awake 1 {}", "attach 1 true"]);
  });

  it("a client that goes away detaches; an unknown pid leaves the connection usable", async () => {
    const events = new FakeSubscription<ProcessEvent>();
    fixture.kernel.attached.set(pid, events);
    const other = await fixture.connect();
    await other.ask('{"method":"process.attach","payload":{"pid":1,"interactive":true}}');
    other.socket.destroy();
    await until(() => events.closed);
    expect(await ask("process.attach", { pid: 9 })).toEqual(refused("NOT_FOUND", "process not found: 9"));
    fixture.kernel.ends.set(asPid(10), {} as Ended);
    expect(await ask("process.attach", { pid: 10 })).toEqual(refused("NOT_FOUND", "process 10 has ended"));
    expect(await ask("ping")).toContain('"ok":true');
  });
});

describe("process.logs", () => {
  const pid = asPid(1);
  const said = (message: string): LogPiece => ({ entry: { timestampMs: 13.7, level: "info", message } });

  it("sends lines and bytes as they are, then eof with what was lost", async () => {
    const pieces = new FakeSubscription<LogPiece>(2);
    fixture.kernel.pieces.set(pid, pieces);
    pieces.push(said("hm"), { data: Buffer.from([0, 255, 10]) }, said("too much"));
    pieces.end();
    client.send('{"method":"process.logs","payload":{"pid":1}}\n');
    expect(await client.rest()).toBe(
      `{"ok":true}
{"type":"log","payload":{"pid":1,"timestamp_ms":13,"level":"info","message":"hm"}}
{"type":"log","payload":{"pid":1,"data":{"base64":"AP8K"}}}
{"type":"eof","payload":{"dropped":1}}
`,
    );
    expect(fixture.kernel.calls).toEqual(["logs 1 200 false"]);
  });

  it("cuts long data into lines that together are the same bytes", async () => {
    const pieces = new FakeSubscription<LogPiece>();
    fixture.kernel.pieces.set(pid, pieces);
    const data = Buffer.alloc(600 * 1024, "abc");
    pieces.push({ data });
    pieces.end();
    client.send('{"method":"process.logs","payload":{"pid":1,"tail":7,"follow":true}}\n');
    const [, ...lines] = (await client.rest()).trimEnd().split("\n");
    expect(lines.pop()).toBe('{"type":"eof"}');
    expect(lines).toHaveLength(3);
    const parts = lines.map((line) => Buffer.from(JSON.parse(line).payload.data.base64, "base64"));
    expect(Buffer.concat(parts).equals(data)).toBe(true);
    expect(fixture.kernel.calls).toEqual(["logs 1 7 true"]);
  });

  it("a reader that closed only its own half gets them all; one that follows and goes frees the queue", async () => {
    const pieces = new FakeSubscription<LogPiece>();
    fixture.kernel.pieces.set(pid, pieces);
    client.socket.end('{"method":"process.logs","payload":{"pid":1}}\n');
    await client.line();
    pieces.push(said("late"));
    pieces.end();
    expect(await client.rest()).toContain('"message":"late"}}\n{"type":"eof"}\n');

    const followed = new FakeSubscription<LogPiece>();
    fixture.kernel.pieces.set(pid, followed);
    const other = await fixture.connect();
    await other.ask('{"method":"process.logs","payload":{"pid":1,"follow":true}}');
    other.socket.destroy();
    await until(() => followed.closed);
  });
});

describe("groups, mail, supervisors, mounts", () => {
  it("group.list and group.signal, by name and by number", async () => {
    fixture.kernel.groups = [{ id: asPgid(1), name: "authors", pids: [asPid(4), asPid(5)] }];
    expect(await ask("group.list")).toBe(answered({ groups: [{ id: 1, name: "authors", pids: [4, 5] }] }));
    expect(await ask("group.signal", { group: "authors", signal: 1 })).toBe(answered({ reached: 2 }));
    expect(await ask("group.signal", { group: 1, signal: 2 })).toBe(answered({ reached: 2 }));
    expect(await ask("group.signal", { group: "writers", signal: 1 })).toEqual(
      refused("NOT_FOUND", "group not found: writers"),
    );
    expect(await ask("group.signal", { group: "authors", signal: 9 })).toEqual(
      refused("INVALID", "signal must be 1 to 5: 9"),
    );
  });

  it("group.join and group.leave, by name and by number", async () => {
    expect(await ask("group.join", { pid: 4, group: "writers" })).toBe(answered({ group: 2 }));
    expect(await ask("group.leave", { pid: 4, group: 2 })).toBe(answered());
    expect(fixture.kernel.calls.slice(-2)).toEqual(["joinGroup 4 writers", "leaveGroup 4 2"]);
  });

  it("mail.send hands over the text as UTF-8", async () => {
    expect(await ask("mail.send", { pid: 3, text: "weiter, bitte: 分" })).toBe(answered());
    expect(fixture.kernel.sent).toEqual([[3, "weiter, bitte: 分"]]);
  });

  it("supervisor methods name the child; a pid that is no supervisor is NOT_FOUND", async () => {
    fixture.kernel.procs = [procInfo(3, { kind: "supervisor" }), procInfo(4)];
    for (const verb of ["start_child", "stop_child", "restart_child"]) {
      expect(await ask(`supervisor.${verb}`, { pid: 3, child: "writer-1" })).toBe(answered());
      expect(await ask(`supervisor.${verb}`, { pid: 4, child: "writer-1" })).toContain("NOT_FOUND");
    }
    expect(fixture.kernel.calls).toEqual([
      "startChild 3 writer-1",
      "stopChild 3 writer-1",
      "restartChild 3 writer-1",
    ]);
  });

  it("mcp.list, mcp.mount and mcp.unmount", async () => {
    const mount = { path: "/mnt/mcp/a", pid: 0, server: "stdio: a", state: "failed" as const, tools: 2 };
    fixture.kernel.mounts = [{ ...mount, servicePid: null, problem: "exited" }];
    expect(await ask("mcp.list")).toBe(
      answered({ mounts: [{ ...mount, service_pid: null, problem: "exited" }] }),
    );
    const stdio = { type: "stdio", command: "a", args: ["b"], env: {} };
    expect(await ask("mcp.mount", { path: "/mnt/mcp/b", config: { ...stdio, cwd: "/home/ada" } })).toBe(
      answered({ path: "/mnt/mcp/b", state: "pending" }),
    );
    expect(await ask("mcp.mount", { path: "/mnt/mcp/b", config: { ...stdio, cwd: "here" } })).toEqual(
      refused("INVALID", "payload.config.cwd: must be absolute: here"),
    );
    expect(await ask("mcp.unmount", { path: "/mnt/mcp/b" })).toBe(answered());
    expect(fixture.kernel.calls).toEqual([
      'mount /mnt/mcp/b {"type":"stdio","command":"a","args":["b"],"env":{},"cwd":"/home/ada"}',
      "unmount /mnt/mcp/b",
    ]);
  });
});

it("kernel.metrics has a number for each", async () => {
  fixture.kernel.activeCount = 2;
  await fixture.clock.advance(62);
  const { payload } = JSON.parse(await ask("kernel.metrics"));
  expect(payload).toMatchObject({ uptime_ms: 62, processes: 2, connections: 1, os_children: 3 });
  expect(payload.rss_bytes).toBeGreaterThan(payload.heap_bytes);
  expect(payload.loop_lag_ms).toBeGreaterThanOrEqual(0);
  expect(payload.timers).toBeGreaterThanOrEqual(0);
});

describe("spawn with group and data", () => {
  const spawnWith = async (more: object) => {
    const answer = await ask("spawn", { intent: "x", detach: true, ...more });
    return { answer, opts: fixture.kernel.spawned.at(-1)?.opts };
  };
  const bytesOf = (stdin: unknown) => Buffer.from(stdin as Uint8Array).toString("latin1");

  it("hands over the group, and the data from text or base64", async () => {
    expect((await spawnWith({ group: "authors" })).opts).toEqual({ group: "authors", interactive: false });
    expect(bytesOf((await spawnWith({ stdin: "é\n" })).opts?.stdin)).toBe("\xc3\xa9\n");
    expect(bytesOf((await spawnWith({ stdin: { base64: "AP8=" } })).opts?.stdin)).toBe("\x00\xff");
    expect(bytesOf((await spawnWith({ stdin: "" })).opts?.stdin)).toBe("");
  });

  it("takes 4 MiB and not one byte more, and starts nothing then", async () => {
    const base64 = (bytes: number) => ({ base64: Buffer.alloc(bytes, 7).toString("base64") });
    const most = 4 * 1024 * 1024;
    expect((await spawnWith({ stdin: base64(most) })).opts?.stdin).toHaveLength(most);
    const started = fixture.kernel.spawned.length;
    expect((await spawnWith({ stdin: base64(most + 1) })).answer).toEqual(
      refused("INVALID", `payload.stdin: ${most + 1} bytes, at most ${most}`),
    );
    expect((await spawnWith({ stdin: { base64: "not base64!" } })).answer).toContain('"INVALID"');
    expect(fixture.kernel.spawned).toHaveLength(started);
  });
});
