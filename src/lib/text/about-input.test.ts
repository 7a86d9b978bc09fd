import { expect, test } from "vitest";
import { agent } from "../../tool/agent/agent.ts";
import { testScope } from "../../tool/testing/bench.ts";
import { aboutInput } from "./about-input.ts";

test.each([{}, { subagent_type: "Explore" }])(
  "aboutInput() says of a call of agent with %j what its tool says at its end",
  (more) => {
    const input = { description: "find it", prompt: "Where is it?", ...more };
    expect(aboutInput(input)).toBe(agent.bind(input, testScope("/w")).about);
  },
);
