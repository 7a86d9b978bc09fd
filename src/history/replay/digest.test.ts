import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digestOf } from "./digest.ts";

describe("digestOf()", () => {
  test("is the same for the same bytes, whoever holds them, and another for others", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        const ofBytes = digestOf({ fd: 3, data: a });
        expect(digestOf({ fd: 3, data: Buffer.from(a) })).toBe(ofBytes);
        expect(digestOf({ fd: 4, data: a })).not.toBe(ofBytes);
        expect(digestOf({ fd: 3, data: b }) === ofBytes).toBe(Buffer.from(a).equals(b));
      }),
    );
  });

  test("says nothing of environments and headers", () => {
    const of = (secret: string) => digestOf({ opts: { env: { KEY: secret } }, headers: { auth: secret } });
    expect(of("one")).toBe(of("two"));
    expect(of("one")).toMatch(/^[\w-]{22}$/);
  });
});
