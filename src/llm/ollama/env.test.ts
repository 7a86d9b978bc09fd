import { describe, expect, it } from "vitest";
import { findOllamaOrigin } from "./env.ts";

describe("findOllamaOrigin()", () => {
  it.each([
    [undefined, "http://127.0.0.1:11434"],
    ["", "http://127.0.0.1:11434"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["box:8080", "http://box:8080"],
    ["http://box", "http://box"],
    ["https://box/ollama/", "https://box/ollama"],
    ["http://[", undefined],
  ])("reads %j as %s", (host, origin) => {
    expect(findOllamaOrigin(host)).toBe(origin);
  });
});
