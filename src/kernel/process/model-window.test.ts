import { expect, test } from "vitest";
import { windowOf } from "./model-window.ts";

const facts = { window: 200_000, maxOutput: 8_000, auto: true, compact: true };
const core = { ports: { models: { window: () => ({ ...facts, targets: true as const }) } } };
const of = (seed: object) =>
  windowOf(core, {
    model: { device: "/dev/llm/test", name: "" },
    seed: { env: {}, cwd: "/", ...seed },
  } as never);

test("windowOf() takes no mark of a target from the model that started a child", () => {
  expect(of({})).toEqual({ ...facts, targets: true });
  expect(of({ child: { isBackground: false } })).toEqual(facts);
});
