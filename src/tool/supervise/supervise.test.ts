import { expect, test } from "vitest";
import { asCallId, asPid } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { Bench, testScope } from "../testing/bench.ts";
import { supervise } from "./supervise.ts";

const CHILDREN = [
  { id: "a", intent: "dig" },
  { id: "b", intent: "sort", agent: "sorter", restart: "permanent" },
];

test("gives the specification to the kernel, and the pid to the model", async () => {
  const specs: unknown[] = [];
  const sys = {
    spawnSupervisor: async (spec: unknown) => {
      specs.push(spec);
      return asPid(9);
    },
  } as unknown as Syscalls;
  const scope = testScope("/w");
  const { signal } = new AbortController();
  const more = { signal, pid: asPid(1), callId: asCallId("c_1"), now: () => 0, progress: () => {} };
  const call = supervise.bind({ name: "mine", children: CHILDREN, max_restarts: 2 }, scope);
  const { text, meta } = await call.run({ ...scope, ...more, sys });
  expect([text, meta]).toEqual(["Process 9 supervises a, b. /proc/9/supervisor shows them.", { pid: 9 }]);
  expect(specs).toEqual([
    {
      name: "mine",
      strategy: "one_for_one",
      intensity: { maxRestarts: 2, windowMs: 60_000 },
      exitWhenDone: true,
      children: [
        { id: "a", restart: "transient", start: { intent: "dig" } },
        { id: "b", restart: "permanent", start: { intent: "sort", agent: "sorter" } },
      ],
    },
  ]);
});

test("declares each agent that it starts, and is not read-only", () => {
  const { effects, readOnly } = supervise.bind({ name: "mine", children: CHILDREN }, testScope("/w"));
  expect([effects, readOnly]).toEqual([
    [
      { kind: "spawn", program: "", background: true },
      { kind: "spawn", program: "sorter", background: true },
    ],
    false,
  ]);
});

test.each([
  { name: "mine", children: [] },
  { name: "Mine", children: CHILDREN },
  { name: "mine", children: [{ id: "a" }] },
  { name: "mine", children: Array.from({ length: 17 }, (_, n) => ({ id: `c${n}`, intent: "x" })) },
])("refuses %j", (args) => {
  expect(() => supervise.bind(args, testScope("/w"))).toThrow(expect.objectContaining({ code: "INVALID" }));
});

test("a question shows what each agent is to do", async () => {
  using bench = new Bench([supervise]);
  const children = [...CHILDREN, { id: "c", intent: "hide\u202e" }];
  const { view } = await bench.plan("supervise", { name: "mine", children });
  expect(view?.params.agents).toBe("a (general): dig\nb (sorter): sort\nc (general): hide\\u{202e}");
});
