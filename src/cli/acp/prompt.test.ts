import { expect, test } from "vitest";
import { saidIn } from "./prompt.ts";

test("saidIn() keeps text, and names files on one line without Markdown", () => {
  const link = {
    type: "resource_link" as const,
    name: 'a "b"\n[x](http://evil)',
    uri: "file:///w/a.ts",
    mimeType: "text/plain",
    size: 12,
  };
  const resource = { uri: "file:///w/b.ts", text: "const b = 1;" };
  const { text, media } = saidIn([{ type: "text", text: "look" }, link, { type: "resource", resource }]);
  expect(text).toBe(
    'look\n\nresource_link name="a \\"b\\"\\n[x](http://evil)" uri="file:///w/a.ts" mimeType="text/plain" size=12' +
      '\n\nresource uri="file:///w/b.ts"\nconst b = 1;',
  );
  expect(media).toEqual([]);
});

test("saidIn() takes pictures apart from the text", () => {
  const image = { type: "image" as const, mimeType: "image/png", data: "aGk=" };
  const media = [{ type: "image", media_type: "image/png", data: "aGk=" }];
  expect(saidIn([image, { type: "text", text: "what is it?" }])).toEqual({ text: "what is it?", media });
  expect(saidIn([image])).toEqual({ text: "", media });
  expect(() => saidIn([{ ...image, mimeType: "image/tiff" }])).toThrow(/image\/tiff: a picture is one of/);
  expect(() => saidIn([{ ...image, data: "#" }])).toThrow(/not base64/);
});

test("saidIn() refuses what initialize does not offer", () => {
  expect(() => saidIn([{ type: "audio", data: "", mimeType: "audio/wav" }])).toThrow(/not audio/);
});
