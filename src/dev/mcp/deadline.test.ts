import { expect, test } from "vitest";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { driverError } from "../driver-error.ts";
import { withPatience } from "./deadline.ts";

const patience = { quietMs: 10, totalMs: 25 };
const late = (words: string) => driverError("Write", "TIMEOUT", words);
const never = new AbortController().signal;

function waiting(signal: AbortSignal = never) {
  const clock = new VirtualClock();
  const answer = Promise.withResolvers<string>();
  let alive = (): void => {};
  const outcome = withPatience({ clock, ...patience, late }, signal, (own, sign) => {
    alive = sign;
    own.addEventListener("abort", () => answer.reject(new Error("aborted")));
    return answer.promise;
  }).catch((error: unknown) => error);
  return { clock, answer, outcome, alive: () => alive() };
}

test("an answer in time is given, and no timer stays", async () => {
  const { clock, answer, outcome } = waiting();
  await clock.advance(9);
  answer.resolve("here");
  expect(await outcome).toBe("here");
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});

test("silence ends it; a sign of life starts the time anew, up to the whole", async () => {
  const silent = waiting();
  await silent.clock.advance(10);
  expect(await silent.outcome).toMatchObject({ code: "TIMEOUT", message: "no answer for 0.01 s" });
  const lively = waiting();
  for (let i = 0; i < 3; i++) {
    lively.alive();
    await lively.clock.advance(9);
  }
  expect(await lively.outcome).toMatchObject({ message: "not answered within 0.025 s" });
  expect(lively.clock.pending).toBe(0);
});

test("who gives up hears of that, not of a deadline", async () => {
  const stop = new AbortController();
  const { clock, outcome } = waiting(stop.signal);
  stop.abort();
  expect(await outcome).toMatchObject({ message: "aborted" });
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});
