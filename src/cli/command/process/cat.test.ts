import { expect, test } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const holding = (bytes: string | Buffer, truncated = false) =>
  new FakeDaemon({
    "file.read": (payload) => ({
      path: (payload as { path: string }).path,
      base64: Buffer.from(bytes).toString("base64"),
      truncated,
    }),
    "file.list": () => ({ path: "/x", entries: [{ name: "a\x1b[2J", kind: "file", size: 3 }], more: 7 }),
  });

test("cat sends bytes as they are into a pipe, and nothing that steers to a terminal", async () => {
  const bytes = Buffer.from([0xff, 0x00, 0x1b]);
  expect((await crux("cat /x", { daemon: holding(bytes) })).bytes).toEqual(bytes);
  const screen = await crux("cat /x", { daemon: holding("a\x1b]0;title\x07b"), isTerminal: true });
  for (const control of ["\x1b", "\x07"]) expect(screen.out).not.toContain(control);
  expect(screen.out.endsWith("\n")).toBe(true);
  const binary = await crux("cat /x", { daemon: holding(bytes), isTerminal: true });
  expect([binary.code, binary.out]).toEqual([1, ""]);
  expect(binary.err).toContain("/x is not text");
});

test("cat --json gives text as text and bytes in base64, and says where it was cut", async () => {
  const text = await crux("cat /x --json", { daemon: holding("hello", true) });
  expect(JSON.parse(text.out).data).toEqual({ text: "hello", path: "/x", truncated: true });
  expect(text.err).toBe("! /x: cut after 5 bytes\n");
  const bytes = await crux("cat /x --json", { daemon: holding(Buffer.from([0xff])) });
  expect(JSON.parse(bytes.out).data.base64).toBe("/w==");
});

test("cat and ls take absolute paths alone, and ls keeps names harmless", async () => {
  for (const line of ["cat", "cat x", "ls x", "ls /a /b"])
    expect(await crux(line)).toMatchObject({ code: 1, daemon: { reached: [] } });
  const { out, err } = await crux("ls /x", { daemon: holding("") });
  expect(out).not.toContain("\x1b");
  expect(err).toBe("! /x: 7 more\n");
});
