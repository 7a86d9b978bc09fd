import { expect, test } from "vitest";
import { EXIT } from "../../abi/process.ts";
import type { Sys } from "../../abi/sys.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { withReceivers } from "./fellow-mail.ts";

test("withReceivers() says who is above the caller; what the caller claims of that is dropped", async () => {
  const t = testKernel();
  const handles: Sys[] = [];
  t.programs.set("below", (own) => {
    handles.push(own);
    return new Promise((resolve) => own.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
  });
  const { pid: top, sys } = await t.start();
  const child = await sys.spawn("below", null);
  const sibling = await sys.spawn("below", null);
  const grandchild = await handles[0]!.spawn("below", null);
  const isAbove = (from: typeof child, to: string) => {
    const effect = withReceivers(t.kernel, t.proc(from), { kind: "message", to, isAbove: true });
    return effect.kind === "message" && effect.isAbove === true;
  };
  expect([
    isAbove(child, String(top)),
    isAbove(grandchild, String(child)),
    isAbove(grandchild, "main"),
  ]).toEqual([true, true, true]);
  expect([isAbove(child, String(sibling)), isAbove(child, String(grandchild)), isAbove(child, "*")]).toEqual([
    false,
    false,
    false,
  ]);
  expect(isAbove(top, "main")).toBe(false);
  await t.kernel.abandon("over");
});
