import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { madeOf } from "../../lib/parts.ts";
import { Redactor } from "../../lib/redact/redact.ts";
import { digestOf, isDigestOf } from "./digest.ts";

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

  const messages = ["one", "two", "three"].map((content) => ({ role: "user", content }));
  const requestOf = (text: string, list: readonly object[]) =>
    madeOf({ text, lists: [[], list] }, Buffer.from(JSON.stringify({ text, list })));

  test("of bytes with known parts is another for each of these, and the same for the same", () => {
    const digests = [
      requestOf("a", messages),
      requestOf("b", messages),
      requestOf("a", messages.slice(0, 2)),
      requestOf("a", messages.toReversed()),
      madeOf({ text: "a", lists: [messages, []] }, new Uint8Array()),
      Buffer.from(JSON.stringify({ text: "a", list: messages })),
    ].map((data) => digestOf({ fd: 3, data }));
    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOf({ fd: 3, data: requestOf("a", structuredClone(messages)) })).toBe(digests[0]);
    expect(digests[0]).toMatch(/^\.[\w-]{22}$/);
  });

  test("looks at a part once, however often the list grows, and finds secrets in each", () => {
    const spelled: string[] = [];
    const part = (content: string) => ({
      content,
      toJSON: () => ({ content: spelled[spelled.push(content) - 1] }),
    });
    const redactor = new Redactor(Buffer.from("key"));
    const secret = `sk-${"a1".repeat(12)}`;
    const list = [part("one"), part(secret)];
    const first = digestOf({ data: madeOf({ text: "", lists: [list] }, new Uint8Array()) }, redactor);
    list.push(part("two"));
    digestOf({ data: madeOf({ text: "", lists: [list] }, new Uint8Array()) }, redactor);
    expect(spelled).toEqual(["one", secret, "two"]);
    const clean = [{ content: "one" }, { content: redactor.redact(secret) }];
    expect(digestOf({ data: madeOf({ text: "", lists: [clean] }, new Uint8Array()) })).toBe(first);
  });

  test("is recognized in recordings that have it over the bytes themselves", () => {
    const data = requestOf("a", messages);
    const args = { fd: 3, data };
    const older = digestOf({ fd: 3, data: Buffer.from(data) });
    const own = digestOf(args);
    expect(isDigestOf(own, { own, args })).toBe(true);
    expect(isDigestOf(older, { own, args })).toBe(true);
    expect(isDigestOf(digestOf({ fd: 4, data: Buffer.from(data) }), { own, args })).toBe(false);
    expect(isDigestOf(digestOf({ fd: 3, data: requestOf("b", messages) }), { own, args })).toBe(false);
  });
});
