import { expect, test } from "vitest";
import { SafeStream } from "./safe-stream.ts";

const shown = (...chunks: Array<string | number[]>): string => {
  const stream = new SafeStream();
  return chunks.map((chunk) => stream.push(Buffer.from(chunk as string))).join("") + stream.end();
};

test("SafeStream lets nothing steer the terminal", () => {
  expect(shown("a\x1b[2Jb\tc\n", "\x07")).toBe("a\\x1b[2Jb\tc\n\\x07");
});

test("SafeStream keeps what chunks cut apart: characters and line ends", () => {
  const bytes = [...Buffer.from("分析\r\nnext\r")];
  for (let at = 0; at <= bytes.length; at++)
    expect(shown(bytes.slice(0, at), bytes.slice(at))).toBe("分析\nnext\\x0d");
  expect(shown([0xff, 0x0a])).toBe("\ufffd\n");
});
