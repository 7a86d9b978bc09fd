import { describe, expect, test } from "vitest";
import { SaidText } from "./said-text.ts";

describe("SaidText", () => {
  test("a repeated attempt sends what is missing, and the whole block sends nothing twice", () => {
    const said = new SaidText();
    expect(said.add(0, "text", "one ")).toEqual({ kind: "text", text: "one " });
    expect(said.add(0, "text", "two")).toEqual({ kind: "text", text: "two" });
    said.restart();
    expect(said.add(0, "text", "one t")).toBeUndefined();
    expect(said.add(0, "text", "wo three")).toEqual({ kind: "text", text: " three" });
    expect(said.add(0, "text", "!")).toEqual({ kind: "text", text: "!" });
    expect(said.whole(0, "text", "one two three!")).toBeUndefined();
  });

  test("another answer than before begins a paragraph of its own", () => {
    const said = new SaidText();
    said.add(0, "text", "one");
    said.restart();
    expect(said.add(0, "text", "two")).toEqual({ kind: "text", text: "\n\ntwo" });
    expect(said.whole(0, "text", "two.")).toEqual({ kind: "text", text: "." });
  });

  test("blocks are told apart, and a new reply begins anew", () => {
    const said = new SaidText();
    said.add(0, "thinking", "same");
    expect(said.add(1, "text", "same")).toEqual({ kind: "text", text: "same" });
    expect(said.rest("same and more")).toEqual({ kind: "text", text: " and more" });
    said.clear();
    said.forget();
    expect(said.add(0, "text", "same")).toEqual({ kind: "text", text: "same" });
  });
});
