import { describe, expect, test } from "vitest";
import { userLine } from "./user-line.ts";

const user = (content: unknown): string =>
  JSON.stringify({ type: "user", message: { role: "user", content } });

const image = (media_type = "image/png", data = "AAAA") => ({
  type: "image",
  source: { type: "base64", media_type, data },
});

describe("userLine()", () => {
  test("reads pictures among the words, or alone", () => {
    const picture = { type: "image", media_type: "image/png", data: "AAAA" };
    const media = [picture, { ...picture, media_type: "image/gif" }];
    const text = (words: string) => ({ type: "text", text: words });
    expect(userLine(user([text("a"), image(), text("b"), image("image/gif")]))).toEqual({
      ...{ kind: "message", text: "a\nb", media },
    });
    expect(userLine(user([image()]))).toEqual({ kind: "message", text: "", media: [picture] });
  });

  test.each([
    [user("hi"), "hi"],
    [
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]),
      "a\nb",
    ],
    ['{"type":"user","uuid":"x","session_id":"y","message":{"role":"user","content":"hi"}}', "hi"],
  ])("reads %s", (line, text) => {
    expect(userLine(line)).toEqual({ kind: "message", text });
  });

  test.each([
    ["{", /^not JSON: /],
    ["7", /^not a JSON object$/],
    ["[]", /^not a JSON object$/],
    ['{"type":"assistant"}', /^type: must be "user", not "assistant"$/],
    ['{"type":"user"}', /^message: must be an object$/],
    ['{"type":"user","message":{"role":"system","content":"x"}}', /^message\.role: must be "user"/],
    [user(7), /^message\.content: must be a text or a list of blocks$/],
    [user([{ type: "image" }]), /^message\.content\[0\]: must be a text block, or an image block of base64/],
    [user([{ type: "image", source: { type: "url", url: "http://a" } }]), /^message\.content\[0\]: must be/],
    [
      user([image("image/tiff")]),
      /^message\.content\[0\]: .*image\/png, image\/jpeg, image\/gif, image\/webp$/,
    ],
    [user([image("image/png", "?")]), /^message\.content: the data of a picture is not base64/],
    [user(Array(9).fill(image())), /^message\.content: 9 pictures; at most 8$/],
    [user(" "), /^message\.content: the message is empty$/],
    [user([]), /^message\.content: the message is empty$/],
    ['{"type":"control_request"}', /^control_request: needs/],
  ])("says what is wrong with %s", (line, why) => {
    expect(userLine(line)).toEqual({ kind: "bad", why: expect.stringMatching(why) });
  });

  test("passes requests of a client library on, and blank lines over", () => {
    const line = '{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}';
    expect(userLine(line)).toEqual({
      kind: "control",
      id: "r1",
      asks: "initialize",
      with: { subtype: "initialize" },
    });
    expect(userLine("  ")).toEqual({ kind: "blank" });
  });

  test("reads an answer to a question, one that says why there is none included", () => {
    const answer = (response: object) => userLine(JSON.stringify({ type: "control_response", response }));
    const response = { behavior: "allow" };
    expect([
      answer({ subtype: "success", request_id: "a_1", response }),
      answer({ subtype: "error", request_id: "a_1", error: "gone" }),
      answer({ subtype: "success" }),
    ]).toEqual([
      { kind: "answer", id: "a_1", response },
      { kind: "answer", id: "a_1", response: undefined },
      { kind: "bad", why: "control_response: needs response.request_id" },
    ]);
  });
});
