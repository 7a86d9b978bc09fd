import { describe, expect, it } from "vitest";
import type { LaneReadings } from "../abi/lanes.ts";
import { LlmError } from "../abi/llm-error.ts";
import { VirtualClock } from "../kernel/testing/virtual-clock.ts";
import { contractRequest } from "./contract.ts";
import { llmDevice } from "./devices/devices.ts";
import { laneOf, readingsOf } from "./lane.ts";
import type { ModelSettings } from "./own-models.ts";
import { TestDriver, testAct, testCaller, textReply } from "./testing/callers.ts";

const envKeys = ["X_API_KEY", "X_BASE_URL", "X_MODEL", "CRUX_FLAG"];
const vendor = { device: "/dev/llm/x", driver: "x", envKeys, per: "model" } as const;
const at = (env: Record<string, string>, settings: ModelSettings = {}, model = "m-1") =>
  laneOf({ ...vendor, env }, settings, model);

describe("laneOf()", () => {
  it("is one for each account and model, whatever else the caller has set, and shows no secret", () => {
    const mine = at({ X_API_KEY: "secret-1" });
    expect(mine?.lane).toMatch(/^\/dev\/llm\/x m-1 #[0-9a-f]{8}$/);
    expect(mine?.lane).not.toContain("secret");
    expect(at({ X_API_KEY: "secret-1", X_MODEL: "m-2", CRUX_FLAG: "1" })).toEqual(mine);
    expect(at({ X_API_KEY: "secret-2" })?.lane).not.toBe(mine?.lane);
    expect(at({ X_API_KEY: "secret-1" }, {}, "m-2")?.lane).not.toBe(mine?.lane);
  });

  it("takes the limits of the settings: those of a driver hold for all its models together", () => {
    const models = { x: { limits: { requestsPerMinute: 50 } }, "m-2": { limits: { maxConcurrent: 3 } } };
    expect(at({}, { models }, "m-1")).toMatchObject({ limits: { perMinute: { requests: 50 } } });
    expect(at({}, { models }, "m-1")?.lane).toBe(at({}, { models }, "m-3")?.lane);
    expect(at({}, { models }, "m-2-large")).toMatchObject({ limits: { maxConcurrent: 3 } });
  });

  it("gives a server of the user's own one slot, a program's account one lane, and a script none", () => {
    const own = { device: "/dev/llm/o", driver: "o", env: {} };
    expect(laneOf({ ...own, per: "server" }, {}, "m")).toMatchObject({
      lane: "/dev/llm/o",
      limits: { maxConcurrent: 1 },
    });
    expect(laneOf({ ...own, per: "account" }, {}, "m")).toEqual({
      lane: "/dev/llm/o",
      limits: { perMinute: {} },
    });
    expect(laneOf({ ...own, per: "none" }, {}, "m")).toBeUndefined();
    const models = { o: { limits: { maxConcurrent: 2 } } };
    expect(laneOf({ ...own, per: "none" }, { models }, "m")).toMatchObject({ limits: { maxConcurrent: 2 } });
  });
});

describe("readingsOf()", () => {
  const read = (headers: Record<string, string>) => readingsOf((name) => headers[name]);

  it("reads the headers of both families, and nothing from others", () => {
    expect(read({ "content-type": "text/event-stream" })).toBeUndefined();
    expect(
      read({
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-input-tokens-remaining": "30000",
        "anthropic-ratelimit-output-tokens-limit": "8000",
      }),
    ).toEqual({
      requests: { limit: 50, remaining: 49 },
      input: { remaining: 30_000 },
      output: { limit: 8_000 },
    });
    expect(
      read({
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "many",
      }),
    ).toEqual({ requests: { limit: 60, remaining: 0 }, tokens: { limit: 150_000 } });
  });
});

it("the file queue of a driver shows its lanes, as its reader may see them", async () => {
  const lane = { lane: "/dev/llm/test m", slots: 8, used: 8, waiting: 1, levels: {} };
  const seen: unknown[] = [];
  const device = llmDevice({
    name: "test",
    clock: new VirtualClock(),
    make: () => new TestDriver(() => textReply("")),
    lanes: (viewer, path) => {
      seen.push([viewer, path]);
      return [{ lane, waiting: [] }];
    },
  });
  const caller = testCaller({});
  const file = await device.open("/queue", 0, caller);
  const text = Buffer.from(await file.read(4_096, caller.signal)).toString();
  expect(JSON.parse(text)).toEqual({ lane, waiting: [] });
  expect(seen).toEqual([[caller.pid, "/dev/llm/test"]]);
  await expect(file.write(new Uint8Array(), testAct())).rejects.toMatchObject({ code: "PERMISSION" });
});

describe("a model file in a lane", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(contractRequest({ stream: false })));
  const open = (driver: TestDriver) =>
    llmDevice({ name: "test", envKeys, clock: new VirtualClock(), make: () => driver }).open(
      "",
      2,
      testCaller({}),
    );

  it("asks for a slot with what it expects to use", async () => {
    const file = await open(new TestDriver(() => textReply("hi")));
    const plan = await file.plan?.(bytes);
    expect(plan?.lane).toMatchObject({
      limits: { perMinute: {} },
      output: 500,
    });
    expect(plan?.lane?.input).toBeGreaterThan(0);
  });

  it("reports readings, and refusals of the server alone", async () => {
    const told: unknown[] = [];
    const lane = {
      readings: (readings: LaneReadings) => void told.push(readings),
      refused: ({ retryAfterMs }: { retryAfterMs: number | undefined }) => {
        told.push(["refused", retryAfterMs]);
        return 4_000;
      },
      barred: ({ message }: Error) => void told.push(["barred", message]),
    };
    const failing = (kind: LlmError["kind"], retryAfterMs?: number) =>
      open(
        new TestDriver((request) => {
          request.limited?.({ requests: { remaining: 1 } });
          throw new LlmError({ kind, message: kind, retryAfterMs });
        }),
      ).then((file) => file.write(bytes, { ...testAct(), lane }));
    await expect(failing("rate_limit")).rejects.toMatchObject({ kind: "rate_limit", retryAfterMs: 4_000 });
    await expect(failing("rate_limit", 7_000)).rejects.toMatchObject({ retryAfterMs: 7_000 });
    await expect(failing("overloaded")).rejects.toMatchObject({ retryAfterMs: 4_000 });
    await expect(failing("auth")).rejects.toMatchObject({ kind: "auth" });
    await expect(failing("server")).rejects.toMatchObject({ retryAfterMs: undefined });
    const readings = { requests: { remaining: 1 } };
    expect(told).toEqual([
      readings,
      ["refused", undefined],
      readings,
      ["refused", 7_000],
      readings,
      ["refused", undefined],
      readings,
      ["barred", "auth"],
      readings,
    ]);
  });
});
