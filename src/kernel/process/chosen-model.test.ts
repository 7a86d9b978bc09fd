import { expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import { type Effort, isEffort } from "../../abi/llm.ts";
import { Facts } from "../facts/facet.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { chosenModelFacet } from "./chosen-model.ts";

const by = { principal: "user", client: "", uid: 1000 } as const;

test("chooseModel() is recorded, and becomes the model of the process when its program reads it", async () => {
  const t = testKernel();
  const { pid, proc, sys, start } = await t.start();
  const { modelDevice, model } = start;
  expect([sys.chosenModel(), start.chosen]).toEqual([null, 0]);
  const found = await t.kernel.chooseModel(pid, { model: "other", by });
  const [body] = t.journal.bodies("process.model");
  expect(body).toMatchObject({ device: found.device, model: found.model, by });
  expect([proc.model.device, proc.model.name]).toEqual([modelDevice, model]);
  expect(sys.chosenModel()).toMatchObject({ modelDevice: found.device, model: found.model, chosen: 1 });
  expect([proc.model.device, proc.model.name]).toEqual([found.device, found.model]);
  const restored = new Facts();
  restored.change(chosenModelFacet, "process.model", body as never);
  expect(restored.of(chosenModelFacet)).toEqual(proc.facts.of(chosenModelFacet));
  expect(chosenModelFacet.unpack(chosenModelFacet.pack(restored.of(chosenModelFacet)))).toMatchObject({
    count: 1,
  });
});

test("chooseModel() keeps the effort, or asks for another", async () => {
  const wished: unknown[] = [];
  const resolve = async ({ model, effort }: { model: string; effort?: Effort | number }) => {
    wished.push(effort);
    return { device: "/dev/llm/fake", model, ...(isEffort(effort) ? { effort } : {}) };
  };
  const t = testKernel({ models: { resolve } });
  const { pid, proc, sys } = await t.start({ effort: "low" });
  expect(await t.kernel.chooseModel(pid, { model: "other", by })).toMatchObject({ effort: "low" });
  await t.kernel.chooseModel(pid, { model: "other", effort: "high", by });
  expect(wished).toEqual(["low", "low", "high"]);
  expect(sys.chosenModel()).toMatchObject({ effort: "high" });
  expect(proc.model.effort).toBe("high");
});

test("chooseModel() has a note on a model that is asked for and not known", async () => {
  const resolve = async ({ model }: { model: string }) => ({ device: "/dev/llm/fake", model });
  const doubt = (_device: string, model: string) => (model === "known" ? undefined : `no table has ${model}`);
  const t = testKernel({ models: { resolve, doubt } });
  const { pid } = await t.start();
  expect((await t.kernel.chooseModel(pid, { model: "odd", by })).note).toBe("no table has odd");
  expect(await t.kernel.chooseModel(pid, { effort: "low", by })).not.toHaveProperty("note");
  expect(await t.kernel.chooseModel(pid, { model: "known", by })).not.toHaveProperty("note");
});

test("the model with which a process began has no mark, whatever was chosen in between", async () => {
  const t = testKernel();
  const { proc } = await t.start();
  const { device, name } = proc.model;
  expect(proc.model.maker).toBe("");
  proc.model.choose({ device: "/dev/llm/b", model: "large" });
  expect(proc.model.maker).toBe("/dev/llm/b large");
  proc.model.choose({ device, model: name });
  expect(proc.model.maker).toBe("");
});

test("chooseModel() needs an agent that has not ended", async () => {
  const t = testKernel();
  const { pid, end } = await t.start();
  end();
  await t.init.wait(pid);
  await expect(t.kernel.chooseModel(pid, { model: "b", by })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(t.kernel.chooseModel(asPid(99), { model: "b", by })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});
