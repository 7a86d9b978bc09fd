import { expect, test } from "vitest";
import { geminiDriver } from "./gemini.ts";

const sizes = { GEMINI_DEFAULT_OPUS_MODEL: "gemini-big", GEMINI_DEFAULT_SONNET_MODEL: "gemini-usual" };

test.each([
  ["large", sizes, "gemini-big"],
  ["opus", sizes, "gemini-big"],
  ["sonnet", sizes, "gemini-usual"],
  ["", sizes, "gemini-usual"],
  ["", { ...sizes, GEMINI_MODEL: "gemini-mine" }, "gemini-mine"],
  ["mid", { ...sizes, GEMINI_MODEL: "gemini-mine" }, "gemini-usual"],
  ["gemini-3", sizes, "gemini-3"],
])("the model %j with %j is %s", (model, env, id) => {
  expect(geminiDriver(env).card(model).id).toBe(id);
});

test("sizes that the environment does not name are the vendor's", () => {
  const { id } = geminiDriver({}).card("small");
  expect(geminiDriver(sizes).card("small").id).toBe(id);
  expect(geminiDriver({}).card("large").id).toBe("gemini-4-carbon");
});
