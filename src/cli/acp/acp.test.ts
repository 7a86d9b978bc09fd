/** `crux acp` with the protocol's own client, against a daemon that is played. */

import { Readable, Writable } from "node:stream";
import {
  type ClientConnection,
  client,
  type InitializeResponse,
  type NewSessionRequest,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SetSessionConfigOptionRequest,
} from "@agentclientprotocol/sdk";
import { expect, test, vi } from "vitest";
import { Fault } from "../../abi/errors.ts";
import type { IdleEvent, WireEvent } from "../../abi/wire-events.ts";
import { bypassRefusal } from "../../lib/bypass-refusal.ts";
import { runCli } from "../cli.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { aMachine } from "../testing/run-command.ts";

const SESSION = "0f9f3c52-5c1e-4a52-9d5c-0d8f3a1b2c3d";

const IDLE: IdleEvent = {
  event: "idle",
  pid: 1,
  seq: 0,
  outcome: "completed",
  result: "",
  exit_code: 0,
  tokens_used: 0,
  elapsed_ms: 0,
  queued: 0,
};

interface Talk {
  readonly agent: ClientConnection["agent"];
  readonly said: InitializeResponse;
  readonly daemon: FakeDaemon;
  /** The next text that the agent says. */
  told(): Promise<string>;
}

/** An editor that is open while `act` runs. */
async function anEditor(flags: readonly string[], act: (talk: Talk) => Promise<void>): Promise<void> {
  const feed = new Feed();
  let [seq, lost] = [0, 1];
  const daemon = new FakeDaemon(
    {
      spawn: () => ({ pid: 1, uuid: SESSION }),
      "session.say": (asked) => {
        const { client: name, text } = asked as { client: string; text: string };
        if (text === "lost" && lost-- > 0)
          throw new Fault({ code: "UNAVAILABLE", message: "daemon closed the connection" });
        seq++;
        const read: WireEvent = { event: "input", pid: 1, seq, from: 0, client: name, text };
        // of those that are held only the first is read, until it is interrupted
        const told = !text.startsWith("held") ? [read, { ...IDLE, seq }] : seq === 1 ? [read] : [];
        feed.push(...told.map((payload) => ({ type: "progress", payload }) as const));
        return { seq, ahead: 0 };
      },
      "session.withdraw": () => ({}),
      kill: () => {
        feed.push({ type: "progress", payload: { ...IDLE, seq: 1, outcome: "interrupted" } });
        return {};
      },
      "model.resolve": () => ({ driver: "openai", model: "m" }),
      "model.list": () => ({
        models: [
          { driver: "openai", id: "m", is_ready: true, effort: ["low", "high"] },
          { driver: "openai", id: "plain", is_ready: true, effort: [] },
        ],
      }),
      "process.model": (asked) => {
        const { model, effort } = asked as { model: string; effort?: string };
        const [, name] = model.split("/");
        return { pid: 1, driver: "openai", model: name, from: "run", ...(name === "m" ? { effort } : {}) };
      },
      "process.mode": () => ({ mode: "default" }),
      "context.stat": () => ({ driver: "openai", model: "m" }),
      "session.list": () => ({ sessions: [{ pid: 1, uuid: SESSION, cwd: "/usr", title: "" }] }),
      "session.history": () => ({ messages: [] }),
      "session.change": () => {
        throw new Fault({ code: "CONFLICT", message: "it works" });
      },
      "session.open": () => ({
        pid: 1,
        uuid: SESSION,
        cwd: "/usr",
        dirs: ["/usr", "/notes"],
        mcp_servers: ["My_notes_1"],
      }),
      "skills.check": () => ({ definitions: [] }),
    },
    {
      spawn: feed,
      // each time it is opened
      get "session.open"() {
        return new Feed();
      },
    },
  );
  const { host, stdin, stdout } = aMachine({ daemon });
  const toEditor = new Readable({ read() {} });
  const write = stdout.write.bind(stdout);
  stdout.write = (bytes, done) => {
    toEditor.push(Buffer.from(bytes as string));
    return write(bytes, done);
  };
  const toAgent = new Writable({
    write(chunk: Buffer, _encoding, done) {
      stdin.emit("data", chunk);
      done();
    },
  });
  const reading = new Promise<void>((resolve) => {
    stdin.on("newListener", (event) => event === "data" && queueMicrotask(resolve));
  });
  const ended = runCli(["acp", ...flags], host);
  await reading;
  const texts: string[] = [];
  let wake = (): void => {};
  const told = async (): Promise<string> => {
    for (;;) {
      const text = texts.shift();
      if (text !== undefined) return text;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const connection = client()
    .onNotification("session/update", ({ params: { update } }) => {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
      texts.push(update.content.text);
      wake();
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(toAgent) as WritableStream<Uint8Array>,
        Readable.toWeb(toEditor) as unknown as ReadableStream<Uint8Array>,
      ),
    );
  const { agent } = connection;
  const said = await agent.request("initialize", { protocolVersion: PROTOCOL_VERSION });
  await act({ agent, said, daemon, told });
  stdin.emit("end");
  expect(await ended).toBe(0);
}

async function begun(flags: readonly string[], wanted: Partial<NewSessionRequest>): Promise<unknown> {
  let spawned: unknown;
  await anEditor(flags, async ({ agent, daemon }) => {
    const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [], ...wanted });
    expect(sessionId).toBe(SESSION);
    spawned = daemon.asked.find(([method]) => method === "spawn")?.[1];
  });
  return spawned;
}

test("a session works in the folders that the editor names, beside those of the flag", async () => {
  expect(await begun([], {})).not.toHaveProperty("dirs");
  expect(await begun(["--add-dir=/"], { additionalDirectories: ["/etc", "/var"] })).toMatchObject({
    cwd: "/usr",
    dirs: ["/", "/etc", "/var"],
  });
  await anEditor([], async ({ agent, said, daemon }) => {
    expect(said.agentCapabilities?.sessionCapabilities).toHaveProperty("additionalDirectories");
    const wanted = { cwd: "/usr", mcpServers: [], additionalDirectories: ["more"] };
    await expect(agent.request("session/new", wanted)).rejects.toMatchObject({ code: -32602 });
    expect(daemon.asked.some(([method]) => method === "spawn")).toBe(false);
  });
});

test("the servers of the editor are those of its session, as they stand, beside those of the flag", async () => {
  const env = [{ name: "TOKEN", value: "a$b" }];
  const wanted: NewSessionRequest["mcpServers"] = [
    { name: "My notes (1)", command: "/bin/notes", args: ["--to", "$HOME"], env },
    { type: "http", name: "web", url: "http://127.0.0.1/mcp", headers: [{ name: "x-key", value: "k" }] },
  ];
  const flag = '--mcp-config={"mcpServers":{"web":{"command":"w"},"more":{"command":"m"}}}';
  const given = { mcpServers: wanted };
  expect(await begun([flag, "--strict-mcp-config"], given)).toMatchObject({
    mcp_servers: {
      My_notes_1: { command: "/bin/notes", args: ["--to", "$$HOME"], env: { TOKEN: "a$$b" } },
      web: { type: "http", url: "http://127.0.0.1/mcp", headers: { "x-key": "k" } },
      more: { command: "m" },
    },
    strict_mcp: true,
  });
  expect(await begun([], {})).not.toHaveProperty("mcp_servers");
  expect(await begun(["--agent=none"], given)).not.toHaveProperty("mcp_servers");
  await anEditor([], async ({ agent, said }) => {
    expect(said.agentCapabilities?.mcpCapabilities).toMatchObject({ http: true, sse: true });
    const odd = { type: "acp", name: "odd", id: "1" } as never;
    await expect(agent.request("session/new", { cwd: "/usr", mcpServers: [odd] })).rejects.toMatchObject({
      code: -32602,
    });
  });
  const sse = { type: "sse" as const, name: "old", url: "http://127.0.0.1/sse", headers: [] };
  expect(await begun([], { mcpServers: [sse] })).toMatchObject({
    mcp_servers: { old: { type: "sse", url: "http://127.0.0.1/sse" } },
  });
});

test("an editor is told which of its servers and folders a session that it opens does not have", async () => {
  const server = (name: string) => ({ name, command: "/bin/x", args: [], env: [] });
  const has = { sessionId: SESSION, cwd: "/usr", mcpServers: [server("My notes (1)")] };
  const more = {
    mcpServers: [...has.mcpServers, server("web")],
    additionalDirectories: ["/notes/deep", "/more"],
  };
  await anEditor([], async ({ agent, told, daemon }) => {
    await agent.request("session/load", { ...has, additionalDirectories: ["/notes"] });
    await agent.request("session/resume", { sessionId: SESSION, cwd: "/usr" });
    for (const method of ["session/load", "session/resume"] as const) {
      await agent.request(method, { ...has, ...more });
      // of those before nothing was said
      expect((await told()).trim()).toBe(
        "This session does not have the MCP server `web`, the folder `/more`: another client is in it, or it works. Load it again when it does nothing.",
      );
    }
    const opened = daemon.asked.filter(([method]) => method === "session.open").length;
    const relative = agent.request("session/load", { ...has, additionalDirectories: ["more"] });
    await expect(relative).rejects.toMatchObject({ code: -32602 });
    expect(daemon.asked.filter(([method]) => method === "session.open")).toHaveLength(opened);
  });
});

test("the effort can be chosen where the model takes one, and is offered as it was chosen", async () => {
  await anEditor([], async ({ agent, daemon }) => {
    const { configOptions, sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
    const effort = (options: typeof configOptions) => options?.find(({ id }) => id === "thought_level");
    const set = async (configId: string, value: string) => {
      const request: SetSessionConfigOptionRequest = { sessionId, configId, value };
      return effort((await agent.request("session/set_config_option", request)).configOptions);
    };
    const values = (...all: string[]) => all.map((value) => ({ value }));
    expect(effort(configOptions)).toMatchObject({
      category: "thought_level",
      currentValue: "unchanged",
      options: values("unchanged", "low", "high"),
    });
    const chosen = { currentValue: "high", options: values("high", "low") };
    await set("thought_level", "unchanged");
    expect(await set("thought_level", "high")).toMatchObject(chosen);
    await expect(set("thought_level", "unchanged")).rejects.toMatchObject({ code: -32602 });
    expect(await set("model", "openai/plain")).toBeUndefined();
    const asked = daemon.asked.filter(([method]) => method === "process.model");
    expect(asked.map(([, payload]) => payload)).toEqual([
      { pid: 1, model: "openai/m", effort: "high", env: {} },
      { pid: 1, model: "openai/plain", env: {} },
    ]);
  });
});

test("a picture in a prompt is shown to the model, and files are lines of its text", async () => {
  await anEditor([], async ({ agent, said, daemon }) => {
    expect(said.agentCapabilities?.promptCapabilities).toMatchObject({ image: true, embeddedContext: true });
    const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
    const link = { type: "resource_link" as const, name: "a", uri: "file:///a" };
    const image = { type: "image" as const, mimeType: "image/png", data: "aGk=" };
    const answer = await agent.request("session/prompt", { sessionId, prompt: [image, link] });
    expect(answer).toEqual({ stopReason: "end_turn" });
    expect(daemon.asked.find(([method]) => method === "session.say")?.[1]).toMatchObject({
      text: 'resource_link name="a" uri="file:///a"',
      media: [{ type: "image", media_type: "image/png", data: "aGk=" }],
    });
  });
});

test("a prompt whose answer was lost is said again with its key, and is answered once", async () => {
  await anEditor([], async ({ agent, daemon }) => {
    const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
    const prompt = (text: string) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    expect(await prompt("lost")).toEqual({ stopReason: "end_turn" });
    expect(await prompt("next")).toEqual({ stopReason: "end_turn" });
    const said = daemon.asked.flatMap(([method, payload]) => (method === "session.say" ? [payload] : [])) as {
      text: string;
      idempotency_key: string;
    }[];
    expect(said.map(({ text }) => text)).toEqual(["lost", "lost", "next"]);
    expect(new Set(said.map((each) => each.idempotency_key)).size).toBe(2);
  });
});

test("1,000 prompts at once are said in their order, and each has its answer", async () => {
  await anEditor([], async ({ agent, daemon }) => {
    const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
    const texts = Array.from({ length: 1_000 }, (_, n) => `prompt ${n}`);
    const answers = texts.map((text) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    );
    expect(new Set((await Promise.all(answers)).map(({ stopReason }) => stopReason))).toEqual(
      new Set(["end_turn"]),
    );
    const said = daemon.asked.flatMap(([method, payload]) =>
      method === "session.say" ? [(payload as { text: string }).text] : [],
    );
    expect(said).toEqual(texts);
  });
});

test("of 1,000 prompts that are cancelled all but the one in progress are taken back, and that is interrupted once", async () => {
  await anEditor([], async ({ agent, daemon }) => {
    const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
    const prompt = (text: string) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    const answers = Array.from({ length: 1_000 }, (_, n) => prompt(`held ${n}`));
    const numbersOf = (method: string) => daemon.asked.filter(([asked]) => asked === method).length;
    while (numbersOf("session.say") < 10) await new Promise((soon) => setImmediate(soon));
    await agent.notify("session/cancel", { sessionId });
    const kept = prompt("kept");
    expect(new Set((await Promise.all(answers)).map(({ stopReason }) => stopReason))).toEqual(
      new Set(["cancelled"]),
    );
    expect(await kept).toEqual({ stopReason: "end_turn" });
    const said = numbersOf("session.say") - 1;
    expect([numbersOf("session.withdraw"), numbersOf("kill")]).toEqual([said - 1, 1]);
  });
});

test("10,000 prompts leave no listener behind", async () => {
  const open = new Map<EventTarget, number>();
  const count = (target: EventTarget, by: number): void =>
    void open.set(target, (open.get(target) ?? 0) + by);
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  vi.spyOn(EventTarget.prototype, "addEventListener").mockImplementation(function (
    this: EventTarget,
    ...args
  ) {
    count(this, 1);
    return addEventListener.apply(this, args);
  });
  vi.spyOn(EventTarget.prototype, "removeEventListener").mockImplementation(function (
    this: EventTarget,
    ...args
  ) {
    count(this, -1);
    return removeEventListener.apply(this, args);
  });
  const listeners = (): number => [...open.values()].reduce((sum, each) => sum + Math.max(0, each), 0);
  try {
    await anEditor([], async ({ agent }) => {
      const { sessionId } = await agent.request("session/new", { cwd: "/usr", mcpServers: [] });
      const prompts = (many: number) =>
        Promise.all(
          Array.from({ length: many }, () =>
            agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] }),
          ),
        );
      await prompts(10);
      const before = listeners();
      for (let n = 0; n < 100; n++) await prompts(100);
      expect(listeners()).toBe(before);
    });
  } finally {
    vi.restoreAllMocks();
  }
});

test.each([
  [1_000, []],
  [1_000, ["--dangerously-skip-permissions"]],
  [0, ["--permission-mode", "bypass"]],
] as const)(
  "bypass mode is offered with its flag, to root only where it may be: uid %i, %j",
  async (uid, flags) => {
    vi.spyOn(process, "getuid").mockReturnValue(uid);
    vi.stubEnv("IS_SANDBOX", "");
    const isOffered = flags.length > 0 && bypassRefusal() === "";
    try {
      await anEditor(flags, async ({ agent, daemon }) => {
        const meta = { permissionMode: "bypass" };
        const wish: NewSessionRequest = { cwd: "/usr", mcpServers: [], _meta: meta };
        const { modes, sessionId } = await agent.request("session/new", wish);
        expect(modes?.availableModes.some(({ id }) => id === "bypass")).toBe(isOffered);
        const set = agent.request("session/set_mode", { sessionId, modeId: "bypass" });
        if (!isOffered) await expect(set).rejects.toMatchObject({ code: -32602 });
        else await set;
        if (flags.length === 0)
          expect(daemon.asked.find(([method]) => method === "spawn")?.[1]).not.toHaveProperty(
            "permission_mode",
          );
      });
    } finally {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    }
  },
);
