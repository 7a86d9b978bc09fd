import { expect, test } from "vitest";
import { outputTokens } from "./request.ts";

test.each<
  [string, limit: number, used: number, reserved: number, input: number, wanted: number, expected: number]
>([
  ["without a limit what is wanted", 0, 9_999, 0, 5_000, 8_000, 8_000],
  ["far from the limit what is wanted", 100_000, 0, 0, 5_000, 8_000, 8_000],
  ["near it what is left", 10_000, 4_000, 1_000, 2_000, 8_000, 3_000],
  ["never less than a useful answer", 8_192, 8_000, 0, 2_000, 8_000, 1_024],
])("outputTokens() is %s", (_name, limit, used, reserved, input, wanted, expected) => {
  expect(outputTokens({ limit, used, reserved }, input, wanted)).toBe(expected);
});
