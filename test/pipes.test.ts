/** `crux "a" | crux "b"` and files as data, in a real shell: what each run reads, prints and ends with. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { CRUX, type Run, World } from "./harness/world.ts";
import { error, text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
let bin: string;

beforeTries(
  async () => {
    world = new World();
    bin = join(world.dir, "bin");
    mkdirSync(bin);
    symlinkSync(CRUX, join(bin, "crux"));
    await world.crux(["ps"]);
  },
  () => world.close(),
);
afterEach(() => server.close());

const RESULT = "Zeile eins\n\n\tzwei „drei“ 分";

async function serve(script: Parameters<typeof startModelServer>[0]["script"]): Promise<void> {
  server = await startModelServer({ script });
}

/** As a person types it: stdin is a device, and `crux` is on the PATH. */
async function sh(script: string): Promise<Run> {
  const env = { ...world.env, PATH: `${bin}:${world.env.PATH}`, ...modelEnv(server, "anthropic") };
  const child = spawn("sh", ["-c", script], { cwd: world.work, env, stdio: ["ignore", "pipe", "pipe"] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  const [stdout, stderr] = [out, err].map((chunks) => Buffer.concat(chunks).toString("utf8"));
  return { code, signal, stdout: stdout!, stderr: stderr! };
}

/** What the user said in a conversation, text by text. */
function saidBy({ messages }: ModelRequest): string[] {
  return messages.filter(({ role }) => role === "user").flatMap(userTexts);
}
const requestOf = (intent: string): ModelRequest =>
  server.requests.find((request) => saidBy(request)[0] === intent)!;

it("the result of one run is the data of the next, and nothing else is", async () => {
  await serve([
    { when: (request) => saidBy(request)[0] === "write it", reply: text(RESULT) },
    { when: (request) => saidBy(request)[0] === "sum it up", reply: text("Three words.") },
  ]);
  // what `cat` reads is a pipe as well
  const { code, stdout, stderr } = await sh('crux "write it" | crux "sum it up" | cat');
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Three words.\n" });
  expect(stderr.match(/exited\(0\)/g)).toHaveLength(2);
  expect(saidBy(requestOf("sum it up"))).toEqual(["sum it up", `${RESULT}\n`]);
  expect(saidBy(requestOf("write it"))).toEqual(["write it"]);
  expect(server.rejected).toEqual([]);
});

it("the shell sees how the last one ended; one before it that fails gives no data", async () => {
  await serve([
    { when: (request) => saidBy(request)[0] === "fail", reply: error(400, "no") },
    { default: text("fine") },
  ]);
  const last = await sh("crux -- go | crux -- fail");
  expect(last.code).toBe(1);
  expect(last.stderr).toMatch(/\[agent\/\d+\] error: /);
  const first = await sh("crux -- fail | crux -- go");
  expect([first.code, first.stdout.includes("fine")]).toEqual([0, true]);
  expect(saidBy(server.requests.at(-1)!)).toEqual(["go"]);
  const code = await sh('crux -- fail > out.txt; echo "$?"');
  expect([code.stdout, world.file("out.txt")]).toEqual(["1\n", ""]);
});

it("data comes from a pipe and from a file, and the result goes into one", async () => {
  await serve(text(RESULT));
  world.write("notes.txt", "ein\nzwei\n");
  expect((await sh('echo data | crux "sum up"')).code).toBe(0);
  expect(saidBy(server.requests[0]!)).toEqual(["sum up", "data\n"]);
  const { code, stdout, stderr } = await sh('crux "sum up" < notes.txt > out.txt');
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(saidBy(server.requests[1]!)).toEqual(["sum up", "ein\nzwei\n"]);
  expect(world.file("out.txt")).toBe(`${RESULT}\n`);
  expect(stderr).toMatch(/^\[kernel\] spawning PID \d+\.\.\.\n\[agent\/\d+\] reasoning step 1\.\.\.\n/);
  await sh('crux "sum up" < /dev/null > out.txt; crux "sum up" <&-');
  expect(server.requests.slice(2).map(saidBy)).toEqual([["sum up"], ["sum up"]]);
});

it("without words stdin is still the intent; -q and --json are as they were", async () => {
  await serve(text(RESULT));
  const quiet = await sh("echo do it | crux -q | cat");
  expect([quiet.stdout, quiet.stderr]).toEqual([`${RESULT}\n`, ""]);
  expect(saidBy(server.requests[0]!)).toEqual(["do it"]);
  const json = await sh("echo data | crux --json do it | cat");
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, data: { result: RESULT } });
  expect(saidBy(server.requests[1]!)).toEqual(["do it", "data\n"]);
});

it("300 KiB of data are a file the agent can read, and the message names it", async () => {
  const line = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789abcde\n";
  const data = line.repeat(Math.ceil((300 * 1024) / line.length));
  world.write("large.txt", data);
  await serve(inTurn(toolUse({ name: "view", input: { file_path: "/var/out/input" } }), text("Seen.")));
  const { code, stdout } = await sh('crux "sum up" < large.txt | cat');
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Seen.\n" });
  const [intent, told = ""] = saidBy(server.requests[0]!);
  expect(intent).toBe("sum up");
  expect(Buffer.byteLength(told)).toBeLessThan(1_000);
  expect(told).toMatch(new RegExp(`${Buffer.byteLength(data)} bytes.* /var/out/input\\b`));
  const [seen] = server.requests[1]!.lastToolResults;
  expect(seen?.isError).toBe(false);
  expect(seen?.content).toContain(line);
});

it("more than 4 MiB is refused before anything runs", async () => {
  await serve(text("never"));
  const { code, stderr } = await sh('head -c 4194305 /dev/zero | crux "sum up"');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^✗ \[INVALID\] the data on stdin is longer than 4194304 bytes\n {2}→ hint: /);
  expect(server.requests).toEqual([]);
});

it("a reader that has gone ends the command with 141, as SIGPIPE would", async () => {
  const gate = Promise.withResolvers<void>();
  await serve(text("too late").until(gate.promise));
  const run = sh('{ crux -- go; echo "$?" > code.txt; } | true');
  await server.waitFor(() => server.inFlight === 1);
  gate.resolve();
  await run;
  expect(readFileSync(join(world.work, "code.txt"), "utf8")).toBe("141\n");
});

it.runIf(existsSync("/dev/full"))(
  "a result that finds no room is an error, not a reader that has gone",
  async () => {
    await serve(text("too much"));
    const { stderr } = await sh('crux -q -- go > /dev/full; echo "$?" > code.txt');
    expect(stderr).toMatch(/^✗ \[DRIVER\] cannot write to stdout: ENOSPC/);
    expect(readFileSync(join(world.work, "code.txt"), "utf8")).toBe("1\n");
  },
);
