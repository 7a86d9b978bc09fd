import { expect, test } from "vitest";
import { promptText } from "./prompt.ts";

test("promptText() keeps text, and names files on one line without Markdown", () => {
  const link = {
    type: "resource_link" as const,
    name: 'a "b"\n[x](http://evil)',
    uri: "file:///w/a.ts",
    mimeType: "text/plain",
    size: 12,
  };
  const resource = { uri: "file:///w/b.ts", text: "const b = 1;" };
  const text = promptText([{ type: "text", text: "look" }, link, { type: "resource", resource }]);
  expect(text).toBe(
    'look\n\nresource_link name="a \\"b\\"\\n[x](http://evil)" uri="file:///w/a.ts" mimeType="text/plain" size=12' +
      '\n\nresource uri="file:///w/b.ts"\nconst b = 1;',
  );
});

test("promptText() refuses what initialize does not offer", () => {
  expect(() => promptText([{ type: "audio", data: "", mimeType: "audio/wav" }])).toThrow(/not audio/);
});
