/** Sessions of the booted system: many clients, one conversation; it waits, rests, comes back, and nothing said to it is lost. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { onSharedStage, ownWorld, serve, serveInTurn, server, world } from "./harness/stage.ts";
import { Wire, type Reply as WireLine } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const bash = (command: string) => toolUse({ name: "bash", input: { command } }, { text: "I run it." });

type Event = Record<string, unknown> & { readonly event: string };

/** One client that follows a session: its events as they come. */
class Follower {
  readonly events: Event[] = [];
  readonly #wire: Wire;
  #reading: Promise<void>;

  private constructor(wire: Wire) {
    this.#wire = wire;
    this.#reading = this.#read();
  }

  static async open(method: string, payload: unknown): Promise<{ follower: Follower; head: WireLine }> {
    const wire = await Wire.open(world.socket);
    const head = await wire.ask(method, payload);
    return { follower: new Follower(wire), head: head! };
  }

  async until(count: number, event = "idle"): Promise<void> {
    const found = () => this.all(event).length;
    expect(await settled(found, (n) => n >= count)).toBe(count);
  }

  all(event: string): Event[] {
    return this.events.filter((each) => each.event === event);
  }

  async close(): Promise<void> {
    await this.#wire.close();
    await this.#reading;
  }

  async #read(): Promise<void> {
    for (let line = await this.#wire.next(); line !== undefined; line = await this.#wire.next())
      this.events.push(line.payload as Event);
  }
}

async function ask(method: string, payload: unknown): Promise<WireLine> {
  await using wire = await Wire.open(world.socket);
  return (await wire.ask(method, payload))!;
}

async function begin(intent = "", more: object = {}): Promise<{ pid: number; follower: Follower }> {
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  const env = { ...world.env };
  const request = {
    intent,
    session: true,
    verbose: true,
    cwd: world.work,
    permission_mode: "bypass",
    env,
    ...more,
  };
  const { follower, head } = await Follower.open("spawn", request);
  return { pid: Number(head.payload!.pid), follower };
}

const say = async (pid: number, words: string, client = "") => {
  const reply = await ask("session.say", { pid, text: words, client });
  expect(reply.error).toBeUndefined();
  return reply.payload as { seq: number; ahead: number };
};
const state = async (pid: number) => {
  const { payload } = await ask("session.list", { all: true });
  const found = (payload as { sessions: { pid: number; state: string }[] }).sessions;
  return found.find((session) => session.pid === pid)?.state;
};
const saidIn = (request: ModelRequest) => JSON.stringify(request.messages);

describe("a session", () => {
  it("waits after each run, keeps its words, and its runs tell outcome, tokens and reply", async () => {
    await serveInTurn(text("One."), text("Two."));
    const { pid, follower } = await begin("first words of it");
    await follower.until(1);
    expect(await state(pid)).toBe("waiting");
    await say(pid, "second");
    await follower.until(2);
    expect(follower.all("idle")).toMatchObject([
      { seq: 0, outcome: "completed", result: "One.", exit_code: 0, queued: 0 },
      { outcome: "completed", result: "Two.", exit_code: 0 },
    ]);
    expect(follower.all("reply").map((event) => event.text)).toEqual(["One.", "Two."]);
    expect(saidIn(server.requests[1]!)).toMatch(/first words of it.*One\..*second/);
    const { payload } = await ask("session.history", { pid, limit: 3 });
    expect(payload).toMatchObject({
      messages: [
        { role: "assistant", text: "One." },
        { role: "user", text: "second" },
        { role: "assistant", text: "Two." },
      ],
      next: expect.any(String),
    });
    const older = await ask("session.history", { pid, before: payload!.next });
    expect(older.payload).toEqual({
      messages: [expect.objectContaining({ role: "user", text: "first words of it" })],
    });
    await follower.close();
  });

  it("INT ends the run and not the session; its calls stay paired, and the model is told", async () => {
    await serveInTurn(bash("echo begun > begun; sleep 60"), text("Fine."));
    const { pid, follower } = await begin("work");
    await settled(
      () => follower.all("step").length,
      (n) => n > 0,
    );
    await settled(
      () => world.commands(/sleep 60/).length,
      (n) => n > 0,
    );
    await ask("kill", { pid, signal: 3 });
    await follower.until(1);
    expect(follower.all("idle")).toMatchObject([{ outcome: "interrupted", exit_code: 130 }]);
    expect(await state(pid)).toBe("waiting");
    await say(pid, "never mind");
    await follower.until(2);
    const last = server.requests.at(-1)!;
    const blocks = last.messages.flatMap(({ content }) => content);
    expect(blocks.filter(({ type }) => type === "tool_result")).toHaveLength(1);
    expect(saidIn(last)).toMatch(/\[interrupted by the user\].*never mind/);
    expect(follower.all("idle")[1]).toMatchObject({ outcome: "completed", result: "Fine." });
    await follower.close();
  });

  it("a run that reaches its limit of steps ends with words; the next has all steps again", async () => {
    await serve((request) => (request.messages.length < 6 ? bash("true") : text("Done.")));
    const { pid, follower } = await begin("work", { max_steps: 2 });
    await follower.until(1);
    expect(follower.all("idle")).toMatchObject([
      { outcome: "limit", exit_code: 1, message: "max steps exceeded" },
    ]);
    await say(pid, "go on");
    await follower.until(2);
    expect(follower.all("idle")[1]).toMatchObject({ outcome: "completed", result: "Done." });
    await follower.close();
  });
});

describe("many clients", () => {
  it("ten write ten messages each: each is read once, in its client's order, and none within another's run", async () => {
    await serve(() => text("Yes."));
    const { pid, follower } = await begin();
    const writers = Array.from({ length: 10 }, (_, w) => `client-${w}`);
    const seqs = await Promise.all(
      writers.map(async (client) => {
        const own: number[] = [];
        for (let n = 0; n < 10; n++) own.push((await say(pid, `${client} says ${n}`, client)).seq);
        return own;
      }),
    );
    const inputs = () => follower.all("input");
    await settled(
      () => inputs().length,
      (n) => n === 100,
    );
    await settled(
      () => follower.all("idle").length,
      (n) => n === inputs().filter((e) => e.joins !== true).length,
    );
    expect(
      inputs()
        .map(({ seq }) => seq)
        .sort(),
    ).toEqual(seqs.flat().sort());
    for (const [w, client] of writers.entries()) {
      const own = inputs().filter((event) => event.client === client);
      expect(own.map(({ seq }) => seq)).toEqual(seqs[w]);
      expect(own.map((event) => event.text)).toEqual(
        Array.from({ length: 10 }, (_, n) => `${client} says ${n}`),
      );
    }
    let running: string | undefined;
    for (const { event, client, joins, seq } of follower.events) {
      if (event === "input" && joins === true) expect(client).toBe(running);
      else if (event === "input") {
        expect(running).toBeUndefined();
        running = String(client);
      }
      if (event === "idle") running = undefined;
      if (event === "idle") expect(seq).toBeGreaterThan(0);
    }
    await follower.close();
  });

  it("the same client's words join its run at the next step; another's wait, and can be taken back", async () => {
    await serveInTurn(bash("until [ -e go ]; do sleep 0.02; done"), text("Seen."), text("For the other."));
    const { pid, follower } = await begin("work", { client: "a" });
    await settled(
      () => world.commands(/-e go/).length,
      (n) => n > 0,
    );
    const other = await say(pid, "from b", "b");
    const gone = await say(pid, "b thinks again", "b");
    const own = await say(pid, "also this", "a");
    expect([other.ahead, gone.ahead, own.ahead]).toEqual([1, 2, 0]);
    expect((await ask("session.withdraw", { pid, seq: gone.seq })).ok).toBe(true);
    expect((await ask("session.withdraw", { pid, seq: gone.seq })).error).toMatchObject({ code: "CONFLICT" });
    writeFileSync(join(world.work, "go"), "");
    await follower.until(2);
    expect(follower.all("input")).toMatchObject([
      { seq: 0, client: "a", text: "work" },
      { seq: own.seq, client: "a", joins: true },
      { seq: other.seq, client: "b" },
    ]);
    expect(follower.all("withdrawn")).toMatchObject([{ seq: gone.seq }]);
    expect(saidIn(server.requests[1]!)).not.toContain("from b");
    expect(saidIn(server.requests[2]!)).toMatch(/also this.*Seen\..*from b/);
    expect(saidIn(server.requests[2]!)).not.toContain("b thinks again");
    await follower.close();
  });
});

describe("rest", () => {
  it("one that waits rests over a stop of the daemon, and whoever speaks to it brings it back", async () => {
    await serveInTurn(text("One."), text("Two."), text("Three."));
    const { pid, follower } = await begin("hello there");
    await follower.until(1);
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    await follower.close();
    const { stdout } = await world.crux(["sessions", "--json"]);
    expect(JSON.parse(stdout).data.sessions).toMatchObject([{ pid, state: "resting", title: "hello there" }]);
    expect(await world.crux(["send", String(pid), "again"])).toMatchObject({ code: 0 });
    expect(
      await settled(
        () => server.requestCount,
        (n) => n === 2,
      ),
    ).toBe(2);
    expect(saidIn(server.requests[1]!)).toMatch(/hello there.*One\..*again/);
    const run = await world.crux(["-c", "-q", "and now?"]);
    expect(run).toMatchObject({ code: 0, stdout: "Three.\n" });
  });

  it("one in the middle of a run is held at a stop, and goes on with what it had when it is opened", async () => {
    await serveInTurn(bash("echo ran >> count; until [ -e go ]; do sleep 0.02; done"), text("Over."));
    const { pid, follower } = await begin("work");
    await settled(
      () => world.commands(/-e go/).length,
      (n) => n > 0,
    );
    const stopping = world.crux(["daemon", "stop"]);
    await settled(
      () => follower.all("paused").length,
      (n) => n > 0,
    );
    writeFileSync(join(world.work, "go"), "");
    expect((await stopping).code).toBe(0);
    await follower.close();
    expect(server.requestCount).toBe(1);
    const run = await world.crux(["chat", "-r", String(pid), "--json"], { stdin: "" });
    expect(run.code).toBe(0);
    expect(
      await settled(
        () => server.requestCount,
        (n) => n === 2,
      ),
    ).toBe(2);
    expect(world.file("count")).toBe("ran\n");
    expect(server.requests[1]!.lastToolResults).toHaveLength(1);
  });

  it("nobody there and nothing to do: it leaves memory, and a signal ends it where it rests", async () => {
    ownWorld();
    world.settings({ sessions: { restAfterMs: 50 } });
    await serveInTurn(text("One."));
    const { pid, follower } = await begin("hello");
    await follower.until(1);
    await follower.close();
    expect(
      await settled(
        () => state(pid),
        (s) => s === "resting",
      ),
    ).toBe("resting");
    expect((await world.crux(["ps", "-q"])).stdout).toBe("");
    expect((await world.crux(["kill", String(pid)])).code).toBe(0);
    expect(await state(pid)).toBe("ended");
    expect(await world.crux(["-c", "hello?"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no session in this folder"),
    });
  });

  it("what was acknowledged survives kill -9 of the daemon, and is answered once", async () => {
    await serveInTurn(
      text("One.").until(new Promise(() => {}), { afterEvents: 1 }),
      text("Two."),
      text("Three."),
    );
    const { pid, follower } = await begin("first");
    await server.waitFor(() => server.inFlight === 1);
    const { seq } = await say(pid, "second", "b");
    process.kill(world.daemonPid!, "SIGKILL");
    await follower.close();
    await serveAgain();
    expect(await world.crux(["sessions", "-q"])).toMatchObject({ stdout: `${pid}\n` });
    const opened = await Follower.open("session.open", { pid, env: world.env, verbose: true });
    await opened.follower.until(2);
    expect(opened.follower.all("idle")).toMatchObject([
      { seq: 0, outcome: "completed" },
      { seq, outcome: "completed" },
    ]);
    await opened.follower.close();
  });
});

/** The server that never answers goes; another is there under the same address of the environment. */
async function serveAgain(): Promise<void> {
  await server.close();
  await serve(() => text("Answered."));
}

describe("crux", () => {
  it("-r makes a session of an agent that has ended", async () => {
    ownWorld();
    await serveInTurn(text("Found it."), text("Because."));
    expect((await world.crux(["look for it"])).code).toBe(0);
    const run = await world.crux(["-r", "1", "-q", "why there?"]);
    expect(run).toMatchObject({ code: 0, stdout: "Because.\n" });
    expect(saidIn(server.requests[1]!)).toMatch(/look for it.*Found it\..*why there\?/);
    expect((await world.crux(["sessions", "-q"])).stdout).toBe("1\n");
  });

  it("chat without a terminal answers each line, replies alone on a pipe, and fails with words", async () => {
    ownWorld();
    await serveInTurn(text("One."), text("Two."));
    expect(await world.crux(["chat", "-q"], { stdin: "hello\n\nagain" })).toMatchObject({
      code: 0,
      stdout: "One.\nTwo.\n",
    });
    expect(await world.crux(["-c", "-r", "1", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("either -c or -r"),
    });
    expect(await world.crux(["-r", "nothing like it", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no session: nothing like it"),
    });
    expect((await world.crux(["keep", "1"])).code).toBe(0);
    const { stdout } = await world.crux(["sessions", "--json"]);
    expect(JSON.parse(stdout).data.sessions).toMatchObject([
      { pid: 1, kept: true, turns: 2, title: "hello" },
    ]);
  });
});
