import { expect, test } from "vitest";
import { aboutInput } from "./about-input.ts";

test("aboutInput() says of a call of agent what its tool says of it at its end", () => {
  const input = { description: "find it", prompt: "Where is it?" };
  expect(aboutInput(input)).toBe("find it");
  expect(aboutInput({ name: "scout", ...input })).toBe("find it");
  expect(aboutInput({ ...input, subagent_type: "Explore" })).toBe("explore: find it");
});
