import { describe, expect, test } from "vitest";
import type { MediaPart } from "../tool.ts";
import { PICTURES, withPictureLines, wrongPictures } from "./pictures.ts";

const picture = (bytes: number, media_type = "image/png"): MediaPart => {
  return { type: "image", media_type, data: Buffer.alloc(bytes, 7).toString("base64") };
};

describe("wrongPictures", () => {
  test.each([
    ["none", [], undefined],
    ["all that is allowed", Array(PICTURES.count).fill(picture(PICTURES.bytes / PICTURES.count)), undefined],
    ["one too many", Array(PICTURES.count + 1).fill(picture(3)), "9 pictures; at most 8"],
    ["a byte too many", [picture(PICTURES.bytes), picture(1)], "pictures of 4194305 bytes; at most 4194304"],
    ["another type", [picture(3, "image/tiff")], "image/tiff: a picture is one of"],
    ["a document", [{ ...picture(3), type: "document" }], "image/png: a picture is one of"],
    ["no data", [picture(0)], "not base64, or empty"],
    ["other data", [{ ...picture(3), data: "a-_b" }], "not base64, or empty"],
    ["a part of base64", [{ ...picture(3), data: "AAAAA" }], "not base64, or empty"],
  ] as const)("%s", (_, pictures, why) => {
    const found = wrongPictures(pictures as readonly MediaPart[]);
    if (why === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(why);
  });
});

test("the lines of pictures follow the words, with kind and size", () => {
  const pictures = [picture(12 * 1024), picture(1, "image/jpeg")];
  expect(withPictureLines("which?", pictures)).toBe("which?\n[image 1: png, 12 KB]\n[image 2: jpeg, 1 KB]");
  expect(withPictureLines(" ", pictures.slice(0, 1))).toBe("[image 1: png, 12 KB]");
  expect(withPictureLines("none", [])).toBe("none");
});
