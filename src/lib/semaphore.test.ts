import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

const held = () => Promise.withResolvers<void>();

test("pass() lets so many act at once, and the others in order", async () => {
  const semaphore = new Semaphore(2);
  const gates = [held(), held(), held(), held()];
  const begun: number[] = [];
  const all = gates.map(({ promise }, n) =>
    semaphore.pass(() => {
      begun.push(n);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  gates[1]!.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve();
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test("pass() whose signal aborts while it waits does not act, and takes nobody's turn", async () => {
  const semaphore = new Semaphore(1);
  const [first, gone] = [held(), new AbortController()];
  const begun: string[] = [];
  const act = (name: string) => async () => void begun.push(name);
  const running = semaphore.pass(() => first.promise);
  const waiting = semaphore.pass(act("gone"), gone.signal);
  const last = semaphore.pass(act("last"));
  gone.abort(new Error("no more"));
  await expect(waiting).rejects.toThrow("no more");
  first.resolve();
  await Promise.all([running, last]);
  expect(begun).toEqual(["last"]);
});
