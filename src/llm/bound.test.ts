import { describe, expect, it } from "vitest";
import { bind, isBound, unbind } from "./bound.ts";

const maker = { driver: "openai", model: "org/m" };

describe("bind()", () => {
  it.each(["", "x", "two\nlines", "@openai/org/m\nx"])("gives %j back to its maker alone", (data) => {
    const bound = bind(maker, data);
    expect(isBound(bound)).toBe(true);
    expect(unbind(maker, bound)).toBe(data);
    expect(unbind({ ...maker, driver: "xai" }, bound)).toBeUndefined();
    expect(unbind({ ...maker, model: "org" }, bound)).toBeUndefined();
  });

  it("leaves a vendor's own signature unmarked", () => {
    expect(isBound("EqQBCkYIAxgCKkD+/=")).toBe(false);
    expect(unbind(maker, "EqQBCkYIAxgCKkD+/=")).toBeUndefined();
  });
});
