import { beforeEach, describe, expect, test } from "vitest";
import { printed } from "../../abi/errors.ts";
import type { CtxId } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { bytes, text } from "../testing/test-kernel.ts";
import { ContextSpaces } from "./spaces.ts";

const user = (content: string) => ({ role: "user", content }) as const;
const json = (value: unknown) => bytes(JSON.stringify(value));

let spaces: ContextSpaces;
let cid: CtxId;
const contents = () => spaces.prompt(cid).messages.map((m) => m.content);

beforeEach(() => {
  spaces = new ContextSpaces();
  cid = spaces.alloc(4);
});

describe("alloc(), free()", () => {
  test("ids rise from 1; a size that is no size is INTERNAL and takes no id", () => {
    for (const size of [0, -1, 1.5, Number.NaN])
      expect(() => spaces.alloc(size)).toThrow(expect.objectContaining({ code: "INTERNAL" }));
    expect([cid, spaces.alloc(1), spaces.count]).toEqual([1, 2, 2]);
  });

  test("free() twice is NOT_FOUND, in these words", () => {
    spaces.free(cid);
    let thrown: unknown;
    try {
      spaces.free(cid);
    } catch (error) {
      thrown = error;
    }
    expect(printed(thrown)).toBe("[NOT_FOUND] CtxID 1 CtxFree: context not found");
  });

  test("after free() every call is NOT_FOUND, and the summary empty", () => {
    spaces.free(cid);
    const calls = [
      () => spaces.read(cid, 0, 0),
      () => spaces.write(cid, 0, json(user("x"))),
      () => spaces.append(cid, user("x")),
      () => spaces.setSystemPrompt(cid, "x"),
      () => spaces.prompt(cid),
    ];
    for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    expect(spaces.summary(cid)).toBe("");
  });
});

describe("write()", () => {
  beforeEach(() => {
    spaces.append(cid, user("one"));
    spaces.append(cid, user("two"));
  });

  test.each([
    [0, ["one", "two", "new"]],
    [1, ["new", "two"]],
    [2, ["one", "new"]],
  ])("offset %i", (offset, expected) => {
    spaces.write(cid, offset, json(user("new")));
    expect(contents()).toEqual(expected);
  });

  test.each([-1, 3, 0.5, Number.NaN])("offset %d is INTERNAL and changes nothing", (offset) => {
    expect(() => spaces.write(cid, offset, json(user("new")))).toThrow(
      expect.objectContaining({ code: "INTERNAL" }),
    );
    expect(contents()).toEqual(["one", "two"]);
  });

  test("never grows a full context; replacing in it goes on", () => {
    for (const content of ["three", "four"]) spaces.write(cid, 0, json(user(content)));
    expect(() => spaces.write(cid, 0, json(user("five")))).toThrow(
      expect.objectContaining({ code: "INTERNAL", message: "context full: 4 of 4 messages" }),
    );
    spaces.write(cid, 4, json(user("vier")));
    expect(contents()).toEqual(["one", "two", "three", "vier"]);
  });

  test.each([
    ["no JSON", bytes("{")],
    ["no UTF-8", Uint8Array.of(0xff)],
    ["no object", json([])],
    ["null", json(null)],
    ["no role", json({ content: "x" })],
    ["a role unknown", json({ role: "robot", content: "x" })],
    ["no text", json({ role: "user", content: 1 })],
    ["a call id that is no text", json({ role: "tool", content: "", tool_call_id: 1 })],
  ])("%s is INTERNAL", (_name, data) => {
    expect(() => spaces.write(cid, 0, data)).toThrow(
      expect.objectContaining({ code: "INTERNAL", op: "CtxWrite" }),
    );
    expect(contents()).toEqual(["one", "two"]);
  });

  test("keeps a tool result's call id and nothing it does not know", () => {
    spaces.write(cid, 0, json({ role: "tool", content: "ok", tool_call_id: "t1", extra: true }));
    expect(spaces.prompt(cid).messages.at(-1)).toEqual({ role: "tool", content: "ok", tool_call_id: "t1" });
  });
});

describe("append()", () => {
  test("grows 64 to 128 at the 65th message; a write would not", () => {
    cid = spaces.alloc(64);
    for (let n = 0; n < 64; n++) spaces.append(cid, user(`${n}`));
    expect(() => spaces.write(cid, 0, json(user("no")))).toThrow("context full: 64 of 64 messages");
    spaces.append(cid, user("64"));
    expect(spaces.summary(cid)).toMatch(/^ctx 2: 65\/128 messages/);
  });

  test("stops at 65,536 messages", () => {
    cid = spaces.alloc(3);
    const message = user("x");
    for (let n = 0; n < LIMITS.contextMessagesMax; n++) spaces.append(cid, message);
    expect(() => spaces.append(cid, message)).toThrow("context full: 65536 of 65536 messages");
  });

  test("a message over its limit is INVALID", () => {
    expect(() => spaces.append(cid, user("x".repeat(LIMITS.messageChars + 1)))).toThrow(
      expect.objectContaining({ code: "INVALID" }),
    );
    spaces.append(cid, user("x".repeat(LIMITS.messageChars)));
  });
});

describe("read()", () => {
  beforeEach(() => {
    spaces.setSystemPrompt(cid, "sys");
    for (const content of ["0", "1", "2"]) spaces.append(cid, user(content));
  });
  const read = (offset: number, length: number): string[] =>
    JSON.parse(text(spaces.read(cid, offset, length))).messages.map((m: { content: string }) => m.content);

  test("has the documented form", () => {
    expect(text(spaces.read(cid, 0, 1))).toBe(
      '{"system_prompt":"sys","messages":[{"role":"user","content":"0"}]}',
    );
  });

  test.each([
    [0, 0, ["0", "1", "2"]],
    [0, 2, ["0", "1"]],
    [1, 1, ["1"]],
    [1, 0, []],
    [2, 99, ["2"]],
    [3, 1, []],
    [4, 1, []],
  ])("offset %i length %i", (offset, length, expected) => {
    expect(read(offset, length)).toEqual(expected);
  });

  test.each([
    [-1, 0],
    [0, -1],
    [Number.NaN, 1],
  ])("%d, %d is INVALID", (offset, length) => {
    expect(() => spaces.read(cid, offset, length)).toThrow(expect.objectContaining({ code: "INVALID" }));
  });
});

test("prompt() is a snapshot", () => {
  spaces.append(cid, user("one"));
  const before = spaces.prompt(cid);
  spaces.append(cid, user("two"));
  expect(before.messages).toHaveLength(1);
});
