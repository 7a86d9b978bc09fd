/** The sample screens of the manual, printed by the built program: whole lines, with numbers and times masked. */
import { chmodSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { masked, maskedTable } from "./harness/mask.ts";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { type Run, type Running, settled, World } from "./harness/world.ts";
import { overloaded, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
let env: Record<string, string>;
/** The reply that pid 1 waits for. */
let gate: PromiseWithResolvers<void>;
let first: Running;

beforeTries(
  async () => {
    world = new World();
    gate = Promise.withResolvers();
    world.write("src/main.go", "package main\n");
    const ask = (lastUserText: string, assistantTurns?: number) => ({
      lastUserText,
      ...(assistantTurns === undefined ? {} : { assistantTurns }),
    });
    const look = toolUse({ name: "view", input: { file_path: "src/main.go" } });
    server = await startModelServer({
      script: [
        { when: ask("分析代码", 0), reply: look.usage({ input: 400, output: 56 }) },
        { when: ask("分析代码", 1), reply: text("分析结果内容...").until(gate.promise) },
        { when: ask("检查依赖"), reply: text("ok").usage({ input: 100, output: 23 }) },
        { when: ask("两步", 0), reply: look },
        { when: ask("两步", 1), reply: text("分析结果内容...") },
        { when: ask("重试", 0), reply: overloaded(), times: 1 },
        { when: ask("重试"), reply: text("分析结果内容...") },
      ],
    });
    env = modelEnv(server, "anthropic");
    // with a budget of its own: that of the agent file does not pay for a first call
    first = start("--agent", "code-analyst", "-m", "sonnet", "--budget", "60000", "分析代码");
    await first.seen("reasoning step 2...");
    await crux("-d", "--agent", "none", "检查依赖");
    const ended = await settled(
      async () => (await crux("ps")).stdout,
      (table) => table.includes("zombie"),
    );
    expect(ended).toContain("zombie");
  },
  async () => {
    gate.resolve();
    await server.close();
    await world.close();
  },
);

const start = (...args: string[]): Running => world.start(args, { env });
const crux = (...args: string[]): Promise<Run> => world.crux(args, { env });
const printed = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await crux(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

const HEAD = `  PID   STATE     SKILL              TOKENS   ELAPSED
─────   ─────────   ───────────────   ────────   ────────`;

describe("crux ps", () => {
  it("is the sample table", async () => {
    expect(maskedTable(await printed("ps"))).toBe(
      maskedTable(`${HEAD}
    1   running   code-analysis        456      3.2s
    2   zombie    —                    123      1.1s

1 active, 1 zombie, 2 total
`),
    );
  });

  it("-v adds parent and intent", async () => {
    expect(maskedTable(await printed("ps", "-v"))).toBe(
      maskedTable(`  PID    PPID   STATE     SKILL              TOKENS   ELAPSED   INTENT
─────   ─────   ─────────   ───────────────   ────────   ────────   ────────────────────
    1       0   running   code-analysis        456      3.2s   分析代码
    2       0   zombie    —                    123      1.1s   检查依赖

1 active, 1 zombie, 2 total
`),
    );
  });

  it("-q is one pid per line", async () => {
    expect(await printed("-q", "ps")).toBe("1\n2\n");
  });

  it("--json is the sample object, and -v only adds keys", async () => {
    const sample = (pid: number, state: string, intent: string, skills: string, tokens: number) => `      {
        "pid": ${pid},
        "ppid": 0,
        "state": "${state}",
        "intent": "${intent}",
        "skills": [${skills}],
        "tokens_used": ${tokens},
        "elapsed_ms": 3200
      }`;
    expect(masked(await printed("ps", "--json"))).toBe(
      masked(`{
  "ok": true,
  "data": {
    "processes": [
${sample(1, "running", "分析代码", '"code-analysis"', 456)},
${sample(2, "zombie", "检查依赖", "", 123)}
    ]
  }
}
`),
    );
    const keys = ["pid", "ppid", "state", "intent", "skills", "tokens_used", "elapsed_ms"];
    const more = [
      "kind",
      "activity",
      "created_at",
      "ctx_id",
      "allowed_devices",
      "groups",
      "result",
      "exit",
      "cost_usd",
      "model",
    ];
    const { data } = JSON.parse(await printed("ps", "--json", "-v")) as { data: { processes: object[] } };
    for (const proc of data.processes) expect(Object.keys(proc)).toEqual([...keys, ...more]);
  });

  it("says so when there is none", async () => {
    const empty = new World();
    try {
      const outputs = await Promise.all(
        [["ps"], ["ps", "-q"], ["ps", "--json"]].map((args) => empty.crux(args)),
      );
      expect(outputs.map(({ stdout }) => stdout)).toEqual([
        "No active processes.\n",
        "",
        '{\n  "ok": true,\n  "data": {\n    "processes": []\n  }\n}\n',
      ]);
    } finally {
      await empty.close();
    }
  });
});

describe("crux kill", () => {
  it("is the sample line, also for a zombie; in JSON the sample object; quiet nothing", async () => {
    expect(await printed("kill", "2")).toBe("[kernel] PID 2: signal sent (SIGTERM)\n");
    expect(await printed("kill", "2", "--json")).toBe(
      '{"ok": true, "data": {"pid": 2, "signal": "SIGTERM"}}\n',
    );
    expect(await printed("kill", "2", "-q")).toBe("");
    for (const name of ["4", "SIGPAUSE", "pause"])
      expect(await printed("kill", "2", "-s", name)).toBe("[kernel] PID 2: signal sent (SIGPAUSE)\n");
  });

  it("of a pid that is not there is the sample error, in both languages and as JSON", async () => {
    expect(await crux("kill", "9")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "✗ [NOT_FOUND] PID 0 Kill: process not found: 9\n  → hint: crux ps lists the processes\n",
    });
    const chinese = await world.crux(["kill", "9"], { env: { ...env, LC_ALL: "zh_CN.UTF-8" } });
    expect(chinese.stderr).toMatch(/\n {2}→ 建议: crux ps lists the processes\n$/);
    expect(await crux("kill", "9", "--json")).toMatchObject({
      code: 1,
      stderr: "",
      stdout:
        '{"ok": false, "error": {"code": "NOT_FOUND", "message": "process not found: 9", "syscall": "Kill"}}\n',
    });
  });
});

/** A whole line of astrace, as the manual describes each part. */
const TRACE_LINE =
  /^\[ {0,6}\d+\.\d{3}s\] [A-Z]\w+\(.*\) → (?:<nil>|\d+B? *|"[^"]*"|\[[A-Z_]+\] .*) {4}(?:\d{1,3}(?:µs|ms)|\d+\.\d\ds)(?: {2}← .*)?$/;

describe("crux astrace", () => {
  it("follows a process to its end: the sample's lines, and the same as JSON", async () => {
    const traces = [start("astrace", "1"), start("--json", "astrace", "1")] as const;
    const chinese = world.start(["astrace", "1"], { env: { ...env, CRUX_LANG: "zh" } });
    for (const trace of [...traces, chinese]) await trace.seen("Close");
    gate.resolve();
    const [screen, json] = await Promise.all(traces.map(({ done }) => done));
    expect([screen!.code, json!.code, (await first.done).code]).toEqual([0, 0, 0]);

    const lines = screen!.stdout.split("\n");
    expect(lines[0]).toBe("[astrace] attached to PID 1 (state: running)");
    expect(lines.slice(-2)).toEqual(["[astrace] detached from PID 1 (process exited)", ""]);
    const calls = lines.slice(1, -2);
    for (const line of calls) expect(line).toMatch(TRACE_LINE);
    const main = `/dev/fs${world.work}/src/main.go`;
    const sample = [
      '[  0.013s] Open(flags=2, path="/dev/llm/anthropic") → 3    1ms',
      "[  0.014s] Write(fd=3, size=1234) → <nil>    5.20s  ← LLM call",
      "[  5.214s] Read(fd=3, length=65536) → 892B      2ms",
      `[  5.216s] Open(flags=2, path="${main}") → 4    1ms`,
      "[  5.217s] Write(fd=4, size=56) → <nil>    0µs",
      "[  5.217s] Read(fd=4, length=1048576) → 2048    1ms",
      "[  5.218s] Close(fd=4) → <nil>    0µs",
    ];
    // in this order, with calls of the tool between them
    let at = 0;
    for (const line of sample) {
      const found = calls.findIndex((call, index) => index >= at && masked(call) === masked(line));
      expect({ line, found: found >= at }).toEqual({ line, found: true });
      at = found + 1;
    }
    expect(chinese.stdout()).toContain("  ← LLM 调用\n");

    const events = json!.stdout.trimEnd().split("\n");
    expect(events).toHaveLength(calls.length);
    expect(masked(events[0]!)).toBe(
      masked(
        '{"timestamp_ms": 13, "pid": 1, "syscall": "Open", "args": {"flags": 2, "path": "/dev/llm/anthropic"}, "result": 3, "duration_ms": 1.0}',
      ),
    );
    for (const event of events) expect(event).toMatch(/"duration_ms": \d+\.\d{1,3}\}$/);
  });

  it("of a zombie gives what it did, and ends at once", async () => {
    const lines = (await printed("astrace", "2")).split("\n");
    expect(lines[0]).toBe("[astrace] attached to PID 2 (state: zombie)");
    expect(lines.filter((line) => line.includes("← LLM call"))).toHaveLength(1);
    expect(lines.slice(-2)).toEqual(["[astrace] detached from PID 2 (process exited)", ""]);
  });

  it("of a pid that is not there is an error before the stream", async () => {
    const { code, stdout } = await crux("astrace", "9", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
  });
});

describe("crux <intent>", () => {
  const rule = "═".repeat(80);
  const head = `══ Result ${"═".repeat(70)}`;

  it("is the sample screen", async () => {
    expect(masked(await printed("两步"))).toBe(
      masked(`[kernel] spawning PID 1...
[agent/1] reasoning step 1...
[agent/1] reasoning step 2...
${head}
  分析结果内容...
${rule}
[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s
`),
    );
  });

  it("-v adds the sample's lines", async () => {
    const args = ["-v", "--agent", "code-analyst", "-m", "sonnet", "--budget", "60000"];
    expect(masked(await printed(...args, "两步"))).toBe(
      masked(`[kernel] spawning PID 1...
[kernel] PID 1: agent=code-analyst model=sonnet max_steps=10 budget=8192 device=/dev/llm/anthropic
[agent/1] reasoning step 1/10...
[agent/1] tool /bin/view 56B → 2048B 1.2s
[agent/1] reasoning step 2/10...
${head}
  分析结果内容...
${rule}
[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s
`),
    );
    expect(masked(await printed("-v", "--agent", "none", "重试"))).toBe(
      masked(`[kernel] spawning PID 1...
[kernel] PID 1: agent=- model=- max_steps=10 budget=- device=/dev/llm/anthropic
[agent/1] reasoning step 1/10...
[agent/1] log: model: overloaded (529), retry 1/10 in 0.5s
${head}
  分析结果内容...
${rule}
[kernel] PID 1 exited(0) | tokens: 1234 | elapsed: 6.2s
`),
    );
  });

  it("-d prints the pid and returns", async () => {
    expect(masked(await printed("-d", "检查依赖"))).toBe("[kernel] spawning PID #...\n");
    expect(await printed("-d", "-q", "检查依赖")).toMatch(/^\d+\n$/);
  });
});

describe("crux version", () => {
  it("without claude says how to get it, in both languages", async () => {
    expect(masked(await printed("version"))).toBe(
      masked(
        "crux v0.1.0\n✗ claude-code CLI not found\n  → hint: npm install -g @anthropic-ai/claude-code\n",
      ),
    );
    const { stdout } = await world.crux(["version"], { env: { LANG: "ZH_TW" } });
    expect(stdout).toMatch(/\n {2}→ 建议: npm install -g @anthropic-ai\/claude-code\n$/);
    expect(masked(await printed("version", "--json"))).toBe(
      masked('{"ok": true, "data": {"version": "0.1.0", "claude_code_available": false}}\n'),
    );
  });

  it("with claude names its version", async () => {
    const bin = world.write("bin/claude", "#!/bin/sh\necho '2.1.69 (Claude Code)'\n");
    chmodSync(bin, 0o755);
    const PATH = `${world.work}/bin:${world.env.PATH}`;
    const found = await world.crux(["version"], { env: { PATH } });
    expect(found).toMatchObject({ code: 0, stderr: "" });
    expect(found.stdout).toMatch(/^crux v\d+\.\d+\.\d+\nclaude-code: 2\.1\.69\n$/);
    const json = await world.crux(["version", "--json"], { env: { PATH } });
    expect(json.stdout).toMatch(
      /^\{"ok": true, "data": \{"version": "\d+\.\d+\.\d+", "claude_code_available": true, "claude_code": "2\.1\.69"\}\}\n$/,
    );
    expect((await world.crux(["-q", "version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("starts no daemon, and -v says whether one runs", async () => {
    const quiet = new World();
    try {
      const { stdout } = await quiet.crux(["version", "-v"]);
      expect(stdout).toMatch(/\ndaemon: not running\n$/);
      expect(quiet.daemonPid).toBeUndefined();
      expect((await crux("version", "-v")).stdout).toMatch(
        /\nanthropic: ready\ndaemon: v\d+\.\d+\.\d+ \(PID \d+\)\n$/,
      );
    } finally {
      await quiet.close();
    }
  });
});
