import { describe, expect, test } from "vitest";
import { type Device, O_RDONLY, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { deviceContract } from "../contract.ts";
import { actOf, ask, askJson, callerIn, openAndRead, readAll, until } from "../testing.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { rig, scripted } from "./testing/rig.ts";

const caller = callerIn("/tmp");
const NOTES = `/resources/${encodeURIComponent("file:///notes/a b.txt")}`;

async function mounted(
  server = "notes",
): Promise<{ device: Device; transport: PooledTransport; r: ReturnType<typeof rig> }> {
  const r = rig(systemClock);
  const transport = await r.connected();
  return { device: r.host.device(server, transport), transport, r };
}

deviceContract("an MCP server", async () => ({
  device: (await mounted()).device,
  caller,
  readable: { subpath: "", content: '["tools","resources"]' },
  request: { subpath: "/tools/echo", bytes: '{"text":"hello"}' },
  refused: [
    { subpath: "", flags: O_RDWR, code: "PERMISSION" },
    { subpath: "/tools", flags: O_WRONLY, code: "PERMISSION" },
    { subpath: "/resources", flags: O_RDWR, code: "PERMISSION" },
    { subpath: NOTES, flags: O_WRONLY, code: "PERMISSION" },
    { subpath: "/tools/ecko", flags: O_RDWR, code: "NOT_FOUND" },
    { subpath: "/tools/echo/more", flags: O_RDWR, code: "NOT_FOUND" },
    { subpath: "/prompts", flags: O_RDONLY, code: "NOT_FOUND" },
    { subpath: "/tools/%zz", flags: O_RDWR, code: "NOT_FOUND" },
    { subpath: "/.", flags: O_RDONLY, code: "NOT_FOUND" },
  ],
}));

describe("the files of a server", () => {
  test("list its tools and resources", async () => {
    const { device } = await mounted();
    const tools = JSON.parse(await openAndRead(device, "/tools", caller)) as { name: string }[];
    expect(tools[0]).toEqual({
      name: "echo",
      description: "Says it again.",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    });
    expect(tools).toHaveLength(15);
    const resources = JSON.parse(await openAndRead(device, "/resources", caller)) as unknown[];
    expect(resources).toEqual([{ uri: "file:///notes/a b.txt", name: "notes", mimeType: "text/plain" }]);
  });

  test("what is hidden from the caller is not listed, and is told of as one that never was", async () => {
    const { device } = await mounted();
    const hiding = { ...caller, hides: (name: string) => name === "mcp__notes__echo" };
    const tools = JSON.parse(await openAndRead(device, "/tools", hiding)) as { name: string }[];
    expect(tools).toHaveLength(14);
    expect(tools.map(({ name }) => name)).not.toContain("echo");
    const told = async (name: string) => {
      const opened = device.open(`/tools/${name}`, O_RDWR, hiding);
      const stat = Promise.resolve(device.stat?.(`/tools/${name}`, hiding));
      const words = (error: { code: string; message: string }) =>
        `${error.code} ${error.message.replaceAll(name, "X")}`;
      return [await opened.catch(words), await stat.catch(words)];
    };
    expect(await told("echo")).toEqual(
      Array(2).fill(expect.stringMatching(/^NOT_FOUND tool not found: X\. Similar: (?!.*echo)/)),
    );
    expect(await told("nothing-like-it")).toEqual(
      Array(2).fill(expect.stringMatching(/^NOT_FOUND tool not found: X\. Tools: (?!.*echo)/)),
    );
  });

  test("a tool is called by writing, and its result is what the server gave", async () => {
    const { device } = await mounted();
    const result = await askJson(device, "/tools/echo", { text: "hello" }, caller);
    expect(result).toEqual({ content: [{ type: "text", text: "hello" }] });
    expect(await askJson(device, "/tools/fails", "", caller)).toEqual({
      content: [{ type: "text", text: "it did not work" }],
      isError: true,
    });
  });

  test("a resource is read like a file; one that is not there is NOT_FOUND", async () => {
    const { device } = await mounted();
    expect(await openAndRead(device, NOTES, caller)).toBe("milk, bread");
    const missing = openAndRead(device, `/resources/${encodeURIComponent("file:///none")}`, caller);
    await expect(missing).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("names near tools when one is not found", async () => {
    const { device } = await mounted();
    await expect(device.open("/tools/ecko", O_RDWR, caller)).rejects.toThrow(
      "tool not found: ecko. Similar: echo",
    );
    await expect(device.stat?.("/tools/nothing-like-it", caller)).rejects.toThrow(/Tools: echo, pid, env/);
  });

  test("stat() tells a model what a tool is", async () => {
    const { device } = await mounted();
    const stat = await device.stat?.("/tools/pid", caller);
    expect(stat).toEqual({
      name: "pid",
      size: 0,
      isDevice: true,
      devicePath: "/mnt/mcp/notes",
      tool: {
        name: "mcp__notes__pid",
        description: "",
        inputSchema: { type: "object", properties: {}, required: [] },
        parallel: true,
        maxResultChars: 100_000,
      },
    });
  });
});

describe("a call, as it is declared", () => {
  const plan = async (subpath: string, bytes: string) => {
    const { device } = await mounted();
    const file = await device.open(subpath, O_RDWR, caller);
    try {
      return await file.plan?.(Buffer.from(bytes));
    } finally {
      await file.close();
    }
  };

  test("is one effect on the server, once, whatever the server says of it", async () => {
    expect(await plan("/tools/pid", "{}")).toMatchObject({
      effects: [{ kind: "mcp", server: "notes", tool: "pid", host: "local" }],
      effectClass: "once",
      tool: "mcp__notes__pid",
      parallel: true,
    });
    expect(await plan("/tools/echo", '{"text":"a\\u202eb"}')).toMatchObject({
      parallel: false,
      view: {
        tool: "mcp__notes__echo",
        operation: expect.stringMatching(/^mcp__notes__echo on MCP server notes \(stdio: /) as string,
        params: { arguments: '{\n "text": "a\\u{202e}b"\n}' },
      },
    });
  });

  test.each([
    ["{", "mcp__notes__echo: the arguments are not valid JSON"],
    ["[]", "mcp__notes__echo: the arguments must be one JSON object"],
    ["{}", "mcp__notes__echo: text is missing; nothing was sent"],
    ['{"text":3}', "mcp__notes__echo: text must be string; nothing was sent"],
  ])("%s is INVALID, unsent", async (bytes, message) => {
    await expect(plan("/tools/echo", bytes)).rejects.toMatchObject({ code: "INVALID", message });
  });

  test("reading a resource is declared too, for rules on the server; lists are not", async () => {
    const { device } = await mounted();
    expect(await device.openEffects?.(NOTES, O_RDONLY, caller)).toEqual([
      {
        kind: "mcp",
        server: "notes",
        tool: "",
        host: "local",
        uri: decodeURIComponent(NOTES.split("/")[2] ?? ""),
      },
    ]);
    for (const subpath of ["", "/tools", "/resources", "/tools/echo"])
      expect(await device.openEffects?.(subpath, O_RDONLY, caller)).toEqual([]);
    // but for a program that shows them
    expect(device.shownEffects?.("/tools")).toEqual([
      { kind: "mcp", server: "notes", tool: "", host: "local" },
    ]);
    expect(device.shownEffects?.(NOTES)).toEqual(await device.openEffects?.(NOTES, O_RDONLY, caller));
  });
});

describe("what a file does when its server goes", () => {
  test("everything that is open answers UNAVAILABLE after the unmount, but a result that came is kept", async () => {
    const { device, transport } = await mounted();
    const open = (subpath: string, flags: 0 | 2) => device.open(subpath, flags, caller);
    const [list, resource] = [await open("/tools", O_RDONLY), await open(NOTES, O_RDONLY)];
    const [fresh, answered] = [await open("/tools/echo", O_RDWR), await open("/tools/echo", O_RDWR)];
    await answered.write(Buffer.from('{"text":"kept"}'), actOf());
    await transport.close();
    for (const file of [list, resource, fresh]) {
      const read = file.read(9, new AbortController().signal);
      await expect(read).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
    await expect(fresh.write(Buffer.from('{"text":"x"}'), actOf())).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect(await codeOfThrown(() => fresh.plan?.(Buffer.from('{"text":"x"}')))).toBe("UNAVAILABLE");
    expect((await readAll2(answered)).toString()).toContain("kept");
    for (const file of [list, resource, fresh, answered]) await file.close();
    await expect(open("/tools", O_RDONLY)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await openAndRead(device, "", caller).catch((error: unknown) => codeOf(error))).toBe(
      "UNAVAILABLE",
    );
  });

  test("a server that crashes keeps its files: UNAVAILABLE until it is back", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const transport = await r.connected();
    const device = r.host.device("notes", transport);
    const file = await device.open("/tools/echo", O_RDWR, caller);
    await expect(ask(device, "/tools/die", "{}", caller)).rejects.toMatchObject({ code: "DRIVER" });
    await until(() => transport.state === "pending", "it is gone");
    expect(await codeOfThrown(() => file.plan?.(Buffer.from('{"text":"x"}')))).toBe("UNAVAILABLE");
    for (let i = 0; transport.state !== "connected" && i < 1_000; i++) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await file.write(Buffer.from('{"text":"back"}'), actOf());
    expect((await readAll(file)).toString()).toContain("back");
    await file.close();
  });

  test("close() ends a call that is under way", async () => {
    const { device } = await mounted();
    const file = await device.open("/tools/hang", O_RDWR, caller);
    const write = file.write(Buffer.from("{}"), actOf()).catch((error: unknown) => codeOf(error));
    await file.close();
    expect(await write).toBe("CANCELLED");
  });
});

test("a list with a server that is not connected is UNAVAILABLE", async () => {
  const r = rig(systemClock);
  const device = r.host.device("notes", r.transport(scripted("--mute")));
  await expect(device.open("/tools", O_RDONLY, caller)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(() => r.host.device("x", {} as never)).toThrow();
});

test("a server that is to connect when it is used starts then, once for all who use it", async () => {
  const r = rig(systemClock);
  const transport = r.transport(scripted());
  transport.connectOnUse();
  const device = r.host.device("notes", transport);
  expect([transport.state, transport.servicePid, transport.problem]).toEqual(["pending", null, ""]);
  expect(await openAndRead(device, "", caller)).toBe('["tools","resources"]');
  expect(transport.servicePid).toBe(null);
  const lists = await Promise.all([1, 2, 3].map(() => openAndRead(device, "/tools", caller)));
  expect(lists.map((list) => JSON.parse(list).length)).toEqual([15, 15, 15]);
  expect([transport.state, transport.tools]).toEqual(["connected", 15]);
  expect(await askJson(device, "/tools/echo", { text: "hello" }, caller)).toEqual({
    content: [{ type: "text", text: "hello" }],
  });
});

test("one that cannot be started when it is used says why, each time", async () => {
  const r = rig(systemClock);
  const transport = r.transport({ type: "stdio", command: "no-such-server", args: [], env: {} });
  transport.connectOnUse();
  const device = r.host.device("notes", transport);
  for (let tries = 0; tries < 2; tries++)
    await expect(device.open("/tools", O_RDONLY, caller)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("no-such-server"),
    });
});

async function codeOfThrown(act: () => unknown): Promise<string> {
  try {
    await act();
    return "";
  } catch (error) {
    return codeOf(error);
  }
}

/** Up to the end of the answer: what follows is gone with the mount. */
async function readAll2(file: Awaited<ReturnType<Device["open"]>>): Promise<Buffer> {
  return Buffer.from(await file.read(65_536, new AbortController().signal));
}
