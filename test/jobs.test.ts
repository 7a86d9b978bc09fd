/** Commands in the background of the booted system: they outlive their call, are told of at their end, and end with their owner. */
import { expect, it } from "vitest";
import { onSharedStage, serveInTurn, server, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const bash = (input: object) => toolUse({ name: "bash", input });
/** Of a deferred tool. */
const call = (tool: string, params: object) => toolUse({ name: "tool_call", input: { tool, params } });
const run = (...args: readonly string[]) => world.crux(["--permission-mode", "bypass", ...args]);
const texts = (request: ModelRequest) => JSON.stringify(request.messages);
const requests = () => server.requests;

it("a job runs on after its call, its end is told once, and its output is read from where it was left", async () => {
  await serveInTurn(
    // it ends well after somebody waits for it
    bash({
      command: "echo one; until [ -e go ]; do sleep 0.05; done; sleep 2; echo two",
      run_in_background: true,
    }),
    call("job_output", { shell_id: "job-1", block: false }),
    bash({ command: "touch go" }),
    call("job_output", { shell_id: "job-1" }),
    text("done"),
  );
  const { code, stdout } = await run("work", "--json");
  expect(code, stdout).toBe(0);
  const last = texts(requests().at(-1) as ModelRequest);
  expect(last).toContain("Job started in background. ID: job-1");
  expect(last).toMatch(/job-1: running/);
  expect(last).toMatch(/two\\n.{0,20}job-1: exited \(exit 0\)/);
  // it was shown: no note besides
  expect(last).not.toContain("<crux-note>");
});

it("the end of a job that nobody looks at is told by a note, which the run goes on with", async () => {
  await serveInTurn(
    bash({ command: "touch ran; exit 3", run_in_background: true }),
    bash({ command: "until [ -e ran ]; do sleep 0.05; done; touch seen; sleep 0.3" }),
    text("done"),
  );
  expect((await run("work")).code).toBe(0);
  const last = texts(requests().at(-1) as ModelRequest);
  expect(last.match(/<crux-note>job-1 ended: exit 3/g)).toHaveLength(1);
});

it("jobs end with the process that started them, and its result says so", async () => {
  await serveInTurn(
    bash({ command: "setsid sleep 1234 & sleep 1234", run_in_background: true }),
    text("left it running"),
  );
  const { stdout } = await run("work");
  expect(stdout).toContain("left it running");
  expect(stdout).toContain(
    "[still running, and ended with this process: job-1 (setsid sleep 1234 & sleep 1234)]",
  );
  expect(
    await settled(
      () => world.commands(/sleep 1234/),
      (pids) => pids.length === 0,
    ),
  ).toEqual([]);
});

it("an explicit timeout ends a command; job_kill ends a job once; a job of another is not found", async () => {
  await serveInTurn(
    bash({ command: "echo begun; sleep 60", timeout: 300 }),
    bash({ command: "sleep 61; true", run_in_background: true }),
    call("job_kill", { shell_id: "job-1" }),
    call("job_kill", { shell_id: "job-1" }),
    call("job_output", { shell_id: "job-7" }),
    text("done"),
  );
  expect((await run("work")).code).toBe(0);
  const last = texts(requests().at(-1) as ModelRequest);
  expect(last).toMatch(/begun\\nError \[TIMEOUT\]: the command was ended after 300 ms/);
  expect(last).toContain("job-1: killed");
  expect(last).toContain("Error [CONFLICT]: job-1 has already ended (killed)");
  expect(last).toContain("Error [NOT_FOUND]: job not found: job-7 (jobs: job-1)");
});

it("with a person attached to a session, what takes long becomes a job: the same OS process", async () => {
  world.env.CRUX_AUTO_BACKGROUND_MS = "400";
  await serveInTurn(
    bash({ command: "echo pid $$; until [ -e go ]; do sleep 0.05; done; echo pid $$" }),
    bash({ command: "touch go" }),
    call("job_output", { shell_id: "job-1", offset: 0 }),
    text("done"),
  );
  // the variable is the daemon's
  await world.crux(["daemon", "restart"]);
  await using wire = await Wire.open(world.socket);
  const payload = {
    intent: "work",
    cwd: world.work,
    session: true,
    interactive: true,
    permission_mode: "bypass",
    env: world.env,
  };
  expect(await wire.ask("spawn", payload)).toMatchObject({ ok: true });
  for (let line = await wire.next(); line?.payload?.event !== "idle"; line = await wire.next());
  const last = texts(requests().at(-1) as ModelRequest);
  expect(last).toMatch(/It still runs after \d+ s. Job started in background. ID: job-1/);
  const [, before, after] = /offset.*?pid (\d+)\\n.{0,4}pid (\d+)/s.exec(last) ?? [];
  expect(before).toBeDefined();
  expect(after).toBe(before);
});

it("a person sees jobs and their output, and a session with a job does not rest", async () => {
  world.settings({ sessions: { restAfterMs: 100 } });
  await serveInTurn(
    bash({ command: "echo hello; sleep 300; true", run_in_background: true }),
    text("started"),
  );
  await world.crux(["daemon", "start"]);
  await using wire = await Wire.open(world.socket);
  const payload = {
    intent: "work",
    cwd: world.work,
    session: true,
    detach: true,
    permission_mode: "bypass",
    env: world.env,
  };
  const reply = await wire.ask("spawn", payload);
  const pid = reply?.payload?.pid as number;
  const listed = () =>
    world.crux(["jobs", String(pid), "--json"]).then(({ stdout }) => JSON.parse(stdout || "{}"));
  const running = await settled(listed, (found) => found.data?.jobs?.[0]?.total_bytes === 6);
  expect(running.data.jobs).toMatchObject([
    { pid, id: "job-1", state: "running", command: "echo hello; sleep 300; true" },
  ]);
  expect((await world.crux(["jobs", String(pid), "1"])).stdout).toBe("hello\n");
  const none = await world.crux(["jobs", String(pid), "7"]);
  expect([none.code, none.stdout]).toEqual([1, ""]);
  expect(none.stderr).toContain("[NOT_FOUND]");
  expect((await world.crux(["jobs"])).stdout).toMatch(/job-1 +running +\d+s +6 +echo hello/);
  expect((await world.crux(["sessions", "--json"])).stdout).not.toContain('"resting"');
  expect(world.commands(/sleep 300/).length).toBeGreaterThan(0);
  await world.crux(["kill", String(pid)]);
  expect(
    await settled(
      () => world.commands(/sleep 300/),
      (pids) => pids.length === 0,
    ),
  ).toEqual([]);
});

it("a job that a crash of the daemon took is lost, and its number is not used again", async () => {
  await serveInTurn(
    bash({ command: "sleep 600; true", run_in_background: true }),
    text("started"),
    bash({ command: "true; sleep 601", run_in_background: true }),
    call("job_output", { shell_id: "job-1" }),
    call("job_kill", { shell_id: "job-2" }),
    text("done"),
  );
  await world.crux(["daemon", "start"]);
  const payload = {
    intent: "work",
    cwd: world.work,
    session: true,
    permission_mode: "bypass",
    env: world.env,
  };
  let pid: unknown;
  {
    await using wire = await Wire.open(world.socket);
    pid = (await wire.ask("spawn", payload))?.payload?.pid;
    for (let line = await wire.next(); line?.payload?.event !== "idle"; line = await wire.next());
    process.kill(world.daemonPid as number, "SIGKILL");
  }
  expect((await world.crux(["-r", String(pid), "go on"])).code).toBe(0);
  const last = texts(requests().at(-1) as ModelRequest);
  expect(last).toContain("ID: job-2");
  expect(last).toContain("job-1: lost");
});
