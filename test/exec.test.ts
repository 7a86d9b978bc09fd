/** `crux exec`: programs of the host as processes, with the streams of the command line. */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { findProcess } from "../src/dev/host/procfs.ts";
import { FrameClient } from "../src/wire/server/frames/testing.ts";
import { beforeTries } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { CRUX, settled, World } from "./harness/world.ts";

let world: World;
beforeTries(
  async () => {
    world = new World();
    await world.crux(["ps"]);
  },
  () => world.close(),
);

const exec = (command: readonly string[], flags: readonly string[] = [], stdin = "") =>
  world.crux(["exec", ...flags, "--", ...command], { stdin });
const sh = (script: string, flags: readonly string[] = [], stdin = "") =>
  exec(["sh", "-c", script], flags, stdin);
/** Rows of `crux ps` that are programs. */
const programs = async () =>
  JSON.parse((await world.crux(["ps", "--json"])).stdout).data.processes as { pid: number; intent: string }[];

/** What programs have written that nobody has taken. */
async function written(): Promise<number> {
  const client = await FrameClient.open(world.socket);
  const list = await client.call<{ streams: { stdout: { bytes: number } } }[]>("process.list", {
    state: "running",
  });
  client.socket.destroy();
  return Math.max(0, ...list.map(({ streams }) => streams.stdout.bytes));
}

it("passes input, both outputs and the exit code, and takes the folder it is called in", async () => {
  const run = await sh('pwd; read line; echo "got $line"; echo err >&2; exit 3', ["-i"], "x y\n");
  expect(run).toMatchObject({ code: 3, stdout: `${world.work}\ngot x y\n`, stderr: "err\n" });
  expect(await exec(["cat"], ["-i"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

it("without -i stdin is left to the loop around it", async () => {
  const loop = 'while read x; do "$0" exec -- sh -c "cat; echo $x"; done';
  const child = spawn("sh", ["-c", loop, CRUX], { cwd: world.work, env: world.env });
  child.stdin.end("one\ntwo\n");
  const out: Buffer[] = [];
  for await (const chunk of child.stdout) out.push(chunk as Buffer);
  expect(Buffer.concat(out).toString()).toBe("one\ntwo\n");
});

it("every byte arrives, of more than a spool holds too, though its reader is slow", async () => {
  const data = randomBytes(200_000);
  const child = spawn(CRUX, ["exec", "-i", "--", "sh", "-c", "cat; head -c 100000000 /dev/zero"], {
    cwd: world.work,
    env: world.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.stdin.end(data);
  const [hash, wanted] = [createHash("sha256"), createHash("sha256")];
  let bytes = 0;
  for await (const chunk of child.stdout) {
    // nothing is read until the program has filled what stands between
    if (bytes === 0) await settled(written, (count) => count > 30_000_000);
    bytes += chunk.length;
    hash.update(chunk);
  }
  expect(await ended).toBe(0);
  wanted.update(data).update(Buffer.alloc(100_000_000));
  expect([bytes, hash.digest("hex")]).toEqual([100_200_000, wanted.digest("hex")]);
});

it("ends with 127 for a program that is not there, and says what is missing", async () => {
  const missing = await exec(["no-such-program"]);
  expect(missing).toMatchObject({ code: 127, stdout: "" });
  expect(missing.stderr).toContain("[NOT_FOUND]");
  const none = await world.crux(["exec", "ls"]);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("-- is missing before the command: ls");
  world.write("plain.txt", "");
  expect((await exec(["./plain.txt"])).code).toBe(126);
});

it("Ctrl-C and SIGTERM go to the program; what it makes of them is the exit code", async () => {
  const own = world.start([
    "exec",
    "--",
    "sh",
    "-c",
    "trap 'echo int; exit 7' INT; echo on; while :; do sleep 0.05; done",
  ]);
  await own.seen("on");
  own.child.kill("SIGINT");
  expect(await own.done).toMatchObject({ code: 7, stdout: "on\nint\n" });
  const other = world.start(["exec", "--", "sh", "-c", "echo on; exec sleep 61"]);
  await other.seen("on");
  other.child.kill("SIGTERM");
  expect((await other.done).code).toBe(143);
  const third = world.start([
    "exec",
    "--",
    "sh",
    "-c",
    "trap 'echo term; exit 8' TERM; echo on; while :; do sleep 0.05; done",
  ]);
  await third.seen("on");
  third.child.kill("SIGTERM");
  expect(await third.done).toMatchObject({ code: 8, stdout: "on\nterm\n" });
});

it("Ctrl-Z pauses the program with its command, and fg continues both", async () => {
  const run = world.start(["exec", "--name", "held", "--", "sh", "-c", "echo on; exec sleep 64"]);
  await run.seen("on");
  const client = await FrameClient.open(world.socket);
  const activity = async () =>
    (await client.call<{ activity: string | null }>("process.status", { id: "held" })).activity;
  run.child.kill("SIGTSTP");
  expect(await settled(activity, (now) => now === "paused")).toBe("paused");
  const isStopped = () => findProcess(run.child.pid ?? 0)?.isStopped === true;
  expect(await settled(isStopped, (now) => now)).toBe(true);
  run.child.kill("SIGCONT");
  expect(await settled(activity, (now) => now !== "paused")).not.toBe("paused");
  run.child.kill("SIGTERM");
  expect((await run.done).code).toBe(143);
  client.socket.destroy();
});

it("stands in ps, takes signals of crux kill, and ends with its command", async () => {
  const run = world.start(["exec", "-v", "--", "sleep", "62"]);
  await run.seen(/PID \d+/, "stderr");
  const [found] = (await programs()).filter(({ intent }) => intent === "sleep 62");
  await world.crux(["kill", "-s", "KILL", String(found?.pid)]);
  expect((await run.done).code).toBe(137);
  const lost = world.start(["exec", "-v", "--", "sleep", "63"]);
  await lost.seen(/PID \d+/, "stderr");
  lost.child.kill("SIGKILL");
  await lost.done;
  expect(
    await settled(
      () => world.commands(/^sleep 63$/),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
});

it("a reader that is gone ends the command, and with it the program", async () => {
  const child = spawn("sh", ["-c", `"$0" exec -- yes | head -1`, CRUX], { cwd: world.work, env: world.env });
  child.stdout.resume();
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  expect(
    await settled(
      () => world.commands(/^yes$/),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
});

it("--json is one event a line", async () => {
  const { stdout, code } = await sh("printf 'ä\\nb'; exit 2", ["--json", "-e", "A=1"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [started, ...rest] = events;
  const { pid } = started;
  expect(started).toEqual({ event: "started", pid, id: expect.stringMatching(/^exec:sh:/) });
  const exited = rest.pop();
  expect(rest.map(({ event, text }) => [event, text].join(" ")).join("")).toBe("stdout ä\nb");
  expect(exited).toEqual({ event: "exited", pid, exit_code: 2, signal: null, reason: "exit 2" });
  expect(code).toBe(2);
});

it("-e gives variables, with a value or that of the terminal", async () => {
  const args = ["exec", "-e", "A=1", "-e", "B", "--", "sh", "-c", 'echo "$A $B"'];
  expect((await world.crux(args, { env: { B: "two" } })).stdout).toBe("1 two\n");
});

it("-it is a terminal of the same size: keys reach the program as they are, Ctrl-C too", async () => {
  const script = [
    "trap 'stty size; resized=1' WINCH; stty size",
    'while [ -z "$resized" ]; do sleep 0.05; done',
    "trap 'echo int' INT; echo ready; while ! read line; do :; done",
    'echo "got $line"; exit 5',
  ].join("; ");
  const args = ["exec", "-it", "--", "sh", "-c", script];
  await using window = new TerminalWindow(world, args, { columns: 91, rows: 23 });
  await window.shows("23 91");
  window.resize(70, 20);
  await window.shows("20 70");
  await window.shows("ready");
  window.type("\x03");
  await window.shows("int");
  window.type("hello\r");
  await window.shows("got hello");
  expect(await window.ended()).toBe(5);
});

const wrap = (flags: readonly string[], command: readonly string[]) =>
  world.crux(["wrap", ...flags, "--", ...command]);

it("wrap: all as with exec, and an event for each line that a rule matches; a wrong parser is named", async () => {
  const rule = "{ event: build.step, match: '^(?<n>\\d+) of (?<of>\\d+)$', fields: { n: number } }";
  world.write("p.yaml", `rules:\n  - ${rule}\n`);
  const script = 'echo "1 of 2"; printf "2 of 2\\rlast" >&2; exit 3';
  const run = await wrap(["--parser", "p.yaml"], ["sh", "-c", script]);
  expect(run).toMatchObject({ code: 3, stdout: "1 of 2\n", stderr: "2 of 2\rlast" });
  const client = await FrameClient.open(world.socket);
  await client.call("event.subscribe", { events: ["build.*"], after: 0 });
  await client.until(() => client.events.length === 2);
  client.socket.destroy();
  expect(client.events.map(({ data }) => (data as { n: number }).n).sort()).toEqual([1, 2]);
  const json = (await wrap(["--json", "--parser", "p.yaml"], ["echo", "7 of 9"])).stdout;
  expect(json).toMatch(/^\{"event": ?"build\.step", ?"pid": ?\d+, ?"data": ?\{"n": ?7, ?"of": ?"9"\}\}$/m);
  world.write("p.yaml", "rules:\n  - event: a.b\n    match: '('\n");
  const wrong = await wrap(["--parser", "p.yaml"], ["true"]);
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("p.yaml:3: match: Invalid regular expression"),
  ]);
});

it("wrap: without a parser all passes unchanged; its intent is cancelled by SIGINT, or by what the parser says", async () => {
  const plain = await wrap([], ["sh", "-c", "printf 'a\\000b'; echo err >&2; exit 4"]);
  expect(plain).toMatchObject({ code: 4, stdout: "a\0b", stderr: "err\n" });
  const client = await FrameClient.open(world.socket);
  const named = async (name: string) => {
    type Row = { id: string; name: string; outcome: string | null };
    const { state } = await client.call<{ state: Row[] }>("event.project", { projection: "intents" });
    return state.findLast((each) => each.name === name);
  };
  expect(await named("sh")).toMatchObject({ outcome: "failed" });
  const script = "trap 'echo int; exit 6' INT; echo on; while :; do sleep 0.05; done";
  const run = world.start(["wrap", "--", "sh", "-c", script]);
  await run.seen("on");
  await client.call("intent.cancel", { intentId: (await named("sh"))?.id, graceMs: 60_000 });
  expect(await run.done).toMatchObject({ code: 6, stdout: "on\nint\n" });
  expect(await named("sh")).toMatchObject({ outcome: "cancelled" });
  world.write("q.yaml", 'stop: "q\\r"\nrules: [{ event: a.b, match: never }]\n');
  const args = [
    "wrap",
    "-it",
    "--parser",
    "q.yaml",
    "--",
    "bash",
    "-c",
    "echo up; read q; echo got $q; exit 3",
  ];
  await using window = new TerminalWindow(world, args, { columns: 80, rows: 20 });
  await window.shows("up");
  await client.call("intent.cancel", { intentId: (await named("bash"))?.id, graceMs: 60_000 });
  await window.shows("got q");
  expect(await window.ended()).toBe(3);
  client.socket.destroy();
  await using bare = new TerminalWindow(world, ["wrap", "--", "true"], { columns: 100, rows: 20 });
  await bare.shows("no parser for true: no events (built in: ffmpeg;");
  expect(await bare.ended()).toBe(0);
});

const ffmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;
it.skipIf(!ffmpeg)("wrap: the progress of ffmpeg (needs ffmpeg)", async () => {
  const clip = ["-f", "lavfi", "-i", "testsrc=duration=2:size=64x48:rate=10", "-y", "clip.avi"];
  const { code, stdout } = await wrap(["--json"], ["ffmpeg", "-hide_banner", ...clip]);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string; data: object });
  expect(code).toBe(0);
  expect(events.findLast(({ event }) => event === "ffmpeg.progress")?.data).toMatchObject({ frame: 20 });
});
