/** `crux <intent…>` from end to end: a model server on loopback, real tools on real files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { DIALECTS, inTurn, MODEL_KEY, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { type Run, type RunOptions, World } from "./harness/world.ts";
import { error, malformedToolJson, overloaded, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeTries(
  () => {
    world = new World();
    world.settings({ permissions: { allow: ["bash(cat *)"] } });
  },
  () => world.close(),
);
afterEach(() => server.close());

const serve = async (script: ModelServerOptions["script"], options: Partial<ModelServerOptions> = {}) => {
  server = await startModelServer({ script, ...options });
};
const view = toolUse({ name: "view", input: { file_path: "a.txt" } }, { text: "Looking." });
const EDIT = { name: "edit", input: { file_path: "a.txt", old_string: "one", new_string: "uno" } };
const edit = toolUse(EDIT);
const bash = (command: string) => toolUse({ name: "bash", input: { command } });
const results = () => server.requests.at(-1)!.lastToolResults;
/** `{"ok": true, "data": …}` as its keys in order; nested objects likewise. */
const shapeOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)])
    : typeof value;
const lastPid = async (): Promise<number> => {
  const { stdout } = await world.crux(["-q", "-d", "count them"], { env: modelEnv(server) });
  return Number(stdout);
};

describe.each(DIALECTS)("crux with a model behind the %s base URL", (dialect) => {
  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Run> =>
    world.crux(args, { env: { ...modelEnv(server, dialect), ...env } });

  it("views, edits and runs a command, and every request is one that the vendor takes", async () => {
    await serve([view, edit, bash("cat a.txt && echo ran > b.txt"), text("All done.")], {
      apiKey: MODEL_KEY,
    });
    world.write("a.txt", "one\ntwo\n");
    const { code, stderr, stdout } = await run(["--permission-mode", "bypass", "change", "one"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("\n  All done.\n");
    expect([world.file("a.txt"), world.file("b.txt")]).toEqual(["uno\ntwo\n", "ran\n"]);
    expect([server.rejected, server.unexpected, server.aborted]).toEqual([[], [], []]);
    expect(server.requests).toHaveLength(4);
    expect(server.requests[0]!.lastUserText).toContain("change one");
    expect(results()).toMatchObject([{ content: "uno\ntwo\n", isError: false }]);
    for (const { headers, stream } of server.requests) {
      expect(headers["user-agent"]).toMatch(/^crux\/\d+\.\d+\.\d+$/);
      expect(stream).toBe(true);
    }
    // the list of skills and the memory count beside it
    const { rawBody } = server.requests[0]!;
    const beside = /Skills, each with instructions[\s\S]*?(?=<\/system-reminder>)/.exec(rawBody)?.[0] ?? "";
    expect(Buffer.byteLength(rawBody) - Buffer.byteLength(beside)).toBeLessThanOrEqual(9_000);
  });

  it("in accept_edits, edits unasked and runs what a rule of the settings allows", async () => {
    const outside = mkdtempSync("/var/tmp/crux-outside-");
    try {
      writeFileSync(join(outside, "c.txt"), "from outside\n");
      await serve([
        view,
        edit,
        bash(`cat ${outside}/c.txt`),
        bash("touch d.txt; node -p 1 > e.txt"),
        text("Done."),
      ]);
      world.write("a.txt", "one\n");
      const { code } = await run(["--permission-mode", "accept_edits", "change one"]);
      expect(code).toBe(0);
      expect(world.file("a.txt")).toBe("uno\n");
      expect(server.requests[3]!.lastToolResults).toMatchObject([
        { content: "from outside\n", isError: false },
      ]);
      expect(results()[0]!.content).toMatch(/^Error \[PERMISSION\]: /);
      expect(() => world.file("d.txt")).toThrow(/ENOENT/);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it("runs several calls of one reply and answers them in their order", async () => {
    const calls = ["a.txt", "b.txt", "c.txt"].map((file_path) => ({ name: "view", input: { file_path } }));
    for (const name of ["a.txt", "b.txt", "c.txt"]) world.write(name, `I am ${name}\n`);
    await serve([toolUse(calls, { text: "Three at once." }), text("Read.")]);
    expect((await run(["read three"])).code).toBe(0);
    expect(results().map(({ content }) => content)).toEqual(["I am a.txt\n", "I am b.txt\n", "I am c.txt\n"]);
    expect([server.rejected, server.unexpected]).toEqual([[], []]);
  });

  it("tells the model about broken arguments and a tool that is not there, and goes on", async () => {
    await serve([
      malformedToolJson("view", '{"file_path": "a.t'),
      toolUse({ name: "teleport" }),
      text("Gave up."),
    ]);
    const { code, stdout } = await run(["-q", "try"]);
    expect([code, stdout]).toEqual([0, "Gave up.\n"]);
    expect(server.requests[1]!.lastToolResults[0]!.content).toMatch(/^Error \[INVALID\]: view: /);
    expect(results()[0]!.content).toMatch(/^Error \[NOT_FOUND\]: tool not found: teleport/);
    expect(server.rejected).toEqual([]);
  });

  it("asks three times again for a call that is malformed in the same way, then says what was wrong", async () => {
    const wrong = Array.from({ length: 4 }, () => malformedToolJson("view", '{"file_path": "a.t'));
    await serve([...wrong, text("never")]);
    const { code, stderr } = await run(["try", "it"]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      "the model's reply was malformed 4 times in a row: view: the arguments are not valid JSON",
    );
    expect(server.requests).toHaveLength(4);
    expect(server.rejected).toEqual([]);
    expect(results()[0]!.content).toMatch(/not valid JSON\n/);
  });

  it("names the variable whose key is refused, and never the key", async () => {
    await serve(text("never"), { apiKey: "another key" });
    const { code, stderr, stdout } = await run(["hello"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${dialect.toUpperCase()}_API_KEY`);
    expect(stderr).toContain("→ hint: ");
    expect(stdout + stderr).not.toContain(MODEL_KEY);
    expect(server.rejected).toHaveLength(1);
  });

  it("shows and keeps no secret that a server's error echoes", async () => {
    const token = "shop-0f4e1c77-Token";
    const key = Buffer.from(MODEL_KEY).toString("base64");
    await serve(error(400, undefined, `bad request with ${MODEL_KEY}, ${key} and ${token}`));
    const env = { SHOP_TOKEN: token };
    const shown = [await run(["-v", "hello", "there"], env), await run(["--json", "hello", "there"], env)];
    expect(shown.map(({ code }) => code)).toEqual([1, 1]);
    const pid = String(Number(/PID (\d+)/.exec(shown[0]!.stdout + shown[0]!.stderr)![1]));
    for (const words of [
      ["logs", pid],
      ["journal", pid, "--json"],
      ["ps", "-a", "--json"],
      ["wait", pid],
    ])
      shown.push(await run(words, env));
    const all = shown.map(({ stdout, stderr }) => stdout + stderr).join("\n");
    expect(all).toContain("bad request with [key]");
    for (const secret of [MODEL_KEY, key, token]) expect(all).not.toContain(secret);
  });

  it("says where nobody answers when the server is dead", async () => {
    await serve(text("never"));
    const { host } = new URL(server.url);
    const env = modelEnv(server, dialect);
    await server.close();
    const { code, stdout } = await world.crux(["--json", "hello"], { env });
    expect(code).toBe(1);
    const reply = JSON.parse(stdout) as { error: { message: string } };
    expect(shapeOf(reply)).toEqual([
      ["ok", "boolean"],
      ["error", ["code", "message", "syscall", "device"].map((key) => [key, "string"])],
    ]);
    expect(reply).toMatchObject({ ok: false, error: { device: `/dev/llm/${dialect}` } });
    expect(reply.error.message).toContain(host);
  });

  it("tries again after an overload and after a reply that broke off", async () => {
    const broken = text("This never arrives in full, it breaks off.").cut({ afterEvents: 3 });
    await serve([overloaded(), broken, text("Third time.")]);
    const { code, stdout } = await run(["-v", "hello"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\[agent\/\d+\] log: model: overloaded \((?:529|503)\), retry 1\/10 in \d\.\ds\n/);
    expect(stdout.match(/ log: /g)).toHaveLength(2);
    expect(stdout).toContain("\n  Third time.\n");
    expect(stdout).not.toContain("never arrives");
    expect(server.requests).toHaveLength(3);
    expect(server.rejected).toEqual([]);
  });
});

describe("crux <intent…>", () => {
  const run = (args: readonly string[], stdin = "", more: RunOptions = {}): Promise<Run> =>
    world.crux(args, { env: modelEnv(server), stdin, ...more });

  it("--json prints the documented object and nothing else", async () => {
    await serve([view, text('Said "so".\nTwice.\n').usage({ input: 100, output: 7 })]);
    const { code, stdout, stderr } = await run(["--json", "hello"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^\{"ok": true, "data": \{"pid": \d+, "result": "Said \\"so\\"\.\\nTwice\.\\n", "tokens_used": \d+, "elapsed_ms": \d+, "exit_code": 0\}\}\n$/,
    );
    expect(shapeOf(JSON.parse(stdout))).toEqual([
      ["ok", "boolean"],
      [
        "data",
        [
          ["pid", "number"],
          ["result", "string"],
          ["tokens_used", "number"],
          ["elapsed_ms", "number"],
          ["exit_code", "number"],
        ],
      ],
    ]);
    const { tokens_used } = (JSON.parse(stdout) as { data: { tokens_used: number } }).data;
    expect(tokens_used).toBeGreaterThan(107);
  });

  it("-q prints the result and a newline", async () => {
    await serve([view, text("Line one.\n  Line two.")]);
    expect(await run(["-q", "hello"])).toMatchObject({
      code: 0,
      stdout: "Line one.\n  Line two.\n",
      stderr: "",
    });
  });

  it("-v adds what the process was given, one line per call of a tool, and steps of how many", async () => {
    world.write("a.txt", "one\n");
    await serve([view, text("Done.")]);
    const { stdout } = await run([
      "-v",
      "--max-steps",
      "7",
      "--budget",
      "90000",
      "-m",
      "some-model",
      "hello",
    ]);
    const [spawned, given, first, tool, second, ...rest] = stdout.split("\n");
    expect(spawned).toMatch(/^\[kernel\] spawning PID \d+\.\.\.$/);
    expect(given).toMatch(
      /^\[kernel\] PID \d+: agent=general-purpose model=some-model max_steps=7 budget=90000 device=\/dev\/llm\/openai$/,
    );
    expect(first).toMatch(/^\[agent\/\d+\] reasoning step 1\/7\.\.\.$/);
    expect(tool).toMatch(/^\[agent\/\d+\] tool \/bin\/view 21B → \d+B \d+\.\ds$/);
    expect(second).toMatch(/^\[agent\/\d+\] reasoning step 2\/7\.\.\.$/);
    expect(rest).toEqual([
      `══ Result ${"═".repeat(70)}`,
      "  Done.",
      "═".repeat(80),
      expect.stringMatching(/^\[kernel\] PID \d+ exited\(0\) \| tokens: \d+ \| elapsed: \d+\.\ds$/),
      "",
    ]);
    expect(server.requests[0]!.model).toBe("some-model");
  });

  it("tells a model without a person how a denied call would be allowed, and still ends with 0", async () => {
    world.write("a.txt", "one\n");
    const touch = [1, 2, 3].map((n) => ({ name: "bash", input: { command: `touch n${n}; npm run b${n}` } }));
    await serve([view, toolUse([EDIT, ...touch]), text("I could not.")]);
    const { code, stdout, stderr } = await run(["--json", "change it"]);
    expect(code).toBe(0);
    const path = join(world.work, "a.txt");
    const flag = `--allow 'edit(/${path})'`;
    expect(stderr).toMatch(/^\[agent\/\d+\] log: denied edit.*--allow 'edit/);
    expect(stderr).toMatch(
      /^\[agent\/\d+\] denied bash: .*\(to allow it: .*--allow 'bash\(npm run b3\)'\)$/m,
    );
    expect(world.file("a.txt")).toBe("one\n");
    expect(results()[0]!.content).toContain(`It is allowed by the rule edit(/${path})`);
    const { denied } = (JSON.parse(stdout) as { data: { denied: { tool: string; allow: string }[] } }).data;
    expect(denied.map(({ tool }) => tool)).toEqual(["edit", "bash", "bash", "bash"]);
    expect(denied[0]).toEqual({
      tool: "edit",
      what: "edit file: a.txt",
      reason: expect.stringContaining("default mode"),
      allow: flag,
    });
    await server.close();
    await serve([view, edit, text("Changed.")]);
    expect((await run(["--allow", `edit(/${path})`, "change it"])).stderr).toBe("");
    expect(world.file("a.txt")).not.toBe("one\n");
  });

  it("a run that brings nothing but denied calls ends after three replies, and says which", async () => {
    const reply = toolUse([
      { name: "bash", input: { command: "npm run a" } },
      { name: "bash", input: { command: "npm run b" } },
    ]);
    await serve([reply, reply, reply, text("never asked for")]);
    const { code, stdout } = await run(["--json", "try"]);
    expect(code).toBe(1);
    expect(server.requests).toHaveLength(3);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: {
        code: "PERMISSION",
        message: expect.stringContaining("every call of 3 replies in a row was refused"),
      },
      denied: [{ allow: "--allow 'bash(npm run a)'" }, { allow: "--allow 'bash(npm run b)'" }],
    });
  });

  it("--max-steps ends a run that does not come to an end, with 1", async () => {
    await serve(toolUse({ name: "ls" }, { text: "Again." }));
    const { code, stdout, stderr } = await run(["--max-steps", "2", "hello"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^\[agent\/\d+\] error: max steps exceeded\n/);
    expect(stdout).toMatch(/\[kernel\] PID \d+ exited\(1\) \| tokens: \d+ \| elapsed: \d+\.\ds\n$/);
    expect(server.requests).toHaveLength(2);
  });

  it("--budget ends a run whose tokens are spent, with 2", async () => {
    await serve(toolUse({ name: "ls" }, { text: "Again." }).usage({ input: 15_000, output: 4_000 }));
    const { code, stdout, stderr } = await run(["--budget", "20000", "hello"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^\[agent\/\d+\] error: budget_exceeded\n/m);
    expect(stdout).toContain("\n  Again.\n");
    expect(stdout).toMatch(/\[kernel\] PID \d+ exited\(2\) \| tokens: 19000 \| elapsed: \d+\.\ds\n$/);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["--max-steps", "2", 1, "max steps exceeded"],
    ["--budget", "20000", 2, "budget_exceeded"],
  ])("--json of a run that %s %s ended has the code BUDGET", async (flag, value, exitCode, message) => {
    await serve(toolUse({ name: "ls" }, { text: "Again." }).usage({ input: 15_000, output: 4_000 }));
    const { code, stdout } = await run([flag, value, "--json", "hello"]);
    expect(code).toBe(exitCode);
    expect(JSON.parse(stdout)).toEqual({ ok: false, error: { code: "BUDGET", message } });
  });

  it("a small budget pays for a first call: what is reserved shrinks to what is left", async () => {
    await serve(text("Looked.").usage({ input: 1_500, output: 5 }));
    const { code, stderr } = await run(["--budget", "8192", "hello"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("--agent none gives no instructions and the manual's step limit", async () => {
    await serve(inTurn(text("Bare.")));
    const shipped = await run(["-v", "hello"]);
    const bare = await run(["-v", "--agent", "none", "hello"]);
    expect(shipped.stdout).toContain("agent=general-purpose model=- max_steps=200 ");
    expect(bare.stdout).toContain("agent=- model=- max_steps=10 ");
    const [withAgent, without] = server.requests.map(({ system }) => system);
    expect(withAgent).toContain("You are Crux");
    expect(without).not.toContain("You are Crux");
  });

  it("takes stdin for the intent where there are no words, and -- makes words of a command's name", async () => {
    await serve(inTurn(text("Heard.")));
    expect((await run([], "explain\nthe pipe\n")).code).toBe(0);
    expect((await run(["--", "ps", "explained"])).code).toBe(0);
    const [first, second] = server.requests.map(({ lastUserText }) => lastUserText);
    expect(first).toContain("explain\nthe pipe");
    expect(second).toContain("ps explained");
  });

  it("refuses bad arguments before anything starts", async () => {
    await serve(inTurn(text("Never.")));
    const before = await lastPid();
    for (const args of [["--bogus", "x"], [""], ["--agent", "none", "--budget", "x", "y"], ["pss"]]) {
      const { code, stderr, stdout } = await run(args, "", { asTyped: true });
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
      expect(stderr).toMatch(/^✗ /);
    }
    expect((await run(["pss"], "", { asTyped: true })).stderr).toBe(
      "✗ unknown command: pss\n  → hint: crux ps, or crux -- pss to use it as an intent\n",
    );
    expect(await lastPid()).toBe(before + 1);
  });

  it("an error of the vendor that no retry mends is told with exit 1", async () => {
    await serve(error(400, undefined, "this model takes no tools"));
    const { code, stderr } = await run(["hello"]);
    expect(code).toBe(1);
    expect(stderr).toContain("this model takes no tools");
    expect(server.requests).toHaveLength(1);
  });
});

describe("which model answers", () => {
  const openai = () => modelEnv(server, "openai");
  const used = async () => (await world.crux(["cost", "--by", "model", "--json"])).stdout;

  it.each([
    ["-m", "opus"],
    ["--agent", "loyal"],
  ])("a model that no driver has is refused by name, and nothing is asked (%s %s)", async (...args) => {
    await serve([text("Not me.")]);
    const dir = join(world.dir, "config/crux/agents");
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "loyal.md"), "---\nname: loyal\nmodel: opus\n---\nDo it.\n");
    const { code, stdout, stderr } = await world.crux([...args, "count them"], { env: openai() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("no model driver that has opus is set up (anthropic or claude)");
    expect(stderr).toContain("ANTHROPIC_API_KEY");
    expect(server.requestCount).toBe(0);
  });

  it("a fallback of an agent file is said", async () => {
    await serve([text("Done.")]);
    const dir = join(world.dir, "config/crux/agents");
    mkdirSync(dir, { recursive: true });
    const models = "models:\n  preferred: opus\n  fallback: test-model";
    writeFileSync(join(dir, "humble.md"), `---\nname: humble\n${models}\n---\nDo it.\n`);
    const { code, stderr } = await world.crux(["--agent", "humble", "count them"], { env: openai() });
    expect(code).toBe(0);
    expect(stderr).toContain(
      "opus is set up (anthropic or claude): its agent file's fallback test-model answers",
    );
  });

  it("the name that the server gives stands where a person looks", async () => {
    await serve([text("Done.").from("other-model-7")]);
    const args = ["-v", "--json", "-m", "openai/asked-model", "count them"];
    const { stdout, stderr } = await world.crux(args, { env: openai() });
    const { data } = JSON.parse(stdout);
    expect(data.model).toBe("other-model-7");
    const said = await world.crux(["logs", String(data.pid)]);
    expect(said.stdout + stderr).toContain("the model asked-model was asked for; other-model-7 answers");
    expect(JSON.parse(await used()).data.lines).toContainEqual(
      expect.objectContaining({ key: "other-model-7", calls: 1, unpriced: 1 }),
    );
    const rows = JSON.parse((await world.crux(["ps", "-v", "--json"])).stdout).data.processes;
    const row = rows.find(({ pid }: { pid: number }) => pid === data.pid);
    if (row !== undefined) expect(row).toMatchObject({ model: "other-model-7", cost_usd: null });
  });

  it("what an agent file has wrong is named with file and line", async () => {
    await serve([text("Done.")]);
    const dir = join(world.dir, "config/crux/agents");
    mkdirSync(dir, { recursive: true });
    const lines = ["---", "name: typo", "modle: sonnet", "tools: veiw", "---", "Do it."];
    writeFileSync(join(dir, "typo.md"), `${lines.join("\n")}\n`);
    const { code, stdout } = await world.crux(["agents", "check", "typo"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${dir}/typo.md:3: unknown key 'modle' (did you mean model?)\n`);
    expect(stdout).toContain(`${dir}/typo.md:4: unknown tool 'veiw' (did you mean view?)\n`);
    world.write("mine/agent.yaml", "name: mine\nskils: [a]\n");
    const mine = await world.crux(["agents", "check", "mine/agent.yaml"]);
    expect(mine.stdout).toContain("mine/agent.yaml:2: unknown key 'skils' (did you mean skills?)");
    expect((await world.crux(["agents", "-q"])).stdout).toMatch(
      /^code-analyst\ncoordinator\nexplore\ngeneral-purpose\n/,
    );
    expect((await world.crux(["skills", "check"])).code).toBe(0);
  });
});
