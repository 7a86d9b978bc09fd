import { expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { O_RDONLY, O_RDWR } from "../abi/device.ts";
import { toolDevice } from "./device.ts";
import { Bench, CALL_ID, testScope, textOf } from "./testing/bench.ts";
import { BenchSys } from "./testing/bench-sys.ts";
import { defineTool, type Outcome, type RunContext } from "./tool.ts";

type Run = (args: { text: string }, context: RunContext) => Promise<Outcome>;

/** A tool that leaves out all it can. */
function tool(name: string, run: Run = async ({ text }) => ({ text })) {
  return defineTool({
    name,
    hint: "test",
    text: "For tests.",
    args: z.object({ text: z.string() }),
    effects: () => [],
    run,
  });
}

function bench(run?: Run): Bench {
  const made = new Bench([tool("echo", run), tool("view")]);
  onTestFinished(() => made[Symbol.dispose]());
  return made;
}

async function openFile(made: Bench) {
  return made.device.open("/echo", O_RDWR, made.caller);
}

const data = Buffer.from('{"text":"hi"}');
const never = new AbortController().signal;
const actOf = (made: Bench, signal = never) => ({ signal, callId: CALL_ID, sys: new BenchSys(made, []) });

test("a tool that states nothing is serial, not read-only, destructive, and unknown after a crash", async () => {
  const made = bench();
  const call = tool("echo").bind({ text: "" }, testScope("/w"));
  expect(call).toMatchObject({ readOnly: false, destructive: true, parallel: false, effectClass: "once" });
  expect(await made.plan("echo", { text: "" })).toMatchObject({ effectClass: "once", parallel: false });
});

test("toolDevice refuses two tools of one name, naming both", () => {
  const other = { ...tool("other"), aliases: ["echo"] };
  expect(() => toolDevice([tool("echo"), other], { now: () => 0 })).toThrow("echo: echo and other");
});

test("stat describes a tool to every process by the same object, which is spelled once for all", async () => {
  const { device, caller } = bench();
  const first = await device.stat?.("/view", caller);
  expect(first?.tool?.inputSchema).toBeDefined();
  expect((await device.stat?.("/view", { ...caller }))?.tool).toBe(first?.tool);
});

test("open: unknown tool names similar ones", async () => {
  const { device, caller } = bench();
  await expect(device.open("/vew", O_RDWR, caller)).rejects.toMatchObject({
    code: "NOT_FOUND",
    message: "tool not found: vew. Similar: view",
  });
  await expect(device.stat?.("/constructor", caller)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("what is hidden from the caller is not listed, and is told of as one that never was", async () => {
  const { device, caller: seeing } = bench();
  const hiding = (hidden: string) => ({ ...seeing, hides: (name: string) => name === hidden });
  const list = await device.open("", O_RDONLY, hiding("view"));
  expect(JSON.parse(Buffer.from(await list.read(1000, never)).toString())).toEqual(["echo"]);
  expect((await list.stat()).size).toBe((await device.stat?.("", hiding("view")))?.size);
  const told = async (name: string) => {
    const caller = hiding("view");
    const errors = [device.open(`/${name}`, O_RDWR, caller), device.stat?.(`/${name}`, caller)].map((each) =>
      Promise.resolve(each).catch(({ code, message }) => `${code} ${String(message).replaceAll(name, "X")}`),
    );
    return Promise.all(errors);
  };
  expect(await told("view")).toEqual(await told("veiw"));
  expect(await told("view")).toEqual(await told("Read"));
  expect((await told("view"))[0]).toBe("NOT_FOUND tool not found: X. Tools: echo");
});

test("what is switched off for the caller is not listed, and says what it is switched off for", async () => {
  const base = { hint: "test", text: "For tests.", args: z.object({}), effects: () => [] };
  const off = defineTool({
    ...base,
    name: "night",
    enabled: ({ env }) => env.NIGHT === "1" || "it is day",
    run: async () => ({ text: "" }),
  });
  using made = new Bench([tool("echo"), off]);
  const namesFor = async (env: Record<string, string>) => {
    const list = await made.device.open("", O_RDONLY, { ...made.caller, env });
    return JSON.parse(Buffer.from(await list.read(1000, never)).toString());
  };
  expect(await namesFor({})).toEqual(["echo"]);
  expect(await namesFor({ NIGHT: "1" })).toEqual(["echo", "night"]);
  await expect(made.device.open("/night", O_RDWR, made.caller)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "night is switched off: it is day",
  });
});

test("open of the directory reads as the list of names", async () => {
  const { device, caller } = bench();
  const file = await device.open("", O_RDONLY, caller);
  expect(JSON.parse(Buffer.from(await file.read(1000, never)).toString())).toEqual(["echo", "view"]);
  expect((await file.read(1000, never)).byteLength).toBe(0);
  await expect(device.open("", O_RDWR, caller)).rejects.toMatchObject({ code: "INVALID" });
});

test("read before a write is INVALID; a write before the result is read is CONFLICT", async () => {
  const made = bench();
  const file = await openFile(made);
  await expect(file.read(10, never)).rejects.toMatchObject({ code: "INVALID" });
  await file.write(data, actOf(made));
  expect((await file.read(10, never)).byteLength).toBe(10);
  await expect(file.write(data, actOf(made))).rejects.toMatchObject({ code: "CONFLICT" });
  expect(() => file.plan?.(data)).toThrow(expect.objectContaining({ code: "CONFLICT" }));
  await file.read(100_000, never);
  expect((await file.read(10, never)).byteLength).toBe(0);
  await file.write(data, actOf(made));
});

test("read waits for a call that runs, and gives up alone", async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const made = bench(() => promise);
  const file = await openFile(made);
  const writing = file.write(data, actOf(made));
  await expect(file.read(1000, AbortSignal.timeout(1))).rejects.toThrow();
  const reading = file.read(1000, never);
  resolve({ text: "done" });
  await writing;
  expect(Buffer.from(await reading).toString()).toBe(
    '{"type":"result","result":{"ok":true,"content":[{"type":"text","text":"done"}]}}\n',
  );
});

test("close cancels a call that runs, and waits for its end", async () => {
  const seen = vi.fn();
  const made = bench(
    (_args, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          seen();
          resolve({ text: "" });
        }),
      ),
  );
  const file = await openFile(made);
  const writing = file.write(data, actOf(made));
  await file.close();
  expect(seen).toHaveBeenCalledOnce();
  await writing;
  await file.close();
  await expect(file.read(10, never)).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(file.write(data, actOf(made))).rejects.toMatchObject({ code: "CANCELLED" });
});

test("an abort of the act reaches the tool", async () => {
  const made = bench(async (_args, { signal }) => ({ text: `${signal.aborted}` }));
  expect(textOf(await made.call("echo", { text: "" }, AbortSignal.abort()))).toBe("true");
});

test("a tool that throws is INTERNAL for the model, and a log entry", async () => {
  const made = bench(async () => {
    throw new TypeError("oops");
  });
  const result = await made.call("echo", { text: "" });
  expect(result).toEqual({
    ok: false,
    content: [{ type: "text", text: "Error [INTERNAL]: oops" }],
    error: { code: "INTERNAL", message: "oops" },
  });
  expect(made.logs).toEqual([expect.stringMatching(/^tool echo failed: oops at .*device\.test\.ts/)]);
});

test("a result over the budget is shown in part and kept whole", async () => {
  const whole = `${"x".repeat(7999)}😀${"y".repeat(100_000)}`;
  const made = bench(async () => ({ text: whole }));
  const result = await made.call("echo", { text: "" });
  expect(textOf(result)).toBe(
    `${"x".repeat(7999)}\n[truncated: 7999 of ${whole.length} characters. All of it: view /var/out/c_81f2, or grep it]`,
  );
  expect(result.truncated).toEqual({ shown_chars: 7999, total_chars: whole.length, path: "/var/out/c_81f2" });
  expect(made.crux.get("/var/out/c_81f2")?.toString()).toBe(whole);
});

test("arguments over 6 MiB are INVALID", async () => {
  await expect(bench().plan("echo", { text: "x".repeat(6 * 1024 * 1024) })).rejects.toMatchObject({
    code: "INVALID",
    message: "echo: arguments are over 6 MiB",
  });
});

test("a key of the object prototype is an unknown key", async () => {
  await expect(bench().plan("echo", '{"text":"a","__proto__":1}')).rejects.toMatchObject({
    message: 'echo: unknown key "__proto__". Known: text',
  });
});
