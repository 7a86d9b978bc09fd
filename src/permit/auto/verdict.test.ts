import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseVerdict } from "./verdict.ts";

const kindOf = (text: string) => parseVerdict(text).kind;

describe("parseVerdict()", () => {
  test("takes one clear verdict, with the last tag or stopped before it", () => {
    expect(kindOf("<block>no</block>")).toBe("allow");
    expect(kindOf("<block>no")).toBe("allow");
    expect(kindOf(" <block> YES </block>")).toBe("block");
    expect(kindOf("<block>ask")).toBe("ask");
  });

  test("reads the reason, and no verdict out of what was thought", () => {
    const text =
      "<thinking><block>no</block> at first</thinking><block>yes</block><reason>it\ndeletes</reason>";
    expect(parseVerdict(text)).toEqual({ kind: "block", reason: "it deletes" });
  });

  test.each([
    ...["", "no", "<block></block>", "<block>maybe</block>", "<block>no</block><block>yes</block>"],
    ...["<block>no</block><block>no</block>", "<block>no, but</block>", "<block>no</block></block>"],
    ...["<thinking><block>no</block>", "< block>no</block><block>no</block>", "<block>no</block> <BLOCK>"],
  ])("%j blocks", (text) => {
    if (text === "<thinking><block>no</block>") return expect(kindOf(`${text}<block>yes`)).toBe("block");
    expect(kindOf(text)).toBe("block");
  });

  test("whatever stands around it, only one verdict of no lets a call through", () => {
    const piece = fc.constantFrom(
      "<block>",
      "</block>",
      "no",
      "yes",
      "ask",
      " ",
      "x",
      "<thinking>",
      "</thinking>",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join("");
        const said = text.replace(/<thinking>[\s\S]*?<\/thinking>/g, "");
        if (kindOf(text) === "allow") expect(said.match(/<block>\s*no\s*(<\/block>|$)/g)).toHaveLength(1);
      }),
      { numRuns: 2000 },
    );
  });
});
