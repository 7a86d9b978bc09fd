import { expect, test } from "vitest";
import type { LogPayload, WireStreamLine } from "../../../abi/wire.ts";
import { FakeDaemon, Feed } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";

const log = (payload: LogPayload): WireStreamLine => ({ type: "log", payload });
const said = (message: string) => log({ pid: 1, timestamp_ms: 1234, level: "info", message });
const wrote = (...bytes: number[]) =>
  log({ pid: 1, data: { base64: Buffer.from(bytes).toString("base64") } });
const EOF: WireStreamLine = { type: "eof" };
const logging = (...lines: WireStreamLine[]) => new FakeDaemon({}, new Feed().push(...lines).end());

const SCREENS = {
  default: "[agent/1] reasoning step 1...\n",
  verbose: "[  1.234s] [agent/1] info: reasoning step 1...\n",
  quiet: "reasoning step 1...\n",
  json: '{"pid": 1, "timestamp_ms": 1234, "level": "info", "message": "reasoning step 1..."}\n',
};

test.each(MODE_FLAGS)("logs %s is %s", async (flags, mode) => {
  const { out, err, code, daemon } = await crux(`logs 1 ${flags}`, {
    daemon: logging(said("reasoning step 1..."), EOF),
  });
  expect({ out, err, code }).toEqual({ out: SCREENS[mode], err: "", code: 0 });
  expect(daemon.asked).toEqual([["process.logs", { pid: 1 }]]);
  expect(daemon.openConnections).toBe(0);
});

test("logs asks for what its flags say", async () => {
  const payloadOf = async (line: string) => (await crux(line, { daemon: logging(EOF) })).daemon.asked[0]?.[1];
  expect(await payloadOf("logs 1 -f --tail 20")).toEqual({ pid: 1, tail: 20, follow: true });
  expect(await payloadOf("logs -n0 1")).toEqual({ pid: 1, tail: 0 });
  expect(await payloadOf("logs 1 --tail 999999999")).toEqual({ pid: 1, tail: 100_000 });
});

test("logs of a program are its bytes, into a pipe; on a terminal nothing of them steers it", async () => {
  const lines = [wrote(0xe5, 0x88), wrote(0x86, 0x0d), wrote(0x0a, 0x1b, 0x5b, 0x4a, 0xff), EOF];
  const piped = await crux("logs 1", { daemon: logging(...lines) });
  expect([...piped.bytes]).toEqual([0xe5, 0x88, 0x86, 0x0d, 0x0a, 0x1b, 0x5b, 0x4a, 0xff]);
  const shown = await crux("logs 1", { daemon: logging(...lines), isTerminal: true });
  expect(shown.out).toBe("分\n\\x1b[J\ufffd");
  const json = await crux("logs 1 --json", { daemon: logging(wrote(0, 255), EOF) });
  expect(json.out).toBe('{"pid": 1, "data": {"base64": "AP8="}}\n');
});

test("what an agent says cannot steer a terminal", async () => {
  const { out } = await crux("logs 1", { daemon: logging(said("log: \x1b]0;title\x07"), EOF) });
  expect(out).toBe("[agent/1] log: \\x1b]0;title\\x07\n");
});

test("logs tells of lines that were lost, beside the others", async () => {
  const { out, err } = await crux("logs 1", {
    daemon: logging(said("a"), { type: "eof", payload: { dropped: 3 } }),
  });
  expect([out, err]).toEqual(["[agent/1] a\n", "[logs] 3 lines dropped\n"]);
});

test("logs that break off are an error", async () => {
  const { err, code } = await crux("logs 1 -f", { daemon: logging(said("a")) });
  expect(err).toMatch(/^✗ \[UNAVAILABLE\] daemon closed the connection\n/);
  expect(code).toBe(1);
});

test.each(["logs", "logs 1 2", "logs x", "logs 1 --tail", "logs 1 --tail few"])(
  "%s is INVALID and reaches no daemon",
  async (line) => {
    const { err, daemon } = await crux(line);
    expect(err).toMatch(/^✗ \[INVALID\] /);
    expect(daemon.reached).toEqual([]);
  },
);
