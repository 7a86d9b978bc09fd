/** The tools by which an agent changes its own process, in the booted system: found by the model, permitted, traced, left. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { onStage, serve, server, world } from "./harness/stage.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onStage();

const call = (tool: string, params: object) => toolUse({ name: "tool_call", input: { tool, params } });

/** In the order of the requests: a coroutine answers in between. */
const serveAll = (replies: ReturnType<typeof text>[]) => serve(() => replies.shift() ?? text("finished"));

const said = (request: number): string => JSON.stringify((server.requests[request] as ModelRequest).messages);

it("signals: a TERM comes as a message, and the process goes on to its end", async () => {
  await serveAll([
    call("signals", { op: "message", signal: "SIGTERM", duration_ms: 60_000 }),
    call("sleep", { duration_ms: 60_000 }),
  ]);
  const run = world.crux(["--permission-mode", "bypass", "work"]);
  await expect.poll(() => server.requests.length).toBe(2);
  const told = await world.crux(["kill", "1"]);
  expect(told.code).toBe(0);
  const { code, stdout } = await run;
  expect([code, stdout.includes("finished")]).toEqual([0, true]);
  expect(said(1)).toContain("SIGTERM comes as a message for 60 s.");
  expect(said(server.requests.length - 1)).toContain("SIGTERM was sent to you.");
});

it("context, coroutine and pipe: found by search, unasked, and nothing is left", async () => {
  await serveAll([
    call("context", { op: "alloc", size: 2 }),
    call("coroutine", { op: "spawn", intent: "judge what I say" }),
    call("coroutine", { op: "resume", id: 1, value: "the first" }),
    // the coroutine answers in a conversation of its own
    text("weak"),
    call("pipe", { op: "open" }),
    call("pipe", { op: "write", fd: 7, data: "through" }),
    call("pipe", { op: "read", fd: 8 }),
  ]);
  const { code, stdout } = await world.crux(["work"]);
  expect([code, stdout.includes("finished")]).toEqual([0, true]);
  expect(said(3)).toContain("judge what I say\\n\\nthe first");
  expect(said(3)).not.toContain("holds 2 notes");
  expect(said(4)).toContain("weak");
  expect(said(4)).not.toContain("judge what I say\\n\\nthe first");
  expect(said(server.requests.length - 1)).toContain("through");
});

it("supervise: agents below it work on their own, are watched, and go when they are done", async () => {
  const start = { name: "mine", children: [{ id: "one", intent: "dig for gold" }] };
  const replies = [call("supervise", start), call("sleep", { duration_ms: 60_000 })];
  const dug = Promise.withResolvers<void>();
  let asked = 0;
  await serve(async (request) => {
    if (!JSON.stringify(request.messages[0]).includes("dig for gold"))
      return replies.shift() ?? text("finished");
    asked++;
    await dug.promise;
    return text("gold");
  });
  const run = world.crux(["--permission-mode", "bypass", "work"]);
  await expect.poll(() => [asked, replies.length]).toEqual([1, 0]);
  expect((await world.crux(["tree"])).stdout).toMatch(/mine.*dig for gold/s);
  dug.resolve();
  await expect.poll(async () => (await world.crux(["ps"])).stdout.includes("mine")).toBe(false);
  expect((await world.crux(["kill", "1"])).code).toBe(0);
  await run;
  expect(JSON.stringify(server.requests)).toContain("Process 2 supervises one.");
});

describe("a program that an agent talks to", () => {
  const spawn = (params: object) => call("process_spawn", params);
  /** Of the whole conversation. */
  const allResults = (): string[] =>
    (server.requests.at(-1) as ModelRequest).messages
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === "tool_result" ? [String(block.content)] : []));

  const python = spawnSync("python3", ["--version"]).status === 0;
  it.skipIf(!python)("a REPL on a terminal: a dialog, its window, ^C, its end (needs python3)", async () => {
    const typed = (data: string, until = ">>> $") =>
      call("process_write", { id: "py", data, until, timeout: 60_000 });
    await serveAll([
      spawn({ command: ["python3", "-i"], id: "py", pty: true, until: ">>> $", timeout: 60_000 }),
      typed("6 * 7\n"),
      typed("import os; os.get_terminal_size()\n"),
      call("process_control", { id: "py", cols: 44, rows: 11 }),
      typed("os.get_terminal_size()\n"),
      typed("while True: pass\n\n", "\\.\\.\\. $"),
      typed("\u0003"),
      typed("exit(3)\n", "never"),
      call("process_write", { id: "py", data: "1\n" }),
    ]);
    const { code } = await world.crux(["--permission-mode", "bypass", "work"]);
    expect(code).toBe(0);
    const results = allResults();
    const at = (n: number) => results[n] ?? "";
    expect(at(0)).toMatch(/>>> \npy \(process 2\): running \(the pattern has matched\)$/);
    expect(at(1)).toMatch(/^6 \* 7\n42\n>>> /);
    expect(at(2)).toContain("columns=80, lines=24");
    expect(at(4)).toContain("columns=44, lines=11");
    expect(at(6)).toContain("KeyboardInterrupt");
    expect(at(7)).toMatch(/py \(process 2\): exited \(exit 3\)$/);
    expect(at(8)).toMatch(/^Error \[CONFLICT\]: py \(process 2\) has ended: exit 3/);
  });

  it.skipIf(!python)(
    "a debugger on a terminal: a breakpoint, a look, a step, its end (needs python3)",
    async () => {
      world.write("sum.py", "def add(a, b):\n    c = a + b\n    return c\n\nprint(add(40, 2))\n");
      const prompt = "\\(Pdb\\) $";
      const typed = (data: string, until = prompt) =>
        call("process_write", { id: "pdb", data, until, timeout: 60_000 });
      const command = ["python3", "-m", "pdb", "sum.py"];
      await serveAll([
        spawn({ command, id: "pdb", pty: true, until: prompt, timeout: 60_000 }),
        typed("break 2\n"),
        typed("continue\n"),
        typed("print(a + b)\n"),
        typed("next\n"),
        typed("quit\n", "never"),
      ]);
      const { code } = await world.crux(["--permission-mode", "bypass", "work"]);
      expect(code).toBe(0);
      const [begun, set, stopped, looked, stepped, quit] = allResults();
      expect(begun).toMatch(/pdb \(process 2\): running \(the pattern has matched\)$/);
      expect(set).toContain("Breakpoint 1 at ");
      expect(stopped).toContain("c = a + b");
      expect(looked).toContain("\n42\n");
      expect(stepped).toContain("return c");
      expect(quit).toContain("pdb (process 2): exited (");
    },
  );

  it("a server that is watched while a build runs; after a kill -9 it is lost, what it printed is not", async () => {
    const go = join(world.work, "go");
    const wait = 'echo up; until [ -e "$0" ]; do sleep 0.05; done; echo hit; printf unread; exec sleep 1000';
    const build = 'for i in $(seq 9000); do echo "line $i"; done; >"$0"; exit 2';
    const gate = Promise.withResolvers<void>();
    let tree = "";
    const NOTE = "web (process 2) has printed what you wait for";
    const readHit = () => call("process_read", { id: "web", until: "hit", timeout: 60_000 });
    const steps: (() => Reply | Promise<Reply>)[] = [
      () => spawn({ command: ["sh", "-c", wait, go], id: "web", tell: "^hit", until: "up", timeout: 60_000 }),
      () => spawn({ command: ["sh", "-c", build, go], id: "build", quiet: 0, timeout: 60_000 }),
      // the note may have come with what the build has printed
      () => {
        if (said(2).includes(NOTE)) return readHit();
        steps.unshift(readHit);
        return call("sleep", { duration_ms: 60_000 });
      },
      async () => {
        tree = (await world.crux(["tree"])).stdout;
        return text("Lost.").until(gate.promise);
      },
      () => call("process_read", { id: "web" }),
      () => call("process_write", { id: "web", data: "more\n" }),
      () => call("process_read", {}),
    ];
    await serve(() => (steps.shift() ?? (() => text("finished")))());
    const pid = (await world.crux(["-q", "-d", "--permission-mode", "bypass", "work"])).stdout.trim();
    await expect.poll(() => tree).not.toBe("");
    process.kill(world.daemonPid as number, "SIGKILL");
    gate.resolve();
    await world.crux(["daemon", "start", "--normal"]);
    expect((await world.crux(["wait", pid])).code).toBe(0);
    const [up, built, ...more] = allResults();
    const [lost, refused, listed] = more.slice(-3);
    expect(up).toBe("up\nweb (process 2): running (the pattern has matched)");
    expect(built).toMatch(/^line 1\nline 2\n/);
    expect(built).toMatch(
      /lines truncated\] \.\.\.\n.*line 9000\n.*\nbuild \(process 3\): exited \(exit 2\)/s,
    );
    expect(said(server.requests.length - 1)).toContain(NOTE);
    expect(more.at(-4)).toMatch(/^hit\n/);
    expect(tree).toMatch(/work.*\n.*sh -c/);
    // the request that was under way is made again
    expect(lost).toMatch(/^(unread\n)?web \(process 2\): lost \(Crux stopped while it ran\)$/);
    expect(refused).toMatch(/^Error \[CONFLICT\]: web \(process 2\) was lost when Crux stopped/);
    expect(listed).toMatch(/^web {2}process 2 {2}ended .*\nbuild {2}process 3 {2}ended /);
  });

  it("needs the permission of its command, to start and for each text; it runs in a sandbox and ends with its agent", async () => {
    const outside = `/var/tmp/crux-outside-${process.pid}`;
    world.write(
      "box.sh",
      'echo no >"$1" && echo written || echo refused; read line; echo "got $line"; exec sleep 1000',
    );
    await serveAll([
      spawn({ command: ["perl", "-e", "1"] }),
      spawn({ command: ["sh", "box.sh", outside], id: "box", until: "refused|written", timeout: 60_000 }),
      call("process_write", { id: "box", data: "it\n", until: "got", timeout: 60_000 }),
    ]);
    const { code } = await world.crux(["--allow", "bash(sh:*)", "work"]);
    const [denied, started, typed] = allResults();
    expect(denied).toMatch(/^Error \[PERMISSION\].*allowed by the rule bash\(perl -e 1\)/s);
    expect(started).toMatch(/refused\nbox \(process 2\): running/);
    expect(typed).toMatch(/^got it\nbox/);
    expect([code, existsSync(outside)]).toEqual([0, false]);
    expect((await world.crux(["ps", "-a"])).stdout).toMatch(/ 2 +(zombie|dead) /);
  });
});
