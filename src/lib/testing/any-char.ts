import fc from "fast-check";

/** As many code points as a pair of surrogates is made of; none of them is a character. */
const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;

/**
 * Any code point but a surrogate: the unit of a string. fast-check's own `"binary"` is the same, and makes a table of all
 * million of them in every worker, which takes a second.
 */
export const anyChar: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATES).map(
  (at) => String.fromCodePoint(at < FIRST_SURROGATE ? at : at + SURROGATES),
  (char) => {
    const code = typeof char === "string" ? char.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== char) throw new Error("not one character");
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);
