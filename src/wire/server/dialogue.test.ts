/** What goes over the socket, byte for byte. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault, SyscallError, VfsError } from "../../abi/errors.ts";
import type { ProcessEvent, SyscallEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT, SIGNALS } from "../../abi/process.ts";
import { FakeSubscription, procInfo } from "./testing/fake-kernel.ts";
import { type RawClient, ServerFixture, until } from "./testing/fixture.ts";

let fixture: ServerFixture;
let client: RawClient;
beforeEach(async () => {
  fixture = await new ServerFixture().start();
  client = await fixture.connect();
});
afterEach(() => fixture.close());

const pid = asPid(1);
const details = {
  agent: "code-analyst",
  model: "sonnet",
  maxSteps: 10,
  budget: 8192,
  device: "/dev/llm/claude",
};
const spawnEvent: ProcessEvent = {
  event: "spawn",
  pid,
  intent: "分析代码",
  notice: "a script answers",
  details,
};
const complete: ProcessEvent = {
  event: "complete",
  pid,
  result: "分析结果...",
  exit: EXIT.completed,
  tokensUsed: 1234,
  elapsedMs: 6200.5,
};

async function play(request: string, events: readonly ProcessEvent[]): Promise<string> {
  client.send(`${request}\n`);
  await until(() => fixture.kernel.spawned[0]?.events !== undefined);
  fixture.kernel.spawned[0]?.events?.push(...events);
  fixture.kernel.spawned[0]?.events?.end();
  return client.rest();
}

describe("spawn", () => {
  it("gives the manual's dialogue, closes, and hands the process to the reaper", async () => {
    const text = await play('{"method":"spawn","payload":{"intent":"分析代码","agent":"code-analyst"}}', [
      spawnEvent,
      { event: "step", pid, step: 1, total: 10 },
      { event: "log", pid, entry: { timestampMs: 1, level: "info", message: "hm" } },
      { event: "tool", pid, device: "/dev/shell", inBytes: 1, outBytes: 2, durationMs: 3 },
      { event: "ask", pid, ask_id: "a1", text: "bash: ls", options: ["yes", "no"] },
      { event: "ask_closed", pid, ask_id: "a1", answer: null },
      { event: "step", pid, step: 2, total: 10 },
      complete,
    ]);
    expect(text).toBe(
      `{"ok":true,"payload":{"pid":1}}
{"type":"progress","payload":{"event":"spawn","pid":1,"intent":"分析代码"}}
{"type":"progress","payload":{"event":"step","pid":1,"step":1,"total":10}}
{"type":"progress","payload":{"event":"step","pid":1,"step":2,"total":10}}
{"type":"complete","payload":{"event":"complete","pid":1,"result":"分析结果...","exit_code":0,"tokens_used":1234}}
`,
    );
    expect(fixture.kernel.spawned[0]?.events?.closed).toBe(true);
    expect(fixture.loaded).toEqual([["code-analyst", "/home/someone", { FROM: "daemon" }]]);
  });

  it("a failed run sends error, then complete with its reason", async () => {
    const error = new VfsError({
      code: "TIMEOUT",
      op: "Write",
      pid,
      device: "/dev/llm/claude",
      message: "late",
    });
    const text = await play('{"method":"spawn","payload":{"intent":"x"}}', [
      { event: "error", pid, message: "model: late", error },
      { ...complete, result: "", exit: EXIT.unexpected },
    ]);
    expect(text.split("\n").slice(1).join("\n")).toBe(
      `{"type":"error","payload":{"event":"error","pid":1,"error_message":"model: late"}}
{"type":"complete","payload":{"event":"complete","pid":1,"result":"","exit_code":1,"exit_reason":"unexpected exit","tokens_used":1234}}
`,
    );
  });

  it("a client that asks for more gets it, in the documented order", async () => {
    const error = new VfsError({
      code: "TIMEOUT",
      op: "Write",
      pid,
      device: "/dev/llm/claude",
      message: "late",
    });
    const text = await play(
      '{"id":"r","method":"spawn","payload":{"intent":"x","verbose":true,"interactive":true}}',
      [
        spawnEvent,
        { event: "log", pid, entry: { timestampMs: 1, level: "info", message: "hm" } },
        { event: "call", pid, call: { tool: "ls", about: "." } },
        { event: "said", pid, text: "hm" },
        { event: "tool", pid, device: "/dev/shell", inBytes: 56, outBytes: 2048, durationMs: 1200.5 },
        {
          event: "ask",
          pid,
          ask_id: "a1",
          text: "bash: ls",
          options: ["yes", "no"],
          detail: "+1",
        },
        { event: "ask_closed", pid, ask_id: "a1", answer: "yes" },
        { event: "error", pid, message: "late", error },
        complete,
      ],
    );
    expect(text).toBe(
      `{"id":"r","ok":true,"payload":{"pid":1}}
{"type":"progress","payload":{"event":"spawn","pid":1,"intent":"分析代码","notice":"a script answers","agent":"code-analyst","model":"sonnet","max_steps":10,"budget":8192,"device":"/dev/llm/claude"}}
{"type":"progress","payload":{"event":"log","pid":1,"level":"info","message":"hm"}}
{"type":"progress","payload":{"event":"tool","pid":1,"device":"/dev/shell","in_bytes":56,"out_bytes":2048,"duration_ms":1200.5}}
{"type":"progress","payload":{"event":"ask","pid":1,"ask_id":"a1","text":"bash: ls","options":["yes","no"],"detail":"+1"}}
{"type":"progress","payload":{"event":"ask_closed","pid":1,"ask_id":"a1","answer":"yes"}}
{"type":"error","payload":{"event":"error","pid":1,"error_message":"late","error":{"code":"TIMEOUT","message":"late","syscall":"Write","device":"/dev/llm/claude","pid":1}}}
{"type":"complete","payload":{"event":"complete","pid":1,"result":"分析结果...","exit_code":0,"tokens_used":1234,"elapsed_ms":6200}}
`,
    );
  });

  it("lines of calls come to who asks for them", async () => {
    const events = [
      { event: "said", pid, text: "hm" },
      { event: "call", pid, call: { tool: "ls", about: ".", facts: { count: { n: 2, of: "entry" } } } },
      complete,
    ] satisfies ProcessEvent[];
    const ask = '{"method":"spawn","payload":{"intent":"x","calls":true}}';
    expect((await play(ask, events)).split("\n").slice(1, 3)).toEqual([
      '{"type":"progress","payload":{"event":"said","pid":1,"text":"hm"}}',
      '{"type":"progress","payload":{"event":"call","pid":1,"call":{"tool":"ls","about":".","facts":{"count":{"n":2,"of":"entry"}}}}}',
    ]);
  });

  it("who asks for detail gets the uuid, whole messages and the results of calls", async () => {
    const usage = {
      input_tokens: 8,
      output_tokens: 4,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    const reply = {
      id: "m",
      model: "sonnet",
      blocks: [{ type: "tool_use" as const, id: "c", name: "ls", input: {} }],
      stopReason: "tool_use" as const,
      usage,
    };
    const media = [{ type: "image" as const, media_type: "image/png", data: "AAAA" }];
    const result = { type: "tool_result" as const, tool_use_id: "c", content: "a", is_error: true, media };
    const text = await play('{"method":"spawn","payload":{"intent":"x","detail":"deltas"}}', [
      { event: "delta", pid, piece: { type: "message_stop" } },
      { event: "message", pid, reply, durationMs: 1200.4 },
      { event: "tool_result", pid, result },
      complete,
    ]);
    expect(text.split("\n").slice(0, 4)).toEqual([
      '{"ok":true,"payload":{"pid":1,"uuid":"u-1"}}',
      '{"type":"progress","payload":{"event":"delta","pid":1,"piece":{"type":"message_stop"}}}',
      `{"type":"progress","payload":{"event":"message","pid":1,"id":"m","model":"sonnet","content":${JSON.stringify(reply.blocks)},"stop_reason":"tool_use","usage":${JSON.stringify(usage)},"duration_ms":1200}}`,
      '{"type":"progress","payload":{"event":"tool_result","pid":1,"tool_use_id":"c","content":"a","is_error":true,"media":["image/png"]}}',
    ]);
  });

  it("no lines of calls come where the settings say so", async () => {
    fixture.deps.showsCalls = () => false;
    const text = await play('{"method":"spawn","payload":{"intent":"x","calls":true}}', [
      { event: "call", pid, call: { tool: "ls", about: "." } },
      complete,
    ]);
    expect(text).not.toContain('"call"');
  });

  it("hands all options to the kernel", async () => {
    const payload = {
      intent: "x",
      model: "opus",
      max_steps: 3,
      budget: 100,
      system_prompt: "be brief",
      timeout_ms: 5,
      cwd: "/w",
      permission_mode: "bypass",
      interactive: true,
      env: { A: "b" },
    };
    await play(JSON.stringify({ method: "spawn", payload }), [complete]);
    expect(fixture.kernel.spawned[0]?.opts).toEqual({
      model: "opus",
      maxTurns: 3,
      contextBudget: 100,
      systemPrompt: "be brief",
      timeoutMs: 5,
      cwd: "/w",
      permissionMode: "bypass",
      interactive: true,
      env: { A: "b" },
    });
    expect(fixture.loaded).toEqual([[undefined, "/w", { A: "b" }]]);
  });

  it("begins with the coordinator where no agent is named, and the environment or the settings say so", async () => {
    const start = (more: object) =>
      client.ask(JSON.stringify({ method: "spawn", payload: { intent: "x", detach: true, ...more } }));
    const env = { CRUX_COORDINATOR_MODE: "1" };
    await start({ env });
    await start({ env, agent: "explore" });
    Object.assign(fixture.deps, { isCoordinator: () => true });
    await start({});
    expect(fixture.loaded.map((each) => (each as unknown[])[0])).toEqual([
      "coordinator",
      "explore",
      "coordinator",
    ]);
  });

  it("detached: a response only, and the connection stays usable", async () => {
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x","detach":true}}')).toBe(
      '{"ok":true,"payload":{"pid":1}}\n',
    );
    expect(await client.ask('{"method":"ping"}')).toBe('{"ok":true,"payload":{"version":"0.1.0"}}\n');
    expect(fixture.kernel.spawned[0]?.events).toBeUndefined();
  });

  it("detached and verbose: the notice comes with the response", async () => {
    fixture.kernel.notice = "A script answers.";
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x","detach":true,"verbose":true}}')).toBe(
      '{"ok":true,"payload":{"pid":1,"notice":"A script answers."}}\n',
    );
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x","detach":true}}')).toBe(
      '{"ok":true,"payload":{"pid":2}}\n',
    );
  });

  it("that fails before its response leaves the connection usable", async () => {
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x","agent":"missing"}}')).toBe(
      '{"ok":false,"error":{"code":"NOT_FOUND","message":"agent not found: missing"}}\n',
    );
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x","cwd":"w"}}')).toContain(
      "payload.cwd",
    );
    fixture.kernel.spawnFault = new SyscallError({ code: "BUDGET", syscall: "Spawn", pid, message: "spent" });
    expect(await client.ask('{"method":"spawn","payload":{"intent":"x"}}')).toBe(
      '{"ok":false,"error":{"code":"BUDGET","message":"spent","syscall":"Spawn","pid":1}}\n',
    );
    expect(await client.ask('{"method":"ping"}')).toContain('"ok":true');
  });

  it("a client that goes away lets the process run and only stops watching", async () => {
    for (const interactive of [true, false]) {
      const other = await fixture.connect();
      await other.ask(JSON.stringify({ method: "spawn", payload: { intent: "x", interactive } }));
      const events = fixture.kernel.spawned.at(-1)?.events;
      expect(events?.closed).toBe(false);
      other.socket.destroy();
      if (!interactive) events?.push(...Array(2).fill({ event: "step", pid, step: 1, total: 0 }));
      await until(() => {
        if (!interactive) events?.push({ event: "step", pid, step: 1, total: 0 });
        return events?.closed === true;
      });
      expect(fixture.kernel.killed).toEqual([]);
    }
  });

  it("a client that has closed only its own half still gets the end", async () => {
    client.socket.end('{"method":"spawn","payload":{"intent":"x"}}\n');
    await until(() => fixture.kernel.spawned[0]?.events !== undefined);
    fixture.kernel.spawned[0]?.events?.push(complete);
    fixture.kernel.spawned[0]?.events?.end();
    expect(await client.rest()).toContain('"complete"');
  });

  it("what is sent during the stream is not read", async () => {
    client.send('{"method":"spawn","payload":{"intent":"x"}}\n{"method":"shutdown"}\nnonsense\n');
    await until(() => fixture.kernel.spawned[0]?.events !== undefined);
    client.send('{"method":"shutdown"}\n');
    fixture.kernel.spawned[0]?.events?.push(complete);
    fixture.kernel.spawned[0]?.events?.end();
    expect((await client.rest()).trim().split("\n")).toHaveLength(2);
    expect(fixture.shutdowns).toBe(0);
  });
});

describe("attach_debug", () => {
  const debug = new FakeSubscription<SyscallEvent>();
  const call = (timestampMs: number, syscall: string, args: object, result: unknown, durationMs: number) =>
    ({
      timestampMs,
      pid,
      syscall,
      args,
      result,
      durationMs,
      device: "/dev/llm/claude",
      traffic: "message",
    }) as SyscallEvent;
  const events = [
    call(13.4, "Open", { flags: 2, path: "/dev/llm/claude" }, 3, 1),
    call(14, "Write", { fd: 3, size: 1234 }, undefined, 5200),
    call(5214, "Read", { fd: 3, length: 65536 }, 892, 2),
  ];

  async function trace(payload: string, subscription = new FakeSubscription<SyscallEvent>()) {
    fixture.kernel.debug.set(pid, subscription);
    subscription.push(...events);
    subscription.end();
    client.send(`{"method":"attach_debug","payload":${payload}}\n`);
    return client.rest();
  }

  it("gives the manual's dialogue and closes", async () => {
    expect(await trace('{"pid":1}')).toBe(
      `{"ok":true}
{"type":"syscall_event","payload":{"timestamp_ms":13,"pid":1,"syscall":"Open","args":{"flags":2,"path":"/dev/llm/claude"},"result":3,"duration_ms":1.0}}
{"type":"syscall_event","payload":{"timestamp_ms":14,"pid":1,"syscall":"Write","args":{"fd":3,"size":1234},"duration_ms":5200.0}}
{"type":"syscall_event","payload":{"timestamp_ms":5214,"pid":1,"syscall":"Read","args":{"fd":3,"length":65536},"result":892,"duration_ms":2.0}}
{"type":"eof"}
`,
    );
    expect(fixture.kernel.calls).toEqual(["attachDebug 1 false"]);
  });

  it("names the device only to a client that knows `all`, and the lost events at the end", async () => {
    const full = new FakeSubscription<SyscallEvent>(1);
    const text = await trace('{"pid":1,"all":false}', full);
    expect(text).toContain('"duration_ms":1.0,"device":"/dev/llm/claude","traffic":"message"}}\n');
    expect(text.endsWith('{"type":"eof","payload":{"dropped":2}}\n')).toBe(true);
    expect(full.closed).toBe(true);
  });

  it("an unknown pid is NOT_FOUND and the connection goes on", async () => {
    expect(await client.ask('{"method":"attach_debug","payload":{"pid":9}}')).toBe(
      '{"ok":false,"error":{"code":"NOT_FOUND","message":"process not found: 9","syscall":"AttachDebug","pid":0}}\n',
    );
    expect(await client.ask('{"method":"ping"}')).toContain('"ok":true');
  });

  it("a client that goes away detaches", async () => {
    fixture.kernel.debug.set(pid, debug);
    await client.ask('{"method":"attach_debug","payload":{"pid":1}}');
    client.socket.destroy();
    await until(() => debug.closed);
  });
});

describe("requests", () => {
  it("one connection serves many, each with its id", async () => {
    fixture.kernel.procs = [procInfo(1)];
    expect(await client.ask('{"id":7,"method":"ping"}')).toBe(
      '{"id":7,"ok":true,"payload":{"version":"0.1.0"}}\n',
    );
    expect(await client.ask('{"method":"list_procs","payload":{}}')).toBe(
      '{"ok":true,"payload":{"processes":[{"pid":1,"ppid":0,"state":"running","intent":"分析代码","skills":["code-analysis"],"tokens_used":456,"elapsed_ms":3200,"kind":"agent","activity":"thinking","created_at":"1970-01-01T00:00:00.000Z","ctx_id":1,"allowed_devices":null,"groups":[],"result":"","exit":null}]}}\n',
    );
    expect(await client.ask('{"method":"kill","payload":{"pid":1}}')).toBe('{"ok":true}\n');
    expect(await client.ask('{"method":"kill","payload":{"pid":1,"signal":4},"extra":1}')).toBe(
      '{"ok":true}\n',
    );
    expect(await client.ask('{"method":"ping"}')).toContain('"ok":true');
    expect(fixture.kernel.killed).toEqual([
      [1, 1],
      [1, 4],
    ]);
  });

  it.each(["list_procs", "process.list"])("%s in pages gives each process once", async (method) => {
    fixture.kernel.procs = [1, 2, 4].map((each) => procInfo(each));
    const page = async (payload: object) => {
      const reply = JSON.parse(await client.ask(JSON.stringify({ method, payload })));
      const pids = reply.payload?.processes.map((row: { pid: number }) => row.pid);
      return [pids, reply.payload?.next ?? reply.error?.code];
    };
    expect(await page({})).toEqual([[1, 2, 4], undefined]);
    expect(await page({ limit: 2 })).toEqual([[1, 2], 2]);
    expect(await page({ limit: 2, cursor: 2 })).toEqual([[4], undefined]);
    expect(await page({ limit: 3 })).toEqual([[1, 2, 4], undefined]);
    expect(await page({ limit: 1, cursor: 4 })).toEqual([[], undefined]);
    expect(await page({ limit: 1_001 })).toEqual([undefined, "INVALID"]);
  });

  it("1,000 sent ahead are answered in order", async () => {
    const all = Array.from({ length: 1000 }, (_, id) => `{"id":${id},"method":"ping"}\n`);
    client.socket.end(all.join(""));
    const answers = (await client.rest()).trim().split("\n");
    expect(answers.map((line) => JSON.parse(line).id)).toEqual(all.map((_, id) => id));
  });

  it("detached starts sent ahead are carried out together and answered in order, each for itself", async () => {
    const begun: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<number>>();
    fixture.kernel.init.spawn = async (intent: string) => {
      begun.push(intent);
      const end = Promise.withResolvers<number>();
      ends.set(intent, end);
      return asPid(await end.promise);
    };
    const start = (intent: string) =>
      `${JSON.stringify({ id: intent, method: "spawn", payload: { intent, detach: true } })}\n`;
    client.send(`${start("a")}${start("b")}${start("c")}{"id":"p","method":"ping"}\n${start("d")}`);
    await until(() => begun.length === 3);
    ends.get("c")?.resolve(13);
    ends.get("b")?.reject(new Fault({ code: "BUDGET", message: "no more" }));
    ends.get("a")?.resolve(11);
    const told = async () => {
      const { id, ok, payload } = JSON.parse(await client.line());
      return [id, ok, payload?.pid];
    };
    expect([await told(), await told(), await told()]).toEqual([
      ["a", true, 11],
      ["b", false, undefined],
      ["c", true, 13],
    ]);
    // another request ends the row: what follows it waits for its answer
    expect((await told())[0]).toBe("p");
    await until(() => begun.length === 4);
    ends.get("d")?.resolve(14);
    expect(await told()).toEqual(["d", true, 14]);
  });

  it("no more than 64 starts are carried out together", async () => {
    const ends: PromiseWithResolvers<number>[] = [];
    fixture.kernel.init.spawn = async () => {
      const end = Promise.withResolvers<number>();
      ends.push(end);
      return asPid(await end.promise);
    };
    const start = '{"method":"spawn","payload":{"intent":"go","detach":true}}\n';
    client.send(start.repeat(70));
    await until(() => ends.length >= 64);
    for (const end of ends.slice(1)) end.resolve(7);
    expect(ends.length).toBe(64);
    ends[0]?.resolve(7);
    await until(() => ends.length === 70);
    for (const end of ends) end.resolve(7);
    for (let n = 0; n < 70; n++) expect(await client.line()).toContain('"pid":7');
  });

  it("kill pauses a process while the connection stays", async () => {
    const { SIGPAUSE, SIGRESUME } = SIGNALS;
    fixture.kernel.procs = [procInfo(1)];
    const payload = { pid: 1, signal: SIGPAUSE, while_connected: true };
    expect(await client.ask(JSON.stringify({ method: "kill", payload }))).toBe('{"ok":true}\n');
    const last = () => JSON.stringify(fixture.kernel.killed.at(-1));
    expect(last()).toContain(`${SIGPAUSE}`);
    client.socket.destroy();
    await until(() => last().includes(`${SIGRESUME}`));
  });

  it("kill refuses signals and pids that are none", async () => {
    expect(await client.ask('{"method":"kill","payload":{"pid":9}}')).toBe(
      '{"ok":false,"error":{"code":"NOT_FOUND","message":"process not found: 9","syscall":"Kill","pid":0}}\n',
    );
    for (const signal of [0, 6, 1.5]) {
      const answer = await client.ask(JSON.stringify({ method: "kill", payload: { pid: 1, signal } }));
      expect(answer).toContain(`{"code":"INVALID","message":"signal must be 1 to 5: ${signal}"`);
    }
  });

  it("process.wait gives the end, a deadline, or stops when the client goes", async () => {
    client.send('{"method":"process.wait","payload":{"pid":1}}\n');
    await until(() => fixture.kernel.waiting.length === 1);
    fixture.kernel.waiting[0]?.end(EXIT.sigterm);
    expect(await client.line()).toBe(
      '{"ok":true,"payload":{"pid":1,"exit_code":143,"reason":"killed: SIGTERM","kind":"killed","tokens_used":7,"elapsed_ms":1200}}\n',
    );
    client.send('{"method":"process.wait","payload":{"pid":2,"timeout_ms":500}}\n');
    await until(() => fixture.kernel.waiting.length === 2);
    await fixture.clock.advance(500);
    expect(await client.line()).toContain('"code":"TIMEOUT","message":"process 2 still runs after 500ms"');
    client.send('{"method":"process.wait","payload":{"pid":3}}\n');
    await until(() => fixture.kernel.waiting.length === 3);
    client.socket.destroy();
    await until(() => fixture.kernel.calls.includes("wait 3 aborted"));
    await until(() => fixture.server.connections === 0);
    expect(fixture.logged).toEqual([]);
  });

  it("ask.answer and kernel.status", async () => {
    await client.ask('{"method":"ask.answer","payload":{"ask_id":"a","answer":"no","words":"not now"}}');
    expect(fixture.kernel.answers).toEqual([["a", "no", "not now"]]);
    expect(await client.ask('{"method":"ask.answer","payload":{"ask_id":"none","answer":"yes"}}')).toContain(
      "NOT_FOUND",
    );
    fixture.kernel.activeCount = 3;
    await fixture.clock.advance(62);
    expect(await client.ask('{"method":"kernel.status"}')).toBe(
      `{"ok":true,"payload":{"version":"0.1.0","os_pid":${process.pid},"processes":3,"connections":1,"uptime_ms":62}}\n`,
    );
  });

  it("shutdown is answered, then begins, then the connection closes", async () => {
    client.send('{"method":"shutdown"}\n{"method":"ping"}\n');
    expect(await client.rest()).toBe('{"ok":true}\n');
    expect(fixture.shutdowns).toBe(1);
  });

  it("a bug in a handler is INTERNAL and logged, and the connection goes on", async () => {
    fixture.kernel.procs = [{ pid: 1 } as never];
    expect(await client.ask('{"method":"list_procs"}')).toContain('"code":"INTERNAL"');
    expect(fixture.logged[0]).toMatch(/^error list_procs: TypeError/);
    expect(await client.ask('{"method":"ping"}')).toContain('"ok":true');
  });
});
