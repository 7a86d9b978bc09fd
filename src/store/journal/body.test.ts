import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Blob, decodeBody, encodeBody, escapeBody, MAX_STRING_BYTES } from "./body.ts";

async function roundTrip(body: unknown): Promise<{ body: unknown; text: string; blobs: readonly Blob[] }> {
  const { text, blobs } = encodeBody(body);
  const store = new Map(blobs.map(({ digest, bytes }) => [digest, bytes]));
  return { body: await decodeBody(text, async (digest) => store.get(digest)!), text, blobs };
}

describe("encodeBody()", () => {
  test("keeps every plain value, whatever its keys", async () => {
    const key = fc.oneof(fc.constantFrom("$blob", "$$blob", "$$$blob", "__proto__", "length"), fc.string());
    const leaf = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constant("0".repeat(64)),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(value, fc.boolean(), async (inner, isLarge) => {
        const body = isLarge ? [inner, "x".repeat(MAX_STRING_BYTES + 1)] : inner;
        const plain: unknown = JSON.parse(JSON.stringify(body));
        expect((await roundTrip(body)).body).toEqual(plain);
      }),
    );
  });

  test.each([
    ["x".repeat(MAX_STRING_BYTES), 0],
    ["x".repeat(MAX_STRING_BYTES + 1), 1],
    ["ä".repeat(MAX_STRING_BYTES / 2), 0],
    ["ä".repeat(MAX_STRING_BYTES / 2 + 1), 1],
    [`${"x".repeat(MAX_STRING_BYTES)}\ud800`, 1],
  ])("sets a string apart by its UTF-8 bytes (case %#)", async (text, count) => {
    const told = await roundTrip({ a: [text] });
    expect(told.blobs).toHaveLength(count);
    expect(told.body).toEqual({ a: [text] });
    if (count > 0) expect(told.text.length).toBeLessThan(200);
  });

  test("names each blob once, and digests that the body itself names", () => {
    const large = "x".repeat(MAX_STRING_BYTES + 1);
    const { blobs, names } = encodeBody({ a: large, b: large, digest: "f".repeat(64) });
    expect(blobs).toHaveLength(1);
    expect(names.toSorted()).toEqual([blobs[0]!.digest, "f".repeat(64)].toSorted());
  });
});

test("escapeBody() makes an old text mean what it meant", async () => {
  const old = { $blob: "0".repeat(64), $$blob: [{ $blob: 1 }], other: "$blob" };
  const blobOf = () => Promise.reject(new Error("there are none"));
  expect(await decodeBody(escapeBody(JSON.stringify(old)), blobOf)).toEqual(old);
  expect(escapeBody('{"a": 1}')).toBe('{"a": 1}');
});
