import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { connect } from "./connection.ts";
import { RepeatingConnection } from "./repeating.ts";
import { ClientFixture, type FakeDaemon } from "./testing.ts";

let fixture: ClientFixture;
let daemon: FakeDaemon;
beforeEach(async () => {
  fixture = new ClientFixture();
  daemon = await fixture.listen();
});
afterEach(() => fixture.close());

/** Each reply in turn; undefined: the connection is cut there. The last one stays. */
function replies(...texts: (string | undefined)[]): void {
  daemon.reply = () => {
    const [text] = texts.length > 1 ? texts.splice(0, 1) : texts;
    if (text === undefined) setImmediate(() => daemon.hangUp());
    return text;
  };
}

async function client(reconnect = () => connect(fixture.socketPath)): Promise<RepeatingConnection> {
  return new RepeatingConnection(await connect(fixture.socketPath), reconnect);
}

const keys = () => daemon.lines.map((line) => JSON.parse(line).payload.idempotency_key as unknown);

describe("RepeatingConnection", () => {
  it("sends one that was cut off again with the same key, and gives the answer", async () => {
    replies(undefined, '{"ok":true,"payload":{"pid":7}}\n');
    const it = await client();
    expect(await it.request("spawn", { intent: "a" })).toEqual({ pid: 7 });
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys()[0]]);
    it.close();
    expect(daemon.connections).toBe(2);
  });

  it("streams what the second answer begins", async () => {
    replies(undefined, '{"ok":true,"payload":{"pid":7}}\n{"type":"complete"}\n');
    const it = await client();
    const { response, lines, close } = await it.stream("spawn", { intent: "a" });
    expect(response).toEqual({ pid: 7 });
    for await (const line of lines) {
      expect(line).toEqual({ type: "complete" });
      break;
    }
    close();
  });

  it("gives each request a key of its own, and none to what only looks", async () => {
    replies('{"ok":true,"payload":{"pid":7}}\n');
    const it = await client();
    for (const intent of ["a", "b"]) await it.request("spawn", { intent });
    await it.request("ping", {});
    expect(new Set(keys()).size).toBe(3);
    expect(keys()[2]).toBeUndefined();
    it.close();
  });

  it("does not repeat what was refused, what only looks, nor what its caller gave up", async () => {
    replies('{"ok":false,"error":{"code":"UNAVAILABLE","message":"full"}}\n');
    await expect((await client()).request("spawn", { intent: "a" })).rejects.toThrow("full");
    expect(daemon.lines).toHaveLength(1);
    replies(undefined);
    await expect((await client()).request("ping", {})).rejects.toThrow("closed the connection");
    expect(daemon.lines).toHaveLength(2);
    daemon.reply = () => undefined;
    const stop = new AbortController();
    const given = (await client()).request("spawn", { intent: "a" }, stop.signal);
    stop.abort();
    await expect(given).rejects.toMatchObject({ code: "CANCELLED" });
    expect(daemon.connections).toBe(3);
  });

  it("tries three times in all, then says what may have happened", async () => {
    replies(undefined);
    const asked = (await client()).request("spawn", { intent: "a" });
    await expect(asked).rejects.toThrow("before it answered: the process may have been started");
    expect([daemon.lines.length, new Set(keys()).size]).toEqual([3, 1]);
  });

  it("says the same where no daemon is to be had any more", async () => {
    replies(undefined);
    const it = await client(() => Promise.reject(new Error("none")));
    await expect(it.request("spawn", { intent: "a" })).rejects.toThrow("may have been started");
    expect(daemon.lines).toHaveLength(1);
  });
});

/** Each costs a short command, such as `crux ps`, one to five milliseconds. */
test("a connection to the daemon loads neither cryptography nor the tools of measurement", () => {
  const parts = ["./daemon.ts", "./repeating.ts"].map((path) => new URL(path, import.meta.url).href);
  const program = `
    for (const part of ${JSON.stringify(parts)}) await import(part);
    const { SteadyClock } = await import(${JSON.stringify(new URL("../../lib/time/steady-clock.ts", import.meta.url).href)});
    new SteadyClock().mono();
    console.log(process.moduleLoadList.filter((name) => /^NativeModule (crypto|perf_hooks|child_process)$/.test(name)).join());`;
  const argv = ["--input-type=module", "--eval", program];
  expect(execFileSync(process.execPath, argv, { encoding: "utf8" }).trim()).toBe("");
});
