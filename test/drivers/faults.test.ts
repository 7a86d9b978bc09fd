/**
 * The fault matrix: every driver that talks to a server, and the script, × every failure × every point of a reply. Whatever breaks where, the
 * run ends as documented: what can be had is there once (no text lost or doubled, no call without its result, no tool run
 * twice), and what cannot be had is no success. The loop, the device and the drivers are the real ones; time is not.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { OpenFile } from "../../src/abi/device.ts";
import { DriverError, type Fault, VfsError } from "../../src/abi/errors.ts";
import { asFd, asPid } from "../../src/abi/ids.ts";
import type { Clock } from "../../src/abi/program.ts";
import type { Sys } from "../../src/abi/sys.ts";
import { agentProgram } from "../../src/agent/loop.ts";
import { FakeProcess } from "../../src/agent/testing/fake-process.ts";
import { systemClock } from "../../src/lib/time/system-clock.ts";
import { modelDevices } from "../../src/llm/devices/devices.ts";
import { testAct, testCaller } from "../../src/llm/testing/callers.ts";
import { AWS_KEYS } from "../model-server/bedrock/request.ts";
import { dialects } from "../model-server/dialect.ts";
import { Mint } from "../model-server/identity.ts";
import { composeMessage } from "../model-server/message.ts";
import { blocks, error, type Point, type Reply, text, toolUse } from "../model-server/reply.ts";
import { type DialectName, readRequest } from "../model-server/request.ts";
import type { ModelServer } from "../model-server/server.ts";
import { place } from "./google.ts";
import { serve } from "./rig.ts";

interface Wire {
  readonly driver: string;
  readonly dialect: DialectName;
  /** The model, where the driver has models of several vendors. */
  readonly path?: string;
  env(server: ModelServer): Record<string, string> | Promise<Record<string, string>>;
}

const key = "test-key-0123456789";
const onVertex: Wire["env"] = async (server) => {
  const { env, leave } = await place();
  onTestFinished(leave);
  return env(server);
};
const WIRES: readonly Wire[] = [
  {
    driver: "anthropic",
    dialect: "anthropic",
    env: ({ anthropicBaseUrl }) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: anthropicBaseUrl }),
  },
  {
    driver: "openai",
    dialect: "openai",
    env: ({ openaiBaseUrl }) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: openaiBaseUrl, OPENAI_MODEL: "m" }),
  },
  {
    driver: "openai",
    dialect: "responses",
    env: ({ openaiBaseUrl }) => ({
      ...{ OPENAI_API_KEY: key, OPENAI_BASE_URL: openaiBaseUrl, OPENAI_MODEL: "m" },
      CRUX_OPENAI_API: "responses",
    }),
  },
  {
    driver: "xai",
    dialect: "responses",
    env: ({ openaiBaseUrl }) => ({ XAI_API_KEY: key, XAI_BASE_URL: openaiBaseUrl }),
  },
  {
    driver: "gemini",
    dialect: "gemini",
    env: ({ geminiBaseUrl }) => ({ GEMINI_API_KEY: key, GEMINI_BASE_URL: geminiBaseUrl }),
  },
  {
    driver: "vertex",
    dialect: "anthropic",
    env: onVertex,
  },
  {
    driver: "vertex",
    dialect: "gemini",
    path: "/gemini-4-hydrogen",
    env: onVertex,
  },
  {
    driver: "bedrock",
    dialect: "bedrock",
    env: ({ url }) => ({ ...AWS_KEYS, AWS_REGION: "eu-west-1", ANTHROPIC_BEDROCK_BASE_URL: url }),
  },
  {
    driver: "vllm",
    dialect: "openai",
    env: ({ openaiBaseUrl }) => ({ VLLM_BASE_URL: openaiBaseUrl, VLLM_MODEL: "m" }),
  },
  {
    driver: "ollama",
    dialect: "ollama",
    env: ({ port }) => ({ OLLAMA_HOST: `127.0.0.1:${port}`, OLLAMA_MODEL: "m" }),
  },
];

const edit = (path: string) => ({ name: "edit", input: { path, text: "some longer text" } });
/** In small pieces, so that it can break within a text and within arguments. */
const work = blocks("I change both.", toolUse([edit("a"), edit("b")])).fragment(4);

/** Where a reply may break, counted in the events of the dialect. Calls of some come whole: there is no point within one. */
function pointsOf(dialect: DialectName): readonly (readonly [name: string, at: Point])[] {
  const http = {
    method: "POST",
    path: "/models/m:streamGenerateContent",
    query: "",
    headers: {},
    rawBody: "",
  };
  const body = { model: "m", stream: true, stream_options: { include_usage: true } };
  const request = readRequest(http, dialect, body, 0);
  const frames = [...dialects[dialect].stream(composeMessage(work, request, new Mint("x")), request)];
  const ends = frames.flatMap(({ endsBlock }, index) => (endsBlock ? [index + 1] : []));
  const [said = 0, called = 0] = ends;
  return [
    ["after the start of the message", { afterEvents: 1 }],
    ["within the text", { afterEvents: said - 1 }],
    ["within the arguments of a call", { afterEvents: Math.floor((said + called) / 2) }],
    ["after a finished call", { afterEvents: called }],
    ["before the stop", { afterEvents: frames.length - 1 }],
  ];
}

/** The dialects whose providers pause a reply. */
const PAUSING: ReadonlySet<DialectName> = new Set(["anthropic", "bedrock"]);

const before: Point = { beforeHeaders: true };
const once = { "retry-after": "1" };
const junk = (dialect: DialectName): string => (dialect === "ollama" ? "{no\n" : "data: {no\n\n");

/** What may go wrong and be right the next time. */
const passing: Readonly<Record<string, (reply: Reply, at: Point, dialect: DialectName) => Reply>> = {
  "a rate limit": (reply, at) => reply.fail(error(429, undefined, undefined, once), at),
  "an overload": (reply, at) => reply.fail(error(529), at),
  "an error of the server": (reply, at) => reply.fail(error(500), at),
  "a closed connection": (reply, at) => reply.cut(at),
  "a reset connection": (reply, at) => reply.cut({ ...at, reset: true }),
  "a silence": (reply, at) => reply.stall(at),
  "an early end": (reply, at) => reply.truncate(at),
  "a line of junk": (reply, at, dialect) => reply.inject(junk(dialect), at),
};
/** What would be the same the next time. */
const lasting = { auth: 401, quota: 402, forbidden: 403, model_not_found: 404, invalid: 400, media: 400 };

/** A refused image ends a run in good order: the next message works. */
function endOf(kind: string): string {
  return kind === "media" ? "done" : "fault";
}

/** What waits for less is of a reply that comes, and not of one that does not. */
const SHORT_MS = 1_000;

/**
 * Time stands still but for waits of the server. In a pause who waits for the shortest time is woken, once the client has
 * read what came before it; in a silence without end the others after it.
 */
function clockOf(server: ModelServer): Clock {
  let [mono, seen] = [0, 0];
  const waiting = new Map<() => void, number>();
  const wake = (until = Infinity): boolean => {
    const [first] = [...waiting].sort(([, a], [, b]) => a - b);
    if (first === undefined || first[1] > until) return false;
    mono = first[1];
    waiting.delete(first[0]);
    first[0]();
    return true;
  };
  const heard = (): number => server.silences + server.pauses;
  const pass = async (): Promise<void> => {
    if (heard() <= seen) return;
    seen = heard();
    const { silences } = server;
    while (silences === 0 && heard() === seen && !wake(mono + SHORT_MS)) await setImmediate();
    for (; silences > 0 && waiting.size > 0 && server.inFlight > 0; wake())
      for (let turns = 0; turns < 20; turns++) await setImmediate();
  };
  return {
    now: () => 0,
    mono: () => mono,
    sleep: (ms, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.set(resolve, mono + ms);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      server.waitFor(() => heard() > seen, signal).then(pass, () => {});
      return promise.finally(() => waiting.delete(resolve));
    },
  };
}

/** As the VFS wraps what a device throws. */
async function wrapped<T>(op: string, act: Promise<T>): Promise<T> {
  try {
    return await act;
  } catch (failure) {
    if (!(failure instanceof DriverError)) throw failure;
    const { code, message, device = "", hint } = failure as Fault & { hint?: string };
    throw new VfsError({ op, pid: asPid(1), code, message, device, hint, cause: failure });
  }
}

const MODEL_FD = asFd(3);

interface Place {
  readonly path?: string;
  readonly env: Record<string, string>;
  /** Called when a tool begins. */
  readonly begun?: () => void;
}

/** An agent whose model is the device of a driver. */
async function drive(driver: string, clock: Clock, { path = "", env, begun }: Place) {
  const devices = modelDevices({ exec: {} as never, tmpDir: "", clock });
  const device = devices.find(({ name }) => name === driver)!;
  const file: OpenFile = await device.open(path, "RW" as never, testCaller({ env }));
  const edited: unknown[] = [];
  const run = (input: unknown) => {
    edited.push((input as { path: string }).path);
    begun?.();
    return { ok: true as const, content: [{ type: "text" as const, text: "edited" }] };
  };
  const process = new FakeProcess({ answers: [], tools: { edit: { hasEffect: true, run } } });
  const { sys } = process;
  const own: Sys = {
    ...sys,
    ahead: (fd, signal) =>
      fd === MODEL_FD
        ? (file.ahead?.(signal).catch(() => false) ?? sys.ahead(fd, signal))
        : sys.ahead(fd, signal),
    write: (fd, bytes, signal) =>
      fd === MODEL_FD ? wrapped("Write", file.write(bytes, testAct(signal))) : sys.write(fd, bytes, signal),
    read: (fd, length, signal) =>
      fd === MODEL_FD
        ? wrapped("Read", file.read(length, signal ?? sys.ending))
        : sys.read(fd, length, signal),
  };
  const exit = await agentProgram({ platform: "linux" })(own, process.start);
  await file.close();
  await device.close?.();
  return { process, exit, edited };
}

interface Breaking {
  readonly begun?: () => void;
  /** How many replies break; absent: the first. */
  readonly times?: number;
}

/** Before a server whose first reply is broken; what is not done then, the model does next. */
async function runWith(wire: Wire, broken: Reply, { begun, times = 1 }: Breaking = {}) {
  let asked = 0;
  const server = await serve({
    script: ({ assistantTurns, messages }) => {
      if (asked++ < times) return broken;
      if (assistantTurns === 0) return work;
      const done = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"));
      return done.length < 2 ? toolUse(edit("b")) : text("Done.");
    },
    verifySignatures: wire.dialect === "gemini",
  });
  const at = { ...(await placeOf(wire, server)), ...(begun === undefined ? {} : { begun }) };
  return { server, ...(await drive(wire.driver, clockOf(server), at)) };
}

/** The run has come to its end, with every word and every edit in it once. */
function expectOnce({ server, process, exit, edited }: Awaited<ReturnType<typeof runWith>>): void {
  expect([exit.code, process.result], exit.reason).toEqual([0, "Done."]);
  expect(edited).toEqual(["a", "b"]);
  expect(server.rejected).toEqual([]);
  const last = server.requests.at(-1)!.messages;
  const said = last.filter(({ role }) => role === "assistant").flatMap(({ content }) => content);
  const texts = said.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
  expect(texts).toEqual(["I change both."]);
  expect(said.filter(({ type }) => type === "tool_use")).toHaveLength(2);
  const results = last.flatMap(({ content }) => content).filter(({ type }) => type === "tool_result");
  expect(results.map((block) => block.type === "tool_result" && block.content)).toEqual(["edited", "edited"]);
}

async function placeOf({ path = "", env }: Wire, server: ModelServer): Promise<Place> {
  return { path, env: await env(server) };
}

describe.each(WIRES)("$driver by $dialect", (wire) => {
  const points = [["before the first byte", before] as const, ...pointsOf(wire.dialect)];

  it.each(points.flatMap(([where, at]) => Object.keys(passing).map((what) => [what, where, at] as const)))(
    "%s %s: everything is there once",
    async (what, _where, at) => {
      // before the first byte there is no body that could end or hold junk
      if (at === before && /end|junk/.test(what)) at = { afterEvents: 0 };
      const broken = passing[what]!(work, at, wire.dialect);
      const run = await runWith(wire, broken);
      expectOnce(run);
      if (what === "a rate limit" && at === before) expect(run.process.sleeps).toEqual([1_000]);
    },
  );

  it.each(Object.keys(passing))("%s once a call has begun: it is not made again", async (what) => {
    const [, { afterEvents = 0 }] = pointsOf(wire.dialect).find(
      ([where]) => where === "after a finished call",
    )!;
    // chat completions tell that a call is whole only by the beginning of the next one
    const at = { afterEvents: wire.dialect === "openai" ? afterEvents + 1 : afterEvents };
    const begun = Promise.withResolvers<void>();
    const broken = passing[what]!(work.until(begun.promise, at), at, wire.dialect);
    const run = await runWith(wire, broken, { begun: begun.resolve });
    expectOnce(run);
    expect(run.process.logs.join("\n")).toContain("the reply broke off");
    expect(run.server.requestCount).toBe(3);
  });

  it("two broken streams in a row: one complete answer is asked for, and its calls run once", async () => {
    const [, at] = pointsOf(wire.dialect)[1]!;
    const run = await runWith(wire, work.truncate(at), { times: 2 });
    expectOnce(run);
    expect(run.server.requests.map(({ stream }) => stream)).toEqual([true, true, false, true]);
  });

  it.each(Object.entries(lasting))("%s is no success, and starts no tool", async (kind, status) => {
    const refusal = kind === "media" ? error(status, undefined, "Could not process image") : error(status);
    const { server, process, exit, edited } = await runWith(wire, refusal);
    expect([exit.code, exit.kind]).toEqual([1, endOf(kind)]);
    expect(exit.reason).not.toBe("");
    expect([edited, process.result]).toEqual([[], ""]);
    expect(process.messages.filter(({ role }) => role !== "user")).toEqual([]);
    expect(server.requestCount).toBe(1);
  });

  // an error within Ollama's stream is words alone, and counts as one of the server
  it.skipIf(wire.dialect === "ollama").each(pointsOf(wire.dialect))(
    "an invalid request that is told %s is no success",
    async (_where, at) => {
      const { server, process, exit, edited } = await runWith(wire, work.fail(error(400), at));
      expect(exit.code).toBe(1);
      expect(edited.length).toBe(new Set(edited).size);
      const calls = process.messages.flatMap(({ blocks: own = [] }) =>
        own.filter(({ type }) => type === "tool_use"),
      );
      expect(process.messages.filter(({ role }) => role === "tool")).toHaveLength(calls.length);
      expect(server.requestCount).toBe(1);
    },
  );

  it("a prompt over the window ends the run, and is not sent again", async () => {
    const server = await serve({ script: text("never"), contextWindowTokens: 50 });
    const { process, exit } = await drive(wire.driver, clockOf(server), await placeOf(wire, server));
    expect([exit.code, exit.reason, process.result]).toEqual([1, "prompt_too_long", ""]);
    expect(server.requestCount).toBeLessThan(2);
  });

  const fruitless: readonly (readonly [what: string, reply: Reply, requests: readonly number[]])[] = [
    ["a refusal", text("I will not.").stop("refusal"), [1]],
    ["an empty reply, twice,", text(""), [2]],
    ["a reply that is cut off again and again", text("more ").stop("max_tokens"), [4, 5]],
    ["a pause without end", text("so far ").stop("pause_turn"), [9]],
  ];
  const hasStop = ([what]: (typeof fruitless)[number]): boolean =>
    /refusal/.test(what) ? wire.dialect !== "ollama" : !/pause/.test(what) || PAUSING.has(wire.dialect);
  it.each(fruitless.filter(hasStop))("%s is no success", async (_what, reply, requests) => {
    const { server, exit, edited } = await runWith(wire, reply, { times: 100 });
    expect([exit.code, exit.kind, edited]).toEqual([1, "fault", []]);
    expect(requests).toContain(server.requestCount);
    expect(server.rejected).toEqual([]);
  });

  it.runIf(PAUSING.has(wire.dialect))(
    "a reply after a pause goes on, and its pieces are there once",
    async () => {
      const server = await serve({ script: [text("one ").stop("pause_turn"), text("two")] });
      const { process, exit } = await drive(wire.driver, clockOf(server), await placeOf(wire, server));
      expect([exit.code, process.result, server.rejected]).toEqual([0, "one two", []]);
    },
  );

  it.each(["max_tokens", "end_turn"] as const)(
    "a reply with calls that ends with %s runs each once",
    async (stop) => {
      const { exit, edited } = await runWith(wire, work.stop(stop));
      expect(exit.code).toBe(0);
      expect(edited).toEqual(["a", "b"]);
    },
  );
});

describe("script by a scenario", () => {
  const kinds = ["rate_limit", "overloaded", "server", "timeout", "connection", "stream_malformed", "cut"];
  const places = ["start", "mid", "block:1", "block:2"];
  const play = async (fault: object) => {
    const folder = await mkdtemp(join(tmpdir(), "crux-faults-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const call = ["a", "b"].map((path) => ({ tool: "edit", args: edit(path).input }));
    const turns = [{ say: "I change both.", call, fault }, { say: "Done." }];
    await writeFile(join(folder, "s.json"), JSON.stringify({ scenario: "faults", turns }));
    return drive("script", systemClock, { path: `/${join(folder, "s.json")}`, env: {} });
  };

  it.each(kinds.flatMap((kind) => places.map((at) => [kind, at] as const)))(
    "%s at %s: everything is there once",
    async (kind, at) => {
      const { process, exit, edited } = await play({ kind, at });
      expect([exit.code, process.result, edited]).toEqual([0, "Done.", ["a", "b"]]);
      expect(process.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
        ["assistant", "I change both."],
        ["tool", "edited"],
        ["tool", "edited"],
        ["assistant", "Done."],
      ]);
    },
  );

  it.each(["auth", "quota", "forbidden", "model_not_found", "invalid", "media"])(
    "%s is no success, and starts no tool",
    async (kind) => {
      const { process, exit, edited } = await play({ kind });
      expect([exit.code, exit.kind, edited, process.result]).toEqual([1, endOf(kind), [], ""]);
    },
  );
});
