import { describe, expect, test } from "vitest";
import type { SupervisorSpec } from "../abi/supervise.ts";
import { checkSpec } from "./spec.ts";
import { recordOfSpec } from "./spec-record.ts";

const child = (id: string, more: object = {}) => ({ id, start: { intent: "work" }, ...more });
const spec = (more: object = {}): SupervisorSpec => ({ name: "shop", children: [child("a")], ...more });

describe("checkSpec()", () => {
  test("fills in what is not said", () => {
    const nested = { id: "inner", start: { supervisor: { name: "inner", children: [] } } };
    const checked = checkSpec({ name: "shop", children: [child("a"), nested] });
    expect(checked).toMatchObject({
      strategy: "one_for_one",
      intensity: { maxRestarts: 5, windowMs: 60_000 },
      backoff: { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0.1 },
      exitWhenDone: false,
      children: [
        { id: "a", restart: "permanent", shutdown: 5_000 },
        { id: "inner", restart: "permanent", shutdown: "infinity" },
      ],
    });
  });

  const refused: [string, object, string][] = [
    ["a name", { name: "Shop" }, "name: must match ^[a-z][a-z0-9_-]{0,63}$"],
    ["no name", { name: undefined }, "name: must be a string"],
    ["a strategy", { strategy: "all" }, "strategy: must be one of one_for_one, one_for_all, rest_for_one"],
    [
      "a key",
      { restarts: 3 },
      "unknown key restarts; known: name, strategy, intensity, backoff, exitWhenDone, children",
    ],
    [
      "an intensity",
      { intensity: { maxRestarts: -1, windowMs: 1 } },
      "intensity.maxRestarts: must be a whole number from 0 to 1000000",
    ],
    [
      "a window",
      { intensity: { maxRestarts: 1, windowMs: Number.NaN } },
      "intensity.windowMs: must be a whole number from 1 to 2147483647",
    ],
    [
      "a jitter",
      { backoff: { initialMs: 1, factor: 2, maxMs: 3, jitter: 2 } },
      "backoff.jitter: must be a number from 0 to 1",
    ],
    ["no list", { children: {} }, "children: must be a list"],
    ["an id twice", { children: [child("a"), child("b"), child("a")] }, "children[2].id: used twice"],
    ["an empty id", { children: [child(" ")] }, "children[0].id: is empty"],
    ["no start", { children: [{ id: "a" }] }, "children[0].start: must be an object"],
    ["no intent", { children: [{ id: "a", start: {} }] }, "children[0].start.intent: must be a string"],
    [
      "no command",
      { children: [{ id: "a", start: { command: [] } }] },
      "children[0].start.command: is empty",
    ],
    [
      "a word",
      { children: [{ id: "a", start: { command: ["ls", 1] } }] },
      "children[0].start.command[1]: must be a string",
    ],
    [
      "both",
      { children: [{ id: "a", start: { command: ["ls"], intent: "list" } }] },
      "children[0].start: unknown key intent; known: command, options, opts",
    ],
    [
      "a shutdown",
      { children: [child("a", { shutdown: "never" })] },
      "children[0].shutdown: must be milliseconds, kill or infinity",
    ],
    [
      "a restart",
      { children: [child("a", { restart: "always" })] },
      "children[0].restart: must be one of permanent, transient, temporary",
    ],
    [
      "an fd",
      { children: [{ id: "a", start: { intent: "x", opts: { stdin: 4 } } }] },
      "children[0].start.opts.stdin: an fd can be handed over only once; give it as bytes",
    ],
    [
      "another parent",
      { children: [{ id: "a", start: { intent: "x", opts: { parentPid: 1 } } }] },
      "children[0].start.opts.parentPid: is not for a supervised child",
    ],
    [
      "a nested one",
      { children: [{ id: "a", start: { supervisor: { name: "b", children: [child("c"), child("c")] } } }] },
      "children[0].start.supervisor.children[1].id: used twice",
    ],
    [
      "too many",
      { children: Array.from({ length: 1_001 }, (_, at) => child(`c${at}`)) },
      "children: 1001 entries; at most 1000",
    ],
  ];

  test.each(refused)("INVALID, with its path: %s", (_what, more, message) => {
    expect(() => checkSpec(spec(more))).toThrow(expect.objectContaining({ code: "INVALID", message }));
  });

  test("INVALID: supervisors within supervisors without end", () => {
    let inner: SupervisorSpec = { name: "leaf", children: [] };
    for (let depth = 0; depth < 16; depth++)
      inner = { name: "shop", children: [{ id: "a", start: { supervisor: inner } }] };
    expect(() => checkSpec(inner)).toThrow(/supervisors more than 16 deep$/);
  });
});

test("recordOfSpec() keeps no environment and no data", () => {
  const checked = checkSpec({
    name: "shop",
    children: [
      {
        id: "a",
        start: { intent: "x", opts: { env: { KEY: "hidden" }, stdin: Buffer.from("hidden"), model: "m" } },
      },
      { id: "b", start: { command: ["ls"], options: { env: { KEY: "hidden" } } } },
      { id: "c", start: { supervisor: { name: "d", children: [child("e", { restart: "transient" })] } } },
    ],
  });
  const record = JSON.stringify(recordOfSpec(checked));
  expect(record).not.toContain("hidden");
  expect(JSON.parse(record)).toMatchObject({
    children: [
      { id: "a", opts: { model: "m" } },
      { id: "b", command: ["ls"] },
      { id: "c", supervisor: { children: [{ id: "e" }] } },
    ],
  });
});
